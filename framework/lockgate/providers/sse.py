"""Server-sent events, read from bytes as they come.

Lines end at CR, LF or CRLF and nowhere else: U+2028 and the like are legal inside JSON. Only whole events are
handed on, so a piece may end inside a character. More tolerant than the standard in one point: what stands
after the last blank line when the body ends is an event as well.

Source: https://html.spec.whatwg.org/multipage/server-sent-events.html
"""

from lockgate.errors import FailureKind, ProviderError

LARGEST_EVENT = 16 * 1024 * 1024
"""Bytes of a single event; more is refused."""

Event = tuple[str, bytes]
"""The name of an event (empty for none) and its data, several data lines joined by LF."""

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class SseReader:
    """Turns pieces of a body into events.

    Args:
        limit: Bytes a single event may have.
    """

    __slots__ = ("_after_cr", "_begun", "_buffer", "_limit")

    def __init__(self, limit: int = LARGEST_EVENT) -> None:
        self._buffer = bytearray()
        self._limit = limit
        self._begun = False
        self._after_cr = False

    def feed(self, piece: bytes) -> list[Event]:
        """Take the next piece and return the events it completes.

        Raises:
            ProviderError: An event is larger than the limit.
        """
        if self._after_cr or b"\r" in piece:
            piece = self._unify(piece)
        buffer = self._buffer
        if not buffer and piece.endswith(b"\n\n"):
            return self._events(piece)  # most pieces hold whole events: no copy
        searched = max(len(buffer) - 1, 0)
        buffer += piece
        end = buffer.rfind(b"\n\n", searched)
        if end < 0:
            self._check(len(buffer))
            return []
        whole = bytes(buffer[:end])
        del buffer[: end + 2]
        return self._events(whole)

    def finish(self) -> list[Event]:
        """Return what the end of the body completes."""
        rest = bytes(self._buffer)
        self._buffer.clear()
        return self._events(rest)

    def _unify(self, piece: bytes) -> bytes:
        """Make every line end LF. A CR counts at once; the LF of a CRLF cut in two is dropped later."""
        if self._after_cr and piece.startswith(b"\n"):
            piece = piece[1:]
            if not piece:
                self._after_cr = False
                return piece
        if piece:
            self._after_cr = piece.endswith(b"\r")
        return piece.replace(b"\r\n", b"\n").replace(b"\r", b"\n")

    def _events(self, whole: bytes) -> list[Event]:
        if not self._begun and whole:
            self._begun = True
            whole = whole.removeprefix(_BYTE_ORDER_MARK)
        events: list[Event] = []
        for block in whole.split(b"\n\n"):
            if block.startswith(b"data: ") and b"\n" not in block:
                self._check(len(block))
                events.append(("", block[6:]))
            elif block and (event := self._slow(block)) is not None:
                events.append(event)
        return events

    def _slow(self, block: bytes) -> Event | None:
        """Read a block line by line; None when it holds no data."""
        self._check(len(block))
        name = ""
        data: list[bytes] = []
        for line in block.split(b"\n"):
            field, _, value = line.partition(b":")
            value = value.removeprefix(b" ")
            if field == b"data":
                data.append(value)
            elif field == b"event":
                name = value.decode("utf-8", "replace")
        return (name, b"\n".join(data)) if data else None

    def _check(self, size: int) -> None:
        if size > self._limit:
            message = f"The provider sent a single event of more than {self._limit} bytes."
            raise ProviderError(message, kind=FailureKind.MALFORMED)
