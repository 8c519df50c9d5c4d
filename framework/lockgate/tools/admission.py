"""Schemas of arguments that arrive as data: admitted once, made plain and finite, or refused with the reason.

A stranger's schema can fetch addresses through references, refer to itself, and backtrack in patterns; a schema that
could is refused at the door, never at a call.
"""

import re
from collections.abc import Mapping
from typing import Any

from lockgate.tools.members import SchemaRefused, refusing
from lockgate.tools.patterns import pattern_problem
from lockgate.tools.plain import is_table, json_copy
from lockgate.tools.result import to_compact_json

MAX_SCHEMA_CHARACTERS = 65_536
MAX_SCHEMA_DEPTH = 24
MAX_SCHEMA_NODES = 5_000
_MAX_LEVELS = 200
"""Levels up to which a schema is read at all."""

_FORBIDDEN = ("$dynamicRef", "$recursiveRef", "$dynamicAnchor", "$recursiveAnchor", "$anchor", "$vocabulary")
_NAMED = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
_LITERAL = frozenset({"enum", "const", "default", "examples"})


class _Admission:
    """Copies a schema with local references put in their place, within bounds."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._nodes = self._characters = 0

    def copy(self, node: Any, place: str, depth: int, open_refs: tuple[str, ...]) -> Any:
        self._nodes += 1
        if depth > MAX_SCHEMA_DEPTH or self._nodes > MAX_SCHEMA_NODES:
            raise SchemaRefused(
                f"The schema is too large at {place}: at most {MAX_SCHEMA_DEPTH} levels and {MAX_SCHEMA_NODES} parts."
            )
        if isinstance(node, list):
            return [self.copy(item, f"{place}/{i}", depth + 1, open_refs) for i, item in enumerate(node)]
        if not isinstance(node, Mapping):
            return self._counted(node)
        if "$ref" in node:
            return self._referenced(node, place, depth, open_refs)
        copied: dict[str, Any] = {}
        for key, value in node.items():
            here = f"{place}/{key}"
            if key in _FORBIDDEN:
                raise SchemaRefused(f"{here} is not supported; use plain local references.")
            if key in ("$id", "$schema", "$comment", "$defs", "definitions"):
                continue
            if key in _LITERAL:
                copied[key] = self._counted(value)
            elif key in _NAMED and isinstance(value, Mapping):
                self._check_names(key, value, here)
                copied[key] = {str(n): self.copy(v, f"{here}/{n}", depth + 1, open_refs) for n, v in value.items()}
            else:
                if key == "pattern" and (problem := pattern_problem(value)):
                    raise SchemaRefused(f"{here} cannot be used: {problem}")
                copied[key] = self.copy(value, here, depth + 1, open_refs)
        return copied

    def _counted(self, value: Any) -> Any:
        """Return a value as it is. What is referred to many times is sent many times, so it counts each time."""
        self._characters += len(to_compact_json(value))
        if self._characters > MAX_SCHEMA_CHARACTERS:
            raise SchemaRefused(
                f"The schema has more than {MAX_SCHEMA_CHARACTERS} characters once its references are in their place."
            )
        return value

    def _check_names(self, key: str, value: Mapping[str, Any], here: str) -> None:
        if key == "patternProperties":
            for pattern in value:
                if problem := pattern_problem(pattern):
                    raise SchemaRefused(f"{here} cannot be used: {problem}")

    def _referenced(self, node: Mapping[str, Any], place: str, depth: int, open_refs: tuple[str, ...]) -> Any:
        reference = node["$ref"]
        if not isinstance(reference, str) or not reference.startswith("#"):
            raise SchemaRefused(f"{place}/$ref leads outside the schema; only local references are followed.")
        if reference in open_refs or reference == "#":
            raise SchemaRefused(f"{place}/$ref refers to itself; a tool's schema has to be finite.")
        target: Any = self._root
        for part in reference.lstrip("#").strip("/").split("/"):
            name = part.replace("~1", "/").replace("~0", "~")
            if not isinstance(target, Mapping) or name not in target:
                raise SchemaRefused(f"{place}/$ref leads nowhere: {reference[:80]!r}.")
            target = target[name]
        copied = self.copy(target, place, depth + 1, (*open_refs, reference))
        rest = self.copy({key: value for key, value in node.items() if key != "$ref"}, place, depth + 1, open_refs)
        return {**copied, **rest} if isinstance(copied, dict) else copied


def admit_schema(schema: object) -> dict[str, Any]:
    """Check a schema from outside and return it plain and finite, local references put in their place.

    Raises:
        SchemaRefused: It is no object schema, too large, too deep, refers outside or to itself, has a pattern that
            could take very long, or is no valid JSON Schema.
    """
    if not is_table(schema):
        raise SchemaRefused("The parameters must be a JSON Schema object.")
    with refusing("the schema"):
        plain = json_copy(schema, "parameters", levels=_MAX_LEVELS)
    size = len(to_compact_json(plain))
    if size > MAX_SCHEMA_CHARACTERS:
        raise SchemaRefused(f"The schema has {size} characters; at most {MAX_SCHEMA_CHARACTERS} are accepted.")
    admitted: dict[str, Any] = _Admission(plain).copy(plain, "", 0, ())
    if admitted.setdefault("type", "object") != "object":
        raise SchemaRefused(f"The schema's type must be 'object', not {admitted['type']!r}.")
    admitted.setdefault("properties", {})
    admitted.setdefault("required", [])
    admitted.setdefault("additionalProperties", False)
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError

    try:
        Draft202012Validator.check_schema(admitted)
    except SchemaError as error:
        place = "/".join(str(part) for part in error.absolute_path)
        raise SchemaRefused(f"The schema is not valid at /{place}: {error.message[:200]}") from None
    except re.error as error:
        raise SchemaRefused(f"The schema has a pattern that is no regular expression: {error}") from None
    return admitted
