"""A pack whose tool raises when it is asked whether it is there."""

from collections.abc import Iterable

from lockgate import Tool, ToolArguments, ToolContext, ToolDefinition, ToolResult, hookimpl


class Nothing(ToolArguments):
    """No arguments."""


class Moody(Tool):
    """Raises where it should only say yes or no."""

    definition = ToolDefinition("moody", {"type": "object", "properties": {}}, "Do nothing.")
    arguments_model = Nothing

    def is_available(self) -> bool:
        """Raise."""
        raise RuntimeError("not today")

    async def execute(self, arguments: Nothing, context: ToolContext) -> ToolResult:
        """Return nothing."""
        return ToolResult("nothing")


@hookimpl
def lockgate_tools() -> Iterable[Tool]:
    """Bring the tool."""
    return [Moody()]
