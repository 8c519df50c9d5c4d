"""What a tool hands over is copied into plain values once; nothing of its objects is trusted to stay as it was."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from calling_kit import DONE, AnyTool, asked, asking, probe, returning

from lockgate.calling import RunEnded, ToolFinished, ToolProgress, ToolStarted
from lockgate.calling.delivery import MAX_RESULT_CHARACTERS
from lockgate.tools import ToolContext, ToolResult


class Lying(str):  # noqa: SLOT000 - it lies on purpose
    """A text that says it is empty, and cannot be shown."""

    def __len__(self) -> int:
        raise RuntimeError("no length")

    def __str__(self) -> str:
        raise RuntimeError("no words")


async def test_a_text_of_another_class_is_read_as_a_text() -> None:
    """Its own methods are never asked."""
    done = await asked([probe(), DONE], returning(ToolResult(Lying("found"))))
    assert done.results == ["found"]
    assert type(done.run.traces[0].result) is str


class Leaving(ToolResult):
    """A result that ends the program when it is read as the framework's own would be."""

    def model_content(self) -> str:
        raise SystemExit(3)


async def test_methods_of_a_result_are_never_asked() -> None:
    """Its fields are read; what a subclass makes of them does not matter."""
    done = await asked([probe(), DONE], returning(Leaving("found")))
    assert done.results == ["found"]


async def test_a_huge_result_is_refused_whole() -> None:
    """A tool cuts its text to the budget its context names; what is far beyond is not passed on."""
    done = await asked([probe(), DONE], returning("x" * (MAX_RESULT_CHARACTERS + 1)))
    told = f"it returned {MAX_RESULT_CHARACTERS + 1} characters; at most {MAX_RESULT_CHARACTERS} are taken."
    assert done.results == [f"Tool execution failed: {told}"]


@pytest.mark.parametrize(
    ("told", "shown"), [(lambda: Lying("reading"), True), (lambda: 42, False), (lambda: None, False)]
)
async def test_only_texts_are_told_to_a_person(told: Callable[[], Any], *, shown: bool) -> None:
    """Anything else is the tool's own fault, and reaches no event."""

    async def execute(arguments: dict[str, Any], context: ToolContext) -> ToolResult:
        context.emit(told())
        return ToolResult("found")

    done = await asked([probe(), DONE], AnyTool(execute))
    progress = [event.text for event in done.events if isinstance(event, ToolProgress)]
    assert progress == (["reading"] if shown else [])
    assert done.run.traces[0].status.value == ("SUCCESS" if shown else "ERROR")


async def test_a_call_that_is_cancelled_leaves_a_trace() -> None:
    """Every call that began is told, however it ended."""
    begun = asyncio.Event()

    async def execute(arguments: dict[str, Any], context: ToolContext) -> ToolResult:
        begun.set()
        await asyncio.Event().wait()
        return ToolResult("never")

    async with asking([probe()], AnyTool(execute), entered=False) as asked_now:
        async with asked_now.run:
            await begun.wait()
        await asked_now.end()
    kinds = [type(event) for event in asked_now.events if isinstance(event, ToolStarted | ToolFinished | RunEnded)]
    assert kinds == [ToolStarted, ToolFinished, RunEnded]
    assert asked_now.run.traces[0].status_message == "It was cancelled."
