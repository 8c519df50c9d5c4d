"""Copying what a plugin contributes about its tools: schemas, names for people, and what a request is offered.

The single parts are copied by `lockgate.tools.plain`. Reading runs the stranger's code: call these functions where a
deadline holds and everything raised is caught (`lockgate.registry.reading`).
"""

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

from lockgate.tools.definition import ToolFunction
from lockgate.tools.plain import MAX_NAMES, Unfit, flag, is_a, is_table, items, json_copy, names, shown, text
from lockgate.tools.schema import narrowed
from lockgate.tools.texts import ToolTexts

__all__ = [
    "MAX_NAMES",
    "Unfit",
    "flag",
    "function",
    "is_a",
    "items",
    "names",
    "schema_of_object",
    "sensitive_names",
    "shown",
    "subschemas",
    "text",
    "texts",
]

_UNIONS = ("anyOf", "oneOf", "allOf")
_TABLES = ("properties", "$defs", "definitions", "patternProperties")
_DESCRIBED = frozenset({"properties", "$ref", "enum", "const", *_UNIONS})


def schema_of_object(value: object, what: str = "parameters") -> dict[str, Any]:
    """Return a deep copy of a JSON Schema of an object, so that a later change of the original has no effect.

    Raises:
        Unfit: It is no such schema.
    """
    if not is_table(value):
        raise Unfit(f"its {what} are no JSON Schema of an object but {shown(value)}")
    copied: dict[str, Any] = json_copy(value, what)
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
    if not is_table(value):
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
