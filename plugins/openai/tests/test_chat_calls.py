"""What comes of the pieces of tool calls: whole calls, or problems in words for the model."""

import json
from typing import Any

import pytest
from chat_runs import PARIS, ROME, arguments, calls_stream, one_round, piece

from lockgate.providers import StopReason
from lockgate.testing import (
    ABSENT,
    Call,
    ChatShape,
    answer_calls,
    answer_raw,
)


@pytest.mark.parametrize("streamed", [True, False])
@pytest.mark.parametrize(
    "shape",
    [
        ChatShape(),
        ChatShape(fragments=None),
        ChatShape(fragments=1),
        ChatShape(fragments=3, interleaved=True),
        ChatShape(index="zero"),
        ChatShape(index="absent"),
        ChatShape(index="null"),
        ChatShape(index="zero", continuation="id"),
        ChatShape(continuation="id"),
        ChatShape(continuation="id_and_name"),
        ChatShape(index="absent", continuation="id_and_name"),
        ChatShape(continuation="empty"),
        ChatShape(continuation="null"),
        ChatShape(first_arguments=None),
        ChatShape(first_arguments=ABSENT),
        ChatShape(finish_with_last=True, fragments=None),
        ChatShape(content_beside_calls=""),
        ChatShape(done=False),
    ],
    ids=repr,
)
async def test_calls_come_out_whole_from_every_kind_of_pieces(shape: ChatShape, streamed: bool) -> None:
    """However a host numbers, repeats and cuts the pieces of two calls, both come out right."""
    answer = answer_calls(
        Call("get_weather", PARIS, id="a"), Call("get_time", ROME, id="b"), chat=shape, streamed=streamed
    )
    done = await one_round(answer)
    assert [(call.id, call.name, call.problem) for call in done.calls] == [
        ("a", "get_weather", ""),
        ("b", "get_time", ""),
    ]
    assert arguments(done) == [PARIS, ROME]
    assert done.stop is StopReason.TOOL_CALLS


@pytest.mark.parametrize("streamed", [True, False])
@pytest.mark.parametrize("index", ["counted", "zero", "absent"])
async def test_whole_calls_without_ids_stay_apart(index: Any, streamed: bool) -> None:
    """Calls that come whole and without an ID are told apart whatever their number, and get IDs that differ."""
    both = [Call("get_weather", PARIS, id=""), Call("get_weather", ROME, id="")]
    done = await one_round(answer_calls(*both, chat=ChatShape(index=index, fragments=None), streamed=streamed))
    assert arguments(done) == [PARIS, ROME]
    assert len({call.id for call in done.calls}) == 2
    assert all(len(call.id) == 9 and call.id.isalnum() for call in done.calls)


@pytest.mark.parametrize("streamed", [True, False])
async def test_calls_with_one_id_for_all_stay_apart(streamed: bool) -> None:
    """A host with one constant ID gets others in the history."""
    both = [Call("get_weather", PARIS, id="call_0"), Call("get_time", ROME, id="call_0")]
    done = await one_round(answer_calls(*both, streamed=streamed))
    assert arguments(done) == [PARIS, ROME]
    assert done.calls[0].id == "call_0"
    assert done.calls[1].id != "call_0"


@pytest.mark.parametrize(
    ("entries", "read"),
    [
        # An ID not seen yet begins a call, a known one goes on with it, in any order.
        ([piece("f", id="a"), piece("g", id="b"), *(piece(None, "{}", id=x) for x in "ab")], ["f{}", "g{}"]),
        # Without ID and number the last call goes on, and a name begins another after whole arguments.
        ([piece("f", '{"x"'), piece(None, ":1}")], ['f{"x":1}']),
        ([piece("f", "{}"), piece("f", "{}")], ["f{}", "f{}"]),
        ([piece("f", "{}"), piece("g", ""), piece(None, '{"x":1}')], ["f{}", 'g{"x":1}']),
        ([piece("f", {}), piece("g", {"x": 1})], ["f{}", 'g{"x":1}']),
        # A known number goes on, also with the name repeated.
        ([piece("f", "", index=0), piece("f", '{"x":', index=0), piece("f", "1}", index=0)], ['f{"x":1}']),
        ([piece("f", '{"x":{}', index=0), piece("f", "}", index=0)], ['f{"x":{}}']),
        ([piece("f", "{}", index=0), piece("f", "", index=0)], ["f{}"]),
        ([piece("f", "{}", index=0), piece("g", "", index=0), piece(None, "{}", index=0)], ["f{}", "g{}"]),
        # The ID may come after the call has begun.
        ([piece("f", "", index=0), piece(None, "{}", id="a", index=0)], ["f{}"]),
        ([piece("f", "{}", index=0), piece("g", "{}", id="a", index=0)], ["f{}", "g{}"]),
        # A name in pieces, one repeated, one after the arguments began.
        ([piece("get_", "", index=0), piece("weather", "", index=0), piece(None, "{}", index=0)], ["get_weather{}"]),
        ([piece("f", "", index=0), piece("f", "", index=0), piece("f", "{}", index=0)], ["f{}"]),
        # Numbers that begin high or come in another order.
        ([piece("f", "{}", id="a", index=7), piece("g", "{}", id="b", index=3)], ["f{}", "g{}"]),
    ],
)  # fmt: skip
async def test_pieces_are_merged_by_id_then_number_then_place(entries: list[dict[str, Any]], read: list[str]) -> None:
    """The rule that decides which call a piece belongs to."""
    done = await one_round(calls_stream(*entries))
    assert [call.name + call.arguments for call in done.calls] == read
    assert [call.problem for call in done.calls] == [""] * len(read)


@pytest.mark.parametrize("streamed", [True, False])
@pytest.mark.parametrize(
    ("sent", "read"),
    [
        (Call("get_weather", ""), {}),
        (Call("get_weather", "  \n"), {}),
        (Call("get_weather", None), {}),
        (Call("get_weather", ABSENT), {}),
        (Call("get_weather", "null"), {}),
        (Call("get_weather", '""'), {}),
        (Call("get_weather", PARIS, as_object=True), PARIS),
        (Call("get_weather", {}, as_object=True), {}),
        (Call("get_weather", [], as_object=True), {}),
        (Call("get_weather", json.dumps(json.dumps(PARIS))), PARIS),
        (Call("get_weather", '{"n":9007199254740993,"f":1.1}'), {"n": 9007199254740993, "f": 1.1}),
        (Call("get_weather", {"n": 9007199254740993}, as_object=True), {"n": 9007199254740993}),
        (Call(("get_", "weather"), PARIS), PARIS),
        (Call(" get_weather\n", PARIS), PARIS),
    ],
    ids=repr,
)
async def test_arguments_are_read_in_every_framing(sent: Call, read: object, streamed: bool) -> None:
    """An object, nothing, JSON in a string, exact large numbers: what is meant comes out."""
    done = await one_round(answer_calls(sent, streamed=streamed))
    assert (done.calls[0].name, done.calls[0].problem) == ("get_weather", "")
    assert arguments(done) == [read]


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        ('{"city": "Par', "no valid JSON"),
        ('{"city": "Paris"} and more', "no valid JSON (Extra data at character 19 of 26)"),
        ("{'city': 'Paris'}", "no valid JSON"),
        ("[1]", "not an array"),
        ("5", "not a number"),
        ("true", "not true or false"),
        ('"Paris"', "no valid JSON"),
        (json.dumps(json.dumps("x")), "not a text"),
        ('{"x": NaN}', "NaN"),
        ('{"x": Infinity}', "Infinity"),
        ("{" * 50 + '"a":' + "[" * 100_000, "JSON"),
        ('{"a":' * 100_000, "nested too deeply"),
        ('{"x": ' + "9" * 5_000 + "}", "too many digits"),
    ],
)
async def test_broken_arguments_are_told_and_never_run(sent: str, words: str) -> None:
    """What is no JSON object is not repaired: the call has a problem in words and keeps what came."""
    done = await one_round(answer_calls(Call("get_weather", sent), chat=ChatShape(fragments=5_000)))
    assert words in done.calls[0].problem
    assert done.calls[0].arguments == sent
    assert done.stop is StopReason.TOOL_CALLS


async def test_an_object_that_json_cannot_express_is_a_problem() -> None:
    """A number beyond every limit does not turn into `Infinity` on its way."""
    entry = '{"index":0,"id":"a","function":{"name":"get_weather","arguments":{"x":1e999}}}'
    body = f'data: {{"choices":[{{"delta":{{"tool_calls":[{entry}]}},"finish_reason":"tool_calls"}}]}}\n\n'
    done = await one_round(answer_raw(body, content_type="text/event-stream"))
    assert "cannot express" in done.calls[0].problem


@pytest.mark.parametrize(
    ("sent", "name", "words"),
    [
        (Call("unheard_of"), "unheard_of", ""),
        (Call("multi_tool_use.parallel"), "invalid_tool_call", "'multi_tool_use.parallel'"),
        (Call("get weather"), "invalid_tool_call", "is no name of a function"),
        (Call("n" * 65), "invalid_tool_call", "is no name of a function"),
        (Call("wéther"), "invalid_tool_call", "is no name of a function"),
        (Call(""), "invalid_tool_call", "has no name"),
        (Call(None), "invalid_tool_call", "has no name"),
        (Call(ABSENT), "invalid_tool_call", "has no name"),
        (Call("x", function="null"), "invalid_tool_call", "names no function"),
        (Call("x", function="absent", extra={"custom": {"name": "x"}}), "invalid_tool_call", "names no function"),
    ],
    ids=repr,
)  # fmt: skip
@pytest.mark.parametrize("streamed", [True, False])
async def test_names_no_host_would_take_back_are_replaced(sent: Call, name: str, words: str, streamed: bool) -> None:
    """A valid name nobody offered is kept for the loop to answer; an impossible one is a problem."""
    done = await one_round(answer_calls(sent, streamed=streamed))
    assert done.calls[0].name == name
    assert (words in done.calls[0].problem) if words else done.calls[0].problem == ""


@pytest.mark.parametrize("finish", ["stop", "tool_calls", "function_call", "", None, "odd"])
async def test_calls_decide_and_not_the_reason_to_finish(finish: str | None) -> None:
    """A call runs whatever name its host has for the end."""
    done = await one_round(answer_calls(Call("get_weather", PARIS), finish=finish))
    assert (done.stop, done.calls[0].problem) == (StopReason.TOOL_CALLS, "")


@pytest.mark.parametrize(
    ("finish", "stop"),
    [
        ("length", StopReason.LENGTH),
        ("content_filter", StopReason.CONTENT_FILTER),
        ("error", StopReason.ERROR),
    ],
)
@pytest.mark.parametrize("sent", ['{"city": "Par', "", '{"city": "Paris"'])
async def test_a_call_that_was_cut_off_never_runs(sent: str, finish: str, stop: StopReason) -> None:
    """Where the answer was cut, arguments that are not whole, or not there, are a problem and not an empty object."""
    done = await one_round(answer_calls(Call("get_weather", sent), finish=finish))
    assert done.stop is stop
    assert "was cut off by" in done.calls[0].problem


async def test_a_call_that_was_whole_before_the_cut_runs() -> None:
    """The limit hit after the arguments were complete does no harm."""
    done = await one_round(answer_calls(Call("get_weather", PARIS), finish="length"))
    assert (done.stop, done.calls[0].problem) == (StopReason.TOOL_CALLS, "")
