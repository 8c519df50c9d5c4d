"""What comes of a host's answer: text, calls, the reason to stop, sources, tokens; and what is an error."""

import json
from typing import Any

import pytest
from chat_runs import PARIS, arguments, delta, one_round, piece, talking

from lockgate.chat.values import Source, SourceOrigin, Usage
from lockgate.errors import FailureKind, ProviderError
from lockgate.providers import StopReason
from lockgate.testing import (
    ABSENT,
    Answer,
    Call,
    ChatShape,
    Delivery,
    SseStyle,
    StreamError,
    answer_calls,
    answer_error,
    answer_events,
    answer_json,
    answer_page,
    answer_raw,
    answer_text,
)

# --- text -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("streamed", [True, False])
async def test_text_is_passed_on_as_it_comes(streamed: bool) -> None:
    """Pieces reach the listener one by one and make up the text; a whole answer is one piece."""
    heard: list[str] = []
    async with talking([answer_text("Hel", "lo\u2028", streamed=streamed)]) as (_, exchange):
        done = await exchange.round(heard.append)
    assert (done.text, done.stop, done.calls) == ("Hello\u2028", StopReason.STOP, ())
    assert heard == (["Hel", "lo\u2028"] if streamed else ["Hello\u2028"])
    assert done.usage == Usage(11, 7)


@pytest.mark.parametrize("usage_at", ["chunk", "finish", "both"])
async def test_tokens_are_found_wherever_they_are(usage_at: Any) -> None:
    """Usage comes in a chunk of its own, with the finish, or twice, and counts once."""
    assert (await one_round(answer_text("x", chat=ChatShape(usage_at=usage_at)))).usage == Usage(11, 7)


@pytest.mark.parametrize(
    ("usage", "read"),
    [
        ({"prompt_tokens": 3}, Usage(3, None)),
        ({"prompt_tokens": True, "completion_tokens": -1}, None),
        ([], None),
        ("many", None),
        (None, None),
    ],
)
async def test_odd_tokens_are_left_out(usage: object, read: Usage | None) -> None:
    """What is no count of tokens is not taken for one."""
    done = await one_round(answer_events(delta({"content": "x"}, "stop"), {"usage": usage}, "[DONE]"))
    assert done.usage == read


async def test_groqs_tokens_are_found() -> None:
    """Groq repeats usage in a member of its own, in a chunk without choices."""
    chunk = {"choices": [], "x_groq": {"usage": {"prompt_tokens": 2, "completion_tokens": 1}}}
    assert (await one_round(answer_events(delta({"content": "x"}, "stop"), chunk))).usage == Usage(2, 1)


@pytest.mark.parametrize("streamed", [True, False])
async def test_content_in_parts_is_text_without_thoughts(streamed: bool) -> None:
    """Of a list of parts the text ones are the answer (Mistral)."""
    answer = answer_text("a", "b", reasoning=("hm",), streamed=streamed, chat=ChatShape(content_parts=True))
    assert (await one_round(answer)).text == "ab"


@pytest.mark.parametrize("streamed", [True, False])
async def test_a_refusal_is_text_with_a_reason_of_its_own(streamed: bool) -> None:
    """The words of a refusal are shown, and the round says that it is one."""
    done = await one_round(answer_text(refusal=("I ", "won't."), streamed=streamed))
    assert (done.text, done.stop) == ("I won't.", StopReason.REFUSAL)


async def test_only_one_choice_is_read() -> None:
    """A second choice that nobody asked for does not mix with the first."""
    chunks = [
        {"choices": [{"index": 0, "delta": {"content": "a"}}, {"index": 1, "delta": {"content": "X"}}]},
        {"choices": [{"index": 1, "delta": {"content": "Y"}}]},
        {"choices": ["odd", {"index": 0, "delta": {"content": "b"}, "finish_reason": "stop"}]},
    ]
    assert (await one_round(answer_events(*chunks))).text == "ab"


@pytest.mark.parametrize("shape", [ChatShape(choices_null=True), ChatShape(chunks_before=({"choices": [], "x": 1},))])
async def test_chunks_without_content_are_passed_over(shape: ChatShape) -> None:
    """Null or empty choices and unknown members mean nothing."""
    assert (await one_round(answer_text("x", chat=shape))).text == "x"


async def test_nonsense_of_any_type_is_passed_over() -> None:
    """Members of a wrong type are as good as absent, wherever they are."""
    odd: list[Any] = [5, "x", [1], {"y": 2}, True]
    names = ("content", "refusal", "reasoning", "tool_calls", "annotations", "reasoning_details")
    chunks: list[Any] = [delta({name: value}) for name in names for value in odd if not isinstance(value, str)]
    chunks += [{"choices": value} for value in odd] + [{"choices": [{"delta": value}]} for value in odd]
    chunks += [{"choices": [], "usage": value, "x_groq": value} for value in odd]
    chunks += [delta({"tool_calls": [{"index": value, "id": value, "function": value}]}) for value in odd[3:4]]
    done = await one_round(answer_events(*chunks, delta({"content": "end"}, "stop"), "[DONE]"))
    assert done.text.endswith("end")
    assert [call.problem == "" for call in done.calls] == [False] * len(done.calls)


async def test_sources_are_read_from_annotations() -> None:
    """Citations with title and address become sources, each once, in either form."""
    nested = {"type": "url_citation", "url_citation": {"title": " A ", "url": "https://a.example/"}}
    flat = {"type": "url_citation", "title": "B", "url": "http://b.example/"}
    wrong = [
        {"type": "file_citation", "title": "C", "url": "http://c.example/"},
        {"type": "url_citation", "title": " ", "url": "http://d.example/"},
        {"type": "url_citation", "title": "E", "url": "javascript:alert(1)"},
        {"type": "url_citation", "title": "F", "url": 5},
        "odd",
    ]
    chunks = [delta({"annotations": [nested, flat, *wrong]}), delta({"annotations": [nested]}, "stop")]
    done = await one_round(answer_events(*chunks))
    assert done.sources == (
        Source("A", "https://a.example/", SourceOrigin.LLM),
        Source("B", "http://b.example/", SourceOrigin.LLM),
    )


# --- why an answer ends ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("finish", "stop"),
    [
        ("stop", StopReason.STOP),
        ("length", StopReason.LENGTH),
        ("max_tokens", StopReason.LENGTH),
        ("content_filter", StopReason.CONTENT_FILTER),
        ("error", StopReason.ERROR),
        ("something_new", StopReason.STOP),
        ("", StopReason.STOP),
        (None, StopReason.STOP),
        (ABSENT, StopReason.STOP),
    ],
)
@pytest.mark.parametrize("streamed", [True, False])
async def test_the_reason_to_finish_is_told(finish: Any, stop: StopReason, streamed: bool) -> None:
    """Reasons are translated; a missing or unknown one is an ordinary end."""
    assert (await one_round(answer_text("x", finish=finish, streamed=streamed))).stop is stop


@pytest.mark.parametrize("done_mark", [True, False])
async def test_the_end_mark_or_a_reason_is_enough(done_mark: bool) -> None:
    """Hosts leave out one of both."""
    with_reason = answer_text("x", chat=ChatShape(done=done_mark))
    assert (await one_round(with_reason)).text == "x"
    with_mark = answer_text("x", finish=ABSENT, chat=ChatShape(finish_chunk=done_mark))
    assert (await one_round(with_mark)).text == "x"


@pytest.mark.parametrize(
    "answer",
    [
        answer_text("x", chat=ChatShape(finish_chunk=False, done=False)),
        answer_calls(Call("get_weather", PARIS), chat=ChatShape(finish_chunk=False, done=False)),
        answer_text("abcdefgh", delivery=Delivery(cut_after=150)),
        answer_text("abcdefgh", delivery=Delivery(cut_after=150, reset=True)),
        answer_text("abcdefgh", delivery=Delivery(cut_after=150, framing="close")),
        answer_raw(b"", content_type="text/event-stream"),
        answer_raw(b"   \n \n", content_type="text/event-stream"),
    ],
)
async def test_a_stream_that_ends_in_its_middle_is_an_error(answer: Answer) -> None:
    """Without a reason to finish and without the end mark nothing of an answer is trusted."""
    with pytest.raises(ProviderError) as caught:
        await one_round(answer)
    assert caught.value.kind is FailureKind.CUT_OFF


async def test_a_break_after_the_reason_to_finish_does_no_harm() -> None:
    """Once the answer was complete a broken connection takes nothing from it."""
    whole = answer_events(delta({"content": "x"}), delta({}, "stop"), delivery=Delivery(cut_after=10_000))
    assert (await one_round(whole)).text == "x"


# --- errors, and answers in another form ----------------------------------------------------------------------


@pytest.mark.parametrize("where", ["alone", "beside_choices", "event"])
@pytest.mark.parametrize("streamed", [True, False])
async def test_an_error_with_status_200_is_an_error(where: Any, streamed: bool) -> None:
    """An error is found before choices, in an event of its own, and in a body."""
    error = StreamError(message="Provider returned error", code="tool_use_failed", where=where)
    with pytest.raises(ProviderError, match=r"Provider returned error \(tool_use_failed\)") as caught:
        await one_round(answer_text("half", error=error, streamed=streamed))
    assert caught.value.kind is FailureKind.TOOL_REFUSED


@pytest.mark.parametrize(
    "body",
    [
        {"error": "model crashed"},
        [{"error": {"message": "model crashed"}}],
        {"object": "error", "message": "model crashed"},
        {"detail": "model crashed"},
        "model crashed",
    ],
)
@pytest.mark.parametrize("streamed", [True, False])
async def test_errors_of_every_form_are_found_in_a_200(body: Any, streamed: bool) -> None:
    """The host's words are told in whatever form they come."""
    if streamed and isinstance(body, str):
        body = {"error": body}
    with pytest.raises(ProviderError, match="model crashed"):
        await one_round(answer_events(body) if streamed else answer_json(body))


@pytest.mark.parametrize("content_type", ["application/json", "text/event-stream", "text/plain", None])
async def test_json_instead_of_a_stream_is_read(content_type: str | None) -> None:
    """A relay that ignores `stream` is understood, also when it names the wrong type."""
    body = json.dumps({"choices": [{"message": {"content": "x"}, "finish_reason": "stop"}]})
    heard: list[str] = []
    async with talking([answer_raw(body, content_type=content_type, delivery=Delivery(pieces="bytes"))]) as (
        _,
        exchange,
    ):
        done = await exchange.round(heard.append)
    assert (done.text, heard) == ("x", ["x"])


async def test_a_whole_message_in_an_event_is_read() -> None:
    """Some fronts send everything at the end, in one event with `message`."""
    message = {"content": "x", "tool_calls": [piece("get_time", "{}"), piece("get_time", "{}")]}
    done = await one_round(answer_events({"choices": [{"message": message, "finish_reason": "stop"}]}))
    assert (done.text, len(done.calls)) == ("x", 2)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (answer_page(200, title="Sign in"), "an HTML page with the title 'Sign in'"),
        (answer_json({"choices": None}), "without a message"),
        (answer_json({"choices": []}), "without a message"),
        (answer_json({}), "without a message"),
        (answer_raw("{oops"), "no JSON"),
        (answer_raw("[" * 100_000), "no JSON"),
        (answer_events("[DONE]"), "without a message"),
        (answer_events("{oops"), "no JSON"),
        (answer_events('{"a":' * 100_000), "no JSON"),
    ],
)
async def test_what_is_no_answer_is_malformed(answer: Answer, words: str) -> None:
    """A page, an empty object, broken JSON: each is told in words."""
    with pytest.raises(ProviderError) as caught:
        await one_round(answer)
    assert caught.value.kind is FailureKind.MALFORMED
    assert words in str(caught.value)


@pytest.mark.parametrize(
    "style",
    [
        SseStyle(line_end="\r\n"),
        SseStyle(line_end="\r"),
        SseStyle(byte_order_mark=True, space=False),
        SseStyle(comments=("OPENROUTER PROCESSING",), keep_alive="keepalive", glue_comments=True),
        SseStyle(stray_data=(": OPENROUTER PROCESSING", "", "ok")),
        SseStyle(numbered=True, split_data=True),
        SseStyle(escape=True, last_blank_line=False),
    ],
    ids=repr,
)
@pytest.mark.parametrize("pieces", ["whole", "bytes"])
async def test_streams_are_read_in_every_spelling(style: SseStyle, pieces: Any) -> None:
    """Line ends, comments, marks and split data change nothing, however the bytes are cut."""
    answer = answer_calls(
        Call("get_weather", PARIS), text=("ä\u2028", "😀"), sse=style, delivery=Delivery(pieces=pieces)
    )
    done = await one_round(answer)
    assert done.text == "ä\u2028😀"
    assert arguments(done) == [PARIS]


async def test_bytes_that_are_no_utf8_do_not_end_an_answer() -> None:
    """A host that cuts a character in two costs that character."""
    body = b'data: {"choices":[{"delta":{"content":"a\xe2\x82"},"finish_reason":"stop"}]}\n\n'
    assert (await one_round(answer_raw(body, content_type="text/event-stream"))).text == "a\ufffd"


async def test_an_http_error_names_the_provider() -> None:
    """What the transport raises reaches the caller as it is."""
    with pytest.raises(ProviderError, match=r'^The provider "Fake" at http://127\.0\.0\.1:') as caught:
        await one_round(answer_error(404, "The model `x` does not exist"))
    assert caught.value.kind is FailureKind.NOT_FOUND


async def test_an_endless_stream_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stream may be long, and not without limit."""
    monkeypatch.setattr("lockgate_openai.chat_completions.LARGEST_STREAM", 1_000)
    with pytest.raises(ProviderError, match="more than 1000 bytes"):
        await one_round(answer_text(*["many words "] * 100))
