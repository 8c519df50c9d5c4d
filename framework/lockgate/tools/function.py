"""A tool out of a plain function: ``@tool``."""

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, TypedDict, Unpack, get_args, get_origin, get_type_hints, overload

from pydantic import BaseModel, Field, create_model
from pydantic.fields import FieldInfo

from lockgate.policy import ConfidenceLevel, ToolOutboundData
from lockgate.settings.model import ToolSettings
from lockgate.tools.arguments import ToolArguments, parameters_of
from lockgate.tools.base import DEFAULT_TIMEOUT, Tool
from lockgate.tools.context import ToolContext
from lockgate.tools.definition import FUNCTION_NAME, ToolActivation, ToolDefinition, Visibility
from lockgate.tools.result import ToolResult, to_compact_json
from lockgate.tools.texts import ToolTexts, readable_name
from lockgate.tools.threads import run_in_thread


class ToolFacts(TypedDict, total=False):
    """What `@tool` takes beside the function; each means what it means in `ToolDefinition`."""

    instructions: str
    strict: bool
    visible_in: Visibility
    activation: ToolActivation
    preview: str | None
    outbound_data: ToolOutboundData
    enforces_outbound_restriction: bool
    minimum_confidence: ConfidenceLevel
    returns_untrusted_content: bool
    sensitive_arguments: tuple[str, ...]
    companions: tuple[str, ...]
    repeatable: bool


class FunctionTool(Tool):
    """A tool made of a function by `tool`."""

    def __init__(
        self,
        function: Callable[..., Any],
        definition: ToolDefinition,
        model: type[ToolArguments],
        *,
        context_name: str | None,
        blocking: bool,
        timeout: float,
        display_name: str,
    ) -> None:
        self.definition = definition
        self.arguments_model = model
        self._function, self._context_name = function, context_name
        self._asynchronous = inspect.iscoroutinefunction(function)
        self._blocking, self._timeout, self._display_name = blocking, timeout, display_name
        self._fields = tuple(model.model_fields)
        self.__doc__ = function.__doc__

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function itself, as in a test."""
        return self._function(*args, **kwargs)

    def texts(self, locale: str) -> ToolTexts:
        """Return the display name given to `tool`, else one made of the ID."""
        del locale
        return ToolTexts(self._display_name or readable_name(self.definition.id), self.definition.description)

    def timeout(self, settings: ToolSettings) -> float:
        """Return the seconds given to `tool`."""
        del settings
        return self._timeout

    async def execute(self, arguments: Any, context: ToolContext) -> ToolResult:
        """Call the function; a synchronous one in a thread unless it was said not to block."""
        values = {name: getattr(arguments, name) for name in self._fields}
        if self._context_name is not None:
            values[self._context_name] = context
        if self._asynchronous:
            returned = await self._function(**values)
        elif self._blocking:
            returned = await run_in_thread(self._function, **values)
        else:
            returned = self._function(**values)
        return as_result(returned)


def as_result(returned: object) -> ToolResult:
    """Make a result of what a function returned: a result, a text, nothing, or a JSON value.

    Raises:
        TypeError: The value is no JSON.
    """
    if isinstance(returned, ToolResult):
        return returned
    if isinstance(returned, str):
        return ToolResult(returned)
    if returned is None:
        return ToolResult("")
    if isinstance(returned, BaseModel):
        returned = returned.model_dump(mode="json", by_alias=True)
    if isinstance(returned, Mapping):
        return ToolResult(returned)
    if isinstance(returned, Sequence) and not isinstance(returned, bytes | bytearray | memoryview):
        return ToolResult(list(returned))
    return ToolResult(to_compact_json(returned))


@overload
def tool(fn: Callable[..., Any], /) -> FunctionTool: ...


@overload
def tool(
    fn: None = None,
    /,
    *,
    id: str | None = None,
    name: str = "",
    blocking: bool = True,
    timeout: float = DEFAULT_TIMEOUT,
    **facts: Unpack[ToolFacts],
) -> Callable[[Callable[..., Any]], FunctionTool]: ...


@overload
def tool(
    fn: Callable[..., Any],
    /,
    *,
    id: str | None = None,
    name: str = "",
    blocking: bool = True,
    timeout: float = DEFAULT_TIMEOUT,
    **facts: Unpack[ToolFacts],
) -> FunctionTool: ...


def tool(
    fn: Callable[..., Any] | None = None,
    /,
    *,
    id: str | None = None,
    name: str = "",
    blocking: bool = True,
    timeout: float = DEFAULT_TIMEOUT,
    **facts: Unpack[ToolFacts],
) -> FunctionTool | Callable[[Callable[..., Any]], FunctionTool]:
    """Make a tool of a function, with or without arguments to the decorator.

    The signature gives the arguments: every parameter needs a type, and a description either in
    ``Annotated[type, Field(description=…)]`` or in the docstring's ``Args:``. Bounds and choices belong in the
    annotation. A parameter of type `ToolContext` is handed the context and is hidden from the model.

    Args:
        fn: The function, synchronous or not.
        id: The tool's ID and function name; the function's own name unless given.
        name: Display name.
        blocking: Run a synchronous function in a thread; False for one that returns at once.
        timeout: Seconds a call may take.
        facts: As in `ToolDefinition`. Where nothing is said about `outbound_data`, the tool counts as the most open.

    Raises:
        TypeError: Something of the above is missing. The message names the function and the parameter.
    """

    def decorate(function: Callable[..., Any]) -> FunctionTool:
        identifier = id or function.__name__
        if not FUNCTION_NAME.fullmatch(identifier):
            raise TypeError(f"{identifier!r} cannot be a tool's ID: use 1 to 64 of the characters a-z A-Z 0-9 _ -.")
        summary, described = _docstring(function)
        model, context_name = _arguments_model(function, identifier, described)
        if not summary:
            raise TypeError(f"The tool {identifier!r} needs a docstring: it tells the model what the tool does.")
        definition = ToolDefinition(identifier, parameters_of(model), summary, **facts)
        return FunctionTool(
            function, definition, model,
            context_name=context_name, blocking=blocking, timeout=timeout, display_name=name,
        )

    return decorate if fn is None else decorate(fn)


def _arguments_model(
    function: Callable[..., Any], identifier: str, described: Mapping[str, str]
) -> tuple[type[ToolArguments], str | None]:
    hints = get_type_hints(function, include_extras=True)
    fields: dict[str, Any] = {}
    context_name = None
    for name, parameter in inspect.signature(function).parameters.items():
        where = f"The parameter {name!r} of the tool {identifier!r}"
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.POSITIONAL_ONLY):
            raise TypeError(f"{where} must be an ordinary named parameter.")
        if name not in hints:
            raise TypeError(f"{where} needs a type.")
        if hints[name] is ToolContext:
            context_name = name
            continue
        if name.startswith("_"):
            raise TypeError(f"{where} must not begin with an underscore.")
        annotation = hints[name]
        if not _description_in(annotation):
            if name not in described:
                raise TypeError(f"{where} needs a description, in Annotated[…] or in the docstring's Args.")
            annotation = Annotated[annotation, Field(description=described[name])]
        default = ... if parameter.default is parameter.empty else parameter.default
        fields[name] = (annotation, default)
    model = create_model(f"{identifier}_arguments", __base__=ToolArguments, __module__=function.__module__, **fields)
    return model, context_name


def _description_in(annotation: Any) -> bool:
    if get_origin(annotation) is not Annotated:
        return False
    return any(isinstance(item, FieldInfo) and item.description for item in get_args(annotation)[1:])


_ARGUMENT = re.compile(r"\*{0,2}(\w+)(?:\s*\([^)]*\))?:\s*(.*)")
_SECTION = re.compile(r"(Args|Arguments|Parameters|Returns|Raises|Yields|Examples?|Notes?|Attributes|Todo):\s*$")


def _docstring(function: Callable[..., Any]) -> tuple[str, dict[str, str]]:
    """Read a Google-style docstring: the text before the first section, and parameter → description."""
    summary: list[str] = []
    described: dict[str, list[str]] = {}
    section, current, indent = "", "", None
    for line in inspect.cleandoc(function.__doc__ or "").splitlines():
        if match := _SECTION.match(line):
            section, current, indent = match[1], "", None
        elif not section:
            summary.append(line)
        elif section in ("Args", "Arguments", "Parameters") and line.strip():
            depth = len(line) - len(line.lstrip())
            indent = depth if indent is None else indent
            found = _ARGUMENT.match(line.strip()) if depth <= indent else None
            if found:
                current = found[1]
                described[current] = [found[2]]
            elif current:
                described[current].append(line.strip())
    return "\n".join(summary).strip(), {name: " ".join(parts).strip() for name, parts in described.items()}
