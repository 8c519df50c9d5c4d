import json

import pytest
from fake_client import post, request

from lockgate.testing import Call, FakeProvider, SseEvent, SseStyle, answer_calls, answer_events, answer_text
from lockgate.testing.fake_wire import json_text, sse_parts

EVENTS = (SseEvent('{"a":1}'), SseEvent("[DONE]"))


def stream(style: SseStyle, *events: SseEvent) -> bytes:
    """The bytes of a stream in a style."""
    return b"".join(sse_parts(events or EVENTS, style))


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_end_in_three_ways(end: str) -> None:
    """LF, CRLF and CR alone."""
    style = SseStyle(line_end=end)  # type: ignore[arg-type]  # a parameter of the test
    assert stream(style) == f'data: {{"a":1}}{end}{end}data: [DONE]{end}{end}'.encode()


def test_a_stream_may_begin_with_a_byte_order_mark() -> None:
    """The mark comes once, before everything."""
    assert stream(SseStyle(byte_order_mark=True, comments=("hi",))).startswith(b"\xef\xbb\xbf: hi\n\ndata")


def test_the_space_after_the_colon_is_optional() -> None:
    """`data:` and `event:` without a space."""
    assert stream(SseStyle(space=False), SseEvent("1", "ping")) == b"event:ping\ndata:1\n\n"


def test_comments_come_before_the_first_event() -> None:
    """Each comment is a block of its own."""
    style = SseStyle(comments=("OPENROUTER PROCESSING", "x=y"))
    assert stream(style, SseEvent("1")) == b": OPENROUTER PROCESSING\n\n: x=y\n\ndata: 1\n\n"


def test_comments_may_be_glued_to_data() -> None:
    """A comment directly above a data line belongs to the same block."""
    style = SseStyle(comments=("a",), keep_alive="alive", glue_comments=True)
    assert stream(style) == b': a\ndata: {"a":1}\n\n: alive\ndata: [DONE]\n\n'


def test_keep_alives_come_between_events() -> None:
    """Not before the first and not after the last."""
    assert stream(SseStyle(keep_alive="")) == b'data: {"a":1}\n\n: \n\ndata: [DONE]\n\n'


def test_stray_data_is_no_json() -> None:
    """A relay that wraps comments as data."""
    style = SseStyle(stray_data=(": OPENROUTER PROCESSING",))
    assert stream(style, SseEvent("1")) == b"data: : OPENROUTER PROCESSING\n\ndata: 1\n\n"


def test_events_may_be_numbered() -> None:
    """`id:` and `retry:` lines come with each event."""
    assert stream(SseStyle(numbered=True)).startswith(b'id: 0\nretry: 3000\ndata: {"a":1}\n\nid: 1\n')


def test_events_may_have_names() -> None:
    """The name comes before the data."""
    assert stream(SseStyle(), SseEvent("{}", "error")) == b"event: error\ndata: {}\n\n"


def test_the_last_blank_line_may_be_missing() -> None:
    """The stream ends right after the last line."""
    assert stream(SseStyle(last_blank_line=False)).endswith(b"\n\ndata: [DONE]\n")
    assert stream(SseStyle(last_blank_line=False, line_end="\r\n")).endswith(b"\r\n\r\ndata: [DONE]\r\n")


def test_comments_without_events_are_a_stream() -> None:
    """A host may process for ever and say nothing."""
    assert sse_parts((), SseStyle(comments=("a",))) == (b": a\n\n",)
    assert sse_parts((), SseStyle()) == ()


async def test_json_may_lie_on_several_data_lines() -> None:
    """One event of several lines, which a newline joins to the same value."""
    async with FakeProvider([answer_text("x", sse=SseStyle(split_data=True))]) as fake:
        body = (await post(fake, request(stream=True))).text
    first = body.split("\n\n")[0].split("\n")
    assert len(first) > 5
    assert all(line.startswith("data: ") for line in first)
    joined = "\n".join(line.removeprefix("data: ") for line in first)
    assert json.loads(joined)["object"] == "chat.completion.chunk"


async def test_line_separators_of_unicode_travel_as_they_are() -> None:
    """U+2028, U+2029, U+0085 are legal in JSON; nothing of the stream may be cut at them."""
    text = "a\u2028b\u2029c\x85d"
    async with FakeProvider([answer_text(text), answer_text(text, sse=SseStyle(escape=True))]) as fake:
        plain = (await post(fake, request(stream=True))).content
        escaped = (await post(fake, request(stream=True))).content
    assert text.encode() in plain
    assert b"a\\u2028b\\u2029c\\u0085d" in escaped
    assert escaped.isascii()


def test_a_lone_surrogate_is_escaped() -> None:
    """JSON text may name half a character, UTF-8 may not hold it."""
    assert json_text("ä\ud83d") == '"\\u00e4\\ud83d"'
    assert json_text("ä") == '"ä"'


async def test_named_events_can_be_scripted() -> None:
    """Any event with a name, such as those of other APIs."""
    async with FakeProvider([answer_events(SseEvent("{}", "ping"), {"a": 1}, sse=SseStyle(space=False))]) as fake:
        answer = await post(fake)
    assert answer.text == 'event:ping\ndata:{}\n\ndata:{"a":1}\n\n'
    assert answer.headers["content-type"] == "text/event-stream; charset=utf-8"


async def test_the_style_does_not_change_the_values() -> None:
    """A stream in the oddest spelling says the same as in the plain one."""
    style = SseStyle(line_end="\r", byte_order_mark=True, space=False, comments=("a",), keep_alive="b", numbered=True)
    call = Call("add", {"a": 1}, id="call_1")
    script = [answer_calls(call, text=("é", "\u2028"), sse=spelling) for spelling in (SseStyle(), style)]
    async with FakeProvider(script) as fake:
        plain = (await post(fake, request(stream=True))).content.decode()
        odd = (await post(fake, request(stream=True))).content.decode()
    said = [line[6:] for line in plain.split("\n") if line.startswith("data: ")]
    again = [line[5:] for line in odd.removeprefix("\ufeff").split("\r") if line.startswith("data:")]
    assert [text.replace("fake0", "fake1") for text in said] == again
