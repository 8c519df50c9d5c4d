"""Whatever a tool does, its call ends in one result and the run goes on."""

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest
from calling_kit import DONE, AnyTool, asked, probe, raising, returning

from lockgate.chat import Source
from lockgate.errors import ArgumentRefused, ToolBlocked, ToolFailed
from lockgate.policy import ChatRequirements
from lockgate.testing import answer_text
from lockgate.tools import ToolResult


class Odd(BaseException):
    """No Exception."""


class Mute(Exception):
    """Cannot be shown."""

    def __str__(self) -> str:
        raise SystemExit(9)


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (SystemExit(3), "3"),
        (Odd("odd"), "odd"),
        (StopIteration("stop"), "StopIteration"),
        (StopAsyncIteration("stop"), "stop"),
        (GeneratorExit("gone"), "gone"),
        (asyncio.CancelledError("self"), "it was cancelled from inside"),
        (TimeoutError(), "TimeoutError"),
        (RecursionError("deep"), "deep"),
        (MemoryError(), "MemoryError"),
        (Mute(), "Mute"),
        (ValueError("  "), "ValueError"),
        (ExceptionGroup("many", [ValueError("one")]), "many (1 sub-exception)"),
        (ToolFailed("The host is down."), "The host is down."),
        (ArgumentRefused("The page must be 1."), "The page must be 1."),
    ],
    ids=lambda value: type(value).__name__,
)
async def test_what_a_tool_raises_becomes_one_result(error: BaseException, words: str) -> None:
    """Status ERROR, the tool ran, the words reach the model and the trace, and an answer follows."""
    done = await asked([probe(), DONE], raising(error))
    assert done.run.text == "Done."
    (result,), (trace,) = done.results, done.run.traces
    assert result.startswith("Tool execution failed: ")
    assert words in result
    assert (trace.status.value, trace.was_executed) == ("ERROR", True)
    assert words in trace.status_message


async def test_a_tool_that_refuses_is_a_block_in_its_own_words() -> None:
    """No prefix, and status BLOCKED."""
    done = await asked([probe(), DONE], raising(ToolBlocked("Not from this wiki.")))
    assert done.results == ["Not from this wiki."]
    assert (done.run.traces[0].status.value, done.run.traces[0].status_message) == ("BLOCKED", "Not from this wiki.")


def endless() -> list[Any]:
    """A list that holds itself."""
    made: list[Any] = []
    made.append(made)
    return made


def with_sources(*sources: Any) -> ToolResult:
    """A result with these sources."""
    return ToolResult("text", sources=sources)


class Hostile(dict[str, object]):
    """Raises while it is read."""

    def items(self) -> Any:
        raise KeyError("hostile")


@pytest.mark.parametrize(
    "returned",
    [
        None, 7, b"bytes", SimpleNamespace(content="x"),
        ToolResult({"a": float("nan")}), ToolResult(endless()), ToolResult([{1, 2}]), ToolResult(Hostile(a=1)),
        ToolResult(b"bytes"),
        with_sources("https://example.org/"), with_sources(Source(None, "https://example.org/")),  # type: ignore[arg-type] # nonsense on purpose
        ToolResult("text", sources=None), ToolResult("text", requires=None),  # type: ignore[arg-type] # nonsense on purpose
        ToolResult("text", requires=ChatRequirements(confidence="HIGH")),  # type: ignore[arg-type] # nonsense on purpose
    ],
    ids=lambda value: repr(value)[:40],
)  # fmt: skip
async def test_nonsense_that_a_tool_returns_is_an_error(returned: Any) -> None:
    """It is said what arrived, nothing of it is handed on, and the chat is as it was."""
    done = await asked([probe(), DONE], returning(returned))
    (trace,) = done.run.traces
    assert (trace.status.value, trace.was_executed) == ("ERROR", True)
    assert "it returned" in trace.status_message
    assert done.run.sources == ()
    assert done.run.chat.requirements == ChatRequirements()


async def test_execute_that_is_no_coroutine_is_an_error() -> None:
    """The mistake of an author costs the call."""
    made = returning("never")
    made.execute = lambda *_: ToolResult("plain")  # type: ignore[assignment,method-assign] # the mistake
    done = await asked([probe(), DONE], made)
    assert done.run.traces[0].status.value == "ERROR"


@pytest.mark.parametrize("error", [SystemExit(1), asyncio.CancelledError(), Odd("x"), RecursionError("deep")], ids=repr)
@pytest.mark.parametrize("method", ["parse", "timeout"])
async def test_what_reads_arguments_or_tells_the_time_may_raise_too(method: str, error: BaseException) -> None:
    """Arguments that cannot be read are an error without a run; a time that cannot be told is the default."""

    def broken(*_: Any) -> Any:
        raise error

    made = returning("fine")
    setattr(made, method, broken)
    done = await asked([probe(), DONE], made)
    (trace,) = done.run.traces
    expected = ("ERROR", False) if method == "parse" else ("SUCCESS", True)
    assert (trace.status.value, trace.was_executed) == expected
    assert done.run.text == "Done."


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), float("inf"), "soon", None])
async def test_a_time_that_is_none_counts_as_the_default(seconds: Any) -> None:
    """The call is neither late at once nor unlimited."""
    done = await asked([probe(), DONE], returning("fine", seconds=seconds))
    assert done.results == ["fine"]


async def test_a_long_failure_is_cut() -> None:
    """2,000 characters reach the model."""
    done = await asked([probe(), DONE], raising(ToolFailed("x" * 5_000)))
    assert done.results == ["Tool execution failed: " + "x" * 2_000 + "..."]


async def test_arguments_that_are_no_json_never_reach_a_lenient_tool() -> None:
    """A tool that reads arguments by itself is not asked: what is shown, checked and masked is what runs."""
    made = returning("never")

    def lenient(arguments: str) -> dict[str, Any]:
        return {}

    made.parse = lenient  # type: ignore[method-assign] # a tool of a plugin may do so
    done = await asked([probe(text="x" * 100_001), DONE], made)
    (trace,) = done.run.traces
    assert (trace.status.value, trace.was_executed) == ("ERROR", False)
    assert "at most 100000 are accepted" in done.results[0]


async def test_a_tool_cannot_change_what_its_call_is_compared_with() -> None:
    """The arguments of a context are for reading."""

    async def execute(arguments: dict[str, Any], context: Any) -> ToolResult:
        context.arguments["number"] = 2
        return ToolResult("changed")

    done = await asked([probe(), answer_text("Done.")], AnyTool(execute))
    assert "does not support item assignment" in done.results[0]


@pytest.mark.parametrize(
    ("place", "executed"),
    [("lockgate.calling.executor.returned_addresses", True), ("lockgate.registry.registry.Registry.check", False)],
)
async def test_a_fault_of_the_framework_itself_costs_one_call(
    place: str, executed: bool, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Nothing of the result leaves, the log says what broke, and the run goes on."""

    def broken(*_: Any, **__: Any) -> Any:
        raise LookupError("a fault")

    monkeypatch.setattr(place, broken)
    result = ToolResult("precious", (Source("precious", "https://example.org/"),))
    done = await asked([probe(), DONE], returning(result))
    (trace,) = done.run.traces
    assert (trace.status.value, trace.was_executed) == ("ERROR", executed)
    assert done.results[0].startswith("Tool execution failed: something in the framework went wrong")
    assert "precious" not in repr((done.events, done.run.chat, done.run.sources))
    assert "LookupError: a fault" in caplog.text
