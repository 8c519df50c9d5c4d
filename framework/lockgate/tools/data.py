"""Tools that arrive as data: a definition and a JSON Schema from somebody else, and a callable."""

from collections.abc import Awaitable, Callable, Container, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol, Self

from lockgate.errors import ArgumentRefused
from lockgate.settings.model import NoSettings, ToolSettings
from lockgate.tools.admission import admit_schema
from lockgate.tools.arguments import read_object
from lockgate.tools.base import Tool
from lockgate.tools.context import ToolContext
from lockgate.tools.definition import ToolDefinition
from lockgate.tools.definition_data import read_definition
from lockgate.tools.function import as_result
from lockgate.tools.result import ToolResult
from lockgate.tools.schema import without_nulls
from lockgate.tools.settings_data import settings_from_data
from lockgate.tools.wording import Refusals

MAX_PATTERNED_CHARACTERS = 2_000
"""Longest text that is held against a stranger's pattern."""


def _validator(schema: Mapping[str, Any]) -> Any:
    from jsonschema import Draft202012Validator, validators

    def is_integer(_: Any, value: object) -> bool:
        return isinstance(value, int) and not isinstance(value, bool)

    checker = Draft202012Validator.TYPE_CHECKER.redefine("integer", is_integer)
    bounded = {"pattern": _bounded_pattern(Draft202012Validator.VALIDATORS["pattern"])}
    extended = validators.extend(Draft202012Validator, bounded, type_checker=checker)  # type: ignore[no-untyped-call]  # its stub has no types
    return extended(schema)


def _bounded_pattern(original: Any) -> Any:
    """Let a pattern meet texts of bounded length only; a longer one does not match."""

    def pattern(validator: Any, expression: str, instance: object, schema: Any) -> Iterator[Any]:
        if isinstance(instance, str) and len(instance) > MAX_PATTERNED_CHARACTERS:
            from jsonschema.exceptions import ValidationError

            yield ValidationError(f"must have at most {MAX_PATTERNED_CHARACTERS} characters")
        else:
            yield from original(validator, expression, instance, schema) or ()

    return pattern


Call = Callable[[dict[str, Any], ToolContext], Awaitable[object]]


class DataTool(Tool):
    """A tool whose definition and schema came as data.

    Args:
        definition: Its parameters are admitted here; see `admit_schema`.
        call: Does the work with the checked arguments.
        settings: The settings model, or a schema of settings as `settings_from_data` reads it.

    Raises:
        SchemaRefused: The schema of the parameters or of the settings cannot be admitted.
    """

    def __init__(
        self,
        definition: ToolDefinition,
        call: Call,
        settings: type[ToolSettings] | Mapping[str, object] = NoSettings,
    ) -> None:
        self.definition = replace(definition, parameters=admit_schema(definition.parameters))
        model = settings if isinstance(settings, type) else settings_from_data(settings)
        self.settings_model = model  # type: ignore[misc]  # a tool of this class is one object
        self._call = call
        self._checker = _validator(self.definition.parameters)

    @classmethod
    def from_data(cls, given: object, call: Call, *, option_sources: Container[str] | None = None) -> Self:
        """Make a tool of an object that arrived as data; see `lockgate.definition_from_data` for its members.

        Args:
            given: The object.
            call: Does the work with the checked arguments.
            option_sources: The option sources there are. Left out, they are looked for when the tool is registered.

        Raises:
            SchemaRefused: The definition, its parameters or its settings cannot be admitted.
        """
        definition, settings = read_definition(given, option_sources)
        return cls(definition, call, settings)

    def parse(self, arguments: str) -> dict[str, Any]:
        """Read the arguments and hold them against the schema; null counts as absent where it is not allowed.

        Raises:
            ArgumentRefused: In words the model can correct itself from.
        """
        schema = self.definition.parameters
        values: dict[str, Any] = without_nulls(read_object(arguments), schema)
        refusals = Refusals(schema, values, self.definition.sensitive_arguments)
        try:
            _check_names(values)
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


def _check_names(value: object) -> None:
    """Refuse names that are too long to be held against the pattern of a name.

    Raises:
        ArgumentRefused: There is one.
    """
    if isinstance(value, dict):
        for name, item in value.items():
            if len(name) > MAX_PATTERNED_CHARACTERS:
                raise ArgumentRefused(f"The name of an argument must have at most {MAX_PATTERNED_CHARACTERS} "
                                      f"characters, but {len(name)} arrived.")  # fmt: skip
            _check_names(item)
    elif isinstance(value, list):
        for item in value:
            _check_names(item)


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
