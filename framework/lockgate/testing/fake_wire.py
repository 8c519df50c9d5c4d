"""How an answer's bytes travel: server-sent events, pieces, pauses and cuts.

This module knows no API and no model. It turns events into bytes in every form the event stream format allows
(https://html.spec.whatwg.org/multipage/server-sent-events.html) and some that it does not, and it says how a
body is cut into writes. `fake_http` sends the result.
"""

import json
import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

EVENT_STREAM = "text/event-stream; charset=utf-8"
JSON = "application/json"

Framing = Literal["auto", "chunked", "length", "close"]
Headers = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class SseEvent:
    """One event of a stream: its data as text, and its name where the API names events."""

    data: str
    name: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SseStyle:
    """The spelling of an event stream; the default is what OpenAI sends.

    Attributes:
        line_end: what ends a line; all three are legal.
        byte_order_mark: whether the stream begins with one.
        space: whether a space follows `data:`.
        comments: comment blocks before the first event, without their colon.
        keep_alive: a comment between all events.
        glue_comments: the comments lie directly above a data line, without a blank line between.
        stray_data: data lines that are no JSON, before the first event (a relay that wraps comments as data).
        numbered: `id:` and `retry:` lines in each event.
        split_data: JSON is written over several data lines of one event.
        escape: characters beyond ASCII are escaped in JSON; otherwise U+2028 and the like travel as they are.
        last_blank_line: whether the last event is ended by its blank line.
    """

    line_end: Literal["\n", "\r\n", "\r"] = "\n"
    byte_order_mark: bool = False
    space: bool = True
    comments: tuple[str, ...] = ()
    keep_alive: str | None = None
    glue_comments: bool = False
    stray_data: tuple[str, ...] = ()
    numbered: bool = False
    split_data: bool = False
    escape: bool = False
    last_blank_line: bool = True

    def text(self, value: object) -> str:
        """JSON text of a value in this style."""
        return json_text(value, escape=self.escape, indent=1 if self.split_data else None)


@dataclass(frozen=True, slots=True)
class RandomPieces:
    """Pieces of 1 to `largest` bytes, the same for the same seed."""

    seed: int
    largest: int = 40


Pieces = Literal["parts", "whole", "bytes"] | RandomPieces | tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """How a body is sent.

    Attributes:
        framing: `chunked`, `length` (Content-Length), `close` (the end of the connection ends the body), or
            `auto`: chunked for an event stream, length for the rest.
        pieces: how the body is cut into writes (and chunks): `parts` (one an event), `whole`, `bytes` (single
            ones), `RandomPieces`, or a tuple of ascending byte offsets to cut at.
        delay: seconds before the first byte.
        delay_between: seconds between two pieces.
        cut_after: bytes of the body after which the connection is closed without ending the body. More bytes
            than the body has: all of it is sent, and its end is missing (which only `chunked` can show).
        cut_before_headers: the connection is closed instead of any answer.
        reset: a cut is a TCP reset and no orderly close.
        hang: at the place of the cut (or of the end) nothing is closed; the server is silent until the client
            closes. With `cut_before_headers` it never answers at all.
        keep_alive: whether the connection may carry another request afterwards.
    """

    framing: Framing = "auto"
    pieces: Pieces = "parts"
    delay: float = 0.0
    delay_between: float = 0.0
    cut_after: int | None = None
    cut_before_headers: bool = False
    reset: bool = False
    hang: bool = False
    keep_alive: bool = True

    def __post_init__(self) -> None:
        """Refuse what cannot be meant, so that a test does not pass by accident."""
        if self.delay < 0 or self.delay_between < 0:
            raise ValueError("a delay is a number of seconds from 0 on")
        if self.cut_after is not None and self.cut_after < 0:
            raise ValueError(f"cut_after counts bytes of the body from 0 on, not {self.cut_after}")
        if self.cut_after is not None and self.cut_before_headers:
            raise ValueError("an answer is cut either before its headers or after some bytes of its body, not both")
        if self.reset and (self.hang or not self.is_cut):
            raise ValueError("reset says how a cut is made: it needs cut_after or cut_before_headers, and no hang")
        if isinstance(self.pieces, tuple) and list(self.pieces) != sorted(set(self.pieces)):
            raise ValueError(f"offsets to cut at are ascending, not {self.pieces}")

    @property
    def is_cut(self) -> bool:
        """Whether the answer stays without its end."""
        return self.cut_before_headers or self.cut_after is not None or self.hang


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """A whole HTTP answer: what the server layer sends, whatever API it belongs to."""

    status: int = 200
    content_type: str | None = JSON
    headers: Headers = ()
    parts: tuple[bytes, ...] = ()
    delivery: Delivery = Delivery()

    @property
    def body(self) -> bytes:
        """The body in one piece."""
        return b"".join(self.parts)

    @property
    def framing(self) -> Framing:
        """The framing with `auto` decided."""
        if self.delivery.framing != "auto":
            return self.delivery.framing
        return "chunked" if (self.content_type or "").startswith("text/event-stream") else "length"

    def pieces(self) -> Iterator[bytes]:
        """The body as it is written, ended at `cut_after`."""
        left = self.delivery.cut_after
        for piece in cut_pieces(self.parts, self.delivery.pieces):
            part = piece if left is None else piece[:left]
            if part:
                yield part
            if left is not None:
                left -= len(part)
                if left <= 0:
                    return


def json_text(value: object, *, escape: bool = False, indent: int | None = None) -> str:
    """Compact JSON; a lone surrogate, which UTF-8 has no bytes for, makes all of it escaped."""
    separators = (",", ":") if indent is None else None
    text = json.dumps(value, ensure_ascii=escape, indent=indent, separators=separators)
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, indent=indent, separators=separators)
    return text


def sse_parts(events: Iterable[SseEvent], style: SseStyle) -> tuple[bytes, ...]:
    """The bytes of a stream, one part an event; comments belong to the part of the event they precede."""
    parts: list[str] = []
    end = style.line_end
    comment_end = end if style.glue_comments else end + end
    opening = "\ufeff" if style.byte_order_mark else ""
    opening += "".join(f"data: {data}{end}{end}" for data in style.stray_data)
    opening += "".join(f": {comment}{comment_end}" for comment in style.comments)
    for number, event in enumerate(events):
        if number and style.keep_alive is not None:
            opening = f": {style.keep_alive}{comment_end}"
        parts.append(opening + _event(event, style, number))
        opening = ""
    if opening:
        parts.append(opening)
    if parts and not style.last_blank_line:
        parts[-1] = parts[-1].removesuffix(end)
    return tuple(part.encode() for part in parts)


def _event(event: SseEvent, style: SseStyle, number: int) -> str:
    colon = ": " if style.space else ":"
    lines = []
    if style.numbered:
        lines += [f"id{colon}{number}", f"retry{colon}3000"]
    if event.name is not None:
        lines.append(f"event{colon}{event.name}")
    # Only LF separates data lines here: JSON text has no bare CR, and U+2028 must not split anything.
    lines += [f"data{colon}{line}" for line in event.data.split("\n")]
    return "".join(line + style.line_end for line in lines) + style.line_end


def cut_pieces(parts: tuple[bytes, ...], pieces: Pieces) -> list[bytes]:
    """A body cut into what is written at once; joined again it is the same bytes."""
    if pieces == "parts":
        return [part for part in parts if part]
    body = b"".join(parts)
    if pieces == "whole":
        offsets: Iterable[int] = ()
    elif pieces == "bytes":
        offsets = range(1, len(body))
    elif isinstance(pieces, RandomPieces):
        offsets = _random_offsets(len(body), pieces)
    else:
        offsets = pieces
    edges = [0, *(offset for offset in offsets if 0 < offset < len(body)), len(body)]
    return [body[start:stop] for start, stop in pairwise(edges) if stop > start]


def _random_offsets(length: int, pieces: RandomPieces) -> Iterator[int]:
    chooser = random.Random(pieces.seed)  # noqa: S311 - for repeatable tests, not for secrets
    offset = 0
    while (offset := offset + chooser.randint(1, pieces.largest)) < length:
        yield offset
