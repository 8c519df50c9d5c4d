"""A model may answer what it likes: each call has one result in its place, and the chat goes on."""

from collections import Counter
from itertools import pairwise
from typing import Annotated, Any, Literal

import pytest
from misbehaviours import LIMIT, TABLE, Misbehaviour

from lockgate import tool
from lockgate.calling import Run
from lockgate.chat import ChatThread
from lockgate.errors import ProviderError
from lockgate.policy import BY_USER, ToolOutboundData
from lockgate.registry import Rules
from lockgate.testing import FakeHost, FakeProvider, FakeRequest, answer_text, lockgate_for
from lockgate.tools import Line, PositiveInt, Tool, ToolContext


@tool(blocking=False, outbound_data=ToolOutboundData.NONE)
def look_up(
    city: Annotated[str, Line(100)], page: PositiveInt = 1, form: Literal["short", "long"] = "short"
) -> str:
    """Tell about a city.

    Args:
        city: Its name.
        page: Which page.
        form: How much.
    """
    del form
    return f"{city}: {page}"


@tool(blocking=False)
def big(size: PositiveInt) -> str:
    """Give a text.

    Args:
        size: How many characters.
    """
    return "x" * size


@tool(blocking=False)
def forbidden() -> str:
    """Never run."""
    raise AssertionError("a tool ran that the rules leave out")


def hoard() -> Tool:
    """Make a tool that keeps the context of its first call and uses it in the second."""
    kept: list[ToolContext] = []

    @tool(id="hoard", blocking=False)
    def hoarding(context: ToolContext) -> str:
        """Keep the context."""
        kept.append(context)
        kept[0].emit("I am still here.")
        return "kept"

    return hoarding


SELECTED = ("look_up", "big", "forbidden", "hoard")


def test_the_table_holds_at_least_fifty_classes() -> None:
    """No class is counted twice, and no two say the same in the same words."""
    assert len({case.name for case in TABLE}) == len(TABLE) >= 50
    assert max(Counter(repr((case.script, case.question, case.limits)) for case in TABLE).values()) == 1


@pytest.mark.parametrize("case", TABLE, ids=lambda case: case.name)
async def test_a_misbehaving_model(case: Misbehaviour) -> None:
    """Its calls end in one result each, in their places; the traces tell how; a second question is answered."""
    script = [*case.script, *([] if case.is_all else [answer_text("Done.")]), answer_text("Again.")]
    rules = Rules(disabled={"forbidden": BY_USER}, **dict(case.limits))  # type: ignore[arg-type] # names of limits
    host = FakeHost(reads_arguments=True)
    async with (
        FakeProvider(script, host=host, api_key="test-key") as fake,
        lockgate_for(fake, tools=[look_up, big, forbidden, hoard()], rules=rules) as gate,
    ):
        async with gate.ask(None, case.question, selected=SELECTED) as run:
            await ended(run)
        first = len(fake.requests)
        check_traces(case, run)
        check_results(case, fake.requests[:first])
        assert (run.stopped, run.text) == (case.stopped, case.text)
        async with gate.ask(run.chat, "And now?") as second:
            await second.wait()
        assert (second.stopped, second.text) == ("answered", "Again.")
    fake.assert_no_problems()
    check_second_question(case, run.chat, fake.requests[first:])


async def ended(run: Run) -> None:
    """Wait for the end, whatever it is."""
    try:
        await run.wait()
    except ProviderError:
        assert run.stopped == "failed"
    else:
        assert run.error is None


def check_traces(case: Misbehaviour, run: Run) -> None:
    """One trace for each call that was taken, in order."""
    expected = [(item.status, item.executed) for item in case.calls if item.status is not None]
    assert [(trace.status.value, trace.was_executed) for trace in run.traces] == expected
    assert [trace.order for trace in run.traces] == list(range(1, len(expected) + 1))
    for trace in run.traces:
        assert bool(trace.status_message) == (trace.status.value != "SUCCESS")
        assert bool(trace.result) == (trace.status.value == "SUCCESS")


def check_results(case: Misbehaviour, requests: list[FakeRequest]) -> None:
    """Each request goes on where the one before ended, each call is followed by its result."""
    answered = [item for item in case.calls if item.words is not None]
    results: list[str] = []
    for before, after in pairwise(requests):
        turn, *given = without_system(after)[len(without_system(before)):]
        assert without_system(after)[: len(without_system(before))] == without_system(before)
        assert turn["role"] == "assistant"
        assert [(message["role"], message["tool_call_id"]) for message in given] == [
            ("tool", call["id"]) for call in turn["tool_calls"]
        ]
        results += [message["content"] for message in given]
    ids = [call["id"] for message in requests[-1].messages for call in message.get("tool_calls", ())]
    assert len(set(ids)) == len(ids) == len(answered)
    for expected, content in zip(answered, results, strict=True):
        assert expected.words is not None
        assert expected.words in content
        says_failed = content.startswith("Tool execution failed: ")
        assert says_failed == (expected.status == "ERROR")
    offered = [bool(request.tool_names) for request in requests]
    ends_by_limit = case.stopped == "limit"
    assert offered == [True] * (len(requests) - ends_by_limit) + [False] * ends_by_limit
    assert (LIMIT in case.calls) <= ends_by_limit


def check_second_question(case: Misbehaviour, chat: ChatThread, requests: list[FakeRequest]) -> None:
    """The next turn sends the texts of user and model alone."""
    assert len(requests) == 1
    sent = [(message["role"], message["content"]) for message in without_system(requests[0])]
    answer = [("assistant", case.text)] if case.text else []
    assert sent == [("user", case.question), *answer, ("user", "And now?")]
    assert all(set(message) == {"role", "content"} for message in requests[0].messages)
    last = chat.messages[-1]
    assert last.partial == (case.stopped not in ("answered", "limit"))


def without_system(request: FakeRequest) -> list[dict[str, Any]]:
    """The messages of a request without the system prompt, which differs in the last round."""
    return [message for message in request.messages if message["role"] != "system"]
