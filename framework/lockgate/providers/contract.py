"""What an adapter implements: it translates one wire API. It knows no loop, no policy and no host by name."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Protocol

from lockgate.chat.values import Message, Source, Usage
from lockgate.providers.endpoint import Endpoint
from lockgate.providers.profile import ProviderProfile

if TYPE_CHECKING:
    from lockgate.providers.transport import Transport


@dataclass(frozen=True, slots=True)
class OfferedFunction:
    """A function as it is offered to the model: canonical schema, name, and whether strict mode is wanted.

    Attributes:
        name: The function's name.
        description: For the model.
        parameters: The canonical schema.
        strict: Whether strict mode is wanted where the host keeps it.
        encodings: Where an adapter may keep its encoding of this function, under a key of its own; lives as long as the
            function, which for one that no chat tailored is as long as the rules.
    """

    name: str
    description: str
    parameters: Mapping[str, object]
    strict: bool = True
    encodings: dict[object, object] = field(default_factory=dict, init=False, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ToolBlock:
    """The tools of a request in one API's shape, encoded once.

    Attributes:
        encoded: The JSON array as bytes; empty when there are no tools.
        strict: Names of the functions that are sent in strict mode.
        items: Name and bytes of each tool inside `encoded`, in order, so that a change can be told by its name; an
            adapter that leaves them out is told of as a whole.
    """

    encoded: bytes
    strict: frozenset[str] = frozenset()
    items: tuple[tuple[str, bytes], ...] = ()

    @property
    def fingerprint(self) -> str:
        """A short hash that changes exactly when the bytes do."""
        return hashlib.sha256(self.encoded).hexdigest()[:16]


class StopReason(Enum):
    """Why a round ended."""

    STOP = "stop"
    TOOL_CALLS = "tool_calls"
    LENGTH = "length"
    CONTENT_FILTER = "content_filter"
    REFUSAL = "refusal"
    PAUSE = "pause"
    CONTEXT_TOO_LONG = "context_too_long"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class RequestedCall:
    """A call as the model asked for it.

    Attributes:
        id: The call's ID, made up where the API allows it; empty where the API gave none and none may be
            invented.
        name: The function's name.
        arguments: The JSON text; an empty one is read as an empty object.
        problem: Why the call cannot run, in words for the model; empty for a valid call.
    """

    id: str
    name: str
    arguments: str
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Round:
    """What one request brought: text, calls, why it ended, usage, sources the provider names."""

    text: str
    calls: tuple[RequestedCall, ...] = ()
    stop: StopReason = StopReason.STOP
    usage: Usage | None = None
    sources: tuple[Source, ...] = ()


@dataclass(frozen=True, slots=True)
class CallResult:
    """What goes back to the model for a call: exactly one per call."""

    call_id: str
    content: str
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """A request as the loop states it, free of any wire format.

    Attributes:
        model: The model's name on the host.
        system: The composed system prompt; may be empty.
        messages: The turns of the chat, the user's new one last.
        tools: The encoded tools.
        functions: The functions behind `tools`, by name.
        parameters: Further members of the request that the user configured.
        endpoint: Where to send it.
    """

    model: str
    system: str
    messages: Sequence[Message]
    tools: ToolBlock
    functions: Mapping[str, OfferedFunction] = field(default_factory=dict)
    parameters: Mapping[str, object] = field(default_factory=dict)
    endpoint: Endpoint = field(default=Endpoint(""), kw_only=True)


OnText = Callable[[str], None]


class Exchange(Protocol):
    """The wire conversation of one run; the only home of items that have to go back whole."""

    async def round(self, on_text: OnText, *, final: str | None = None) -> Round:
        """Ask the model once.

        Args:
            on_text: Called with each piece of answer text as it comes.
            final: In the last round: words appended to the system prompt; tools are withheld then.

        Raises:
            ProviderError: The host gave no usable answer.
        """

    def answer(self, results: Sequence[CallResult]) -> None:
        """Take the results of the last round: exactly one per call, in the order of the calls."""

    async def close(self) -> None:
        """Release what the exchange holds."""


class ProviderAdapter(Protocol):
    """Translates one wire API."""

    @property
    def id(self) -> str:
        """The name profiles refer to it by."""

    def tool_block(self, functions: Sequence[OfferedFunction], profile: ProviderProfile) -> ToolBlock:
        """Encode functions in this API's shape. Pure: equal input gives equal bytes."""

    def open(self, request: ModelRequest, profile: ProviderProfile, transport: "Transport") -> Exchange:
        """Begin a run's conversation. An adapter that runs in this process ignores `transport`."""


def user_content(message: Message) -> str:
    """Return a user turn as the model reads it: the text, then each attachment in a fence with its name."""
    if not message.attachments:
        return message.text
    parts = [message.text]
    for attachment in message.attachments:
        fence = "`" * max(4, _longest_backtick_run(attachment.text) + 1)
        parts.append(f"Attached document: {attachment.name}\n{fence}\n{attachment.text}\n{fence}")
    return "\n\n".join(parts)


def _longest_backtick_run(text: str) -> int:
    longest = run = 0
    for character in text:
        run = run + 1 if character == "`" else 0
        longest = max(longest, run)
    return longest
