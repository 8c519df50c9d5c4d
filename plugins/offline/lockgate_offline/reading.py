"""What a tool brought, as documents: from retrieval contexts, from JSON of any shape, or from plain text."""

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
_CONTEXT: Final = re.compile(
    r"#{1,6}[ \t]+Retrieval context[ \t]+(\d{1,6})(?:[ \t]+of[ \t]+\d{1,6})?[ \t]*", re.IGNORECASE
)
_LABELLED: Final = re.compile(r"[-*]?[ \t]*[*_]{0,2}([A-Za-z][A-Za-z /]{1,40}?)[*_]{0,2}[ \t]*:[*_]{0,2}[ \t]*(\S.*)")
_FENCE: Final = re.compile(r"(`{3,}|~{3,})[^`\n]*")


@dataclass(frozen=True, slots=True)
class Text:
    """A piece of a document, and where in it the tool says it stands, such as ``page 4``."""

    text: str
    place: str = ""


@dataclass(frozen=True, slots=True)
class Document:
    """One source of a result, with the texts found of it in the order they came.

    Attributes:
        name: What it is called: a path, a title, an address.
        texts: Its texts.
        key: What tells it from others: its address without fragment, or its path; empty for one without a source.
        number: Its number among the sources, from 1; 0 when it is not among them.
    """

    name: str
    texts: tuple[Text, ...]
    key: str = ""
    number: int = 0


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


def read_contexts(text: str) -> tuple[Document, ...]:
    """Return the documents of a Markdown text that is made of retrieval contexts; none for any other text."""
    found: dict[str, list[Text]] = {}
    names: dict[str, str] = {}
    for context in _contexts(text):
        key = context.path or context.name
        names.setdefault(key, context.path or context.name)
        found.setdefault(key, []).extend(Text(part, context.place) for part in context.texts)
    return tuple(
        Document(one_line(names[key], _MAXIMUM_NAME), tuple(texts), key) for key, texts in found.items() if texts
    )


def numbered(documents: Iterable[Document]) -> tuple[Document, ...]:
    """Join documents of equal key and number those that have one, from 1, in order of their first appearance."""
    joined: dict[object, Document] = {}
    numbers = 0
    for position, document in enumerate(documents):
        known = joined.get(document.key) if document.key else None
        if known:
            joined[document.key] = replace(known, texts=(*known.texts, *document.texts))
        elif document.key:
            numbers += 1
            joined[document.key] = replace(document, number=numbers)
        else:
            joined[position] = document
    return tuple(joined.values())


def _read_text(function: str, text: str) -> Reading:
    if not text.strip():
        return Reading()
    if documents := read_contexts(text):
        return Reading(documents)
    if len(text) <= _SHORT_RESULT and text.strip().count("\n") < _MAXIMUM_NOTES:
        return Reading(facts=(one_line(text, _SHORT_RESULT),))
    return Reading((Document(function, (Text(text),)),))


# --- retrieval contexts -------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Context:
    name: str = ""
    path: str = ""
    place: str = ""
    texts: list[str] = field(default_factory=list)


def _contexts(text: str) -> Iterator[_Context]:
    """Walk the lines once. A heading counts only outside fences: the matched text cannot forge a source."""
    context: _Context | None = None
    fence = ""
    held: list[str] = []
    for line in text.split("\n"):
        if fence:
            stripped = line.strip()
            if len(stripped) >= len(fence) and stripped == fence[0] * len(stripped):
                _keep(context, held)
                fence, held = "", []
            else:
                held.append(line)
        elif heading := _CONTEXT.fullmatch(line):
            if context:
                yield context
            context = _Context(name=heading[1])
        elif context and (opening := _FENCE.fullmatch(line.rstrip())):
            fence = opening[1]
        elif context and (labelled := _LABELLED.fullmatch(line.rstrip())):
            _label(context, labelled[1].lower(), labelled[2].strip())
    _keep(context, held)
    if context:
        yield context


def _keep(context: _Context | None, lines: list[str]) -> None:
    text = "\n".join(lines)
    # The data of an image is one long run without blanks; it holds no sentence.
    if context and text.strip() and (len(text) < _SHORT_RESULT or " " in text.strip()):
        context.texts.append(text)


def _label(context: _Context, label: str, value: str) -> None:
    value = value.strip("`")
    if "path" in label and not context.path:
        context.path = value
    elif "data source" in label:
        context.name = value
    elif "location" in label:
        context.place = one_line(value, _MAXIMUM_NAME)


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
            return Reading((Document(self._function, (Text("\n\n".join(self._rows)),)),), notes=notes)
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
        if contexts := read_contexts(text):
            self._documents += contexts
            return
        name = one_line(around.title or around.address or self._function, _MAXIMUM_NAME)
        if around.address and (snippet or around.is_snippet):
            # Not among the sources, which are pages that were read: the address itself has to stand in the answer.
            name = one_line(f"{name}, {around.address}" if name != around.address else name, 2 * _MAXIMUM_NAME)
            self._documents.append(Document(name, (Text(text),)))
        else:
            self._documents.append(Document(name, (Text(text),), _without_fragment(around.address)))

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
