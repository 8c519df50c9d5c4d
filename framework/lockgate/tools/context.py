"""What a tool is told: of a request, and of a call."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from lockgate.chat.values import ChatThread
from lockgate.errors import ToolFailed
from lockgate.policy import ChatRequirements, ProviderStanding
from lockgate.settings.instances import Instance
from lockgate.settings.model import ToolSettings
from lockgate.tools.definition import Components

if TYPE_CHECKING:
    from lockgate.guard import Guard, GuardScope


class ToolServices(Protocol):
    """What the framework lends to plugins: one frozen object per ``Lockgate``."""

    @property
    def data_dir(self) -> Path:
        """Where a plugin may keep derived data, such as an index, in a file or folder of its own name."""

    @property
    def guard(self) -> "Guard":
        """The prompt-injection filter. In a call use `ToolContext.guard`, which is reported with the call."""

    def instances(self, family: str) -> Sequence[Instance]:
        """Return the configured instances of a family, such as ``data_source``."""

    def opened(self, instance: Instance) -> Any:
        """Return the object a kind makes of an instance, made once per revision of the instance."""

    def contributions(self, hook: str) -> Sequence[Any]:
        """Return what plugins contribute through a hook, in stable order."""


@dataclass(frozen=True, slots=True)
class RequestContext:
    """What a tool may know while a request is prepared. Values, and a chat that cannot be changed.

    Attributes:
        chat: The chat as of now.
        standing: The provider.
        component: Where the question comes from.
        settings: The tool's settings.
        services: What the framework lends.
        demanded: What counts for the chat where that is more than its own requirements; read `requirements`.
    """

    chat: ChatThread
    standing: ProviderStanding
    component: Components
    settings: ToolSettings
    services: ToolServices
    demanded: ChatRequirements | None = field(default=None, kw_only=True)

    @property
    def requirements(self) -> ChatRequirements:
        """What counts for the chat now: its own requirements, and what the organization demands of every chat."""
        return self.chat.requirements if self.demanded is None else self.demanded


class GivenAddresses(Protocol):
    """Which addresses were given to the model in this chat."""

    def __contains__(self, address: object) -> bool:
        """Tell whether an address, compared by its request key, was given."""

    def require(self, address: str) -> None:
        """Refuse an address that was not given to the model.

        Raises:
            ToolBlocked: It was not given. The message never repeats the address: what the model makes up must not come
                back to it from a tool.
        """


class CallState:
    """Whether a call still runs. Shared by all that a context lends out."""

    __slots__ = ("closed",)

    def __init__(self) -> None:
        self.closed = False

    def check(self) -> None:
        """Refuse to work after the end of the call.

        Raises:
            ToolFailed: The call has ended, by a timeout for example.
        """
        if self.closed:
            raise ToolFailed("This call has ended; its context can no longer be used.")


@dataclass(frozen=True, slots=True)
class ToolContext(RequestContext):
    """What a tool may use while a call runs. Closed when the call ends.

    Attributes:
        call_id: The ID of the call.
        addresses: The addresses given to the model, by request key.
        remaining_characters: How many characters of result the run still takes; the tool cuts its text to it.
    """

    call_id: str
    addresses: GivenAddresses
    remaining_characters: int
    state: CallState
    _guard: "GuardScope"
    _emit: Callable[[str], None]
    arguments: Mapping[str, object]

    @property
    def guard(self) -> "GuardScope":
        """The prompt-injection filter, as one scope for this call.

        Raises:
            ToolFailed: The call has ended.
        """
        self.state.check()
        return self._guard

    def emit(self, text: str) -> None:
        """Tell the person what the tool is doing, in one line. Sensitive values do not belong here."""
        self.state.check()
        self._emit(text)
