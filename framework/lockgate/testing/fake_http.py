"""A small HTTP/1.1 server on loopback: it reads requests and sends a `Reply`, whole or broken on purpose.

Written by hand because a correct server refuses to do what these tests need: to lie about a length, to stop
inside a chunk, to be silent. It knows nothing of models or APIs (RFC 9112 is all it follows).
"""

import asyncio
import contextlib
import socket
import struct
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus

from lockgate.testing.fake_wire import Delivery, Reply

LARGEST_HEAD = 64 * 1024


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """A request as it arrived: header names in lower case, the body with its transfer coding removed."""

    method: str
    target: str
    version: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def wants_close(self) -> bool:
        """Whether the client asked for the connection to end after this answer."""
        options = self.headers.get("connection", "").lower()
        return "close" in options or (self.version == "HTTP/1.0" and "keep-alive" not in options)


Handler = Callable[[HttpRequest], Awaitable[Reply]]


class MalformedRequest(Exception):
    """What arrived is no HTTP/1.1 request."""


class ClientGone(Exception):
    """The client closed the connection while an answer was owed."""


class _WatchedReader(asyncio.StreamReader):
    """A stream reader that tells at once when the other side has closed, without reading."""

    def __init__(self) -> None:
        super().__init__(limit=LARGEST_HEAD)
        self.gone = asyncio.Event()

    def feed_eof(self) -> None:
        super().feed_eof()
        self.gone.set()

    def set_exception(self, exc: Exception) -> None:
        super().set_exception(exc)
        self.gone.set()


class LoopbackServer:
    """Listens on 127.0.0.1 at a free port and answers every request with what `handler` returns.

    Args:
        handler: called once a request; requests of different connections run at the same time.
        on_malformed: makes the answer to what is no HTTP request; the connection ends after it.
        on_gone: called when a client closed before its answer was complete. A client that closes only its
            writing half while the server waits counts as gone.
    """

    def __init__(self, handler: Handler, on_malformed: Callable[[str], Reply], on_gone: Callable[[], None]) -> None:
        self._handler = handler
        self._on_malformed = on_malformed
        self._on_gone = on_gone
        self._server: asyncio.Server | None = None
        self._connections: dict[asyncio.Task[None], asyncio.StreamWriter] = {}

    async def start(self) -> int:
        """Begin to listen; returns the port."""
        loop = asyncio.get_running_loop()

        def protocol() -> asyncio.StreamReaderProtocol:
            return asyncio.StreamReaderProtocol(_WatchedReader(), self._connected, loop)

        self._server = await loop.create_server(protocol, "127.0.0.1", 0)
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    async def stop(self) -> None:
        """End every connection and the listening."""
        if self._server is None:
            return
        # A connection accepted just now reaches us some turns of the loop later, and asyncio loses it (socket and
        # all) when the server is closed by then. So first no more are accepted, and those on the way arrive.
        asyncio.get_running_loop().remove_reader(self._server.sockets[0].fileno())
        for _ in range(5):
            await asyncio.sleep(0)
        for task, writer in self._connections.items():
            writer.transport.abort()  # closing would wait for a client that does not read
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)
        self._server.close()
        await self._server.wait_closed()
        self._server = None

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        assert isinstance(reader, _WatchedReader)
        connection = _Connection(reader, writer, self._handler, self._on_malformed, self._on_gone)
        task = asyncio.ensure_future(connection.serve())
        self._connections[task] = writer
        task.add_done_callback(self._connections.pop)


@dataclass(slots=True)
class _Connection:
    reader: _WatchedReader
    writer: asyncio.StreamWriter
    handler: Handler
    on_malformed: Callable[[str], Reply]
    on_gone: Callable[[], None]

    async def serve(self) -> None:
        try:
            while await self._exchange():
                pass
        except (ClientGone, ConnectionError):
            self.on_gone()
        finally:
            self.writer.close()
            with contextlib.suppress(ConnectionError):
                await self.writer.wait_closed()

    async def _exchange(self) -> bool:
        """Read one request and answer it; returns whether another may follow."""
        try:
            request = await self._read()
        except MalformedRequest as problem:
            await self._send(self.on_malformed(str(problem)), last=True)
            return False
        if request is None:
            return False
        reply = await self.handler(request)
        last = request.wants_close or not reply.delivery.keep_alive
        return await self._send(reply, last=last, old=request.version == "HTTP/1.0")

    async def _read(self) -> HttpRequest | None:
        """The next request, or None when the client closed before it was whole."""
        try:
            return await self._read_request()
        except asyncio.LimitOverrunError:
            raise MalformedRequest(f"a head or a line is longer than {LARGEST_HEAD} bytes") from None
        except (asyncio.IncompleteReadError, ConnectionError):
            return None

    async def _read_request(self) -> HttpRequest:
        head = await self.reader.readuntil(b"\r\n\r\n")
        start, *lines = head.decode("latin-1").split("\r\n")[:-2]
        words = start.split(" ")
        if len(words) != 3 or words[2] not in ("HTTP/1.1", "HTTP/1.0"):
            raise MalformedRequest(f"the request line is not 'METHOD target HTTP/1.1': {start[:80]!r}")
        headers: dict[str, str] = {}
        for line in lines:
            name, colon, value = line.partition(":")
            if not colon or not name or name != name.strip():
                raise MalformedRequest(f"this is not a header: {line[:80]!r}")
            name = name.lower()
            headers[name] = f"{headers[name]}, {value.strip()}" if name in headers else value.strip()
        if headers.get("expect", "").lower() == "100-continue":
            self.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        return HttpRequest(words[0], words[1], words[2], headers, await self._read_body(headers))

    async def _read_body(self, headers: Mapping[str, str]) -> bytes:
        coding = headers.get("transfer-encoding")
        if coding is None:
            length = headers.get("content-length", "0")
            if not (length.isascii() and length.isdigit()):
                raise MalformedRequest(f"Content-Length is not a number: {length[:40]!r}")
            return await self.reader.readexactly(int(length))
        if coding.lower() != "chunked" or "content-length" in headers:
            raise MalformedRequest("a body is either chunked or has a Content-Length")
        body = bytearray()
        while size := await self._read_chunk_size():
            body += await self.reader.readexactly(size)
            if await self.reader.readexactly(2) != b"\r\n":
                raise MalformedRequest("a chunk is longer than it says")
        while await self.reader.readuntil(b"\r\n") != b"\r\n":
            pass  # trailer fields mean nothing here
        return bytes(body)

    async def _read_chunk_size(self) -> int:
        line = (await self.reader.readuntil(b"\r\n")).split(b";")[0].strip()
        try:
            return int(line, 16)
        except ValueError:
            raise MalformedRequest(f"a chunk size is hexadecimal, not {line[:40]!r}") from None

    async def _send(self, reply: Reply, *, last: bool, old: bool = False) -> bool:
        """Send an answer as its delivery says; returns whether the connection goes on."""
        delivery = reply.delivery
        await self._pause(delivery.delay)
        if delivery.cut_before_headers:
            return await self._break_off(delivery)
        framing = "close" if old and reply.framing == "chunked" else reply.framing
        last = last or framing == "close"
        self.writer.write(_head(reply, framing, last))
        await self.writer.drain()
        await self._send_body(reply, framing)
        if delivery.is_cut:
            return await self._break_off(delivery)
        if framing == "chunked":
            self.writer.write(b"0\r\n\r\n")
        await self.writer.drain()
        return not last

    async def _send_body(self, reply: Reply, framing: str) -> None:
        for number, piece in enumerate(reply.pieces()):
            if number:
                await self._pause(reply.delivery.delay_between)
            self.writer.write(b"%x\r\n%b\r\n" % (len(piece), piece) if framing == "chunked" else piece)
            await self.writer.drain()
            if self.writer.is_closing():
                raise ClientGone

    async def _pause(self, seconds: float) -> None:
        """Wait, but not for a client that has gone."""
        if seconds <= 0:
            return
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self.reader.gone.wait(), seconds)
            raise ClientGone

    async def _break_off(self, delivery: Delivery) -> bool:
        if delivery.hang:
            await self.reader.gone.wait()
            raise ClientGone
        if delivery.reset:
            # Without lingering the kernel sends RST instead of FIN.
            socket_: socket.socket = self.writer.get_extra_info("socket")
            socket_.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.writer.transport.abort()
        return False


def _head(reply: Reply, framing: str, last: bool) -> bytes:
    try:
        phrase = HTTPStatus(reply.status).phrase
    except ValueError:
        phrase = "Status"
    lines = [f"HTTP/1.1 {reply.status} {phrase}"]
    if reply.content_type is not None:
        lines.append(f"Content-Type: {reply.content_type}")
    if framing == "chunked":
        lines.append("Transfer-Encoding: chunked")
    elif framing == "length":
        lines.append(f"Content-Length: {len(reply.body)}")
    lines.append(f"Connection: {'close' if last else 'keep-alive'}")
    lines += [f"{name}: {value}" for name, value in reply.headers]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")
