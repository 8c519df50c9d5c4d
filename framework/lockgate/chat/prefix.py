"""The stable beginning of a chat's requests: system prompt and tools, with what moved in it since the last one.

Hosts keep what they computed for an equal beginning of a request. A tool that changes its words costs that.
"""

import hashlib
import json
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

SYSTEM = "system prompt"
"""The name of the part that is no tool."""

TOOLS = "tool block"
"""The name of all tools together, where an adapter does not tell one from the other. No function can have it."""


@dataclass(frozen=True, slots=True)
class PrefixPart:
    """A part of the beginning: its name, its length in bytes as it is sent, a hash of its content.

    A tool counts with the comma that parts it from the next; a system prompt is a JSON text without its quotes.
    """

    name: str
    size: int
    digest: str


@dataclass(frozen=True, slots=True)
class PromptPrefix:
    """The beginning of a request.

    Attributes:
        fingerprint: 16 hex digits that change exactly when the bytes of system prompt or tools do.
        tools: The tools in the order they are sent; a single part `TOOLS` where they are not told apart.
        system: The system prompt.
    """

    fingerprint: str
    tools: tuple[PrefixPart, ...]
    system: PrefixPart


class Moved(Enum):
    """What happened to a part."""

    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"
    REORDERED = "reordered"


@dataclass(frozen=True, slots=True)
class PrefixChange:
    """One part that is not what it was.

    Attributes:
        name: The function's name, `TOOLS` or `SYSTEM`.
        moved: What happened to it.
        bytes: By how many bytes the beginning grew (negative: shrank) through it; for a part that changed places, how
            far it moved.
    """

    name: str
    moved: Moved
    bytes: int

    def __str__(self) -> str:
        """Words for a person."""
        return f"{self.name} {self.moved.value} ({self.bytes:+d} bytes)"


def digest_of(encoded: bytes) -> str:
    """Return 16 hex digits of SHA-256."""
    return hashlib.sha256(encoded).hexdigest()[:16]


def prompt_prefix(system: str, encoded: bytes, tools: Sequence[tuple[str, bytes]]) -> PromptPrefix:
    """Describe the beginning of a request.

    Args:
        system: The system prompt.
        encoded: The tool block as it is sent.
        tools: Name and encoded bytes of each tool in it, in order; may be empty where an adapter does not say. Where
            they do not make up the block, it is described as a whole.
    """
    text = system.encode("utf-8", "surrogatepass")
    both = digest_of(len(encoded).to_bytes(8, "big") + encoded + text)
    return PromptPrefix(both, _parts(encoded, tools), PrefixPart(SYSTEM, _size_in_json(system), digest_of(text)))


def _parts(encoded: bytes, tools: Sequence[tuple[str, bytes]]) -> tuple[PrefixPart, ...]:
    if not encoded:
        return ()
    whole = b"[" + b",".join(item for _, item in tools) + b"]"
    if not tools or whole != encoded or len({name for name, _ in tools}) < len(tools):
        return (PrefixPart(TOOLS, len(encoded), digest_of(encoded)),)
    return tuple(PrefixPart(name, len(item) + 1, digest_of(item)) for name, item in tools)


def _size_in_json(text: str) -> int:
    return len(json.dumps(text, ensure_ascii=False).encode("utf-8", "replace")) - 2


def prefix_changes(old: PromptPrefix, new: PromptPrefix) -> tuple[PrefixChange, ...]:
    """Say what moved between two requests of a chat.

    Returns:
        Tools in the order they are sent, the system prompt last; empty exactly when the fingerprints are equal. Where
        no part tells what moved, the tools as a whole did.
    """
    if old.fingerprint == new.fingerprint:
        return ()
    found = _changes_of_tools(old.tools, new.tools)
    if new.system.digest != old.system.digest:
        found.append(PrefixChange(SYSTEM, Moved.CHANGED, new.system.size - old.system.size))
    return tuple(found) or (PrefixChange(TOOLS, Moved.CHANGED, _size(new.tools) - _size(old.tools)),)


def _changes_of_tools(old: Sequence[PrefixPart], new: Sequence[PrefixPart]) -> list[PrefixChange]:
    before, after = {part.name: part for part in old}, {part.name: part for part in new}
    found = [PrefixChange(name, Moved.REMOVED, -part.size) for name, part in before.items() if name not in after]
    places = _places(old), _places(new)
    order = _out_of_order([name for name in before if name in after], [name for name in after if name in before])
    for name, part in after.items():
        if name not in before:
            found.append(PrefixChange(name, Moved.ADDED, part.size))
        elif part.digest != before[name].digest:
            found.append(PrefixChange(name, Moved.CHANGED, part.size - before[name].size))
        elif name in order:
            found.append(PrefixChange(name, Moved.REORDERED, places[1][name] - places[0][name]))
    return found


def _size(parts: Iterable[PrefixPart]) -> int:
    return sum(part.size for part in parts)


def _places(parts: Iterable[PrefixPart]) -> dict[str, int]:
    places, at = {}, 0
    for part in parts:
        places[part.name] = at
        at += part.size
    return places


def _out_of_order(before: Sequence[str], after: Sequence[str]) -> frozenset[str]:
    """Return the names that changed places among those that stayed: all but a longest run kept in order."""
    rank = {name: index for index, name in enumerate(before)}
    lowest: list[int] = []  # at each length, the lowest rank that a run of it can end with
    enders: list[str] = []  # and the name it ends with
    previous: dict[str, str] = {}
    for name in after:
        length = bisect_left(lowest, rank[name])
        lowest[length:length + 1], enders[length:length + 1] = [rank[name]], [name]
        if length:
            previous[name] = enders[length - 1]
    kept: set[str] = set()
    last = enders[-1] if enders else None
    while last is not None:
        kept.add(last)
        last = previous.get(last)
    return frozenset(after) - kept
