"""Limits are settings and are named when hit; a call that only repeats itself is refused."""

from typing import Any

import pytest
from calling_kit import DONE, AnyTool, asked, probe, returning

from lockgate.calling import LimitReached, RoundEnded, ToolStarted
from lockgate.calling.limits import Limits, limit_hit
from lockgate.errors import ToolFailed
from lockgate.registry import Rules
from lockgate.testing import Call, answer_calls, answer_text
from lockgate.tools import ToolContext, ToolResult

TOLD = "which is the limit for one answer. No further call is possible. Give the best final answer you can"


def test_the_defaults_are_those_of_the_documents() -> None:
    """15 calls and 300,000 characters; the characters strictly, the calls from the number on."""
    limits = Limits()
    assert limit_hit(limits, 14, 300_000) is None
    calls, characters = limit_hit(limits, 15, 300_000), limit_hit(limits, 15, 300_001)
    assert calls is not None
    assert characters is not None
    assert (calls.name, calls.value) == ("max_tool_calls", 15)
    assert (characters.name, characters.value) == ("max_tool_result_characters", 300_000)
    assert "15 tool calls, which is the limit" in calls.instruction
    assert "more than 300000 characters, which is the limit" in characters.instruction


async def test_the_limit_of_calls_ends_the_round_in_the_middle() -> None:
    """Calls beyond it are answered with the limit, leave no trace and are no error; the last round has no tools."""
    calls = answer_calls(*(Call("probe", {"n": number}) for number in range(3)))
    done = await asked([calls, DONE], returning("fine"), rules=Rules(max_tool_calls=2))
    assert done.results[:2] == ["fine", "fine"]
    assert done.results[2].startswith("You have made 2 tool calls, " + TOLD)
    assert len(done.run.traces) == 2
    assert done.events.count(LimitReached("max_tool_calls", 2)) == 1
    assert sum(isinstance(event, ToolStarted) for event in done.events) == 2
    first, last = done.fake.requests
    assert first.tool_names == ["probe"]
    assert last.tool_names == []
    assert TOLD in last.messages[0]["content"]
    assert done.run.stopped == "limit"


async def test_the_limit_of_characters_lets_the_result_through_that_passes_it() -> None:
    """A result that reaches it exactly does not hit it; one that overshoots is delivered whole."""
    rules = Rules(max_tool_result_characters=10)
    done = await asked([probe(1), probe(2), DONE], returning("12345"), rules=rules)
    assert done.run.stopped == "answered"
    done = await asked([probe(1), probe(2), DONE], returning("123456"), rules=rules)
    assert done.results == ["123456", "123456"]
    assert done.run.stopped == "limit"
    assert LimitReached("max_tool_result_characters", 10) in done.events


async def test_no_call_at_all_may_be_allowed() -> None:
    """The first round is the last one then."""
    done = await asked([DONE], returning("never"), rules=Rules(max_tool_calls=0))
    assert done.fake.requests[0].tool_names == []
    assert done.run.text == "Done."


async def test_a_tool_is_told_how_much_the_run_still_takes() -> None:
    """All results so far count, refusals and failures too; never less than nothing."""
    seen: list[int] = []

    async def execute(arguments: dict[str, Any], context: ToolContext) -> ToolResult:
        seen.append(context.remaining_characters)
        return ToolResult("x" * 60)

    rules = Rules(max_tool_result_characters=100)
    calls = answer_calls(*(Call("probe", {"n": number}) for number in range(3)))
    done = await asked([calls, DONE], AnyTool(execute), rules=rules)
    assert seen == [100, 40]
    assert done.results[2].startswith("Tools have returned more than 100 characters")


async def test_rounds_and_calls_are_counted_as_they_come() -> None:
    """The events tell the number of each round and how many calls it asked for."""
    calls = answer_calls(Call("probe", {"n": 1}), Call("fly", {}))
    done = await asked([calls, DONE], returning("fine"))
    rounds = [(event.number, event.calls, event.stop) for event in done.events if isinstance(event, RoundEnded)]
    assert rounds == [(1, 2, "tool_calls"), (2, 0, "stop")]


SAME = "The same call was made twice before with the same result"


@pytest.mark.parametrize(
    ("numbers", "runs"),
    [
        ([1, 1, 1, 1], [True, True, False, False]),
        ([1, 1, 2, 1, 1, 1], [True, True, True, True, True, False]),
        ([1, 2, 1, 2, 1, 2], [True] * 6),
    ],
)
async def test_a_third_equal_call_in_a_row_is_refused(numbers: list[int], runs: list[bool]) -> None:
    """The arguments decide, and that both brought the same; every other call starts anew."""
    done = await asked([*map(probe, numbers), DONE], returning("fine"))
    assert [trace.was_executed for trace in done.run.traces] == runs
    assert all((SAME in result) != ran for result, ran in zip(done.results, runs, strict=True))


async def test_a_spelling_makes_no_other_call() -> None:
    """Order of members and blanks do not matter; a value of another type does."""
    texts = ['{"a":1,"b":2}', '{ "b": 2, "a": 1 }', '{"a":1, "b":2}', '{"a":true,"b":2}', '{"a":1.0,"b":2}']
    done = await asked([*(answer_calls(Call("probe", text)) for text in texts), DONE], returning("fine"))
    assert [trace.was_executed for trace in done.run.traces] == [True, True, False, True, True]


@pytest.mark.parametrize("between", ["fly", "sometimes"])
async def test_a_call_that_did_not_work_in_between_starts_anew(between: str) -> None:
    """Only successes in a row count."""

    async def execute(arguments: dict[str, Any], context: ToolContext) -> ToolResult:
        raise ToolFailed("not today")

    script = [probe(), probe(), probe(name=between), probe(), DONE]
    done = await asked(script, returning("fine"), AnyTool(execute, "sometimes"))
    assert [trace.was_executed for trace in done.run.traces] == [True, True, between == "sometimes", True]
    assert done.run.traces[3].status.value == "SUCCESS"


async def test_results_that_differ_are_no_repetition() -> None:
    """Something moves, so it may be asked again."""
    count = iter(range(10))

    async def execute(arguments: dict[str, Any], context: ToolContext) -> ToolResult:
        return ToolResult(str(next(count)))

    done = await asked([*[probe()] * 5, DONE], AnyTool(execute))
    assert done.results == ["0", "1", "2", "3", "4"]


async def test_a_repeatable_tool_may_be_polled() -> None:
    """Its definition says so."""
    done = await asked([*[probe()] * 5, DONE], returning("still working", repeatable=True))
    assert done.results == ["still working"] * 5


async def test_a_tool_that_is_refused_for_repeating_still_costs_a_call() -> None:
    """A model that never stops meets the limit."""
    script = [*[probe()] * 4, answer_text("Enough.")]
    done = await asked(script, returning("fine"), rules=Rules(max_tool_calls=4))
    assert (done.run.stopped, done.run.text) == ("limit", "Enough.")
