"""What a tool brought, as documents: from passages, from JSON of any shape, or from plain text."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final
from urllib.parse import urlsplit

from lockgate_offline.cleaning import clean, one_line

_TITLE_KEYS: Final = ("title", "subject", "name", "path", "file", "filename")
_ADDRESS_KEYS: Final = ("final_url", "url", "requested_url", "search_url", "link", "uri")
_TEXT_KEYS: Final = frozenset({"text_content", "content", "text", "body", "markdown", "answer"})
_SNIPPET_KEYS: Final = frozenset({"description", "snippet", "excerpt", "summary"})
_NOTE_KEYS: Final = frozenset({"issues", "notes", "diagnostic", "warnings"})
_ECHO_KEYS: Final = frozenset({"query", "page", *_TITLE_KEYS, *_ADDRESS_KEYS})
_PARTS: Final = ("page", "content", "metadata", "search_metadata")
_PROSE: Final = 80
_SHORT_RESULT: Final = 300
_MAXIMUM_NOTES: Final = 3
_MAXIMUM_FACTS: Final = 12
_MAXIMUM_NAME: Final = 120
_PASSAGE: Final = re.compile(
    r"#{1,6}[ \t]+(?:Passage|Retrieval context)[ \t]+\d{1,6}(?:[ \t]+of[ \t]+\d{1,6})?[ \t]*", re.IGNORECASE
)
_LABELLED: Final = re.compile(
    r"[ \t]{0,8}[-*]?[ \t]*[*_]{0,2}([A-Za-z][A-Za-z /]{1,40}?)[*_]{0,2}[ \t]*:[*_]{0,2}[ \t]*(\S.*)"
)
_FENCE: Final = re.compile(r"(`{3,}|~{3,})[^`\n]*")


@dataclass(frozen=True, slots=True)
class Document:
    """One text of a result and where it comes from: a passage, a page, a member of a JSON value.

    Attributes:
        name: What it is called: a path, a title, an address.
        text: What it says.
        key: What tells its source from others; empty for one that is not among the sources.
        further_keys: Sources that are listed with it, after its own: the links of a passage.
        number: Its number among the sources, from 1; 0 when it is not among them.
        place: Where in the whole document it stands, such as ``page 4``.
        section: The heading it stands under there.
    """

    name: str
    text: str
    key: str = ""
    further_keys: tuple[str, ...] = ()
    number: int = 0
    place: str = ""
    section: str = ""


@dataclass(frozen=True, slots=True)
class Reading:
    """A result as it was understood.

    Attributes:
        documents: What can be quoted, in the order of the result.
        facts: A short result as it stands: numbers, names, a line of text.
        notes: What the tool says of gaps in its work.
    """

    documents: tuple[Document, ...] = ()
    facts: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether the tool brought nothing to quote or to name."""
        return not self.documents and not self.facts


def read_result(function: str, content: str) -> Reading:
    """Understand the text of a result. Any text will do; the time taken grows with its length only.

    Args:
        function: The function's name, which names a document that has no other name.
        content: The result as it went to the model.
    """
    try:
        value: object = json.loads(content, parse_constant=str, strict=False)
    except (ValueError, RecursionError):  # no JSON, or nested deeper than the parser goes
        return _read_text(function, clean(content))
    if not isinstance(value, dict | list):
        return _read_text(function, clean(value if isinstance(value, str) else content))
    walk = _Walk(function)
    walk.over(value)
    return walk.reading(found_nothing=_counted_nothing(value))


def read_passages(text: str) -> tuple[Document, ...]:
    """Return the passages of a text that lists them as searches of data sources do; none for any other text.

    Each is a source of its own, even two of one file: that is how they are listed below an answer.
    """
    found = []
    for passage in _passages(text):
        if not (passage.source and passage.pieces):
            continue
        name = passage.path or passage.source
        links = tuple(passage.links)
        key = f"{name}\n{passage.pieces[0]}"
        found += [
            Document(one_line(name, _MAXIMUM_NAME), piece, key, links, place=passage.place, section=passage.section)
            for piece in passage.pieces
        ]
    return tuple(found)


def numbered(documents: Iterable[Document]) -> tuple[Document, ...]:
    """Number the sources from 1 in the order in which the results list them; a source that returns keeps its number."""
    numbers: dict[str, int] = {}
    found = []
    for document in documents:
        number = numbers.setdefault(document.key, len(numbers) + 1) if document.key else 0
        for key in document.further_keys:
            numbers.setdefault(key, len(numbers) + 1)
        found.append(replace(document, number=number))
    return tuple(found)


def _read_text(function: str, text: str) -> Reading:
    if not text.strip():
        return Reading()
    if documents := read_passages(text):
        return Reading(documents)
    if len(text) <= _SHORT_RESULT and text.strip().count("\n") < _MAXIMUM_NOTES:
        return Reading(facts=(one_line(text, _SHORT_RESULT),))
    return Reading((Document(function, text),))


# --- passages -----------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Passage:
    source: str = ""
    path: str = ""
    place: str = ""
    section: str = ""
    links: list[str] = field(default_factory=list)
    pieces: list[str] = field(default_factory=list)


def _passages(text: str) -> Iterator[_Passage]:
    """Walk the lines once. A heading counts only outside fences: the found text cannot forge a source."""
    passage: _Passage | None = None
    fence = ""
    held: list[str] = []
    for line in text.split("\n"):
        if fence:
            stripped = line.strip()
            if len(stripped) >= len(fence) and stripped == fence[0] * len(stripped):
                _keep(passage, held)
                fence, held = "", []
            else:
                held.append(line)
        elif _PASSAGE.fullmatch(line):
            if passage:
                yield passage
            passage = _Passage()
        elif passage and (opening := _FENCE.fullmatch(line.rstrip())):
            fence = opening[1]
        elif passage and (labelled := _LABELLED.fullmatch(line.rstrip())):
            _label(passage, labelled[1].lower(), labelled[2].strip())
    _keep(passage, held)
    if passage:
        yield passage


def _keep(passage: _Passage | None, lines: list[str]) -> None:
    text = "\n".join(lines)
    # The data of an image is one long run without blanks; it holds no sentence.
    if passage and text.strip() and (len(text) < _SHORT_RESULT or " " in text.strip()):
        passage.pieces.append(text)


def _label(passage: _Passage, label: str, value: str) -> None:
    value = value.strip("`")
    if label in ("http", "https", "file"):  # a link: its scheme looks like a label
        passage.links.append(_without_fragment(f"{label}:{value}"))
    elif "path" in label:
        passage.path = passage.path or value
    elif "data source" in label:
        passage.source = passage.source or value
    elif "location" in label:
        passage.place = one_line(value, _MAXIMUM_NAME)
    elif label == "section":
        passage.section = value


# --- JSON ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Around:
    """What is known of the object a text stands in."""

    title: str = ""
    address: str = ""
    is_snippet: bool = False


class _Walk:
    """Collects texts, values and notes of a JSON value, in its order and without recursion."""

    def __init__(self, function: str) -> None:
        self._function = function
        self._documents: list[Document] = []
        self._facts: list[str] = []
        self._rows: list[str] = []
        self._notes: list[str] = []

    def over(self, value: object) -> None:
        """Visit everything in a value."""
        waiting: list[tuple[str, object, _Around]] = [("", value, _Around())]
        while waiting:
            key, value, around = waiting.pop()
            if key in _NOTE_KEYS:
                self._notes += _plain_texts(value)
            elif isinstance(value, dict):
                inside = _surroundings(value, around)
                children = [(str(name), child, inside) for name, child in value.items()]
                self._row(children)
                waiting += reversed(children)
            elif isinstance(value, list):
                waiting += [(key, child, around) for child in reversed(value)]
            elif isinstance(value, str):
                self._text(key, value, around)
            elif value is not None and key not in _ECHO_KEYS:
                self._fact(key, str(value))

    def reading(self, *, found_nothing: bool) -> Reading:
        """Return what was found. A result that counts no hits is empty, whatever else it says."""
        notes = tuple(dict.fromkeys(self._notes))[:_MAXIMUM_NOTES]
        if found_nothing:
            return Reading(notes=notes)
        documents = tuple(self._documents)
        if documents:
            return Reading(documents, notes=notes)
        if len(self._facts) > _MAXIMUM_FACTS:
            return Reading((Document(self._function, "\n\n".join(self._rows)),), notes=notes)
        return Reading(facts=tuple(self._facts), notes=notes)

    def _text(self, key: str, text: str, around: _Around) -> None:
        text = clean(text)
        if not text.strip():
            return
        snippet = key in _SNIPPET_KEYS
        is_prose = len(text) >= _PROSE and " " in text and key not in _ECHO_KEYS
        if not (key in _TEXT_KEYS or snippet or is_prose):
            if key not in _ECHO_KEYS:
                self._fact(key, text)
            return
        if passages := read_passages(text):
            self._documents += passages
            return
        name = one_line(around.title or around.address or self._function, _MAXIMUM_NAME)
        if around.address and (snippet or around.is_snippet):
            # Not among the sources, which are pages that were read: the address itself has to stand in the answer.
            name = one_line(f"{name}, {around.address}" if name != around.address else name, 2 * _MAXIMUM_NAME)
            self._documents.append(Document(name, text))
        else:
            self._documents.append(Document(name, text, _without_fragment(around.address)))

    def _fact(self, key: str, value: str) -> None:
        self._facts.append(one_line(f"{key}: {value}" if key else value, _SHORT_RESULT))

    def _row(self, members: list[tuple[str, object, _Around]]) -> None:
        row = [
            one_line(f"{key}: {value}", _SHORT_RESULT)
            for key, value, _ in members
            if isinstance(value, str | int | float) and key not in _ADDRESS_KEYS
        ]
        if row:
            self._rows.append("; ".join(row))


def _surroundings(value: Mapping[str, object], outer: _Around) -> _Around:
    """Look for a title and an address in an object, and one level below where searches keep them."""
    near = [value, *(child for key in _PARTS if isinstance(child := value.get(key), dict))]
    title = next((text for part in near if (text := _first(part, _TITLE_KEYS))), "")
    address = next((text for part in reversed(near) if (text := _first(part, _ADDRESS_KEYS))), "")
    status = value.get("status")
    return _Around(
        title or outer.title,
        address or outer.address,
        outer.is_snippet or (isinstance(status, str) and status.startswith("snippet")),
    )


def _first(value: Mapping[str, object], keys: tuple[str, ...]) -> str:
    return next((text for key in keys if isinstance(text := value.get(key), str) and text.strip()), "")


def _without_fragment(address: str) -> str:
    try:
        return urlsplit(address)._replace(fragment="").geturl()
    except ValueError:
        return address


def _plain_texts(value: object) -> list[str]:
    parts = list(value) if isinstance(value, list) else [value]
    parts = [part.get("message", part.get("text")) if isinstance(part, dict) else part for part in parts]
    texts = [part for part in parts[: 2 * _MAXIMUM_NOTES] if isinstance(part, str) and part.strip()]
    return [one_line(text, _SHORT_RESULT) for text in texts]


def _counted_nothing(value: object) -> bool:
    """Whether every `result_count` near the top of a result is zero, and there is one."""
    near: list[object] = [value]
    if isinstance(value, dict):
        for child in value.values():
            near += child[:1000] if isinstance(child, list) else [child]
    counts = [part["result_count"] for part in near if isinstance(part, dict) and "result_count" in part]
    return bool(counts) and all(count == 0 for count in counts)
