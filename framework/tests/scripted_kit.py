"""A model that is a function of the test: it answers in this process, and everything that reaches it is kept."""

import asyncio
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from lockgate.app import Lockgate
from lockgate.app.configuration import ProviderConfig
from lockgate.chat import Role
from lockgate.policy import ConfidenceLevel
from lockgate.providers.contract import (
    CallResult,
    ModelRequest,
    OfferedFunction,
    OnText,
    RequestedCall,
    Round,
    StopReason,
    ToolBlock,
    user_content,
)
from lockgate.providers.profile import ProviderProfile
from lockgate.testing import PluginOf, lockgate_for

SCRIPTED = "scripted"
"""ID of the provider, its profile and its adapter."""

_PROFILE = ProviderProfile(
    SCRIPTED, "Scripted model", provider_type="SELF_HOSTED", adapter=SCRIPTED, authentication="none",
    default_model="script-1",
)  # fmt: skip


@dataclass
class Conversation:
    """What the model has of one run: all that was sent to it, and what it asked for itself.

    Attributes:
        request: The request as the adapter got it.
        results: The results of all rounds so far.
        calls: The calls they answer.
        rounds: How often the model was asked, this time included.
        final: The words of a last round; None while there are tools.
    """

    request: ModelRequest
    results: list[CallResult] = field(default_factory=list)
    calls: list[RequestedCall] = field(default_factory=list)
    rounds: int = 0
    final: str | None = None

    @property
    def functions(self) -> Sequence[OfferedFunction]:
        """The functions on offer, in their order; none in a last round."""
        return () if self.final is not None else tuple(self.request.functions.values())

    @property
    def question(self) -> str:
        """The user's latest message, attachments included."""
        users = [message for message in self.request.messages if message.role is Role.USER]
        return user_content(users[-1])

    def texts(self) -> list[str]:
        """Return every text that reached the model: system prompt, tools, turns, results, last words."""
        turns = [user_content(message) for message in self.request.messages]
        results = [result.content for result in self.results]
        last = [] if self.final is None else [self.final]
        tools = [self.request.tools.encoded.decode()] if self.request.tools.encoded else []
        return [self.request.system, *tools, *turns, *results, *last]


Answer = Callable[[Conversation], Round]
"""The model: from what it has read to what it says."""


class ScriptedModel:
    """An adapter whose model is a function.

    Args:
        answer: Says what the model answers.
        pauses: How often the model gives the event loop to others before and after each answer.
    """

    id = SCRIPTED

    def __init__(self, answer: Answer, *, pauses: int = 0) -> None:
        self.answer, self.pauses = answer, pauses
        self.conversations: list[Conversation] = []

    def tool_block(self, functions: Sequence[OfferedFunction], profile: ProviderProfile) -> ToolBlock:
        """Encode names, descriptions and schemas."""
        listed = [[item.name, item.description, dict(item.parameters)] for item in functions]
        return ToolBlock(json.dumps(listed).encode() if listed else b"")

    def open(self, request: ModelRequest, profile: ProviderProfile, transport: object) -> "_ScriptedExchange":
        """Begin a conversation."""
        conversation = Conversation(request)
        self.conversations.append(conversation)
        return _ScriptedExchange(self, conversation)

    def gate(self, *, confidence: ConfidenceLevel = ConfidenceLevel.HIGH, **options: Any) -> Lockgate:
        """Make a gate that asks this model; options are those of `lockgate_for`."""
        plugins: Iterable[object] = options.pop("plugins", ())
        return lockgate_for(
            plugins=[*plugins, PluginOf("scripted-model", provider_adapters=[self], provider_profiles=[_PROFILE])],
            providers=[scripted_provider(confidence)], **options,
        )


def scripted_provider(confidence: ConfidenceLevel = ConfidenceLevel.HIGH) -> ProviderConfig:
    """Return the configured provider; nothing listens at its address, because nothing is sent."""
    return ProviderConfig(
        SCRIPTED, SCRIPTED, base_url="http://127.0.0.1:9", self_hosted=True, confidence=confidence
    )


class _ScriptedExchange:
    def __init__(self, model: ScriptedModel, conversation: Conversation) -> None:
        self._model, self._conversation = model, conversation
        self._open: tuple[RequestedCall, ...] = ()

    async def round(self, on_text: OnText, *, final: str | None = None) -> Round:
        await self._pause()
        self._conversation.rounds += 1
        self._conversation.final = final
        found = self._model.answer(self._conversation)
        self._open = found.calls
        for piece in found.text.split(" ") if found.text else ():
            on_text(piece + " ")
            await self._pause()
        return found

    async def _pause(self) -> None:
        for _ in range(self._model.pauses):
            await asyncio.sleep(0)

    def answer(self, results: Sequence[CallResult]) -> None:
        assert [result.call_id for result in results] == [call.id for call in self._open]
        self._conversation.calls += self._open
        self._conversation.results += results

    async def close(self) -> None:
        await self._pause()


def calling(*calls: tuple[str, Any], text: str = "") -> Round:
    """An answer with calls, each a name and arguments: a value for JSON, or the raw text."""
    return Round(
        text,
        tuple(
            RequestedCall(f"call{number:05}", name, given if isinstance(given, str) else json.dumps(given))
            for number, (name, given) in enumerate(calls)
        ),
        StopReason.TOOL_CALLS,
    )


def saying(text: str) -> Round:
    """An answer in words."""
    return Round(text)
