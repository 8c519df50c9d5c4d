"""Which JSON Schemas OpenAI takes for a function: the lenient rules, and those of strict mode.

Source: OpenAI's guide to structured outputs, "Supported schemas" (values of 2026), and its error messages as
users report them. Anthropic's rules differ and do not belong here.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

TYPES = ("string", "number", "integer", "boolean", "object", "array", "null")

STRICT_KEYWORDS = frozenset({
    "type", "title", "description", "properties", "required", "additionalProperties", "items", "enum",
    "const", "anyOf", "$defs", "definitions", "$ref", "pattern", "format", "minLength", "maxLength",
    "multipleOf", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minItems", "maxItems",
})  # fmt: skip
STRICT_FORMATS = ("date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid")
MOST_PROPERTIES = 5_000
MOST_LEVELS = 10
MOST_STRING_CHARACTERS = 120_000
MOST_ENUM_VALUES = 1_000
LARGE_ENUM = 250
LARGE_ENUM_CHARACTERS = 15_000


class InvalidSchema(Exception):
    """A schema that the host does not take; the text says where and why."""


@dataclass(frozen=True, slots=True)
class _Place:
    """One schema inside another, with the way to it."""

    schema: dict[str, Any]
    context: tuple[str, ...]
    level: int

    def refuse(self, why: str) -> InvalidSchema:
        return InvalidSchema(f"In context=({', '.join(repr(step) for step in self.context)}), {why}")


def check_parameters(schema: object) -> None:
    """Check the parameters of a function that is not strict.

    Raises:
        InvalidSchema: for a schema whose root is no object, or that is no schema.
    """
    for _place in _walk_root(schema):
        pass


def check_strict_parameters(schema: object) -> None:
    """Check the parameters of a strict function.

    Raises:
        InvalidSchema: for the first rule of strict mode that is broken.
    """
    properties = characters = values = 0
    for place in _walk_root(schema):
        _check_strict(place, schema)
        properties += len(place.schema.get("properties", {}))
        characters += sum(len(text) for text in _counted_strings(place.schema))
        values += len(place.schema.get("enum", ()))
    for what, count, most in (
        ("object properties", properties, MOST_PROPERTIES),
        ("characters in names, enum and const", characters, MOST_STRING_CHARACTERS),
        ("enum values", values, MOST_ENUM_VALUES),
    ):
        if count > most:
            raise InvalidSchema(f"the schema has {count} {what}; at most {most} are allowed")


def _walk_root(schema: object) -> Iterator[_Place]:
    if not isinstance(schema, dict):
        raise InvalidSchema(f"{schema!r:.60} is not of type 'object'")
    if schema.get("type") != "object":
        raise InvalidSchema(
            f"schema must be a JSON Schema of 'type: \"object\"', got 'type: {schema.get('type')!r:.40}'"
        )
    yield from _walk(_Place(schema, (), 1))


def _walk(place: _Place) -> Iterator[_Place]:
    """This schema and all within it, each checked for being a schema at all."""
    _check_form(place)
    yield place
    schema = place.schema
    for keyword in ("properties", "$defs", "definitions"):
        level = place.level + 1 if keyword == "properties" else 1
        for name, inner in schema.get(keyword, {}).items():
            yield from _walk(_inside(place, inner, level, keyword, name))
    for keyword in ("anyOf", "oneOf", "allOf"):
        for number, inner in enumerate(schema.get(keyword, ())):
            yield from _walk(_inside(place, inner, place.level, keyword, str(number)))
    if "items" in schema:
        yield from _walk(_inside(place, schema["items"], place.level + 1, "items"))
    if isinstance(schema.get("additionalProperties"), dict):
        inner = schema["additionalProperties"]
        yield from _walk(_inside(place, inner, place.level + 1, "additionalProperties"))


def _inside(place: _Place, schema: object, level: int, *steps: str) -> _Place:
    if not isinstance(schema, dict):
        raise place.refuse(f"{schema!r:.60} at {'.'.join(steps)} is not a schema")
    return _Place(schema, (*place.context, *steps), level)


def _check_form(place: _Place) -> None:
    """What every schema has to fulfil."""
    schema = place.schema
    types = _types(schema)
    for name in types:
        if name not in TYPES:
            raise place.refuse(f"{name!r:.40} is not a type")
    if "array" in types and "items" not in schema:
        raise place.refuse("array schema missing items")
    required = schema.get("required", [])
    if not isinstance(required, list) or not all(isinstance(name, str) for name in required):
        raise place.refuse("'required' is not a list of names")
    if len(set(required)) != len(required):
        raise place.refuse("'required' has non-unique elements")
    for keyword in ("properties", "$defs", "definitions"):
        if not isinstance(schema.get(keyword, {}), dict):
            raise place.refuse(f"'{keyword}' is not an object of schemas")
    for keyword in ("anyOf", "oneOf", "allOf", "enum"):
        if keyword in schema and (not isinstance(schema[keyword], list) or not schema[keyword]):
            raise place.refuse(f"'{keyword}' is not a list with at least one entry")
    if not isinstance(schema.get("description", ""), str):
        raise place.refuse("'description' is not a string")


def _types(schema: dict[str, Any]) -> list[Any]:
    found = schema.get("type", [])
    return found if isinstance(found, list) else [found]


def _check_strict(place: _Place, root: object) -> None:
    schema = place.schema
    for keyword in schema:
        if keyword not in STRICT_KEYWORDS:
            raise place.refuse(f"'{keyword}' is not permitted.")
    if place.level > MOST_LEVELS and {"object", "array"} & set(_types(schema)):
        raise place.refuse(f"the schema nests more than {MOST_LEVELS} levels")
    if not place.context and "anyOf" in schema:
        raise place.refuse("the root is an object and not 'anyOf'")
    if "$ref" in schema:
        _check_reference(place, root)
        return
    if not any(keyword in schema for keyword in ("type", "enum", "const", "anyOf")):
        raise place.refuse("schema must have a 'type' key.")
    if "object" in _types(schema) or "properties" in schema:
        _check_strict_object(place)
    if "format" in schema and schema["format"] not in STRICT_FORMATS:
        raise place.refuse(f"{schema['format']!r:.40} is not a valid format.")
    texts = [value for value in schema.get("enum", ()) if isinstance(value, str)]
    if len(texts) > LARGE_ENUM and sum(map(len, texts)) > LARGE_ENUM_CHARACTERS:
        raise place.refuse(f"an enum of more than {LARGE_ENUM} values has at most {LARGE_ENUM_CHARACTERS} characters")


def _check_strict_object(place: _Place) -> None:
    if place.schema.get("additionalProperties") is not False:
        raise place.refuse("'additionalProperties' is required to be supplied and to be false.")
    names = list(place.schema.get("properties", {}))
    required = place.schema.get("required")
    missing = [name for name in names if name not in (required or [])]
    if required is None and names:
        missing = names
    if missing:
        raise place.refuse(
            "'required' is required to be supplied and to be an array including every key in properties. "
            f"Missing '{missing[0]}'."
        )
    extra = [name for name in required or [] if name not in names]
    if extra:
        raise place.refuse(f"'required' names '{extra[0]}', which is not in properties.")


def _check_reference(place: _Place, root: object) -> None:
    if len(place.schema) > 1:
        sister = next(keyword for keyword in place.schema if keyword != "$ref")
        raise place.refuse(f"$ref cannot have keywords {{'{sister}'}}.")
    reference = place.schema["$ref"]
    steps = reference.split("/") if isinstance(reference, str) else []
    if not steps or steps[0] != "#":
        raise place.refuse(f"reference {reference!r:.60} does not lead into this schema.")
    found: object = root
    for step in steps[1:]:
        key = step.replace("~1", "/").replace("~0", "~")
        found = found.get(key) if isinstance(found, dict) else None
    if not isinstance(found, dict):
        raise place.refuse(f"reference can only point to definitions of this schema; {reference!r:.60} leads nowhere.")


def _counted_strings(schema: dict[str, Any]) -> Iterator[str]:
    yield from schema.get("properties", {})
    yield from schema.get("$defs", {})
    yield from schema.get("definitions", {})
    yield from (value for value in schema.get("enum", ()) if isinstance(value, str))
    if isinstance(schema.get("const"), str):
        yield schema["const"]
