"""The one HTTP transport of all providers. httpx is imported here alone, when the first request is sent.

What is not an answer becomes a `ProviderError` in words for a person. Nothing that leaves this module holds a
key: errors, log lines and `repr` are free of headers, and every exception of httpx ends here.
"""

import asyncio
import importlib
import importlib.util
import logging
import socket
import ssl
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from types import MappingProxyType, ModuleType
from typing import TYPE_CHECKING, cast

from lockgate.errors import FailureKind, ProviderError
from lockgate.providers.decompression import CompressionError, unpacked
from lockgate.providers.endpoint import without_credentials
from lockgate.providers.failures import AskedHost
from lockgate.providers.retry import RetryPolicy

if TYPE_CHECKING:
    import httpx

LARGEST_ERROR_BODY = 64 * 1024
LARGEST_JSON_BODY = 64 * 1024 * 1024
_LONGEST_ERROR_BODY_WAIT = 10.0
_LONGEST_DRAIN = 1.0
_LARGEST_DRAIN = 64 * 1024
_KEEP_ALIVE = 60.0  # tools run between two rounds; httpx's 5 seconds would cost a new connection each time

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Seconds to wait: for a connection, between pieces of an answer, for a write, for a free connection."""

    connect: float = 10.0
    read: float = 600.0
    write: float = 60.0
    pool: float = 60.0

    def as_extension(self) -> dict[str, float]:
        """Return them in httpx's form."""
        return {"connect": self.connect, "read": self.read, "write": self.write, "pool": self.pool}


@dataclass(frozen=True, slots=True, repr=False)
class HttpRequest:
    """A request to a host.

    Attributes:
        method: The method in capitals.
        url: The whole address.
        headers: Names and values, ASCII; the length and the host are added.
        body: The bytes to send.
        timeouts: How long to wait for what.
        secrets: Texts to remove from every message.
        provider: What people call the provider; errors name it.
        has_key: Whether a key goes along: a refusal is worded by it.
    """

    method: str
    url: str
    headers: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    body: bytes = b""
    timeouts: Timeouts = Timeouts()
    secrets: tuple[str, ...] = ()
    provider: str = ""
    has_key: bool = True

    def __repr__(self) -> str:
        return f"HttpRequest({self.method} {without_credentials(self.url)}, {len(self.body)} bytes)"

    @property
    def host(self) -> AskedHost:
        """Who is asked, for messages."""
        return AskedHost(self.provider, self.url, self.secrets)


class HttpAnswer:
    """A successful answer whose body is still coming. Iterate over it for the body's pieces.

    Attributes:
        status: 200 to 299.
        headers: Names in lower case.
    """

    __slots__ = ("_ended", "_pieces", "_request", "_response", "headers", "status")

    def __init__(self, response: "httpx.Response", request: HttpRequest) -> None:
        self.status = response.status_code
        self.headers: Mapping[str, str] = response.headers
        self._request = request
        self._response = response
        # No coding is asked for; one that comes all the same is undone, not by httpx: that unpacks without limit.
        coding = response.headers.get("content-encoding", "").strip()
        raw = cast(AsyncGenerator[bytes, None], response.aiter_raw())  # what it is behind httpx's wider type
        self._pieces = raw if coding.lower() in ("", "identity") else unpacked(raw, coding)
        self._ended = False

    def __repr__(self) -> str:
        return f"HttpAnswer({self.status})"

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    async def __anext__(self) -> bytes:
        """Return the next piece.

        Raises:
            ProviderError: The connection broke (CUT_OFF), the host fell silent (TIMEOUT), or the compression
                is wrong (MALFORMED).
        """
        try:
            return await self._pieces.__anext__()
        except StopAsyncIteration:
            self._ended = True
            raise
        except Exception as problem:  # noqa: BLE001 - httpx's errors are sorted there, others raised again
            self._ended = True
            raise _body_failure(problem, self._request) from None

    async def read(self, limit: int = LARGEST_JSON_BODY) -> bytes:
        """Return the whole rest of the body.

        Raises:
            ProviderError: It is larger than `limit` bytes (MALFORMED), or did not come whole.
        """
        body = bytearray()
        async for piece in self:
            body += piece
            if len(body) > limit:
                words = f"sent an answer of more than {limit} bytes"
                raise self._request.host.failure(FailureKind.MALFORMED, words, status=self.status)
        return bytes(body)

    async def drain(self) -> None:
        """Read what little may follow the last event, so that the connection can be used again."""
        if self._ended:
            return
        size = 0
        try:
            async with asyncio.timeout(_LONGEST_DRAIN):
                async for piece in self:
                    size += len(piece)
                    if size > _LARGEST_DRAIN:
                        return
        except (TimeoutError, ProviderError):
            return  # the answer is whole; only the connection is lost

    async def aclose(self) -> None:
        """Let go of the connection: back into the pool when the body was read, closed otherwise."""
        self._ended = True
        await self._pieces.aclose()
        await self._response.aclose()


class _Attempt(Exception):
    """One try that failed, and whether another may fare better."""

    def __init__(self, failure: ProviderError, *, again: bool) -> None:
        super().__init__()
        self.failure, self.again = failure, again


class Transport:
    """Sends requests: one per ``Lockgate``, usable from several event loops.

    Connections belong to the loop that opened them. They are closed by `aclose`, or when their loop ends
    (``asyncio.run`` shuts down asynchronous generators, and one of them holds the connections).

    Args:
        retry: When to ask again.
        tls: The trust to check certificates with; httpx's own bundle when left out.
        sleep: Waits; a test hands over its own.
        clock: Tells the time, for dates in `Retry-After`.
    """

    def __init__(
        self,
        *,
        retry: RetryPolicy | None = None,
        tls: ssl.SSLContext | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._retry = retry or RetryPolicy()
        self._tls = tls
        self._sleep = sleep
        self._clock = clock
        self._loops: dict[asyncio.AbstractEventLoop, _Connections] = {}

    def stream(self, request: HttpRequest) -> AbstractAsyncContextManager[HttpAnswer]:
        """Send a request, again where that may help, and lend its successful answer. Leaving closes it.

        Raises:
            ProviderError: No successful answer came. A cancelled task closes the connection at once.
        """
        return self._stream(request)

    @asynccontextmanager
    async def _stream(self, request: HttpRequest) -> AsyncGenerator[HttpAnswer, None]:
        answer = await self._answer(request)
        try:
            yield answer
        finally:
            await answer.aclose()

    async def aclose(self) -> None:
        """Close the connections of the running loop. Those of other loops are closed when these end."""
        connections = self._loops.pop(asyncio.get_running_loop(), None)
        if connections is not None:
            await connections.keeper.aclose()

    async def _answer(self, request: HttpRequest) -> HttpAnswer:
        tries, waited = 0, 0.0
        while True:
            tries += 1
            try:
                return await self._try(request)
            except _Attempt as attempt:
                failure = attempt.failure
                seconds = self._retry.wait(tries, waited, failure.retry_after) if attempt.again else None
            if seconds is None:
                raise failure
            _log.info("%s Asking again in %.1f seconds.", failure, seconds)
            await self._sleep(seconds)
            waited += seconds

    async def _try(self, request: HttpRequest) -> HttpAnswer:
        """Send once.

        Raises:
            _Attempt: No successful answer came.
        """
        connections = await self._connections()
        try:
            response = await connections.send(request)
        except Exception as problem:  # noqa: BLE001 - httpx's errors are sorted there, others raised again
            raise _send_failure(problem, request) from None
        answer = HttpAnswer(response, request)
        if 200 <= answer.status < 300:
            return answer
        try:
            body = await _error_body(answer)
        finally:
            await answer.aclose()
        failure = request.host.http_failure(answer.status, answer.headers, body, self._clock(), has_key=request.has_key)
        final = failure.kind in (FailureKind.QUOTA, FailureKind.CONTEXT_TOO_LONG)
        raise _Attempt(failure, again=answer.status in self._retry.statuses and not final)

    async def _connections(self) -> "_Connections":
        loop = asyncio.get_running_loop()
        connections = self._loops.get(loop)
        if connections is None:
            for ended in [other for other in self._loops if other.is_closed()]:
                del self._loops[ended]
            connections = self._loops[loop] = _Connections(self._tls)
            await anext(connections.keeper)
        return connections


class _Connections:
    """The open connections of one loop: those with TLS, and those without, which never load certificates."""

    __slots__ = ("_by_scheme", "_httpx", "_tls", "_urls", "keeper")

    def __init__(self, tls: ssl.SSLContext | None) -> None:
        self._httpx = _import_httpx()
        self._tls = tls
        self._by_scheme: dict[str, httpx.AsyncHTTPTransport] = {}
        self._urls: dict[str, httpx.URL] = {}
        self.keeper = self._keep()

    async def send(self, request: HttpRequest) -> "httpx.Response":
        """Send a request and return its answer as soon as the headers are there."""
        # Below httpx's client: no cookies, no redirects, no proxies from the environment, and half the time.
        url = self._urls.get(request.url)
        if url is None:
            if len(self._urls) >= 64:
                self._urls.clear()
            url = self._httpx.URL(request.url)
            if url.scheme not in ("http", "https") or not url.host or not 0 < (url.port or 80) < 65_536:
                raise self._httpx.UnsupportedProtocol("no address for HTTP")
            self._urls[request.url] = url
        outgoing = self._httpx.Request(
            request.method,
            url,
            headers=[*request.headers.items(), ("Accept-Encoding", "identity")],
            content=request.body,
            extensions={"timeout": request.timeouts.as_extension()},
        )
        return await self._transport(url.scheme).handle_async_request(outgoing)

    def _transport(self, scheme: str) -> "httpx.AsyncHTTPTransport":
        transport = self._by_scheme.get(scheme)
        if transport is None:
            if scheme == "https":
                trust = self._tls or self._httpx.create_ssl_context(trust_env=False)
            else:
                trust = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # trusts nobody, and loads in no time
            limits = self._httpx.Limits(max_connections=100, max_keepalive_connections=20, keepalive_expiry=_KEEP_ALIVE)
            transport = self._httpx.AsyncHTTPTransport(verify=trust, trust_env=False, limits=limits)
            self._by_scheme[scheme] = transport
        return transport

    async def _keep(self) -> AsyncGenerator[None, None]:
        """Do nothing until the loop ends or `aclose` is called; then close everything."""
        try:
            yield
        finally:
            for transport in self._by_scheme.values():
                await transport.aclose()


def _import_httpx() -> ModuleType:
    """Import httpx without its command line, which would load click and rich."""
    if "sniffio" not in sys.modules and importlib.util.find_spec("sniffio") is None:
        # httpcore asks for it several times a request. Searching each time for what is not installed costs more than
        # reading an answer; None makes the same failure quick.
        sys.modules["sniffio"] = None  # type: ignore[assignment]  # None is how Python is told not to import
    loaded = sys.modules.get("httpx")
    if loaded is not None:
        return loaded
    sys.modules["httpx._main"] = None  # type: ignore[assignment]  # None is how Python is told not to import
    try:
        return importlib.import_module("httpx")
    finally:
        del sys.modules["httpx._main"]


async def _error_body(answer: HttpAnswer) -> bytes:
    """Return the beginning of an error's body; what does not come is left out."""
    body = bytearray()
    try:
        async with asyncio.timeout(_LONGEST_ERROR_BODY_WAIT):
            async for piece in answer:
                body += piece
                if len(body) >= LARGEST_ERROR_BODY:
                    break
    except (TimeoutError, ProviderError):
        pass  # the status alone says enough
    return bytes(body[:LARGEST_ERROR_BODY])


def _send_failure(problem: Exception, request: HttpRequest) -> "_Attempt | Exception":
    """Say what stopped a request before its answer. What is not httpx's is returned as it is."""
    import httpx

    host = request.host
    match problem:
        case httpx.ConnectTimeout():
            words = f"cannot be reached: no connection within {request.timeouts.connect:g} seconds"
            # The system itself has knocked several times by then.
            return _Attempt(host.failure(FailureKind.UNREACHABLE, words), again=False)
        case httpx.TimeoutException():
            words = f"has not answered within {request.timeouts.read:g} seconds"
            return _Attempt(host.failure(FailureKind.TIMEOUT, words), again=False)
        case httpx.ConnectError():
            words, again = _why_unreachable(problem)
            return _Attempt(host.failure(FailureKind.UNREACHABLE, f"cannot be reached: {words}"), again=again)
        case httpx.InvalidURL() | httpx.UnsupportedProtocol():
            words = "cannot be asked: its address has to begin with http:// or https:// and name a host"
            return _Attempt(host.failure(FailureKind.BAD_REQUEST, words), again=False)
        case httpx.LocalProtocolError():
            # httpx quotes the header, which may be the key.
            words = "cannot be asked: a header or the key holds characters that HTTP does not allow"
            return _Attempt(host.failure(FailureKind.BAD_REQUEST, words), again=False)
        case httpx.HTTPError():
            words = "closed the connection without an answer"
            return _Attempt(host.failure(FailureKind.UNREACHABLE, words), again=True)
    return problem


def _body_failure(problem: Exception, request: HttpRequest) -> Exception:
    """Say what stopped an answer in its middle."""
    import httpx

    match problem:
        case httpx.TimeoutException():
            words = f"fell silent in the middle of its answer, for {request.timeouts.read:g} seconds"
            return request.host.failure(FailureKind.TIMEOUT, words)
        case CompressionError():
            return request.host.failure(FailureKind.MALFORMED, str(problem))
        case httpx.HTTPError() | httpx.StreamError():
            words = "closed the connection in the middle of its answer"
            return request.host.failure(FailureKind.CUT_OFF, words)
    return problem


def _why_unreachable(problem: BaseException) -> tuple[str, bool]:
    """Return why no connection came about, in words, and whether another try may help."""
    causes = list(_causes(problem))
    for cause in causes:
        if isinstance(cause, ssl.SSLCertVerificationError):
            reason = getattr(cause, "verify_message", "") or "no reason given"
            return f"its certificate is not trusted ({reason})", False
    for cause in causes:
        if isinstance(cause, ConnectionRefusedError):
            return "connection refused. Is it running?", True
        if isinstance(cause, socket.gaierror):
            return "the name of its host is not known. Is the address right?", True
        if isinstance(cause, ssl.SSLError):
            return "it does not speak TLS. Does the address begin with http://?", False
    return str(problem) or "no connection", True


def _causes(problem: BaseException, depth: int = 8) -> Iterator[BaseException]:
    """Yield an exception and everything that led to it, groups opened."""
    yield problem
    if depth:
        inner = list(problem.exceptions) if isinstance(problem, BaseExceptionGroup) else []
        for cause in (*inner, problem.__cause__, problem.__context__):
            if cause is not None:
                yield from _causes(cause, depth - 1)
