"""What a rule change in the middle of a run does: the provider, the model, the limits are looked at again."""

import asyncio
import time
from contextlib import suppress
from dataclasses import replace
from typing import Annotated, Any

import pytest
from calling_kit import AnyTool, returning

from lockgate.app import Assistant
from lockgate.app.configuration import Configuration, ProviderConfig
from lockgate.calling import RequestPrepared
from lockgate.chat import ChatThread, MemoryChatStore, TraceStatus
from lockgate.errors import ProviderDenied, StorageError, UsageError
from lockgate.plugin_host.policy import HostPolicy
from lockgate.policy import BY_USER, ChatRequirements, ConfidenceLevel, Minimum, ToolOutboundData
from lockgate.providers import ProviderProfile
from lockgate.registry import BeyondKind, Cap, Ceilings, Rules
from lockgate.settings import Layers, Option, Setting, ToolSettings
from lockgate.testing import Call, FakeProvider, FakeRequest, PluginOf, answer_calls, answer_text, lockgate_for
from lockgate.tools import Components, ToolContext, ToolResult, ToolTexts


async def test_a_provider_that_may_not_have_the_chat_any_more_runs_no_tool() -> None:
    """Its arguments are all it could still tell; the call is blocked, and the next round is refused."""
    held: list[Any] = []

    async def script(request: FakeRequest) -> Any:
        del request
        gate = held[0]
        rules = Rules(global_minimum=Minimum(ConfidenceLevel.HIGH, BY_USER))
        await gate.reconfigure(replace(gate._configuration, rules=rules))
        return answer_calls(Call("probe", {"number": 1}))

    async with FakeProvider(script) as fake, lockgate_for(fake, tools=[returning("fine")]) as gate:
        held.append(gate)
        async with gate.ask(None, "Hello?", selected=["probe"]) as run:
            with pytest.raises(ProviderDenied, match="Every provider needs confidence HIGH"):
                await run.wait()
    (trace,) = run.traces
    assert (trace.status, trace.was_executed) == (TraceStatus.BLOCKED, False)
    assert "may not have the chat" in trace.status_message
    assert len(fake.requests) == 1


async def test_a_ceiling_that_is_lowered_counts_at_the_next_call() -> None:
    """Limits are those of now, not those of the beginning."""
    held: list[Any] = []

    async def script(request: FakeRequest) -> Any:
        done = sum(message["role"] == "tool" for message in request.messages)
        if done == 2:
            rules = Rules(ceilings=Ceilings(max_tool_calls=Cap(2, BY_USER)))
            await held[0].reconfigure(replace(held[0]._configuration, rules=rules))
        final = "tools" not in request.body
        return answer_text("Done.") if final else answer_calls(Call("probe", {"number": done}))

    async with FakeProvider(script) as fake, lockgate_for(fake, tools=[returning("fine")]) as gate:
        held.append(gate)
        async with gate.ask(None, "Hello?", selected=["probe"]) as run:
            await run.wait()
    assert run.stopped == "limit"
    assert len(run.traces) == 2


@pytest.mark.parametrize(("model", "offered"), [("tiny-1", ()), ("big", ("probe",))])
async def test_the_model_that_is_asked_decides_whether_tools_go_along(model: str, offered: tuple[str, ...]) -> None:
    """Not the configured one: request and explanation look at the same provider value."""
    from lockgate_openai.profiles import OPENAI

    profile = replace(OPENAI, id="host", models_without_tools=("tiny*",))
    async with FakeProvider([answer_text("Done.")]) as fake:
        configured = "big" if model == "tiny-1" else "tiny-1"
        mine = ProviderConfig("mine", "host", base_url=fake.base_url, model=configured, api_key="k")
        plugin = PluginOf("hosts", provider_profiles=[profile])
        async with lockgate_for(fake, tools=[returning("x")], plugins=[plugin], providers=[mine]) as gate:
            answer = await gate.explain("probe", provider="mine", model=model, selected=["probe"])
            assert answer.offered == bool(offered)
            async with gate.ask(None, "Hello?", provider="mine", model=model, selected=["probe"]) as run:
                events = [event async for event in run]
    prepared = next(event for event in events if isinstance(event, RequestPrepared))
    assert prepared.offered == offered
    assert fake.requests[0].body["model"] == model


async def test_an_entry_that_cannot_be_read_is_not_asked_by_the_profile_of_its_name() -> None:
    """The profile stands for the vendor's own host, with another level of trust."""
    from lockgate.app import Lockgate
    from lockgate.errors import ConfigurationError

    profile = ProviderProfile("host", "Host", "OPEN_AI", "a", "http://127.0.0.1:9", default_model="m")
    plugin = PluginOf("hosts", provider_profiles=[profile], provider_adapters=[type("A", (), {"id": "a"})()])
    broken = Configuration(refused_providers={"host": "its confidence is no level."}, default_provider="host")
    async with Lockgate(broken, plugins=[plugin]) as gate:
        with pytest.raises(ConfigurationError, match="its confidence is no level"):
            gate.provider("host", model="m")
        with pytest.raises(ConfigurationError, match="its confidence is no level"):
            gate.ask(None, "Hello?")


class Slow(AnyTool):
    """A tool whose names take a while, the second time they are asked for."""

    asked = 0

    def texts(self, locale: str) -> ToolTexts:
        """Answer at once, then late."""
        type(self).asked += 1
        if type(self).asked == 2:
            time.sleep(0.3)
        return ToolTexts("Slow")


async def test_of_two_changes_of_rules_the_later_one_stays() -> None:
    """However long the first takes, looser rules do not come back; a change that fails leaves everything as it was."""
    Slow.asked = 0

    async def execute(arguments: dict[str, Any], context: ToolContext) -> ToolResult:
        return ToolResult("x")

    async with FakeProvider() as fake, lockgate_for(fake, tools=[Slow(execute, "slow")]) as gate:
        loose = replace(gate._configuration, rules=Rules(revision=1))
        strict = replace(gate._configuration, rules=Rules(revision=2, tools_enabled=False))
        first = asyncio.create_task(gate.reconfigure(loose))
        await asyncio.sleep(0.05)
        await gate.reconfigure(strict)
        await first
        assert (gate.registry.rules.revision, gate.registry.rules.tools_enabled) == (2, False)
        Slow.asked = 1
        cancelled = asyncio.create_task(gate.reconfigure(loose))
        await asyncio.sleep(0.05)
        cancelled.cancel()
        with pytest.raises(asyncio.CancelledError):
            await cancelled
        assert (gate.registry.rules.revision, gate._configuration.rules.revision) == (2, 2)


async def test_a_tool_that_took_the_place_of_the_offered_one_is_not_called_in_its_name() -> None:
    """What was checked has to be what runs: another owner, another declaration, another tool."""
    held: list[Any] = []
    open_one = returning("opened", outbound_data=ToolOutboundData.MODEL_CHOSEN_ADDRESSES)
    safe_one = returning("safe", outbound_data=ToolOutboundData.NONE)

    async def script(request: FakeRequest) -> Any:
        done = sum(message["role"] == "tool" for message in request.messages)
        if done == 1:
            gate = held[0]
            without = HostPolicy(disabled=frozenset({"a-first"}))
            await gate.reconfigure(replace(gate._configuration, host=without))
        return answer_calls(Call("probe", {"n": done})) if done < 2 else answer_text("Done.")

    plugins = [PluginOf("a-first", tools=[open_one]), PluginOf("b-second", tools=[safe_one])]
    async with FakeProvider(script) as fake, lockgate_for(fake, plugins=plugins) as gate:
        held.append(gate)
        async with gate.ask(None, "Hello?", selected=["probe"]) as run:
            await run.wait()
    assert [(trace.status, trace.was_executed) for trace in run.traces] == [
        (TraceStatus.SUCCESS, True), (TraceStatus.BLOCKED, False),
    ]  # fmt: skip
    assert "has taken its place" in run.traces[1].status_message


async def test_rules_of_an_assistant_that_change_count_at_the_next_call() -> None:
    """What its rules no longer name is blocked, though it was offered."""
    held: list[Any] = []

    async def script(request: FakeRequest) -> Any:
        done = sum(message["role"] == "tool" for message in request.messages)
        if done == 1:
            gate = held[0]
            await gate.reconfigure(replace(gate._configuration, assistants={"a": assistant(())}))
        return answer_calls(Call("probe", {"n": done})) if done < 2 else answer_text("Done.")

    def assistant(tools: tuple[str, ...]) -> Assistant:
        return Assistant("a", component=Components.CHAT, tool_ids=tools)

    async with FakeProvider(script) as fake, lockgate_for(fake, tools=[returning("fine")]) as gate:
        held.append(gate)
        await gate.reconfigure(replace(gate._configuration, assistants={"a": assistant(("probe",))}))
        async with gate.ask(None, "Hello?", assistant="a") as run:
            await run.wait()
    assert [trace.status for trace in run.traces] == [TraceStatus.SUCCESS, TraceStatus.BLOCKED]
    assert "allow no tools" in run.traces[1].status_message


async def test_a_tool_that_says_no_on_the_object_is_heard() -> None:
    """Not only in its class; and also when it begins to say so later."""
    tool = returning("fine")
    async with FakeProvider() as fake, lockgate_for(fake, tools=[tool]) as gate:
        assert (await gate.explain("probe", selected=["probe"])).offered
        tool.is_available = lambda: False  # type: ignore[method-assign] # as a program may do it
        assert not (await gate.explain("probe", selected=["probe"])).offered
        del tool.is_available
        assert (await gate.explain("probe", selected=["probe"])).offered


async def test_options_are_asked_every_time() -> None:
    """A value that is taken out of its list makes the tool unconfigured at once, and the other way round."""
    regions = ["north"]

    class Regions:
        id = "regions"

        def options(self, locale: str) -> list[Option]:
            return [Option(name, name) for name in regions]

    class Chosen(ToolSettings):
        region: Annotated[str, Setting(options="regions")] = "north"

    tool = returning("fine", settings=Chosen)
    rules = Rules(layers=Layers(user={"probe.region": "north"}))
    plugin = PluginOf("regions", option_sources=[Regions()])
    async with FakeProvider() as fake, lockgate_for(fake, tools=[tool], plugins=[plugin], rules=rules) as gate:
        for names, offered in ((["north"], True), (["south"], False), ([], False), (["north"], True)):
            regions[:] = names
            assert (await gate.explain("probe", selected=["probe"])).offered == offered


async def test_what_a_chat_that_was_never_saved_demands_is_known_to_an_explanation() -> None:
    """Requirements are kept under the ID before any message is."""
    chat = ChatThread()
    high = ChatRequirements(ConfidenceLevel.HIGH)
    async with FakeProvider() as fake, lockgate_for(fake, tools=[returning("fine")]) as gate:
        await gate.store.raise_requirements(chat.id, high)
        answer = await gate.explain("probe", chat=chat, selected=["probe"])
        assert not answer.offered
        assert answer.beyond[0].kind is BeyondKind.PROVIDER_DENIED
        async with gate.ask(chat, "Hello?") as run:
            with pytest.raises(ProviderDenied):
                await run.wait()


async def test_a_gate_that_was_left_asks_nobody() -> None:
    """Also no run that was entered just before."""
    async with FakeProvider([answer_text("x")]) as fake:
        async with lockgate_for(fake) as gate:
            run = gate.ask(None, "Hello?")
            await run.__aenter__()
        with pytest.raises(UsageError, match="was left"):
            gate.ask(None, "Again?")
        with suppress(UsageError):
            await run.wait()
        await run.cancel()
        assert fake.requests == []


class Failing(MemoryChatStore):
    """A store whose last save raises."""

    def __init__(self, error: BaseException) -> None:
        super().__init__()
        self.error, self.saves = error, 0

    async def save(self, chat: ChatThread, *more: Any, **others: Any) -> None:
        """Keep the question, and fail at the answer."""
        self.saves += 1
        if self.saves == 2:
            raise self.error
        await super().save(chat, *more, **others)


@pytest.mark.parametrize("error", [asyncio.CancelledError(), SystemExit(3), OSError("full")], ids=repr)
async def test_an_answer_that_could_not_be_saved_is_told(error: BaseException) -> None:
    """Whatever the store raises by itself: the answer is there, and so is the error."""
    fake = FakeProvider([answer_text("The answer.")])
    async with fake, lockgate_for(fake, store=Failing(error)) as gate, gate.ask(None, "Hello?") as run:
        with pytest.raises(StorageError, match="could not be saved"):
            await run.wait()
    assert run.text == "The answer."
