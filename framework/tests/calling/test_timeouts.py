"""A call that takes too long ends, whatever the tool thinks of it, and the run goes on."""

import asyncio
import threading
from typing import Any

import pytest
from calling_kit import DONE, AnyTool, asked, asking, probe, returning

from lockgate.calling import running
from lockgate.chat import ChatThread
from lockgate.errors import ToolFailed
from lockgate.settings import ToolSettings
from lockgate.testing import FakeProvider, lockgate_for
from lockgate.tools import ToolContext, ToolResult, tool
from lockgate.tools.threads import run_in_thread

SOON = 0.01


@pytest.fixture(autouse=True)
def _little_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tools that hold on are left behind at once."""
    monkeypatch.setattr(running, "GRACE", 0.01)


async def test_a_late_tool_is_cancelled_and_named() -> None:
    """The model is told how long it was waited for; the tool's own cleaning up runs."""
    cleaned = asyncio.Event()

    async def execute(arguments: dict[str, Any], context: ToolContext) -> ToolResult:
        try:
            await asyncio.Event().wait()
        finally:
            cleaned.set()
        return ToolResult("never")

    done = await asked([probe(), DONE], AnyTool(execute, seconds=SOON))
    assert cleaned.is_set()
    assert done.results == ["Tool execution failed: it took longer than 0.01 seconds and was stopped."]
    assert (done.run.traces[0].status.value, done.run.traces[0].was_executed) == ("ERROR", True)


async def test_a_tool_that_swallows_its_cancellation_is_left_behind() -> None:
    """The run goes on, the context is closed, and what the tool brings later is dropped."""
    release, ended = asyncio.Event(), asyncio.Event()
    refused: list[str] = []

    async def execute(arguments: dict[str, Any], context: ToolContext) -> ToolResult:
        while not release.is_set():
            try:
                await release.wait()
            except asyncio.CancelledError:
                continue
        for use in (lambda: context.emit("late"), lambda: context.guard):
            try:
                use()
            except ToolFailed as error:
                refused.append(str(error))
        ended.set()
        return ToolResult("late")

    done = await asked([probe(), DONE], AnyTool(execute, seconds=SOON))
    assert done.run.text == "Done."
    seen = len(done.events)
    release.set()
    await ended.wait()
    assert refused == ["This call has ended; its context can no longer be used."] * 2
    assert len(done.events) == seen
    assert "late" not in repr(done.run.chat)


async def test_a_tool_that_ends_by_an_error_after_its_time_is_still_late() -> None:
    """What it raises on its way out is nobody's business."""

    async def execute(arguments: dict[str, Any], context: ToolContext) -> ToolResult:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            raise ValueError("on the way out") from None
        return ToolResult("never")

    done = await asked([probe(), DONE], AnyTool(execute, seconds=SOON))
    assert "took longer" in done.results[0]


async def test_a_thread_that_is_late_is_left_behind() -> None:
    """A synchronous tool runs on a daemon thread; its context is closed there, too."""
    release, ended = threading.Event(), threading.Event()
    refused: list[str] = []

    @tool(id="probe", timeout=SOON)
    def waiting(number: int, context: ToolContext) -> str:
        """Wait.

        Args:
            number: Any.
            context: Hidden from the model.
        """
        release.wait(10)
        try:
            context.emit("late")
        except ToolFailed as error:
            refused.append(str(error))
        ended.set()
        return "late"

    done = await asked([probe(), DONE], waiting)
    assert "took longer" in done.results[0]
    release.set()
    assert await run_in_thread(ended.wait, 10)
    assert len(refused) == 1


async def test_the_time_is_a_function_of_the_settings() -> None:
    """The tool is asked with the settings in force."""
    seen: list[ToolSettings] = []
    made = returning("fine")

    def timeout(settings: ToolSettings) -> float:
        seen.append(settings)
        return 5

    made.timeout = timeout  # type: ignore[method-assign] # a spy
    await asked([probe(), DONE], made)
    assert [type(settings) for settings in seen] == [made.settings_model]


def test_an_event_loop_ends_although_a_tool_never_lets_go() -> None:
    """`asyncio.run` does not wait for what was left behind."""

    async def execute(arguments: dict[str, Any], context: ToolContext) -> ToolResult:
        while True:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                continue

    texts: list[str] = []

    async def main() -> None:
        async with asking([probe(), DONE], AnyTool(execute, seconds=SOON)) as asked_now:
            await asked_now.end()
        texts.append(asked_now.run.text)

    thread = threading.Thread(target=asyncio.run, args=(main(),), daemon=True)
    thread.start()
    thread.join(10)
    assert not thread.is_alive()
    assert texts == ["Done."]
    running._left_behind.clear()


async def test_progress_from_a_thread_is_told_while_the_tool_runs() -> None:
    """An event from another thread wakes who iterates at once, and in order."""
    release = threading.Event()

    @tool(id="probe")
    def telling(number: int, context: ToolContext) -> str:
        """Tell and wait until it was heard.

        Args:
            number: Any.
            context: Hidden from the model.
        """
        context.emit("half way")
        return "heard" if release.wait(10) else "nobody listens"

    async with FakeProvider([probe(), DONE]) as fake, lockgate_for(fake, tools=[telling]) as gate:
        names = []
        async with gate.ask(ChatThread(), "Hello?", selected=["probe"]) as run:
            async for event in run:
                names.append(type(event).__name__)
                if names[-1] == "ToolProgress":
                    release.set()
        assert run.traces[0].result == "heard"
    start = names.index("ToolStarted")
    assert names[start : start + 3] == ["ToolStarted", "ToolProgress", "ToolFinished"]


async def test_a_tool_that_does_not_say_how_long_it_takes_holds_nothing_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """The question is asked beside the event loop, and the default counts when no answer comes."""
    monkeypatch.setattr("lockgate.calling.running.ASK_DEADLINE", 0.05)
    release = threading.Event()

    class Pondering(AnyTool):
        """Blocks when it is asked for its timeout."""

        def timeout(self, settings: ToolSettings) -> float:
            release.wait(30)
            return 1.0

    async def execute(arguments: dict[str, Any], context: ToolContext) -> ToolResult:
        return ToolResult("found")

    done = await asked([probe(), DONE], Pondering(execute))
    release.set()
    assert done.results == ["found"]
