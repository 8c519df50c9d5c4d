"""The canonical JSON Schema of arguments: plain, inlined, without null branches, titles or defaults.

An optional argument is simply absent from ``required``. A provider that wants another form translates away from this
one in its own adapter.
"""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

Schema = dict[str, Any]


class _Canonical(GenerateJsonSchema):
    """Pydantic's generator less what a model has no use for."""

    def nullable_schema(self, schema: core_schema.NullableSchema) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])

    def field_title_should_be_set(self, schema: Any) -> bool:
        del schema
        return False


def canonical_schema(model: type[BaseModel]) -> Schema:
    """Return the schema of an arguments model: ``type``, ``properties``, ``required``, ``additionalProperties``.

    Raises:
        TypeError: The model refers to itself; a schema for tools has to be finite.
    """
    raw = model.model_json_schema(schema_generator=_Canonical)
    definitions = raw.pop("$defs", {})
    schema = _inlined(raw, definitions, ())
    return {
        "type": "object",
        "properties": schema.get("properties", {}),
        "required": schema.get("required", []),
        "additionalProperties": False,
    }


def _inlined(node: Any, definitions: Mapping[str, Any], open_names: tuple[str, ...]) -> Any:
    if isinstance(node, list):
        return [_inlined(item, definitions, open_names) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        name = str(node["$ref"]).rsplit("/", 1)[-1]
        if name in open_names:
            raise TypeError(f"The arguments refer to themselves through {name}; a tool's schema has to be finite.")
        target = _inlined(definitions[name], definitions, (*open_names, name))
        rest = {key: value for key, value in node.items() if key != "$ref"}
        return {**target, **rest}
    cleaned: Schema = {}
    for key, value in node.items():
        if key == "properties":
            cleaned[key] = {name: _inlined(item, definitions, open_names) for name, item in value.items()}
        elif key == "const":
            cleaned["enum"] = [value]
        elif key not in ("title", "default"):
            cleaned[key] = _inlined(value, definitions, open_names)
    return cleaned


def allows_null(schema: Any) -> bool:
    """Tell whether a schema itself takes null, so that a null is a value and not an absent argument."""
    if not isinstance(schema, Mapping):
        return schema is True
    kind = schema.get("type")
    if kind == "null" or (isinstance(kind, list) and "null" in kind):
        return True
    if "enum" in schema:
        return None in schema["enum"]
    for union in ("anyOf", "oneOf"):
        if union in schema:
            return any(allows_null(branch) for branch in schema[union])
    return kind is None and "properties" not in schema and "items" not in schema and "const" not in schema


def without_nulls(value: Any, schema: Any) -> Any:
    """Drop members that are null where the schema does not take null: for a model, null means left out.

    Nothing else is changed; a null among the items of a list stays and is refused later.
    """
    if not isinstance(schema, Mapping):
        return value
    if isinstance(value, dict):
        properties = schema.get("properties")
        if not isinstance(properties, Mapping):
            return value
        return {
            name: without_nulls(item, properties.get(name))
            for name, item in value.items()
            if item is not None or name not in properties or allows_null(properties[name])
        }
    if isinstance(value, list) and "items" in schema:
        return [without_nulls(item, schema["items"]) for item in value]
    return value


def narrowed(schema: Mapping[str, Any], choices: Mapping[str, tuple[str, ...]]) -> Schema:
    """Return the schema with the given arguments limited to choices; the items where an argument is a list.

    Raises:
        KeyError: A choice names an argument the schema does not have.
    """
    properties = dict(schema.get("properties", {}))
    for name, values in choices.items():
        argument = dict(properties[name])
        if argument.get("type") == "array":
            argument["items"] = {**argument.get("items", {}), "enum": list(values)}
        else:
            argument["enum"] = list(values)
        properties[name] = argument
    return {**schema, "properties": properties}
