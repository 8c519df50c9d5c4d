"""Copying what a plugin contributes into plain values of our own.

A stranger's object may answer differently each time it is read, change later, or raise. So each part is read once,
checked, and rebuilt: an exact ``str``, a tuple, a ``dict`` of JSON. Reading runs the stranger's code: call these
functions where a deadline holds and everything raised is caught (`lockgate.registry.reading`).
"""

import itertools
import math
from collections.abc import Iterator, Mapping
from typing import Any

from lockgate.tools.definition import ToolFunction
from lockgate.tools.schema import narrowed
from lockgate.tools.texts import ToolTexts

MAX_NAMES = 10_000
"""How many names one list may hold; a list without an end is told by it."""
MAX_LEVELS = 60
"""Levels of a schema; one that refers to itself is told by it."""
MAX_NODES = 200_000
"""Values in one schema, all levels together."""

_UNIONS = ("anyOf", "oneOf", "allOf")
_TABLES = ("properties", "$defs", "definitions", "patternProperties")
_DESCRIBED = frozenset({"properties", "$ref", "enum", "const", *_UNIONS})


class Unfit(ValueError):
    """A value does not fit. The message says what arrived and what would be right."""


def is_a(value: object, *kinds: type) -> bool:
    """Tell whether a value is of a kind, whatever its ``__class__`` claims."""
    return issubclass(type(value), kinds)


def shown(value: object) -> str:
    """Name a value in a message without running its code."""
    if is_a(value, str):
        plain = str.__str__(value)
        return f"the text {plain if len(plain) <= 60 else plain[:57] + '...'!r}"
    if value is None or type(value) in (int, float, bool):
        return repr(value)
    return f"an object of type {type(value).__name__}"


def text(value: object, what: str) -> str:
    """Return a text as an exact ``str``.

    Raises:
        Unfit: It is no text, or one that UTF-8 cannot write.
    """
    if not is_a(value, str):
        raise Unfit(f"its {what} is {shown(value)}; right is a text (str)")
    plain: str = str.__str__(value)
    try:
        plain.encode()
    except UnicodeEncodeError:
        raise Unfit(f"its {what} holds a lone surrogate; right is a text that UTF-8 can write") from None
    return plain


def names(value: object, what: str) -> tuple[str, ...]:
    """Return a tuple of exact texts, made of a tuple or list.

    Raises:
        Unfit: It is a single text, of which Python would make letters, or something else.
    """
    if is_a(value, str):
        single = text(value, what)
        raise Unfit(f"its {what} is the text {single!r}; right is a tuple, written ({single!r},) with a comma")
    return tuple(text(item, f"{what}: one item") for item in items(value, what))


def items(value: object, what: str) -> tuple[Any, ...]:
    """Return the items of a tuple or list.

    Raises:
        Unfit: It is neither, or has more than `MAX_NAMES` items.
    """
    if not is_a(value, tuple, list):
        raise Unfit(f"its {what} is {shown(value)}; right is a tuple")
    given: Any = value
    found = tuple(itertools.islice(iter(given), MAX_NAMES + 1))
    if len(found) > MAX_NAMES:
        raise Unfit(f"its {what} has more than {MAX_NAMES:,} items")
    return found


def flag(value: object, what: str) -> bool:
    """Return a boolean.

    Raises:
        Unfit: It is none.
    """
    if value is True or value is False:
        return value is True
    raise Unfit(f"its {what} is {shown(value)}; right is True or False")


class _Json:
    """Copies one JSON value; counts what it meets."""

    def __init__(self, what: str) -> None:
        self._what, self._nodes = what, 0

    def copy(self, value: Any, levels: int = MAX_LEVELS) -> Any:
        self._nodes += 1
        if not levels or self._nodes > MAX_NODES:
            raise Unfit(f"its {self._what} are deeper than {MAX_LEVELS} levels, larger than {MAX_NODES:,} values, "
                        "or refer to themselves")  # fmt: skip
        if value is None or value is True or value is False:
            return value
        if is_a(value, str):
            return text(value, self._what)
        if is_a(value, int):
            return int.__index__(value)
        if is_a(value, float) and math.isfinite(value):
            return float.__pos__(value)
        if is_a(value, list, tuple):
            return [self.copy(item, levels - 1) for item in itertools.islice(iter(value), MAX_NODES)]
        if is_a(value, dict) or isinstance(value, Mapping):
            pairs = itertools.islice(iter(value.items()), MAX_NODES)
            return {text(key, f"{self._what}: one name"): self.copy(item, levels - 1) for key, item in pairs}
        raise Unfit(f"its {self._what} hold {shown(value)}, which JSON cannot write; right are texts, numbers, "
                    "True, False, None, lists and dicts")  # fmt: skip


def schema_of_object(value: object, what: str = "parameters") -> dict[str, Any]:
    """Return a deep copy of a JSON Schema of an object, so that a later change of the original has no effect.

    Raises:
        Unfit: It is no such schema.
    """
    if not (is_a(value, dict) or isinstance(value, Mapping)):
        raise Unfit(f"its {what} are no JSON Schema of an object but {shown(value)}")
    copied: dict[str, Any] = _Json(what).copy(value)
    if copied.get("type", "object") != "object":
        raise Unfit(f"its {what} are no JSON Schema of an object: the type is {copied['type']!r}")
    for _ in subschemas(copied, what):
        pass
    return copied


def subschemas(schema: Any, what: str = "parameters") -> Iterator[dict[str, Any]]:
    """Yield a schema and every schema in it.

    Raises:
        Unfit: A keyword that is read here has a value of the wrong kind.
    """
    if isinstance(schema, bool):
        return
    if not isinstance(schema, dict):
        raise Unfit(f"its {what} are no JSON Schema: {shown(schema)} stands where a schema is needed")
    yield schema
    kind = schema.get("type", "object")
    if not isinstance(kind, str) and not (isinstance(kind, list) and all(isinstance(one, str) for one in kind)):
        raise _wrong(what, "type", kind, "a text or a list of texts")
    for word in ("required", "enum", *_UNIONS):
        if not isinstance(schema.get(word, []), list):
            raise _wrong(what, word, schema[word], "a list")
    if not all(isinstance(name, str) for name in schema.get("required", [])):
        raise _wrong(what, "required", schema["required"], "a list of names")
    inner: list[Any] = [branch for word in _UNIONS for branch in schema.get(word, [])]
    for word in _TABLES:
        table = schema.get(word, {})
        if not isinstance(table, dict):
            raise _wrong(what, word, table, "a table of schemas")
        inner += table.values()
    for word in ("items", "additionalProperties", "not"):
        if word in schema:
            found = schema[word]
            inner += found if isinstance(found, list) and word == "items" else [found]
    for found in inner:
        yield from subschemas(found, what)


def _wrong(what: str, word: str, value: object, right: str) -> Unfit:
    return Unfit(f"its {what} are no JSON Schema: {word!r} is {shown(value)}; right is {right}")


def sensitive_names(value: object, schema: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the names of sensitive arguments. A misspelt one would be shown in clear, so each has to be there.

    A schema with an object of free names may hold a name that it does not list.

    Raises:
        Unfit: They are no tuple of texts, or the schema has no property of that name.
    """
    found = names(value, "sensitive_arguments")
    if not found:
        return ()
    known: set[str] = set()
    free = False
    for part in subschemas(schema):
        known.update(part.get("properties", {}))
        free = free or (part is not schema and _has_free_names(part)) or _opens(part)
    folded = {_folded(name): name for name in known}
    for name in found:
        if name in known:
            continue
        near = folded.get(_folded(name))
        if near is not None or not free:
            right = f"the name is {near!r}" if near else f"known are {', '.join(sorted(known)) or 'none'}"
            raise Unfit(f"its sensitive_arguments name {name!r}, which its parameters do not have; {right}")
    return found


def _folded(name: str) -> str:
    return "".join(letter for letter in name.casefold() if letter.isalnum())


def _opens(schema: Mapping[str, Any]) -> bool:
    return schema.get("additionalProperties", False) is not False or bool(schema.get("patternProperties"))


def _has_free_names(schema: Mapping[str, Any]) -> bool:
    """Tell whether a schema takes an object of any names because it says nothing of them."""
    kind = schema.get("type", "object")
    takes_objects = kind == "object" or "object" in kind
    return takes_objects and "additionalProperties" not in schema and _DESCRIBED.isdisjoint(schema)


def texts(value: object) -> ToolTexts:
    """Return a copy of names for people.

    Raises:
        Unfit: It is no `ToolTexts`, or a part of it is no text.
    """
    if not is_a(value, ToolTexts):
        raise Unfit(f"it gave {shown(value)} and no ToolTexts")
    given: Any = value
    fields = {}
    for name, pair in _table(given.fields, "fields").items():
        label = items(pair, "fields")
        if len(label) != 2:
            raise Unfit(f"its fields give {name!r} {len(label)} texts; right are two: a label and a description")
        fields[name] = (text(label[0], "fields"), text(label[1], "fields"))
    return ToolTexts(
        text(given.name, "name"), text(given.description, "description"), text(given.icon, "icon"), fields,
        *({key: text(item, word) for key, item in _table(getattr(given, word), word).items()}
          for word in ("groups", "options")),
    )  # fmt: skip


def _table(value: Any, what: str) -> dict[str, Any]:
    if not (is_a(value, dict) or isinstance(value, Mapping)):
        raise Unfit(f"its {what} are {shown(value)}; right is a table (dict)")
    pairs = itertools.islice(iter(value.items()), MAX_NAMES)
    return {text(key, f"{what}: one name"): item for key, item in pairs}


def function(value: object, registered: Mapping[str, Any]) -> tuple[ToolFunction | None, bool]:
    """Return a copy of what a tool offers in a request, its parameters limited to its choices.

    Args:
        value: What the tool answered; None when it has nothing to offer.
        registered: The parameters that are used where those of the answer are no schema of an object.

    Returns:
        The copy, and whether the registered parameters had to be used.

    Raises:
        Unfit: It is no `ToolFunction`, or its parts do not fit together.
    """
    if value is None:
        return None, False
    if not is_a(value, ToolFunction):
        raise Unfit(f"it gave {shown(value)} and no ToolFunction")
    given: Any = value
    description = text(given.description, "description")
    parameters, fell_back = dict(registered), False
    try:
        parameters = schema_of_object(given.parameters)
    except Unfit:
        fell_back = True
    choices = {name: _choice(name, values) for name, values in _table(given.choices, "choices").items()}
    if strangers := [name for name in choices if name not in parameters.get("properties", {})]:
        raise Unfit(f"its choices name {strangers[0]!r}, which its parameters do not have")
    if choices:
        parameters = schema_of_object(narrowed(parameters, choices))
    return ToolFunction(description, parameters, choices), fell_back


def _choice(name: str, values: object) -> tuple[str, ...]:
    if is_a(values, str):
        return names(values, f"choices for {name!r}")
    return tuple(text(str(item), "choices") for item in items(values, f"choices for {name!r}"))
