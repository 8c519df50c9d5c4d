"""Who may have a chat at all, by the rules of now; and how often a run may leave the configured services."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from calling_kit import DONE, AnyTool, asked, asking, probe, returning

from lockgate.app import Lockgate, ProviderConfig
from lockgate.calling import RequestPrepared
from lockgate.chat import ChatThread, ToolTrace, TraceStatus
from lockgate.errors import ProviderDenied
from lockgate.policy import (
    BY_USER,
    ChatRequirements,
    ConfidenceLevel,
    DataSourceSecurity,
    Minimum,
    OutboundDataRestriction,
    OutboundMinimum,
    SetBy,
    SetByKind,
    ToolOutboundData,
)
from lockgate.registry import MAX_RESTRICTED_CALLS, Cap, Ceilings, Rules
from lockgate.testing import Answer, Call, FakeProvider, FakeRequest, answer_calls, answer_text, lockgate_for
from lockgate.tools import Tool, ToolContext, ToolResult

ORGANIZATION = SetBy(SetByKind.ORGANIZATION, "Example Inc.", "plugin.lua", 12)
L, Out, Bound = ConfidenceLevel, ToolOutboundData, OutboundDataRestriction
CANARY = "CANARY-7f3a"


def needs(level: ConfidenceLevel, by: SetBy = ORGANIZATION) -> Rules:
    """Return rules that ask a level of every provider."""
    return Rules(global_minimum=Minimum(level, by))


async def put_in_force(gate: Lockgate, rules: Rules) -> None:
    """Change the rules while a run is on its way."""
    await gate.reconfigure(replace(gate._configuration, rules=rules))


# --- a minimum for every provider ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rules", "by"),
    [
        (needs(L.HIGH, BY_USER), BY_USER),
        (Rules(ceilings=Ceilings(global_minimum=Minimum(L.HIGH, ORGANIZATION))), ORGANIZATION),
        (replace(needs(L.LOW, BY_USER), ceilings=Ceilings(global_minimum=Minimum(L.HIGH, ORGANIZATION))), ORGANIZATION),
        (replace(needs(L.HIGH, BY_USER), ceilings=Ceilings(global_minimum=Minimum(L.LOW, ORGANIZATION))), BY_USER),
    ],
    ids=["the user's", "a ceiling", "a ceiling above the user's", "the user's above a ceiling"],
)
async def test_a_provider_below_the_minimum_for_all_gets_nothing(rules: Rules, by: SetBy) -> None:
    """Not even a chat that demands nothing; the words name both levels and who set the minimum."""
    async with FakeProvider([]) as fake, lockgate_for(fake, rules=rules, confidence=L.MEDIUM) as gate:
        async with gate.ask(None, CANARY) as run:
            with pytest.raises(ProviderDenied) as denied:
                await run.wait()
        assert run.stopped == "denied"
        assert str(denied.value) == (
            f"Every provider needs confidence HIGH or higher, set by {by}; the provider 'fake' has MEDIUM."
        )
        assert fake.requests == []


@pytest.mark.parametrize(
    "rules", [needs(L.MEDIUM), needs(L.NONE), Rules(), Rules(ceilings=Ceilings(global_minimum=Minimum(L.LOW, BY_USER)))]
)
async def test_a_provider_that_reaches_the_minimum_is_asked(rules: Rules) -> None:
    """Equal is enough, and NONE passes every provider."""
    async with FakeProvider([DONE]) as fake, lockgate_for(fake, rules=rules, confidence=L.MEDIUM) as gate:
        async with gate.ask(None, "Hello?") as run:
            await run.wait()
        assert len(fake.requests) == 1


async def test_being_trusted_is_no_confidence() -> None:
    """A provider that may have content for self-hosted ones still needs the level asked of all."""
    rules = replace(needs(L.HIGH), trusted_provider_ids=frozenset({"fake"}))
    async with FakeProvider([]) as fake, lockgate_for(fake, rules=rules, confidence=L.MEDIUM, self_hosted=True) as gate:
        async with gate.ask(None, "Hello?") as run:
            with pytest.raises(ProviderDenied, match="Every provider needs confidence HIGH"):
                await run.wait()
        assert fake.requests == []


@pytest.mark.parametrize("last", ["asked again", "forked", "imported", "at another provider"])
async def test_no_door_leads_around_admission(last: str) -> None:
    """A chat that holds what a provider may not have stays closed to it, whatever way it is asked."""
    chat = ChatThread(requirements=ChatRequirements(data_security=DataSourceSecurity.SELF_HOSTED))
    async with FakeProvider([answer_text("Secret.")]) as trusted, FakeProvider([]) as fake:
        own = ProviderConfig(
            "own", "openai", base_url=trusted.base_url, model="m", api_key="k", self_hosted=True, confidence=L.HIGH
        )
        other = ProviderConfig("other", "openai", base_url=fake.base_url, model="m", api_key="k", confidence=L.HIGH)
        async with lockgate_for(fake, providers=[own, other], confidence=L.HIGH) as gate:
            async with gate.ask(chat, CANARY, provider="own") as run:
                await run.wait()
            chat = run.chat
            if last == "forked":
                chat = await gate.fork(chat.id, 0)
            elif last == "imported":
                chat = await gate.import_chat(await gate.export_chat(chat.id))
            to = "other" if last == "at another provider" else "fake"
            async with gate.ask(chat, "And now?", provider=to) as run:
                with pytest.raises(ProviderDenied, match="self-hosted"):
                    await run.wait()
        assert fake.requests == []


async def test_the_next_round_is_refused_once_the_provider_is_below_the_minimum() -> None:
    """The rules changed while the model was answering: what its call brings is not sent to it any more."""
    gates: list[Lockgate] = []

    async def behave(request: FakeRequest) -> Answer:
        if request.number == 0:
            await put_in_force(gates[0], needs(L.HIGH))
        return answer_calls(Call("probe", {}), text=("Let me see.",))

    async with FakeProvider(behave) as fake, lockgate_for(fake, tools=[returning(CANARY)], confidence=L.MEDIUM) as gate:
        gates.append(gate)
        async with gate.ask(None, "Hello?", selected=["probe"]) as run:
            with pytest.raises(ProviderDenied, match="Every provider needs confidence HIGH"):
                await run.wait()
        assert len(fake.requests) == 1
        assert run.stopped == "denied"
        assert run.text == "Let me see."


@pytest.mark.parametrize("requires", [ChatRequirements(), ChatRequirements(confidence=L.LOW)])
async def test_a_result_that_arrives_for_a_provider_below_the_minimum_is_withheld(requires: ChatRequirements) -> None:
    """Its text is nowhere: not in a request, an event, a trace or the store; and it raises nothing."""
    gates: list[Lockgate] = []

    async def execute(arguments: dict[str, Any], context: ToolContext) -> ToolResult:
        await put_in_force(gates[0], needs(L.HIGH))
        return ToolResult(CANARY, requires=requires)

    async with asking([probe()], AnyTool(execute), confidence=L.MEDIUM) as asking_now:
        gates.append(asking_now.gate)
        error = await asking_now.end()
        assert isinstance(error, ProviderDenied)
        run = asking_now.run
        (trace,) = run.traces
        assert (trace.status, trace.was_executed) == (TraceStatus.BLOCKED, True)
        assert trace.status_message.startswith("The result of 'probe' cannot be given to this provider. Every provider")
        kept = await asking_now.gate.store.load(run.chat.id)
        assert kept is not None
        assert kept.requirements == ChatRequirements()
        assert len(asking_now.fake.requests) == 1
        assert CANARY not in repr((asking_now.events, run.chat, kept, str(error), asking_now.fake.requests))


async def test_a_rule_that_is_taken_back_lets_the_provider_in_again() -> None:
    """Nothing of a refusal sticks to the chat."""
    async with FakeProvider([DONE]) as fake, lockgate_for(fake, rules=needs(L.HIGH), confidence=L.MEDIUM) as gate:
        async with gate.ask(None, "Hello?") as run:
            with pytest.raises(ProviderDenied):
                await run.wait()
        await put_in_force(gate, Rules())
        async with gate.ask(run.chat, "Hello again?") as run:
            await run.wait()
        assert len(fake.requests) == 1


async def test_whoever_asks_why_not_is_told_the_same() -> None:
    """A tool is not offered by a provider that may not have the chat, and another provider is named."""
    nowhere = "http://127.0.0.1:9"
    strong = ProviderConfig("strong", "openai", base_url=nowhere, model="m", api_key="k", confidence=L.HIGH)
    async with FakeProvider([]) as fake:
        tools = [returning("x")]
        async with lockgate_for(fake, tools=tools, rules=needs(L.HIGH), confidence=L.LOW, providers=[strong]) as gate:
            found = await gate.explain("probe", selected=["probe"])
            assert found.offered is False
            assert "Every provider needs confidence HIGH" in found.why
            assert found.also_with == ("strong",)
            assert (await gate.explain("probe", selected=["probe"], provider="strong")).offered


# --- how often a run may leave the configured services ---------------------------------------------------------------

FETCH = returning("page", "fetch", outbound_data=Out.MODEL_CHOSEN_ADDRESSES, enforces_outbound_restriction=True)
SEARCH = returning("hits", "search", outbound_data=Out.THIRD_PARTY_QUERIES, enforces_outbound_restriction=True)
WIKI = returning("article", "wiki", outbound_data=Out.CONFIGURED_SERVICE)
COUNT = returning("7", "count", outbound_data=Out.NONE)
RESTRICTED = ChatThread(requirements=ChatRequirements(outbound=Bound.ONLY_LINKS_FROM_CHAT, outbound_by=ORGANIZATION))


async def traces_of(
    names: Sequence[str], *tools: Tool, rules: Rules, chat: ChatThread = RESTRICTED
) -> tuple[ToolTrace, ...]:
    """Let a model call tools one after the other; return the traces."""
    script = [*(probe(number, name) for number, name in enumerate(names)), DONE]
    rules = replace(rules, max_tool_calls=len(names) + 1)
    done = await asked(script, *(tools or (FETCH, SEARCH, WIKI, COUNT)), rules=rules, chat=chat)
    assert [trace.tool_id for trace in done.run.traces] == list(names)
    assert done.results == [trace.result or trace.status_message for trace in done.run.traces]
    return done.run.traces


def ran(traces: Sequence[ToolTrace]) -> list[bool]:
    """Tell which calls ran; the others have to be blocked."""
    for trace in traces:
        assert trace.status is (TraceStatus.SUCCESS if trace.was_executed else TraceStatus.BLOCKED)
    return [trace.was_executed for trace in traces]


@pytest.mark.parametrize(
    ("rules", "most"),
    [
        (Rules(), MAX_RESTRICTED_CALLS),
        (Rules(max_restricted_calls=1), 1),
        (Rules(max_restricted_calls=0), 0),
        (Rules(max_restricted_calls=4, ceilings=Ceilings(max_restricted_calls=Cap(2, ORGANIZATION))), 2),
        (Rules(max_restricted_calls=2, ceilings=Ceilings(max_restricted_calls=Cap(4, ORGANIZATION))), 2),
        (Rules(max_restricted_calls=3, ceilings=Ceilings(max_restricted_calls=Cap(0, ORGANIZATION))), 0),
    ],
    ids=["by default", "one", "none", "a ceiling lowers", "a ceiling never raises", "a ceiling of none"],
)
async def test_so_many_calls_run_and_the_next_is_blocked_in_words(rules: Rules, most: int) -> None:
    """The words have the number, and who demands the restriction."""
    traces = await traces_of(["fetch"] * (most + 2), rules=rules)
    assert ran(traces) == [True] * most + [False, False]
    for trace in traces[most:]:
        assert f" {most} calls " in trace.status_message
        assert f"demanded by {ORGANIZATION}" in trace.status_message
        assert "'fetch'" in trace.status_message


async def test_tools_that_leave_the_configured_services_share_one_limit() -> None:
    """Calls that stay with them are not counted, and go on when the limit is reached."""
    names = ["wiki", "fetch", "count", "search", "search", "fetch", "wiki", "count"]
    traces = await traces_of(names, rules=Rules(max_restricted_calls=2))
    assert ran(traces) == [True, True, True, True, False, False, True, True]


async def test_a_chat_that_restricts_nothing_is_not_counted() -> None:
    """There is nothing to keep in."""
    traces = await traces_of(["fetch", "search"] * 3, rules=Rules(max_restricted_calls=1), chat=ChatThread())
    assert ran(traces) == [True] * 6


async def test_what_the_organization_demands_of_every_chat_counts() -> None:
    """As a restriction of the chat's own would."""
    bound = Ceilings(outbound=OutboundMinimum(Bound.ONLY_LINKS_FROM_CHAT, ORGANIZATION))
    traces = await traces_of(
        ["fetch"] * 3, rules=Rules(max_restricted_calls=1, ceilings=bound), chat=ChatThread()
    )
    assert ran(traces) == [True, False, False]
    assert f"demanded by {ORGANIZATION}" in traces[-1].status_message


async def test_counting_begins_with_the_restriction() -> None:
    """What a run did before it learned something that restricts it is not held against it."""
    secret = ToolResult("secret", requires=ChatRequirements(outbound=Bound.ONLY_LINKS_FROM_CHAT, outbound_by=BY_USER))
    learn = returning(secret, "learn", outbound_data=Out.NONE)
    names = ["fetch", "fetch", "fetch", "learn", "fetch", "fetch", "fetch"]
    traces = await traces_of(names, FETCH, learn, rules=Rules(max_restricted_calls=2), chat=ChatThread())
    assert ran(traces) == [True, True, True, True, True, True, False]


async def test_a_call_that_is_refused_before_it_runs_is_not_counted() -> None:
    """Nothing left the machine."""
    refused = [answer_calls(Call("fetch", "[]")), answer_calls(Call("fetch", "{"))]
    script = [*refused, probe(1, "fetch"), probe(2, "fetch"), DONE]
    done = await asked(script, FETCH, rules=Rules(max_restricted_calls=1), chat=RESTRICTED)
    assert [trace.status.value for trace in done.run.traces] == ["ERROR", "ERROR", "SUCCESS", "BLOCKED"]


async def test_every_question_has_the_limit_anew() -> None:
    """It is one of a run; the tool is offered all the same, since its first calls do run."""
    script = [probe(1, "fetch"), probe(2, "fetch"), DONE] * 2
    rules = Rules(max_restricted_calls=1)
    async with FakeProvider(script) as fake, lockgate_for(fake, tools=[FETCH], rules=rules) as gate:
        chat = RESTRICTED
        for _ in range(2):
            async with gate.ask(chat, "Well?", selected=["fetch"]) as run:
                events = [event async for event in run]
            assert ran(run.traces) == [True, False]
            assert [event.offered for event in events if isinstance(event, RequestPrepared)] == [("fetch",)]
            chat = run.chat
