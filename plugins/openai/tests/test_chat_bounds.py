"""Answers that are too much: too many calls, sources, blanks, and whatever else a host could let grow without end."""

import json
import logging
from typing import Any

import pytest
from chat_runs import PARIS, calls_stream, delta, one_round, piece, talking

from lockgate.errors import FailureKind, ProviderError
from lockgate.testing import Answer, Call, answer_calls, answer_events, answer_json, answer_raw
from lockgate_openai.assembly import LONGEST_NAME, Allowance, Assembly, CallPieces

EVENTS = "text/event-stream"
STREAM = b'data: {"choices":[{"index":0,"delta":{"content":"hi"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
WHOLE = b'{"choices":[{"index":0,"message":{"content":"hi"},"finish_reason":"stop"}]}'


async def malformed(answer: Answer) -> str:
    """The words of the refusal that an answer meets."""
    async with talking([answer]) as (_, exchange):
        with pytest.raises(ProviderError) as caught:
            await exchange.round(lambda _: None)
    assert caught.value.kind is FailureKind.MALFORMED
    return str(caught.value)


def many_calls(count: int, *, streamed: bool) -> Answer:
    """An answer with so many right calls."""
    return answer_calls(*(Call("get_weather", PARIS) for _ in range(count)), streamed=streamed)


# --- calls ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("streamed", [True, False])
async def test_an_answer_holds_at_most_128_calls(streamed: bool) -> None:
    """As many as the limit are read; one more makes the answer malformed, which is said with the limit."""
    assert len((await one_round(many_calls(128, streamed=streamed))).calls) == 128
    assert "more than 128 calls" in await malformed(many_calls(129, streamed=streamed))


async def test_calls_are_counted_over_all_events() -> None:
    """The limit holds for the answer, however its calls are spread; pieces of the same call count once."""
    entries = [piece("get_weather", "{}", id=f"c{number}", index=number) for number in range(129)]
    assert "more than 128 calls" in await malformed(calls_stream(*entries))
    pieces = [piece("get_weather", '{"city":"', id="a", index=0), *[piece(None, "x", index=0)] * 300, piece(None, '"}')]
    (call,) = (await one_round(calls_stream(*pieces))).calls
    assert json.loads(call.arguments) == {"city": "x" * 300}


def test_a_name_stops_growing() -> None:
    """Of a name in endless pieces no more is kept than tells that it is wrong."""
    call = CallPieces("", None)
    names = [f"part{number:04}" for number in range(1_000)]
    for name in names:
        call.take({"function": {"name": name}})
    assert call.name == "".join(names)[:LONGEST_NAME]


def test_numbers_of_one_call_stop_growing() -> None:
    """A host that gives a single call ever new numbers does not fill the memory with them."""
    assembly = Assembly()
    entries = [{"id": "same", "index": number, "function": {"arguments": "1"}} for number in range(5_000)]
    assembly.add(delta({"tool_calls": entries}))
    assert (len(assembly.calls), len(assembly.calls[0].fragments)) == (1, 5_000)
    assert len(assembly._by_index) <= 1_024


def test_an_allowance_is_used_up() -> None:
    """What is left covers exactly as much as it is; what it does not cover takes nothing off."""
    allowance = Allowance(10)
    assert [allowance.covers(size) for size in (4, 7, 6, 0, 1)] == [True, False, True, True, False]


def test_looking_whether_calls_are_whole_has_a_bound_over_all_calls() -> None:
    """A host that asks again and again makes us read no more than the allowance; then a call counts as going on."""
    call, allowance = CallPieces("", 0), Allowance(1_000)
    text = json.dumps({"city": "x" * 188})
    assert len(text) == 200
    call.take({"function": {"name": "get_weather", "arguments": text}})
    # A look costs the last piece and the whole: 400 characters.
    assert [call.has_whole_arguments(allowance) for _ in range(4)] == [True, True, False, False]


# --- sources and reasoning ------------------------------------------------------------------------------------


def citations(*numbers: int) -> list[dict[str, Any]]:
    """Annotations with an address each."""
    return [{"type": "url_citation", "title": f"t{n}", "url": f"https://e.example/{n}"} for n in numbers]


async def test_an_answer_has_at_most_1000_sources(caplog: pytest.LogCaptureFixture) -> None:
    """The first thousand are kept in order, each once; that more came is logged, and the text is whole."""
    chunks = [delta({"content": "x", "annotations": citations(*range(600), *range(600))}),
              delta({"content": "y", "annotations": citations(*range(500, 1_200))}, "stop")]  # fmt: skip
    with caplog.at_level(logging.WARNING, "lockgate_openai"):
        done = await one_round(answer_events(*chunks, "[DONE]"))
    assert [source.url for source in done.sources] == [f"https://e.example/{n}" for n in range(1_000)]
    assert done.text == "xy"
    assert "more than 1000 sources; 200 are left out" in caplog.text


async def test_pieces_of_reasoning_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reasoning that has to go back whole cannot be cut: too many pieces make the answer malformed."""
    monkeypatch.setattr("lockgate_openai.assembly.MAX_REASONING_DETAILS", 5)
    details = delta({"reasoning_details": [{"type": "reasoning.text"}] * 3})
    assert (await one_round(answer_events(details, delta({"content": "x"}, "stop")))).text == "x"
    assert "more than 5 pieces of reasoning" in await malformed(answer_events(details, details, delta({}, "stop")))


@pytest.mark.parametrize("value", [b"1e999", b"NaN", b"[" * 100_000 + b"]" * 100_000])
async def test_what_cannot_go_back_beside_a_call_ends_in_an_error_of_ours(value: bytes) -> None:
    """A number or a depth that cannot be written again is malformed, if it is read at all; nothing else is raised."""
    call = b'{"index":0,"id":"a","function":{"name":"get_weather","arguments":"{}"},"extra_content":' + value + b"}"
    event = b'data: {"choices":[{"index":0,"delta":{"tool_calls":[' + call + b']},"finish_reason":"tool_calls"}]}\n\n'
    async with talking([answer_raw(event, content_type=EVENTS)]) as (_, exchange):
        with pytest.raises(ProviderError) as caught:
            await exchange.round(lambda _: None)
    assert caught.value.kind is FailureKind.MALFORMED
    assert "cannot go back" in str(caught.value) or "no JSON" in str(caught.value)


# --- what comes before an answer, and its size ----------------------------------------------------------------


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("content", [STREAM, WHOLE], ids=["events", "one object"])
@pytest.mark.parametrize("size", [1_000, 1_000_000])
async def test_blanks_before_an_answer_are_bounded(content: bytes, mark: bytes, size: int) -> None:
    """64 KiB of blanks and line ends may come first, with a byte order mark or without; one more is malformed."""

    def answer(blanks: int) -> Answer:
        body = mark + (b" \r\n\t" * 16_385)[: blanks - len(mark)] + content
        return answer_raw([body[start : start + size] for start in range(0, len(body), size)], content_type=EVENTS)

    assert (await one_round(answer(65_536))).text == "hi"
    assert "more than 65536 bytes of nothing but blanks" in await malformed(answer(65_537))


async def test_blanks_that_go_on_are_malformed() -> None:
    """An answer of nothing but blanks is refused long before it ends."""
    for mark in (b"", b"\xef\xbb\xbf"):
        assert "nothing but blanks" in await malformed(answer_raw([mark, *[b" " * 1_000] * 200], content_type=EVENTS))


@pytest.mark.parametrize("content", [STREAM, WHOLE], ids=["events", "one object"])
async def test_a_mark_in_pieces_is_no_sign_of_anything(content: bytes) -> None:
    """A byte order mark and blanks that come byte by byte change nothing."""
    pieces = [bytes([byte]) for byte in b"\xef\xbb\xbf \n"]
    assert (await one_round(answer_raw([*pieces, content], content_type=EVENTS))).text == "hi"


async def test_an_answer_in_one_piece_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A whole body beyond the limit is refused, called JSON or not."""
    monkeypatch.setattr("lockgate_openai.chat_completions.LARGEST_BODY", 1_000)
    body = {"choices": [{"index": 0, "message": {"content": "x" * 1_000}, "finish_reason": "stop"}]}
    assert "more than 1000 bytes" in await malformed(answer_json(body))
    raw = json.dumps(body).encode()
    assert "more than 1000 bytes" in await malformed(answer_raw([raw[:10], raw[10:]], content_type=EVENTS))
