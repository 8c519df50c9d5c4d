"""The functions that scripts are written with: one for each kind of answer."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from email.utils import format_datetime
from typing import TypedDict, Unpack

from lockgate.testing.fake_answers import (
    Call,
    ChatShape,
    ErrorAnswer,
    ErrorForm,
    Marker,
    ModelAnswer,
    RawAnswer,
    StreamError,
    Usage,
)
from lockgate.testing.fake_wire import (
    EVENT_STREAM,
    JSON,
    Delivery,
    Headers,
    SseEvent,
    SseStyle,
    json_text,
    sse_parts,
)


class AnswerOptions(TypedDict, total=False):
    """What `answer_text` and `answer_calls` take beside their content; see `ModelAnswer`."""

    reasoning: tuple[str, ...]
    refusal: tuple[str, ...]
    finish: str | Marker | None
    usage: Usage | None
    error: StreamError | None
    streamed: bool | None
    headers: Headers
    chat: ChatShape
    sse: SseStyle
    delivery: Delivery


def answer_text(*pieces: str, **options: Unpack[AnswerOptions]) -> ModelAnswer:
    """An answer of text, one delta a piece."""
    return ModelAnswer(text=pieces, **options)


def answer_calls(*calls: Call, text: tuple[str, ...] = (), **options: Unpack[AnswerOptions]) -> ModelAnswer:
    """An answer that calls tools, with text before the calls if given."""
    return ModelAnswer(calls=calls, text=text, **options)


def answer_error(
    status: int,
    message: str = "The request failed.",
    *,
    type: str | None = None,
    code: str | int | None = None,
    form: ErrorForm = "native",
    retry_after: int | str | datetime | None = None,
    retry_after_ms: int | None = None,
    extra: Mapping[str, object] | None = None,
    delivery: Delivery | None = None,
) -> ErrorAnswer:
    """An HTTP error.

    Args:
        status: 400 to 599.
        message: what the host says.
        type: the error's type in the host's vocabulary; OpenAI's for the status when left out.
        code: the host's code.
        form: the host's way to write an error.
        retry_after: seconds, a time (sent as an HTTP date; it needs a time zone of UTC), or any text.
        retry_after_ms: the header of OpenAI, in milliseconds.
        extra: further members of the error object, such as `failed_generation`.
        delivery: the way of the bytes.
    """
    if not 400 <= status <= 599:
        raise ValueError(f"the status of an error is 400 to 599, not {status}")
    headers: list[tuple[str, str]] = []
    if isinstance(retry_after, datetime):
        headers.append(("Retry-After", format_datetime(retry_after, usegmt=True)))
    elif retry_after is not None:
        headers.append(("Retry-After", str(retry_after)))
    if retry_after_ms is not None:
        headers.append(("retry-after-ms", str(retry_after_ms)))
    return ErrorAnswer(
        status=status, message=message, type=type, code=code, form=form, extra=extra or {},
        headers=tuple(headers), delivery=delivery or Delivery(),
    )  # fmt: skip


def answer_raw(
    body: str | bytes | Iterable[bytes] = b"",
    *,
    status: int = 200,
    content_type: str | None = JSON,
    headers: Headers = (),
    delivery: Delivery | None = None,
) -> RawAnswer:
    """Any bytes, such as a recorded body; text is sent as UTF-8, an iterable as parts."""
    if isinstance(body, str):
        body = body.encode()
    parts = (body,) if isinstance(body, bytes) else tuple(body)
    return RawAnswer(
        status=status,
        content_type=content_type,
        headers=headers,
        parts=parts,
        delivery=delivery or Delivery(),
    )


def answer_json(value: object, *, status: int = 200, delivery: Delivery | None = None) -> RawAnswer:
    """Any JSON value as the whole body."""
    return answer_raw(json_text(value), status=status, delivery=delivery)


def answer_events(*values: object, sse: SseStyle | None = None, delivery: Delivery | None = None) -> RawAnswer:
    """A stream of any JSON values; a text is sent as it is (`"[DONE]"`), a `SseEvent` with its name."""
    style = sse or SseStyle()
    events = [
        value if isinstance(value, SseEvent) else SseEvent(value if isinstance(value, str) else style.text(value))
        for value in values
    ]
    return answer_raw(sse_parts(events, style), content_type=EVENT_STREAM, delivery=delivery)


def answer_page(status: int = 502, *, title: str = "Bad Gateway", delivery: Delivery | None = None) -> RawAnswer:
    """The HTML page of a proxy in front of a host, with any status, 200 too."""
    page = f"<!DOCTYPE html>\n<html><head><title>{title}</title></head><body><h1>{title}</h1></body></html>\n"
    return answer_raw(page, status=status, content_type="text/html; charset=utf-8", delivery=delivery)
