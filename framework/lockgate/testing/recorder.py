"""A network that remembers: servers on loopback that keep what arrives, byte for byte, and which names were asked for.

A test that wants to know where a tool sends data points the tool here, and reads afterwards what left the tool.
Nothing is interpreted beyond HTTP/1.1 (RFC 9112), and what is no HTTP is kept as well: it was sent all the same.
"""

import asyncio
import contextlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from typing import Self

from lockgate.testing.fake_http import LARGEST_HEAD

LARGEST_BODY = 16 * 1024 * 1024
"""Bytes a body may have; a longer one ends the connection, and what had come is kept."""

_LOOPBACK = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class RecordedRequest:
    """A request as it arrived.

    Attributes:
        server: Name of the server it reached.
        method: Such as ``GET``, in the spelling that was sent.
        target: What stood behind the method: path and query, exactly.
        headers: Names and values in the order and spelling that were sent, repeated ones included.
        body: Without its transfer coding.
    """

    server: str
    method: str
    target: str
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""

    def header(self, name: str) -> str:
        """Return the values of a header, whatever its case, joined by commas; empty where it was not sent."""
        return ", ".join(value for key, value in self.headers if key.lower() == name.lower())

    @property
    def host(self) -> str:
        """The host name that was asked for, as the client wrote it, with a port where it gave one."""
        return self.header("Host")

    @property
    def path(self) -> str:
        """The target without its query."""
        return self.target.partition("?")[0]

    @property
    def query(self) -> str:
        """What stood behind the question mark; empty where there was none."""
        return self.target.partition("?")[2]

    @property
    def address(self) -> str:
        """The whole address: what the client believed to ask for."""
        if self.target.startswith(("http://", "https://")):
            return self.target  # as a proxy is asked
        return f"http://{self.host}{self.target}"


@dataclass(frozen=True, slots=True)
class RecorderAnswer:
    """What a recorder answers a request with: a body, its type, a status from 200 to 599, further headers."""

    body: str | bytes = ""
    content_type: str = "text/plain; charset=utf-8"
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()


Answering = Callable[[RecordedRequest], RecorderAnswer]


def _nothing(request: RecordedRequest) -> RecorderAnswer:
    del request
    return RecorderAnswer()


class NetworkRecorder:
    """One or several servers on loopback. Use it as ``async with NetworkRecorder("web", "wiki") as network:``.

    Args:
        servers: Names of the servers, so that traffic can be told apart; one called ``web`` when left out.
        names: Host name → the server it leads to. Every other name leads to the first server.
        answer: Makes the answer to a request; an empty page with status 200 when left out.

    Attributes:
        requests: The requests in the order of their arrival.
        lookups: The host names that were asked for, in order, exactly as they were asked for.
    """

    def __init__(
        self, *servers: str, names: Mapping[str, str] | None = None, answer: Answering = _nothing
    ) -> None:
        self._ports = dict.fromkeys(servers or ("web",), 0)
        self._names = {name.lower(): server for name, server in (names or {}).items()}
        if unknown := sorted(set(self._names.values()) - set(self._ports)):
            raise ValueError(f"A name leads to {unknown[0]!r}; the servers are: {', '.join(self._ports)}.")
        self._answer = answer
        self._listening: list[asyncio.Server] = []
        self._connections: dict[asyncio.Task[None], asyncio.StreamWriter] = {}
        self._arrived: dict[str, list[bytearray]] = {name: [] for name in self._ports}
        self.requests: list[RecordedRequest] = []
        self.lookups: list[str] = []

    async def __aenter__(self) -> Self:
        """Begin to listen on free ports of 127.0.0.1."""
        for name in self._ports:
            server = await asyncio.start_server(partial(self._serve, name), _LOOPBACK, 0, limit=LARGEST_HEAD)
            self._listening.append(server)
            self._ports[name] = server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *exception: object) -> None:
        """End the listening and every connection."""
        for server in self._listening:
            server.close()
        for task, writer in list(self._connections.items()):
            writer.transport.abort()
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)
        for server in self._listening:
            await server.wait_closed()

    # Where things are

    def base_url(self, server: str = "") -> str:
        """Return the address of a server, without a trailing slash; of the first when none is named.

        For a tool whose service is configured by address. It asks for no name.
        """
        return f"http://{_LOOPBACK}:{self._ports[server or next(iter(self._ports))]}"

    def lookup(self, host: str) -> tuple[str, int]:
        """Answer as a resolver would, and note the name: the IP address and port to connect to instead.

        Args:
            host: A host name or the literal of an IP address, without port.
        """
        self.lookups.append(host)
        return _LOOPBACK, self._ports[self._names.get(host.lower(), next(iter(self._ports)))]

    async def connect(self, host: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Look a name up and connect to the server it leads to."""
        return await asyncio.open_connection(*self.lookup(host))

    # What arrived

    def requests_to(self, server: str) -> list[RecordedRequest]:
        """Return the requests that reached a server."""
        return [request for request in self.requests if request.server == server]

    def arrived(self, server: str) -> bytes:
        """Return all bytes that reached a server, connection after connection, whether or not they were HTTP."""
        return b"".join(self._arrived[server])

    def clear(self) -> None:
        """Forget what has arrived so far."""
        self.requests.clear()
        self.lookups.clear()
        for kept in self._arrived.values():
            kept.clear()

    # Serving

    async def _serve(self, name: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections[task] = writer
        raw = bytearray()
        self._arrived[name].append(raw)
        try:
            while (request := await _read_request(name, reader, raw)) is not None:
                self.requests.append(request)
                writer.write(_encoded(self._answer(request)))
                await writer.drain()
                if request.header("Connection").lower() == "close":
                    break
        except (ValueError, ConnectionError):
            pass  # no HTTP, or gone: what came is kept in `raw`
        except asyncio.CancelledError:
            pass  # the recorder ends
        finally:
            self._connections.pop(task, None)
            writer.close()
            with contextlib.suppress(ConnectionError, asyncio.CancelledError):
                await writer.wait_closed()


async def _read_request(server: str, reader: asyncio.StreamReader, raw: bytearray) -> RecordedRequest | None:
    """Read a request and keep its bytes; None when the client closed before one began.

    Raises:
        ValueError: What arrived is no HTTP/1.1 request.
    """
    lines: list[str] = []
    while (line := await _line(reader, raw)) not in (b"\r\n", b"\n", b""):
        lines.append(line.decode("latin-1").rstrip("\r\n"))
    if not lines:
        return None
    method, _, rest = lines[0].partition(" ")
    target, _, version = rest.rpartition(" ")
    if version not in ("HTTP/1.1", "HTTP/1.0") or not target or line == b"":
        raise ValueError("This is no HTTP request.")
    headers: list[tuple[str, str]] = []
    for text in lines[1:]:
        key, colon, value = text.partition(":")
        if not colon:
            raise ValueError("This is no header.")
        headers.append((key, value.strip()))
    head = RecordedRequest(server, method, target, tuple(headers))
    return RecordedRequest(server, method, target, head.headers, await _read_body(head, reader, raw))


async def _read_body(head: RecordedRequest, reader: asyncio.StreamReader, raw: bytearray) -> bytes:
    if head.header("Transfer-Encoding").lower() != "chunked":
        return await _exactly(reader, _size(head.header("Content-Length") or "0", 10), raw)
    body = bytearray()
    while size := _size((await _line(reader, raw)).split(b";")[0].decode("latin-1").strip(), 16):
        body += await _exactly(reader, size, raw)
        await _line(reader, raw)
        _size(str(len(body)), 10)
    while await _line(reader, raw) not in (b"\r\n", b"\n", b""):
        pass  # trailer fields are among the bytes that are kept
    return bytes(body)


def _size(text: str, base: int) -> int:
    size = int(text, base)
    if not 0 <= size <= LARGEST_BODY:
        raise ValueError(f"A body has at most {LARGEST_BODY} bytes here.")
    return size


async def _line(reader: asyncio.StreamReader, raw: bytearray) -> bytes:
    """Read a line with its end; what there is at the end of the stream."""
    try:
        line = await reader.readuntil(b"\n")
    except asyncio.IncompleteReadError as end:
        line = end.partial
    except asyncio.LimitOverrunError as overrun:
        raw += await reader.readexactly(overrun.consumed)
        raise ValueError(f"A line has at most {LARGEST_HEAD} bytes here.") from None
    raw += line
    return line


async def _exactly(reader: asyncio.StreamReader, size: int, raw: bytearray) -> bytes:
    try:
        piece = await reader.readexactly(size)
    except asyncio.IncompleteReadError as end:
        raw += end.partial
        raise ValueError("The body ended early.") from None
    raw += piece
    return piece


def _encoded(answer: RecorderAnswer) -> bytes:
    body = answer.body.encode() if isinstance(answer.body, str) else answer.body
    lines = [
        f"HTTP/1.1 {answer.status} {HTTPStatus(answer.status).phrase}",
        f"Content-Type: {answer.content_type}",
        f"Content-Length: {len(body)}",
        *(f"{name}: {value}" for name, value in answer.headers),
    ]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1") + body
