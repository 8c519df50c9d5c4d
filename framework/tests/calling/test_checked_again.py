"""What a rule change in the middle of a run does: the provider, the model, the limits are looked at again."""

from dataclasses import replace
from typing import Any

import pytest
from calling_kit import returning

from lockgate.app.configuration import Configuration, ProviderConfig
from lockgate.calling import RequestPrepared
from lockgate.chat import TraceStatus
from lockgate.errors import ProviderDenied
from lockgate.policy import BY_USER, ConfidenceLevel, Minimum
from lockgate.providers import ProviderProfile
from lockgate.registry import Cap, Ceilings, Rules
from lockgate.testing import Call, FakeProvider, FakeRequest, PluginOf, answer_calls, answer_text, lockgate_for


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
