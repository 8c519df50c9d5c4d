"""Events out of bytes, however these are cut."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockgate.errors import FailureKind, ProviderError
from lockgate.providers.sse import LARGEST_EVENT, Event, SseReader

SEPARATORS = "\u2028\u2029\x85\x0b\x0c"
"""What other line splitters cut at."""


def read(body: bytes, size: int = 10_000, limit: int = LARGEST_EVENT) -> list[Event]:
    """All events of a body that comes in pieces of `size` bytes."""
    reader = SseReader(limit)
    events = [event for start in range(0, len(body), size) for event in reader.feed(body[start : start + size])]
    return events + reader.finish()


@pytest.mark.parametrize("size", [1, 2, 3, 10_000])
@pytest.mark.parametrize(
    ("body", "events"),
    [
        (b"data: a\n\ndata: b\n\n", [("", b"a"), ("", b"b")]),
        (b"data: a\r\n\r\ndata: b\r\n\r\n", [("", b"a"), ("", b"b")]),
        (b"data: a\r\rdata: b\r\r", [("", b"a"), ("", b"b")]),
        (b"data: a\r\n\ndata: b\n\r\n", [("", b"a"), ("", b"b")]),
        (b"data:a\n\n", [("", b"a")]),
        (b"data:  a\n\n", [("", b" a")]),
        (b"data\n\n", [("", b"")]),
        (b"\xef\xbb\xbfdata: a\n\n", [("", b"a")]),
        (b"data: a\ndata: b\n\n", [("", b"a\nb")]),
        (b"event: error\nid: 7\nretry: 3\ndata: a\n\n", [("error", b"a")]),
        (b": hello\n\n:keepalive\ndata: a\n\n", [("", b"a")]),
        (b"\n\n\ndata: a\n\n\n\ndata: b\n\n", [("", b"a"), ("", b"b")]),
        (b"event: ping\n\ndata: a\n\n", [("", b"a")]),
        (f"data: {SEPARATORS}\n\n".encode(), [("", SEPARATORS.encode())]),
        ("data: ä€😀\n\n".encode(), [("", "ä€😀".encode())]),
        (b"data: a\n\ndata: b", [("", b"a"), ("", b"b")]),
        (b"data: a\n\ndata: b\n", [("", b"a"), ("", b"b")]),
        (b"", []),
        (b"\n", []),
    ],
)  # fmt: skip
def test_events_are_read_however_their_bytes_are_cut(body: bytes, events: list[Event], size: int) -> None:
    """Line ends, comments, fields and a byte order mark are read as the standard says, in pieces of any size."""
    assert read(body, size) == events


@given(
    st.lists(st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]), max_size=20), max_size=6),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.lists(st.integers(0, 200), max_size=10),
)
def test_cutting_never_changes_what_is_read(texts: list[str], end: str, cuts: list[int]) -> None:
    """Any texts come back whole, for every line end and every way to cut the body."""
    body = "".join(f"data: {text}{end}{end}" for text in texts).encode()
    reader = SseReader()
    edges = sorted({0, *(min(cut, len(body)) for cut in cuts), len(body)})
    events = []
    for start, stop in itertools.pairwise(edges):
        events += reader.feed(body[start:stop])
    assert events + reader.finish() == [("", text.encode()) for text in texts]


@pytest.mark.parametrize("size", [7, 10_000])
def test_an_event_beyond_the_limit_is_refused(size: int) -> None:
    """A single event may not be larger than the limit, whether or not it ends; many small ones may."""
    reader = SseReader(limit=100)
    small = b"data: a\n\n" * 50
    assert len(reader.feed(small)) == 50
    for body in (b"data: " + b"a" * 200, b"data: " + b"a" * 200 + b"\n\n", b": x\ndata: " + b"a" * 200 + b"\n\n"):
        with pytest.raises(ProviderError) as caught:
            read(body, size, limit=100)
        assert caught.value.kind is FailureKind.MALFORMED


def test_whole_events_are_handed_on_at_once() -> None:
    """An event is there as soon as its blank line is, while the next one is still coming."""
    reader = SseReader()
    assert reader.feed(b"data: a\n\nda") == [("", b"a")]
    assert reader.feed(b"ta: b\n") == []
    assert reader.feed(b"\n") == [("", b"b")]
