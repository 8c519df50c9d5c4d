"""A world for a state machine: providers of every standing, tools that bring marked secrets, and a model that copies.

Every secret has a number and a label. The model repeats all it has read wherever it can: in arguments and in answers,
so that secrets stand in histories, traces and files. What reaches a provider is held against the label there and then.
"""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from calling_kit import AnyTool
from scripted_kit import Conversation, ScriptedModel, calling, saying

from lockgate.app import Lockgate
from lockgate.app.configuration import Configuration, ProviderConfig
from lockgate.chat import ChatStore, Source
from lockgate.policy import (
    NOTHING,
    ChatRequirements,
    ConfidenceLevel,
    ProviderStanding,
    ToolOutboundData,
    is_outbound_data_allowed,
    meets_minimum,
)
from lockgate.providers import ProviderProfile
from lockgate.providers.contract import Round
from lockgate.registry import Rules
from lockgate.testing import PluginOf, lockgate_for
from lockgate.tools import ToolContext, ToolResult

MARK = re.compile(r"secret-(\d{5})\.")
TOOLS: Mapping[str, tuple[ToolOutboundData, bool, ConfidenceLevel]] = {
    "vault": (ToolOutboundData.NONE, False, ConfidenceLevel.NONE),
    "safe": (ToolOutboundData.NONE, False, ConfidenceLevel.MEDIUM),
    "wiki": (ToolOutboundData.CONFIGURED_SERVICE, False, ConfidenceLevel.NONE),
    "search": (ToolOutboundData.THIRD_PARTY_QUERIES, False, ConfidenceLevel.NONE),
    "web": (ToolOutboundData.MODEL_CHOSEN_ADDRESSES, False, ConfidenceLevel.NONE),
    "pages": (ToolOutboundData.MODEL_CHOSEN_ADDRESSES, True, ConfidenceLevel.NONE),
}
"""ID of a tool → where its arguments can go, whether it refuses itself, the minimum it declares."""

PROVIDERS = ("north", "east", "south", "west")
_PROFILE = ProviderProfile(
    "spoken", "Scripted model", provider_type="UNKNOWN", adapter="scripted", authentication="none", default_model="m"
)


@dataclass(frozen=True)
class Law:
    """What is in force at one gate: its rules, and how its providers stand (level, self-hosted, trusted)."""

    rules: Rules = field(default_factory=Rules)
    standings: Mapping[str, tuple[ConfidenceLevel, bool, bool]] = field(default_factory=dict)

    def configuration(self) -> Configuration:
        """Return what a gate is configured with."""
        providers = {
            name: ProviderConfig(
                name, "spoken", base_url="http://127.0.0.1:9", model=name, confidence=level, self_hosted=self_hosted
            )
            for name, (level, self_hosted, _) in self.standings.items()
        }
        return Configuration(rules=self.rules, providers=providers)

    def standing(self, provider: str) -> ProviderStanding:
        """Return how a provider stands. One whose entry is gone is trusted with nothing."""
        level, self_hosted, trusted = self.standings.get(provider, (ConfidenceLevel.NONE, False, False))
        return ProviderStanding(provider, "T", level, self_hosted=self_hosted, trusted=trusted)

    def admits(self, demanded: ChatRequirements, provider: str) -> bool:
        """Tell whether a provider may have content that demands this; in our own words, not the product's."""
        standing = self.standing(provider)
        minimums = (self.rules.global_minimum, self.rules.ceilings.global_minimum)
        bounds = [minimum.level for minimum in minimums if minimum is not None]
        stays = demanded.data_security.name == "SELF_HOSTED"
        return standing.confidence >= max([demanded.confidence, *bounds]) and (
            not stays or standing.self_hosted or standing.trusted
        )

    def may_run(self, tool_id: str, demanded: ChatRequirements, provider: str) -> bool:
        """Tell whether a tool may run in a chat that demands this, with this provider."""
        data, refuses, declared = TOOLS[tool_id]
        own, bound = self.rules.minimums.get(tool_id), self.rules.ceilings.minimums.get(tool_id)
        minimum = max(declared if own is None else own.level, ConfidenceLevel.NONE if bound is None else bound.level)
        outbound = self.rules.ceilings.outbound
        restriction = demanded.outbound if outbound is None else max(outbound.level, demanded.outbound)
        return meets_minimum(self.standing(provider).confidence, minimum) and is_outbound_data_allowed(
            restriction, data, enforces_itself=refuses
        )


@dataclass(frozen=True)
class Call:
    """A call that the model will make: what its result demands, and what happens in the world while it runs.

    Attributes:
        tool_id: The tool.
        label: What the secret demands.
        law: Rules that come into force meanwhile; None for none.
        raised: What another process demands of the chat meanwhile.
        as_json: The result is JSON.
        removed: Another process removes the chat meanwhile, after it demanded more.
    """

    tool_id: str
    label: ChatRequirements
    law: Law | None = None
    raised: ChatRequirements = NOTHING
    as_json: bool = False
    removed: bool = False


class Place:
    """One process-like gate of the world.

    Args:
        world: The world.
        law: What is in force here.
        store: Where chats are kept; every process has a store of its own on the same file.
    """

    def __init__(self, world: "World", law: Law, store: ChatStore) -> None:
        self.world, self.law, self.store = world, law, store
        self.plan: list[Sequence[Call]] = []
        self.asked = ""
        self.model = ScriptedModel(self._answer)
        tools = [self._tool(tool_id) for tool_id in TOOLS]
        self.gate: Lockgate = lockgate_for(
            plugins=[PluginOf("spoken", provider_adapters=[self.model], provider_profiles=[_PROFILE])],
            tools=tools, store=store,
        )

    async def open(self) -> None:
        """Enter the gate and put the law in force."""
        await self.gate.__aenter__()
        await self.obey(self.law)

    async def close(self) -> None:
        """Leave the gate, which closes the store."""
        await self.gate.__aexit__(None, None, None)

    async def obey(self, law: Law) -> None:
        """Put other rules in force."""
        self.law = law
        await self.gate.reconfigure(law.configuration())

    def _tool(self, tool_id: str) -> AnyTool:
        async def execute(arguments: dict[str, Any], context: ToolContext) -> ToolResult:
            return await self._execute(tool_id, arguments, context)

        data, refuses, minimum = TOOLS[tool_id]
        return AnyTool(
            execute, tool_id, outbound_data=data, enforces_outbound_restriction=refuses, minimum_confidence=minimum,
        )

    def _answer(self, conversation: Conversation) -> Round:
        """Be the model: say what was read, and call what is planned, with all that was read in the arguments."""
        world, provider = self.world, conversation.request.model
        read = marks("\n".join(conversation.texts()))
        world.seen["rounds"] += 1
        for number in read:
            world.seen["secrets in a request"] += 1
            if not self.law.admits(world.labels[number], provider):
                world.wrong.append(f"secret {number} ({world.labels[number]}) went to {self.law.standing(provider)}")
        if not self.law.admits(NOTHING, provider):
            world.wrong.append(f"{provider} was asked although it has less than every provider needs")
        if not _one_result_each(conversation):
            world.wrong.append("a call has no result, more than one, or that of another call")
        everything = " ".join(f"secret-{number:05}." for number in sorted(read))
        if conversation.final is not None or not self.plan:
            return saying(f"I have read: {everything}")
        calls = self.plan.pop(0)
        planned = [(call.tool_id, {"number": world.lay_down(call), "read": everything}) for call in calls]
        return calling(*planned, text=everything)

    async def _execute(self, tool_id: str, arguments: dict[str, Any], context: ToolContext) -> ToolResult:
        """Be a tool: check that it may run, change the world as planned, and bring the secret."""
        world, number = self.world, int(arguments["number"])
        call, chat = world.calls[number], context.chat
        world.ran.add(number)
        if not self.law.may_run(tool_id, chat.requirements, context.standing.id):
            world.wrong.append(f"{tool_id} ran for {context.standing} in a chat that demands {chat.requirements}")
        for mark in marks(str(arguments)):
            if not covers(chat.requirements, world.labels[mark]):
                world.wrong.append(f"the chat has read secret {mark}, but demands {chat.requirements} only")
        if call.raised is not NOTHING:
            for kept in (world.raised, world.ever_raised):
                kept[chat.id] = kept.get(chat.id, NOTHING).join(call.raised)
            await world.other(self).store.raise_requirements(chat.id, call.raised)
        if call.removed and await world.other(self).store.delete(chat.id):
            world.raised.pop(chat.id, None)
            world.seen["removed while it was answered"] += 1
        if call.law is not None:
            await self.obey(call.law)
        world.expected[number] = await self._arrives(call.label, context)
        text = f"secret-{number:05}."
        content: Any = {"found": [text]} if call.as_json else f"Found: {text}"
        return ToolResult(content, (Source(text, f"https://example.org/{number}?{text}"),), call.label)

    async def _arrives(self, label: ChatRequirements, context: ToolContext) -> bool:
        """Say beforehand whether the result may be delivered, by the law and the stored chat of this moment."""
        held = context.chat.requirements
        joined = held.join(label)
        stored = await self.store.raise_requirements(context.chat.id, NOTHING)
        both = joined if joined is held else joined.join(stored)
        return self.law.admits(joined, context.standing.id) and self.law.admits(both, context.standing.id)


class World:
    """What all places share: the secrets, and what went wrong.

    Attributes:
        calls: Number of a secret → the call that brings it.
        ran: The secrets whose tool ran.
        expected: Number → whether the result may be delivered, said before it was.
        delivered: The secrets that arrived.
        raised: ID of a chat → what other processes demanded of it while it was answered, and since it was removed.
        ever_raised: The same, before it was removed as well.
        wrong: What must never happen, in sentences.
        seen: How often what happened.
    """

    def __init__(self) -> None:
        self.places: list[Place] = []
        self.calls: dict[int, Call] = {}
        self.ran: set[int] = set()
        self.expected: dict[int, bool] = {}
        self.delivered: set[int] = set()
        self.raised: dict[str, ChatRequirements] = {}
        self.ever_raised: dict[str, ChatRequirements] = {}
        self.wrong: list[str] = []
        self.seen: Counter[str] = Counter()

    @property
    def labels(self) -> Mapping[int, ChatRequirements]:
        """Number of a secret → what it demands."""
        return {number: call.label for number, call in self.calls.items()}

    def lay_down(self, call: Call) -> int:
        """Take a secret into the world; return its number."""
        number = len(self.calls)
        self.calls[number] = call
        return number

    def forget(self, chat_id: str) -> None:
        """Begin a run: what others demanded of the chat until now is stored and known."""
        self.raised.pop(chat_id, None)
        self.ever_raised.pop(chat_id, None)

    def other(self, place: Place) -> Place:
        """Return another place than this one."""
        return next(item for item in self.places if item is not place)


def _one_result_each(conversation: Conversation) -> bool:
    """Tell whether every call so far has one result, in its own place: a secret stands only where it was asked for."""
    calls, results = conversation.calls, conversation.results
    return [call.id for call in calls] == [result.call_id for result in results] and all(
        marks(result.content) <= {json.loads(call.arguments)["number"]}
        for call, result in zip(calls, results, strict=True)
    )


def marks(text: str) -> frozenset[int]:
    """Return the numbers of the secrets in a text."""
    return frozenset(int(number) for number in MARK.findall(text))


def covers(demanded: ChatRequirements, label: ChatRequirements) -> bool:
    """Tell whether `demanded` is at least as strict as `label` in every axis."""
    return (
        demanded.confidence >= label.confidence
        and demanded.data_security >= label.data_security
        and demanded.outbound >= label.outbound
    )
