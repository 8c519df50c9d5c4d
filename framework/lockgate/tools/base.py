"""The contract of a tool."""

from collections.abc import Sequence
from typing import Any, ClassVar

from lockgate.settings.model import NoSettings, ToolSettings
from lockgate.tools.arguments import ToolArguments, parse_arguments
from lockgate.tools.context import RequestContext, ToolContext
from lockgate.tools.definition import ToolDefinition, ToolFunction
from lockgate.tools.result import ToolResult
from lockgate.tools.texts import ToolTexts, readable_name

DEFAULT_TIMEOUT = 60.0
"""Seconds a call may take unless the tool says otherwise."""


def overrides(tool: "Tool", name: str) -> bool:
    """Tell whether a tool answers a question itself, in its class or on the object; a default need not be asked."""
    return getattr(type(tool), name, None) is not getattr(Tool, name) or name in getattr(tool, "__dict__", ())


class Tool:
    """A tool: one object per ``Lockgate``. It may hold resources, never anything of a chat.

    A subclass sets `definition` and `arguments_model` and implements `execute`; all else has a default.
    """

    definition: ToolDefinition
    settings_model: ClassVar[type[ToolSettings]] = NoSettings
    arguments_model: type[ToolArguments] | None = None

    def texts(self, locale: str) -> ToolTexts:
        """Return names and labels for people, in the language of `locale` (an IETF tag) where there is one."""
        del locale
        return ToolTexts(readable_name(self.definition.id), self.definition.description)

    def is_available(self) -> bool:
        """Tell whether the tool exists right now. Asked at every listing: keep it cheap."""
        return True

    def timeout(self, settings: ToolSettings) -> float:
        """Return how many seconds a call may take."""
        del settings
        return DEFAULT_TIMEOUT

    def parse(self, arguments: str) -> Any:
        """Read the arguments of a call.

        Args:
            arguments: The JSON text the model wrote; a JSON object.

        Raises:
            ArgumentRefused: In words the model can correct itself from.
        """
        if self.arguments_model is None:
            raise TypeError(f"{type(self).__name__} reads no arguments: set arguments_model or implement parse.")
        return parse_arguments(self.arguments_model, arguments, self.definition.sensitive_arguments)

    async def validate_settings(self, settings: ToolSettings) -> str | None:
        """Check settings that fit the model. Return what is wrong in one sentence, or None."""
        del settings
        return None

    async def resolve_function(self, context: RequestContext) -> ToolFunction | None:
        """Return what the tool offers in this request, or None when it has nothing to offer.

        Keep it cheap, and equal for an equal chat: providers cache a request from its beginning.

        Raises:
            ToolBlocked: It has nothing to offer, and the message says why, to a person who asks.
        """
        del context
        return ToolFunction(self.definition.description, self.definition.parameters)

    async def resolve_instructions(self, context: RequestContext) -> str:
        """Return the instructions for the system prompt of this request."""
        del context
        return self.definition.instructions

    async def execute(self, arguments: Any, context: ToolContext) -> ToolResult:
        """Do the work.

        Raises:
            ArgumentRefused: The arguments do not make sense together or against the world.
            ToolBlocked: A rule forbids it.
            ToolFailed: It did not work; the message is for the model.
        """
        raise TypeError(f"{type(self).__name__} does not implement execute.")

    def exportable_areas(self) -> Sequence[tuple[str, str, Sequence[str]]]:
        """Return the areas of settings an administrator can export: ID, label, setting names."""
        names = list(self.settings_model.outside_names())
        return [("settings", "Settings", names)] if names else []
