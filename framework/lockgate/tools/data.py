"""Tools that arrive as data: a JSON Schema from somebody else and a callable. Their schema is admitted once.

A stranger's schema can fetch addresses through references, refer to itself, and backtrack in patterns; a schema that
could is refused at the door with the reason, never at a call.
"""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from lockgate.errors import ArgumentRefused, UsageError
from lockgate.tools.arguments import read_object
from lockgate.tools.base import Tool
from lockgate.tools.context import ToolContext
from lockgate.tools.definition import ToolDefinition
from lockgate.tools.function import as_result
from lockgate.tools.patterns import pattern_problem
from lockgate.tools.result import ToolResult, to_compact_json
from lockgate.tools.schema import without_nulls
from lockgate.tools.wording import Refusals

MAX_SCHEMA_CHARACTERS = 65_536
MAX_SCHEMA_DEPTH = 24
MAX_SCHEMA_NODES = 5_000
MAX_PATTERNED_CHARACTERS = 2_000
"""Longest text that is held against a stranger's pattern."""

_FORBIDDEN = ("$dynamicRef", "$recursiveRef", "$dynamicAnchor", "$recursiveAnchor", "$anchor", "$vocabulary")
_NAMED = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
_LITERAL = frozenset({"enum", "const", "default", "examples"})


class SchemaRefused(UsageError):
    """A schema that arrived as data cannot be admitted. The message says where and why."""


class _Admission:
    """Copies a schema with local references put in their place, within bounds."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._nodes = 0

    def copy(self, node: Any, place: str, depth: int, open_refs: tuple[str, ...]) -> Any:
        self._nodes += 1
        if depth > MAX_SCHEMA_DEPTH or self._nodes > MAX_SCHEMA_NODES:
            raise SchemaRefused(
                f"The schema is too large at {place}: at most {MAX_SCHEMA_DEPTH} levels and {MAX_SCHEMA_NODES} parts."
            )
        if isinstance(node, list):
            return [self.copy(item, f"{place}/{i}", depth + 1, open_refs) for i, item in enumerate(node)]
        if not isinstance(node, Mapping):
            return node
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
                copied[key] = value
            elif key in _NAMED and isinstance(value, Mapping):
                self._check_names(key, value, here)
                copied[key] = {str(n): self.copy(v, f"{here}/{n}", depth + 1, open_refs) for n, v in value.items()}
            else:
                if key == "pattern" and (problem := pattern_problem(value)):
                    raise SchemaRefused(f"{here} cannot be used: {problem}")
                copied[key] = self.copy(value, here, depth + 1, open_refs)
        return copied

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
    if not isinstance(schema, Mapping):
        raise SchemaRefused("The parameters must be a JSON Schema object.")
    try:
        size = len(to_compact_json(schema))
    except (TypeError, ValueError, RecursionError):
        raise SchemaRefused("The parameters are no JSON.") from None
    if size > MAX_SCHEMA_CHARACTERS:
        raise SchemaRefused(f"The schema has {size} characters; at most {MAX_SCHEMA_CHARACTERS} are accepted.")
    admitted: dict[str, Any] = _Admission(schema).copy(schema, "", 0, ())
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


def _validator(schema: Mapping[str, Any]) -> Any:
    from jsonschema import Draft202012Validator, validators

    def is_integer(_: Any, value: object) -> bool:
        return isinstance(value, int) and not isinstance(value, bool)

    checker = Draft202012Validator.TYPE_CHECKER.redefine("integer", is_integer)
    extended = validators.extend(Draft202012Validator, type_checker=checker)  # type: ignore[no-untyped-call]  # its stub has no types
    return extended(schema)


Call = Callable[[dict[str, Any], ToolContext], Awaitable[object]]


class DataTool(Tool):
    """A tool whose definition and schema came as data.

    Args:
        definition: Its parameters are admitted here; see `admit_schema`.
        call: Does the work with the checked arguments.

    Raises:
        SchemaRefused: The schema cannot be admitted.
    """

    def __init__(self, definition: ToolDefinition, call: Call) -> None:
        self.definition = replace(definition, parameters=admit_schema(definition.parameters))
        self._call = call
        self._checker = _validator(self.definition.parameters)

    def parse(self, arguments: str) -> dict[str, Any]:
        """Read the arguments and hold them against the schema; null counts as absent where it is not allowed.

        Raises:
            ArgumentRefused: In words the model can correct itself from.
        """
        schema = self.definition.parameters
        values: dict[str, Any] = without_nulls(read_object(arguments), schema)
        refusals = Refusals(schema, values, self.definition.sensitive_arguments)
        try:
            if not _too_long_for_patterns(schema, values, refusals):
                for error in self._checker.iter_errors(values):
                    _note(error, refusals)
        except RecursionError:
            raise ArgumentRefused("The arguments are nested too deeply.") from None
        refusals.raise_first()
        return values

    async def execute(self, arguments: Any, context: ToolContext) -> ToolResult:
        """Call the tool."""
        return as_result(await self._call(arguments, context))


def _too_long_for_patterns(schema: Any, value: Any, refusals: Refusals, path: tuple[str | int, ...] = ()) -> bool:
    if not isinstance(schema, Mapping):
        return False
    if isinstance(value, str) and "pattern" in schema and len(value) > MAX_PATTERNED_CHARACTERS:
        refusals.wrong(path, f"must have at most {MAX_PATTERNED_CHARACTERS} characters")
        return True
    if isinstance(value, dict):
        found = [
            _too_long_for_patterns(schema.get("properties", {}).get(name), item, refusals, (*path, name))
            for name, item in value.items()
        ]
        return any(found)
    if isinstance(value, list):
        items = schema.get("items")
        found = [_too_long_for_patterns(items, item, refusals, (*path, i)) for i, item in enumerate(value)]
        return any(found)
    return False


def _note(error: Any, refusals: Refusals) -> None:
    path = tuple(error.absolute_path)
    if error.validator == "required":
        for name in error.validator_value:
            if isinstance(error.instance, dict) and name not in error.instance:
                refusals.missing((*path, name))
    elif error.validator == "additionalProperties":
        known = error.schema.get("properties", {})
        for name in error.instance:
            if name not in known:
                refusals.unknown((*path, name))
    elif path:
        refusals.wrong(path)
    else:
        raise ArgumentRefused(f"The arguments do not fit the schema: {error.validator} is not met.")


class ToolDefinitionSource(Protocol):
    """Where tools come from that are not registered one by one, such as a server that lists them."""

    name: str

    async def tools(self) -> Sequence[Tool]:
        """Return the tools there are now."""
