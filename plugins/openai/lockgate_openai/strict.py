"""From a tool's canonical schema to the dialect of OpenAI's strict mode.

Strict mode wants every property required and every object closed, so an argument that may be left out has to allow
null instead. Nothing is lost: a null for an optional argument counts as absent. A schema that strict mode cannot
express is left alone, and its function is offered without it.

Source: OpenAI's guide Structured Outputs, section Supported schemas, as of November 2026.
"""

from collections.abc import Mapping
from typing import Any

MAX_PROPERTIES = 5_000
MAX_LEVELS = 10
MAX_NAME_CHARACTERS = 120_000
MAX_ENUM_VALUES = 1_000
MAX_LONG_ENUM_CHARACTERS = 15_000
_LONG_ENUM = 250
_MAX_STEPS = 20_000  # an object used again and again inside itself counts each time it is met
_MAX_DEPTH = 3 * MAX_LEVELS  # unions nest too, without being levels

_FORMATS = frozenset({"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"})
_TYPES = frozenset({"string", "number", "integer", "boolean", "object", "array", "null"})
_PLAIN = frozenset({
    "type", "description", "title", "enum", "const", "pattern", "format", "multipleOf", "minimum", "maximum",
    "exclusiveMinimum", "exclusiveMaximum", "minItems", "maxItems", "minLength", "maxLength",
})  # fmt: skip
_STRUCTURE = frozenset({"properties", "required", "additionalProperties", "items", "anyOf", "$ref", "$defs"})
_REMARKS = frozenset({"$schema", "$comment", "examples", "deprecated", "readOnly", "writeOnly"})
"""Keywords that check nothing: dropped rather than refused by the host."""

Schema = Mapping[str, Any]


class _NotStrict(Exception):
    """Strict mode cannot express the schema."""


def to_strict(schema: Schema) -> Schema | None:
    """Return a schema in strict form, or None when strict mode cannot express it.

    Only what changes is copied; a schema that is strict already is returned itself.
    """
    if schema.get("type") != "object" or not isinstance(schema.get("properties"), Mapping):
        return None
    try:
        conversion = _Conversion(schema.get("$defs"))
        return conversion.convert(schema, levels=0, depth=0, is_root=True)
    except _NotStrict:
        return None


class _Conversion:
    """One walk through a schema; counts what the host limits."""

    def __init__(self, definitions: object) -> None:
        self._definitions: Mapping[str, object] = definitions if isinstance(definitions, Mapping) else {}
        self._steps = self._properties = self._characters = self._enum_values = 0

    def convert(self, schema: object, *, levels: int, depth: int, is_root: bool = False) -> Schema:
        """Return a schema and all below it in strict form, the very object when nothing changes."""
        self._steps += 1
        if not isinstance(schema, Mapping) or depth > _MAX_DEPTH or self._steps > _MAX_STEPS:
            raise _NotStrict
        schema = _without_remarks(schema)
        if not schema.keys() <= _PLAIN | _STRUCTURE or ("$defs" in schema and not is_root):
            raise _NotStrict
        if "$ref" in schema:
            return self._reference(schema)
        changed: dict[str, Any] = {}
        if "anyOf" in schema:
            changed["anyOf"] = self._union(schema, levels, depth, is_root)
        else:
            self._check_type(schema)
            self._check_values(schema)
        types = _types_of(schema)
        if ("object" in types or "array" in types) and levels >= MAX_LEVELS:
            raise _NotStrict
        if "object" in types:
            changed |= self._object(schema, levels, depth)
        if "array" in types:
            changed["items"] = self.convert(schema.get("items"), levels=levels + 1, depth=depth + 1)
        if is_root and "$defs" in schema:
            changed["$defs"] = self._all(schema["$defs"], levels, depth)
        return _with(schema, changed)

    def _object(self, schema: Schema, levels: int, depth: int) -> dict[str, Any]:
        properties = schema.get("properties")
        if not isinstance(properties, Mapping) or schema.get("additionalProperties", False) is not False:
            raise _NotStrict  # a map with keys of the model's choice
        required = schema.get("required", [])
        if not isinstance(required, list) or not set(map(str, required)) <= properties.keys():
            raise _NotStrict
        self._count(properties)
        converted: dict[str, Any] = {}
        for name, value in properties.items():
            below = self.convert(value, levels=levels + 1, depth=depth + 1)
            converted[name] = below if name in required else self._nullable(below)
        return {
            "properties": _same_or_new(properties, converted),
            "required": required if len(set(required)) == len(properties) else list(properties),
            "additionalProperties": False,
        }

    def _all(self, schemas: object, levels: int, depth: int) -> Mapping[str, Any]:
        if not isinstance(schemas, Mapping):
            raise _NotStrict
        self._characters += sum(map(len, schemas))
        converted = {name: self.convert(value, levels=levels, depth=depth + 1) for name, value in schemas.items()}
        return _same_or_new(schemas, converted)

    def _union(self, schema: Schema, levels: int, depth: int, is_root: bool) -> list[Any]:
        branches = schema["anyOf"]
        beside = schema.keys() - {"anyOf", "description", "title"}
        if is_root or not isinstance(branches, list) or not branches or beside:
            raise _NotStrict
        converted = [self.convert(branch, levels=levels, depth=depth + 1) for branch in branches]
        return branches if all(new is old for new, old in zip(converted, branches, strict=True)) else converted

    def _reference(self, schema: Schema) -> Schema:
        """Check a reference. It is not followed, so a schema that refers to itself ends like any other."""
        target = schema["$ref"]
        known = target == "#" or (
            isinstance(target, str)
            and target.startswith("#/$defs/")
            and target.removeprefix("#/$defs/") in self._definitions
        )
        beside = schema.keys() - {"$ref"}
        if not known or not beside <= {"description", "title"}:
            raise _NotStrict
        if not beside:
            return schema
        # A reference has to stand alone; its description may stand beside a union of one.
        return {"anyOf": [{"$ref": target}], **{name: schema[name] for name in schema if name in beside}}

    def _nullable(self, schema: Schema) -> Schema:
        """Allow null, in the plainest way the schema's form has."""
        if "anyOf" in schema:
            branches = schema["anyOf"]
            if any("null" in _types_of(branch) for branch in branches):
                return schema
            return _with(schema, {"anyOf": [*branches, {"type": "null"}]})
        if "$ref" in schema or "const" in schema:
            return {"anyOf": [schema, {"type": "null"}]}
        types = _types_of(schema)
        changed: dict[str, Any] = {}
        if "null" not in types:
            changed["type"] = [*types, "null"]
        if "enum" in schema and None not in schema["enum"]:
            changed["enum"] = [None, *schema["enum"]]
        return _with(schema, changed)

    def _check_type(self, schema: Schema) -> None:
        types = _types_of(schema)
        if not types or not set(types) <= _TYPES:
            raise _NotStrict
        if schema.get("format", "date") not in _FORMATS:
            raise _NotStrict
        if "object" not in types and "properties" in schema:
            raise _NotStrict

    def _check_values(self, schema: Schema) -> None:
        values = schema.get("enum", [])
        if not isinstance(values, list) or ("enum" in schema and not values):
            raise _NotStrict
        size = sum(len(value) for value in values if isinstance(value, str))
        if len(values) > _LONG_ENUM and size > MAX_LONG_ENUM_CHARACTERS:
            raise _NotStrict
        self._enum_values += len(values)
        self._characters += size + len(str(schema.get("const", "")))
        if self._enum_values > MAX_ENUM_VALUES or self._characters > MAX_NAME_CHARACTERS:
            raise _NotStrict

    def _count(self, properties: Mapping[str, object]) -> None:
        self._properties += len(properties)
        self._characters += sum(map(len, properties))
        if self._properties > MAX_PROPERTIES or self._characters > MAX_NAME_CHARACTERS:
            raise _NotStrict


def _types_of(schema: object) -> list[str]:
    """Return the types a schema names; an untyped one has none, and strict mode does not take it."""
    kind = schema.get("type") if isinstance(schema, Mapping) else None
    if isinstance(kind, str):
        return [kind]
    return [name for name in kind if isinstance(name, str)] if isinstance(kind, list) else []


def _without_remarks(schema: Schema) -> Schema:
    if schema.keys().isdisjoint(_REMARKS):
        return schema
    return {name: value for name, value in schema.items() if name not in _REMARKS}


def _with(schema: Schema, changed: Mapping[str, Any]) -> Schema:
    """Return the schema with members replaced; itself when all of them are what they were."""
    if all(name in schema and schema[name] is value for name, value in changed.items()):
        return schema
    return {**schema, **changed}


def _same_or_new(old: Mapping[str, Any], new: dict[str, Any]) -> Mapping[str, Any]:
    return old if all(new[name] is old[name] for name in old) else new
