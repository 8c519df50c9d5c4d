"""A pack whose tool never says what it offers."""

import time
from collections.abc import Iterable

from lockgate import (
    RequestContext,
    Tool,
    ToolArguments,
    ToolContext,
    ToolDefinition,
    ToolFunction,
    ToolResult,
    hookimpl,
)


class Nothing(ToolArguments):
    """No arguments."""


class Sleepy(Tool):
    """Hangs while a request is prepared."""

    definition = ToolDefinition("sleepy", {"type": "object", "properties": {}}, "Do nothing.")
    arguments_model = Nothing

    async def resolve_function(self, context: RequestContext) -> ToolFunction | None:
        """Block, as a careless author might."""
        time.sleep(3600)  # noqa: ASYNC251 - this is the mistake under test
        return None

    async def execute(self, arguments: Nothing, context: ToolContext) -> ToolResult:
        """Return nothing."""
        return ToolResult("nothing")


@hookimpl
def lockgate_tools() -> Iterable[Tool]:
    """Bring the tool."""
    return [Sleepy()]
