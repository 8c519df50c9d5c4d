"""The merging of a streamed answer: small pieces in, one message out. No network, no history.

Every host cuts and numbers its pieces in its own way; the rules here are made so that all of them come out right.
An empty text and null count as absent everywhere.
"""

import json
from collections.abc import Mapping
from typing import Any

from lockgate import ServerError, Source, SourceOrigin, Usage, read_error

REASONING_FIELDS = ("reasoning_content", "reasoning")
"""Where hosts put reasoning when a profile does not say."""

MAX_CALLS = 128
"""Calls of a single answer. OpenAI takes 128 tools in a request; no use of several at once needs more calls."""

MAX_SOURCES = 1_000
"""Sources of a single answer; further ones are left out."""

MAX_REASONING_DETAILS = 500_000
"""Entries of `reasoning_details` in a single answer: some hosts send one for each token."""

LONGEST_NAME = 256
"""Characters of a function's name that are kept: more than any host allows, so a name cut here is no right one."""

_MAX_INDEXES = 1_024
_MAX_CHECKS = 100
_CHECKED_CHARACTERS = 8_000_000


class Allowance:
    """How many characters may still be read again to see whether a call is whole: a host decides how often we look."""

    __slots__ = ("_left",)

    def __init__(self, characters: int = _CHECKED_CHARACTERS) -> None:
        self._left = characters

    def covers(self, characters: int) -> bool:
        """Take so many characters off; False, and nothing taken, where they are not left."""
        if characters > self._left:
            return False
        self._left -= characters
        return True


class CallPieces:
    """One tool call while it comes.

    Attributes:
        id: The host's ID; empty until one comes.
        name: The name so far, at most `LONGEST_NAME` characters.
        index: The host's number of the call, where it has one.
        fragments: Pieces of the arguments as text.
        value: The arguments where the host sends an object instead of text.
        extra: What else has to go back with the call.
        has_function: Whether there was a function at all.
    """

    __slots__ = ("_checks_left", "_size", "extra", "fragments", "has_function", "id", "index", "name", "value")

    def __init__(self, call_id: str, index: int | None) -> None:
        self.id = call_id
        self.index = index
        self.name = ""
        self.fragments: list[str] = []
        self.value: object = None
        self.extra: object = None
        self.has_function = False
        self._checks_left = _MAX_CHECKS
        self._size = 0

    def take(self, entry: Mapping[str, Any]) -> None:
        """Add what an entry of `tool_calls` carries beside ID and index."""
        extra = entry.get("extra_content")
        if extra is not None:
            self.extra = extra
        function = entry.get("function")
        if not isinstance(function, dict):
            return
        self.has_function = True
        name = function.get("name")
        if name and isinstance(name, str) and name != self.name and not self.fragments:
            self.name = (self.name + name)[:LONGEST_NAME]
        arguments = function.get("arguments")
        if not arguments and arguments != {}:
            return
        if isinstance(arguments, str):
            self.fragments.append(arguments)
            self._size += len(arguments)
        else:
            self.value = arguments

    def has_whole_arguments(self, allowance: Allowance) -> bool:
        """Whether the arguments so far are a whole JSON object, so that nothing can follow."""
        if self.value is not None:
            return True
        if not self.fragments or not self._checks_left or not allowance.covers(len(self.fragments[-1])):
            return False
        if not self.fragments[-1].rstrip().endswith("}") or not allowance.covers(self._size):
            return False
        self._checks_left -= 1
        try:
            return isinstance(json.loads("".join(self.fragments)), dict)
        except (ValueError, RecursionError):
            return False


class Assembly:
    """An answer while it comes: text, reasoning, calls, why it ended, tokens, sources.

    Args:
        reasoning_field: The member with reasoning by the host's profile; empty for the usual ones.

    Attributes:
        excess: What the answer holds too much of, in words; empty while it is within all bounds. What is too much is
            not kept: the answer is to be refused.
        left_out: How many sources were left out.
    """

    __slots__ = (
        "_allowance", "_by_id", "_by_index", "_choice", "_reasoning_fields", "_sources", "calls", "excess", "finish",
        "has_choice", "left_out", "reasoning", "reasoning_details", "reasoning_field", "refused", "text", "usage",
    )  # fmt: skip

    def __init__(self, reasoning_field: str = "") -> None:
        fields = (reasoning_field, *REASONING_FIELDS) if reasoning_field else REASONING_FIELDS
        self._reasoning_fields = tuple(dict.fromkeys(fields))
        self._by_id: dict[str, CallPieces] = {}
        self._by_index: dict[int, CallPieces] = {}
        self._choice: object = None
        self._allowance = Allowance()
        self._sources: dict[Source, None] = {}
        self.text: list[str] = []
        self.reasoning: list[str] = []
        self.reasoning_field = ""
        self.reasoning_details: list[object] = []
        self.calls: list[CallPieces] = []
        self.finish = ""
        self.usage: Usage | None = None
        self.refused = False
        self.has_choice = False
        self.excess = ""
        self.left_out = 0

    @property
    def sources(self) -> tuple[Source, ...]:
        """What the host says that the answer rests on: each once, in the order they came."""
        return tuple(self._sources)

    def add(self, chunk: Mapping[str, Any]) -> str:
        """Take one chunk and return the answer text in it. It is no error: see `error_of`."""
        usage = chunk.get("usage")
        if usage:
            self._take_usage(usage)
        choice = self._our_choice(chunk.get("choices"))
        if choice is None:
            groq = chunk.get("x_groq")
            if isinstance(groq, dict):
                self._take_usage(groq.get("usage"))
            return ""
        finish = choice.get("finish_reason")
        if finish and isinstance(finish, str):
            self.finish = finish
        delta = choice.get("delta")
        if isinstance(delta, dict):
            return self._take_delta(delta, whole=False)
        message = choice.get("message")  # a relay that sends the whole message in one event
        return self._take_delta(message, whole=True) if isinstance(message, dict) else ""

    def _our_choice(self, choices: object) -> Mapping[str, Any] | None:
        """Return the choice that belongs to this answer: the first one seen, and later those of its index."""
        if not choices or not isinstance(choices, list):
            return None
        for choice in choices:
            if not isinstance(choice, dict):
                continue
            index = choice.get("index")
            index = index if isinstance(index, int | str) else None
            if not self.has_choice:
                self.has_choice, self._choice = True, index
            if index is None or index == self._choice:
                return choice
        return None

    def _take_delta(self, delta: Mapping[str, Any], *, whole: bool) -> str:
        """Take a delta, or a whole message, in which every call is one of its own."""
        content = delta.get("content")
        text = ""
        if content:
            text = content if isinstance(content, str) else self._take_parts(content)
        refusal = delta.get("refusal")
        if refusal and isinstance(refusal, str):
            self.refused = True
            text += refusal
        if text:
            self.text.append(text)
        for name in self._reasoning_fields:
            piece = delta.get(name)
            if piece and isinstance(piece, str):
                self.reasoning.append(piece)
                self.reasoning_field = name
                break
        entries = delta.get("tool_calls")
        if entries and isinstance(entries, list):
            for entry in entries:
                if isinstance(entry, dict):
                    self._take_call(entry, whole=whole)
        if "reasoning_details" in delta or "annotations" in delta:
            self._take_rarities(delta)
        return text

    def _take_rarities(self, delta: Mapping[str, Any]) -> None:
        details = delta.get("reasoning_details")
        if isinstance(details, list):
            if len(self.reasoning_details) + len(details) > MAX_REASONING_DETAILS:
                self.excess = f"more than {MAX_REASONING_DETAILS:,} pieces of reasoning"
            else:
                self.reasoning_details += details
        annotations = delta.get("annotations")
        for annotation in annotations if isinstance(annotations, list) else ():
            source = _source_of(annotation)
            if source is None or source in self._sources:
                continue
            if len(self._sources) < MAX_SOURCES:
                self._sources[source] = None
            else:
                self.left_out += 1

    def _take_parts(self, parts: object) -> str:
        """Read content that comes as a list of parts: text, and thinking (Mistral)."""
        text = []
        for part in parts if isinstance(parts, list) else ():
            if not isinstance(part, dict):
                continue
            if part.get("type") == "thinking":
                thought = part.get("thinking")
                inner = thought if isinstance(thought, list) else [{"text": thought}]
                self.reasoning += [p["text"] for p in inner if isinstance(p, dict) and isinstance(p.get("text"), str)]
            elif isinstance(part.get("text"), str):
                text.append(part["text"])
        return "".join(text)

    def _take_call(self, entry: Mapping[str, Any], *, whole: bool) -> None:
        call_id = entry.get("id")
        call_id = call_id if isinstance(call_id, str) else ""
        index = entry.get("index")
        index = index if isinstance(index, int) else None
        call = None if whole else self._known_call(call_id, index, entry)
        if call is None:
            if len(self.calls) == MAX_CALLS:
                self.excess = f"more than {MAX_CALLS} calls"
                return
            call = CallPieces(call_id, index)
            self.calls.append(call)
        if call_id:
            call.id = call.id or call_id
            self._by_id[call_id] = call
        if index is not None and (index in self._by_index or len(self._by_index) < _MAX_INDEXES):
            self._by_index[index] = call
        call.take(entry)

    def _known_call(self, call_id: str, index: int | None, entry: Mapping[str, Any]) -> CallPieces | None:
        """Return the call that a piece goes on with; None when it begins one.

        A new ID begins a call whatever its index (hosts number every call 0), and a known one goes on with it, unless
        a name comes with an index never seen (hosts with one ID for all calls). Without an ID the index decides,
        without both the last call goes on, unless it is whole and a name comes.
        """
        if call_id:
            known = self._by_id.get(call_id)
            if known is not None:
                is_another = index is not None and index not in self._by_index and known.index is not None
                return None if is_another and _carries(entry, "name") else known
            numbered = self._by_index.get(index) if index is not None else None
            if numbered is None or numbered.id or (numbered.name and _carries(entry, "name")):
                return None
            return numbered  # the ID of a call that began without one
        if index is not None:
            known = self._by_index.get(index)
            if known is not None and _carries(entry, "name") and known.has_whole_arguments(self._allowance):
                # More arguments cannot follow a whole object, so this is another call under the same number.
                is_another = entry["function"]["name"] != known.name or _carries(entry, "arguments")
                return None if is_another else known
            return known
        last = self.calls[-1] if self.calls else None
        if last is not None and _carries(entry, "name") and last.has_whole_arguments(self._allowance):
            return None
        return last

    def _take_usage(self, usage: object) -> None:
        if not isinstance(usage, dict):
            return
        tokens = Usage(_count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens")))
        if tokens != Usage():
            self.usage = tokens


def error_of(chunk: Mapping[str, Any], event: str = "") -> ServerError | None:
    """Return the error in a chunk or a body with status 200; None when it is a part of an answer.

    It is looked for before `choices`: some hosts send both.
    """
    if event == "error":
        return read_error(chunk) or ServerError(_told(chunk))
    if chunk.get("error") or "choices" not in chunk:
        return read_error(chunk)
    return None


def _told(chunk: Mapping[str, Any]) -> str:
    try:
        return json.dumps(chunk)
    except RecursionError:
        return "a value that is nested too deeply to be shown"


def _carries(entry: Mapping[str, Any], name: str) -> bool:
    """Whether an entry's function has a member that is neither empty nor null."""
    function = entry.get("function")
    value = function.get(name) if isinstance(function, dict) else None
    return bool(value.strip() if isinstance(value, str) else value)


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _source_of(annotation: object) -> Source | None:
    """Read a `url_citation`, nested (OpenAI) or flat."""
    if not isinstance(annotation, dict) or annotation.get("type") != "url_citation":
        return None
    inner = annotation.get("url_citation")
    citation = inner if isinstance(inner, dict) else annotation
    title, url = citation.get("title"), citation.get("url")
    if not isinstance(title, str) or not isinstance(url, str) or not title.strip():
        return None
    if not url.strip().lower().startswith(("http://", "https://")):
        return None
    return Source(title.strip(), url.strip(), SourceOrigin.LLM)
