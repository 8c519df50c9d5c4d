"""One bad plugin costs only itself: Lockgate starts, answers, and ends, whatever a plugin contributes."""

import asyncio
import subprocess
import sys
from typing import Any, cast

import pytest
from registry_kit import simple

from lockgate.app import Configuration, InstanceConfig
from lockgate.app.assembly import Assembly, assemble
from lockgate.guard import Guard
from lockgate.providers import ProviderProfile
from lockgate.registry.catalog import catalog
from lockgate.settings import ToolSettings
from lockgate.settings.instances import Kind
from lockgate.testing import Call, FakeProvider, PluginOf, answer_calls, answer_text, lockgate_for


class NoId:
    """Ends the process when its ID is read."""

    @property
    def id(self) -> str:
        raise SystemExit(3)


class NoTools:
    """A source of definitions that forgot its method."""

    name = "x"


class Source:
    """A source of definitions that brings a value, or raises."""

    def __init__(self, brought: Any) -> None:
        self.brought = brought

    @property
    def name(self) -> str:
        raise RuntimeError("nameless")

    async def tools(self) -> Any:
        if isinstance(self.brought, BaseException):
            raise self.brought
        return self.brought


class NoBool:
    """Neither true nor false, and no iterable."""

    def __bool__(self) -> bool:
        raise ValueError("ambiguous")


def broken_off() -> Any:
    """Yield a tool, then end the process."""
    yield simple("half")
    raise SystemExit(1)


class Observer:
    """Ends the process when it is told something."""

    def on(self, event: object) -> None:
        del event
        raise SystemExit(1)


async def problems_beside(**contributions: list[Any]) -> tuple[str, ...]:
    """Ask with a bad plugin beside a good tool; return what could not be used."""
    script = [answer_calls(Call("fine", {})), answer_text("done")]
    async with FakeProvider(script) as fake:
        gate = lockgate_for(fake, tools=[simple("fine")], plugins=[PluginOf("bad_pack", **contributions)])
        async with gate:
            async with gate.ask(None, "Go on.", selected=["fine"]) as run:
                await run.wait()
            assert run.text == "done"
            assert [trace.status.value for trace in run.traces] == ["SUCCESS"]
            assert "fine" in [item.id for item in await catalog(gate.registry, None)]
            return gate.assembly.problems


@pytest.mark.parametrize(
    ("hook", "value", "words"),
    [
        ("tools", NoId(), "no Tool"),
        ("collections", NoId(), "SystemExit: 3"),
        ("option_sources", NoId(), "SystemExit: 3"),
        ("loops", NoId(), "SystemExit: 3"),
        ("loops", None, "loop of"),
        ("provider_adapters", NoId(), "SystemExit: 3"),
        ("provider_profiles", NoId(), "SystemExit: 3"),
        ("provider_profiles", None, "its id is None"),
        ("provider_profiles", ProviderProfile("p", cast("Any", 5), "X", "a"), "its title is 5; right is a text"),
        ("provider_profiles", ProviderProfile("p", "P", "X", "a", accepts_stream_options=cast("Any", 1)),
         "its accepts_stream_options is 1; right is True or False"),
        ("kinds", None, "no Kind"),
        ("kinds", Kind("k", "f", cast("Any", int)), "settings_model is no ToolSettings"),
        ("observers", None, "without a method on"),
        ("tool_definition_sources", NoTools(), "brought no tools"),
        ("tool_definition_sources", Source(5), "brought no tools"),
        ("tool_definition_sources", Source("tools"), "brought no tools"),
        ("tool_definition_sources", Source(NoBool()), "brought no tools"),
        ("tool_definition_sources", Source(broken_off()), "brought no tools"),
        ("tool_definition_sources", Source(SystemExit(2)), "brought no tools"),
    ],
)  # fmt: skip
async def test_a_contribution_that_cannot_be_read_is_told_and_costs_itself(hook: str, value: Any, words: str) -> None:
    """Whatever it raises while it is read, the rest is put together, a chat is answered, and a sentence says why."""
    assert any(words in problem for problem in await problems_beside(**{hook: [value]}))


@pytest.mark.parametrize(
    ("hook", "value"), [("observers", Observer()), ("services", None), ("services", NoId())]
)
async def test_a_contribution_that_fails_when_it_is_used_costs_itself(hook: str, value: Any) -> None:
    """An observer that raises is not told again; what is no service does not run."""
    await problems_beside(**{hook: [value]})


class Exiting(ToolSettings):
    """Ends the process when settings are read."""

    key: str = ""

    @classmethod
    def model_validate(cls, *given: Any, **named: Any) -> Any:
        del given, named
        raise SystemExit(4)


class Empty(ToolSettings):
    """No settings."""


async def assembled(tmp_path: Any, *kinds: Any) -> Assembly:
    """Put together a plugin with these kinds, and an instance of `k` and of `fine`."""
    instances = (InstanceConfig("one", "k", "f"), InstanceConfig("two", "fine", "f"))
    plugin = PluginOf("pack", kinds=[*kinds, Kind("fine", "f", Empty)])
    return await assemble(Configuration(instances=instances), [plugin], tmp_path, Guard())


async def test_an_instance_whose_settings_cannot_be_read_costs_itself(tmp_path: Any) -> None:
    """Its kind raises while it reads them; the instance of another kind is there."""
    made = await assembled(tmp_path, Kind("k", "f", Exiting))
    assert [instance.id for instance in made.services.instances("f")] == ["two"]
    assert any("f 'one' cannot be used: reading its settings failed in" in text for text in made.problems)


async def test_of_two_kinds_with_one_name_the_first_stays(tmp_path: Any) -> None:
    """The other is told."""
    made = await assembled(tmp_path, Kind("k", "f", Empty, title="first"), Kind("k", "f", Empty, title="second"))
    assert [instance.kind.title for instance in made.services.instances("f")] == ["first", ""]
    assert any(text.startswith("The kind 'k' of") for text in made.problems)


class Service:
    """A service that is ready, and then ends in its own way."""

    def __init__(self, error: BaseException) -> None:
        self.error = error

    async def run(self, ready: asyncio.Event, stop: asyncio.Event) -> None:
        del stop
        ready.set()
        await asyncio.sleep(0)
        raise self.error


@pytest.mark.parametrize("error", [RuntimeError("broken"), SystemExit(9), GeneratorExit(), asyncio.CancelledError()])
async def test_a_service_that_ends_itself_costs_itself(error: BaseException) -> None:
    """`SystemExit` out of a task would end the whole event loop."""
    await problems_beside(services=[Service(error)])


def test_a_service_that_swallows_its_cancellation_does_not_keep_the_program() -> None:
    """It is left behind, and `asyncio.run` ends."""
    program = """
import asyncio
from lockgate.app import lifetime
from lockgate.testing import FakeProvider, PluginOf, answer_text, lockgate_for

lifetime.STOP_DEADLINE = lifetime.CANCEL_DEADLINE = 0.1

class Clinging:
    async def run(self, ready, stop):
        ready.set()
        while True:
            try:
                await asyncio.sleep(100)
            except asyncio.CancelledError:
                pass

async def main():
    async with FakeProvider([answer_text("fine")]) as fake:
        async with lockgate_for(fake, plugins=[PluginOf("pack", services=[Clinging()])]) as gate:
            async with gate.ask(None, "hi") as run:
                await run.wait()
            print(run.text)

asyncio.run(main())
print("ended")
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=30, check=False
    )  # fmt: skip
    assert done.stdout.split() == ["fine", "ended"], done.stderr
    assert done.returncode == 0
