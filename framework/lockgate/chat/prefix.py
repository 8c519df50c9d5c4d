"""The stable beginning of a chat's requests: system prompt and tools, with what moved in it since the last one.

Hosts keep what they computed for an equal beginning of a request. A tool that changes its words costs that.
"""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

SYSTEM = "system prompt"
"""The name of the part that is no tool."""


@dataclass(frozen=True, slots=True)
class PrefixPart:
    """A part of the beginning: its name, its length in bytes, a hash of its bytes."""

    name: str
    size: int
    digest: str


@dataclass(frozen=True, slots=True)
class PromptPrefix:
    """The beginning of a request.

    Attributes:
        fingerprint: 16 hex digits that change exactly when the bytes of system prompt or tools do.
        tools: The tools in the order they are sent.
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
        name: The function's name, or `SYSTEM`.
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
        system: The stable part of the system prompt.
        encoded: The tool block as it is sent.
        tools: Name and encoded bytes of each tool in it, in order; may be empty where an adapter does not say.
    """
    text = system.encode("utf-8", "surrogatepass")
    parts = tuple(PrefixPart(name, len(item), digest_of(item)) for name, item in tools)
    both = digest_of(len(encoded).to_bytes(8, "big") + encoded + text)
    return PromptPrefix(both, parts, PrefixPart(SYSTEM, len(text), digest_of(text)))


def prefix_changes(old: PromptPrefix, new: PromptPrefix) -> tuple[PrefixChange, ...]:
    """Say what moved between two requests of a chat: tools in the order they are sent, the system prompt last."""
    if old.fingerprint == new.fingerprint:
        return ()
    before, after = {part.name: part for part in old.tools}, {part.name: part for part in new.tools}
    found = [PrefixChange(name, Moved.REMOVED, -part.size) for name, part in before.items() if name not in after]
    places = _places(old.tools), _places(new.tools)
    order = _out_of_order([n for n in before if n in after], [n for n in after if n in before])
    for name, part in after.items():
        if name not in before:
            found.append(PrefixChange(name, Moved.ADDED, part.size))
        elif part.digest != before[name].digest:
            found.append(PrefixChange(name, Moved.CHANGED, part.size - before[name].size))
        elif name in order:
            found.append(PrefixChange(name, Moved.REORDERED, places[1][name] - places[0][name]))
    if new.system.digest != old.system.digest:
        found.append(PrefixChange(SYSTEM, Moved.CHANGED, new.system.size - old.system.size))
    return tuple(found)


def _places(parts: Iterable[PrefixPart]) -> dict[str, int]:
    places, at = {}, 0
    for part in parts:
        places[part.name] = at
        at += part.size
    return places


def _out_of_order(before: list[str], after: list[str]) -> frozenset[str]:
    """Return the names that changed places among those that stayed: all but a longest run kept in order."""
    rank = {name: index for index, name in enumerate(before)}
    best: list[list[str]] = []
    for name in after:
        longest = max((run for run in best if rank[run[-1]] < rank[name]), key=len, default=[])
        best.append([*longest, name])
    kept = max(best, key=len, default=[])
    return frozenset(after) - frozenset(kept)
