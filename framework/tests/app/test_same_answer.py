"""The request, the answer to "why not?" and the check before each call agree, whatever is configured and asked."""

import asyncio
from dataclasses import replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from registry_kit import simple
from scripted_kit import SCRIPTED, Conversation, ScriptedModel, calling, saying, scripted_provider

from lockgate.app import Lockgate
from lockgate.app.templates import Assistant
from lockgate.calling import Event, RequestPrepared, Run
from lockgate.chat import ChatThread
from lockgate.errors import ProviderDenied, UsageError
from lockgate.policy import (
    BY_USER,
    ChatRequirements,
    ConfidenceLevel,
    Minimum,
    OutboundDataRestriction,
    OutboundMinimum,
    SetBy,
    SetByKind,
    ToolOutboundData,
)
from lockgate.providers import Round
from lockgate.registry import Ceilings, PreviewSwitch, Rules
from lockgate.settings import Layers, ToolSettings
from lockgate.tools import (
    Components,
    FunctionTool,
    RequestContext,
    Tool,
    ToolActivation,
    ToolCollection,
    ToolFunction,
    Visibility,
)

ORGANIZATION = SetBy(SetByKind.ORGANIZATION, "Example Inc.", "plugin.lua", 12)
MAILS = ToolCollection("mails", ("mail_read", "mail_search"))


def made(tool_id: str, **facts: Any) -> Tool:
    """Make a tool whose arguments go nowhere."""
    return simple(tool_id, outbound_data=ToolOutboundData.NONE, **facts)


L, Out, Bound = ConfidenceLevel, ToolOutboundData, OutboundDataRestriction


class Key(ToolSettings):
    """A required setting."""

    base: int


class Answering(FunctionTool):
    """A tool that offers itself in a way of its own."""

    async def resolve_function(self, context: RequestContext) -> ToolFunction | None:
        if self.definition.id == "broken":
            raise RuntimeError("no")
        return None

    def is_available(self) -> bool:
        return self.definition.id != "away"


def answering(tool_id: str, **facts: Any) -> Tool:
    """Make a tool that has nothing to offer, is away, or breaks."""
    found = made(tool_id, **facts)
    found.__class__ = Answering
    return found


KEYED = made("keyed")
KEYED.settings_model = Key  # type: ignore[misc] # one instance of a test
WORLD = (
    made("count"), made("mail_read"), made("mail_search"), made("lead", companions=("count",)),
    made("now", activation=ToolActivation.CONTEXT), made("for_chats", visible_in=Visibility(assistants=False)),
    made("for_assistants", visible_in=Visibility(chat=False)), KEYED,
    answering("nothing", activation=ToolActivation.CONTEXT), answering("broken"), answering("away"),
    simple("anywhere", outbound_data=Out.MODEL_CHOSEN_ADDRESSES), made("trusted", minimum_confidence=L.HIGH),
    simple("given_only", outbound_data=Out.MODEL_CHOSEN_ADDRESSES, enforces_outbound_restriction=True),
    made("by_mail", preview="PRE_MAILBOXES_2026"), made("lost", preview="PRE_NOBODY"),
)  # fmt: skip
NAMES = (*(item.definition.id for item in WORLD), "not_installed")
IDENTIFIERS = st.sampled_from((*NAMES, "mails"))
SOME_NAMES = st.lists(IDENTIFIERS, max_size=8).map(tuple)
ALL_NAMES = st.just((*NAMES, "mails"))


def mostly(usual: Any, *others: SearchStrategy[Any]) -> SearchStrategy[Any]:
    """Choose what lets tools through three times out of four: all rules at once would leave none to look at."""
    return st.integers(0, 3).flatmap(lambda number: st.one_of(*others) if number == 0 else st.just(usual))


PLACES = st.sampled_from([Components.CHAT, Components.WRITER, Components.META_ASSISTANT, Components.CODING_ASSISTANT])
LEVELS = st.sampled_from([level for level in L if level is not L.UNKNOWN])
MINIMUMS = st.builds(Minimum, LEVELS, st.just(ORGANIZATION))
RULES = st.builds(
    Rules,
    tools_enabled=mostly(True, st.just(False)),
    disabled=st.dictionaries(IDENTIFIERS, st.just(BY_USER), max_size=2),
    minimums=st.dictionaries(IDENTIFIERS, MINIMUMS, max_size=2),
    previews=st.dictionaries(st.just("PRE_RAG_2024"), st.builds(PreviewSwitch, st.booleans(), st.just(BY_USER))),
    layers=st.sampled_from([Layers(), Layers(user={"keyed.base": "1"}), Layers(user={"keyed.base": "x"})]),
    global_minimum=mostly(None, MINIMUMS),
    default_tools=st.dictionaries(st.sampled_from(["CHAT", "WRITER"]), SOME_NAMES),
    visible_selection_components=st.frozensets(st.sampled_from(["WRITER", "META_ASSISTANT"])),
    ceilings=st.builds(
        Ceilings, minimums=st.dictionaries(IDENTIFIERS, MINIMUMS, max_size=1),
        outbound=mostly(None, st.builds(OutboundMinimum, st.sampled_from(Bound), st.just(ORGANIZATION))),
    ),
)  # fmt: skip
SELECTIONS = st.none() | SOME_NAMES | ALL_NAMES
ASSISTANTS = st.lists(
    st.builds(Assistant, st.sampled_from(["one", "two"]), component=PLACES, tool_ids=SELECTIONS),
    unique_by=lambda item: item.id,
)
CHATS = st.builds(
    ChatThread,
    selected_tools=SELECTIONS,
    assistant=st.sampled_from(["", "", "one", "two"]),
    requirements=st.builds(
        ChatRequirements, st.sampled_from([L.NONE, L.NONE, L.MEDIUM, L.HIGH]),
        outbound=mostly(Bound.UNRESTRICTED, st.sampled_from(Bound))
    ),
)


def call_everything(conversation: Conversation) -> Round:
    """Call every tool there is, offered or not, and then answer."""
    if conversation.rounds == 1:
        return calling(*((name, {}) for name in NAMES))
    return saying("Done.")


@settings(max_examples=120, deadline=None)
@given(
    RULES, ASSISTANTS, CHATS, SELECTIONS, st.none() | PLACES, st.sampled_from([L.HIGH, L.HIGH, L.MEDIUM, L.LOW]),
    mostly(True, st.just(False)),
)
def test_the_request_the_answer_to_why_not_and_the_call_agree(  # noqa: PLR0917 - one argument a strategy
    rules: Rules, assistants: list[Assistant], chat: ChatThread, asked: tuple[str, ...] | None,
    component: Components | None, confidence: ConfidenceLevel, takes_tools: bool,
) -> None:
    """For every tool, whatever the rules, the selection, the assistant, the component, the chat and the provider are.

    Offered in the request, said to be offered, and carried out when the model calls it: all three or none.
    """
    rules = replace(rules, max_tool_calls=len(NAMES) + 1)
    asyncio.run(_agree(rules, assistants, chat, asked, component, confidence, takes_tools))


async def _agree(  # noqa: PLR0917 - as the test
    rules: Rules, assistants: list[Assistant], chat: ChatThread, asked: tuple[str, ...] | None,
    component: Components | None, confidence: ConfidenceLevel, takes_tools: bool,
) -> None:
    model = ScriptedModel(call_everything)
    gate = model.gate(tools=WORLD, collections=[MAILS], rules=rules)
    gate._configuration = replace(
        gate._configuration, assistants={item.id: item for item in assistants}, default_provider=SCRIPTED,
        providers={SCRIPTED: replace(scripted_provider(confidence), can_call_tools=takes_tools)},
    )
    async with gate:
        try:
            run = gate.ask(chat, "Hello?", component=component, selected=asked)
        except UsageError:
            assert chat.assistant
            assert asked is not None
            asked = None
            run = gate.ask(chat, "Hello?", component=component)
        await _same_for_all(gate, chat, run, component=component, selected=asked)
        later = gate.ask(run.chat, "And now?", component=component)
        await _same_for_all(gate, run.chat, later, component=component)


async def _same_for_all(gate: Lockgate, chat: ChatThread, run: Run, **how: Any) -> None:
    found = {name: await gate.explain(name, chat=chat, **how) for name in NAMES}
    explained = {name for name, explanation in found.items() if explanation.offered}
    assert {name for name, explanation in found.items() if not explanation.why} == explained
    async with run:
        events: list[Event] = []
        try:
            events += [event async for event in run]
        except ProviderDenied:
            assert run.stopped == "denied"
    offers = [event for event in events if isinstance(event, RequestPrepared)]
    assert {name for event in offers for name in event.offered} == explained
    assert {trace.tool_id for trace in run.traces if trace.was_executed} == explained
    assert not any(explained & set(event.left_out) for event in offers)
