"""The transport against a server on loopback that misbehaves on purpose."""

import asyncio
import gzip
import logging
import socket
import ssl
import subprocess
import sys
import zlib
from collections.abc import AsyncGenerator, Callable
from datetime import UTC, datetime

import pytest

from lockgate.errors import FailureKind, ProviderError
from lockgate.providers.decompression import CompressionError, unpacked
from lockgate.providers.retry import RetryPolicy
from lockgate.providers.transport import HttpRequest, Timeouts, Transport, _why_unreachable
from lockgate.testing import Delivery, FakeProvider, answer_error, answer_page, answer_raw, answer_text

KEY = "sk-proj-0123456789abcdef"


class Clockwork:
    """Takes the place of sleeping: notes the waits and does not wait."""

    def __init__(self) -> None:
        self.waits: list[float] = []

    async def sleep(self, seconds: float) -> None:
        """Note a wait."""
        self.waits.append(seconds)


def request_to(fake: FakeProvider, **changes: object) -> HttpRequest:
    """A request that the fake provider accepts."""
    members: dict[str, object] = {
        "method": "POST",
        "url": f"{fake.base_url}/chat/completions",
        "headers": {"Content-Type": "application/json", "Authorization": f"Bearer {KEY}"},
        "body": b'{"model":"m","stream":true,"messages":[{"role":"user","content":"x"}]}',
        "secrets": (KEY,),
        "provider": "Fake",
    }
    return HttpRequest(**(members | changes))  # type: ignore[arg-type]  # members are named as the fields


async def body_of(transport: Transport, request: HttpRequest) -> bytes:
    """The whole body of an answer."""
    async with transport.stream(request) as answer:
        return await answer.read()


async def failure_of(transport: Transport, request: HttpRequest) -> ProviderError:
    """The error that a request ends in."""
    with pytest.raises(ProviderError) as caught:
        await body_of(transport, request)
    return caught.value


async def test_an_answer_comes_in_pieces_with_its_headers() -> None:
    """Status, headers and raw pieces of a successful answer are handed on as they come."""
    async with FakeProvider([answer_raw([b"ab", b"c"], headers=(("X-One", "1"),))]) as fake:
        transport = Transport()
        async with transport.stream(request_to(fake)) as answer:
            assert (answer.status, answer.headers["x-one"]) == (200, "1")
            assert b"".join([piece async for piece in answer]) == b"abc"
        await transport.aclose()
        assert fake.requests[0].headers["accept-encoding"] == "identity"


async def test_a_compressed_answer_is_unpacked_all_the_same() -> None:
    """A host that compresses unasked is understood."""
    packed = gzip.compress(b"hello " * 50)
    async with FakeProvider([answer_raw(packed, headers=(("Content-Encoding", "gzip"),))]) as fake:
        transport = Transport()
        assert await body_of(transport, request_to(fake)) == b"hello " * 50
        await transport.aclose()


async def test_a_broken_compression_is_malformed() -> None:
    """Bytes that are not what the header says end in an error of ours."""
    async with FakeProvider([answer_raw(b"no gzip", headers=(("Content-Encoding", "gzip"),))]) as fake:
        transport = Transport()
        assert (await failure_of(transport, request_to(fake))).kind is FailureKind.MALFORMED
        await transport.aclose()


async def packed_pieces(packed: bytes, coding: str, size: int) -> list[bytes]:
    """What comes of a compressed body that arrives in pieces of `size` bytes."""

    async def pieces() -> AsyncGenerator[bytes, None]:
        for start in range(0, len(packed), size):
            yield packed[start : start + size]

    return [piece async for piece in unpacked(pieces(), coding)]


def raw_deflate(body: bytes) -> bytes:
    """A body as the hosts compress it that leave zlib's header out."""
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(body) + packer.flush()


@pytest.mark.parametrize("size", [1, 7, 100_000])
@pytest.mark.parametrize(
    ("coding", "pack"), [("gzip", gzip.compress), (" X-GZIP", gzip.compress), ("deflate", zlib.compress),
                         ("deflate", raw_deflate)],
)  # fmt: skip
async def test_every_known_compression_is_unpacked(coding: str, pack: Callable[[bytes], bytes], size: int) -> None:
    """Gzip, and deflate with and without a header, come whole from pieces of any size; what follows does not."""
    body = bytes(range(256)) * 300 + b"a" * 200_000
    assert b"".join(await packed_pieces(pack(body) + b"more", coding, size)) == body


async def test_a_small_piece_that_unpacks_to_much_comes_in_small_steps() -> None:
    """What a few bytes stand for is handed on bit by bit, so that a reader can stop before it fills the memory."""
    sizes = [len(piece) for piece in await packed_pieces(gzip.compress(bytes(5_000_000)), "gzip", 100_000)]
    assert (sum(sizes), max(sizes)) == (5_000_000, 65_536)


@pytest.mark.parametrize("coding", ["gzip, gzip", "br", "zstd", "gzip,br"])
async def test_a_compression_that_is_not_known_is_malformed(coding: str) -> None:
    """Nobody asked for it, and its bytes are no answer; the coding is named."""
    async with FakeProvider([answer_raw(b"x", headers=(("Content-Encoding", coding),))]) as fake:
        transport = Transport()
        failure = await failure_of(transport, request_to(fake))
        await transport.aclose()
    assert failure.kind is FailureKind.MALFORMED
    assert f"not asked for ({coding})" in str(failure)


async def test_a_compressed_body_that_unpacks_to_nothing_comes_to_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Empty blocks go on for ever and yield nothing to count: the bytes that come are bounded too."""
    monkeypatch.setattr("lockgate.providers.decompression.LARGEST_COMPRESSED", 1_000)
    empty_blocks = b"\x00\x00\x00\xff\xff"
    assert await packed_pieces(empty_blocks * 200, "deflate", 100) == []
    with pytest.raises(CompressionError, match="more than 1000 bytes"):
        await packed_pieces(empty_blocks * 201, "deflate", 100)


@pytest.mark.parametrize("status", [408, 429, 502, 504, 529])
async def test_what_may_pass_is_asked_again(status: int) -> None:
    """After an answer that may be different a moment later the same request goes out again."""
    clockwork = Clockwork()
    async with FakeProvider([answer_error(status), answer_error(status), answer_raw(b"ok")]) as fake:
        transport = Transport(sleep=clockwork.sleep)
        assert await body_of(transport, request_to(fake)) == b"ok"
        assert len({request.arrived_bytes for request in fake.requests}) == 1
        await transport.aclose()
    assert clockwork.waits == [1.0, 4.0]


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422, 500, 503])
async def test_what_stays_is_asked_once(status: int) -> None:
    """Answers that another try would not change are told at once."""
    clockwork = Clockwork()
    async with FakeProvider([answer_error(status, "That is so.")]) as fake:
        transport = Transport(sleep=clockwork.sleep)
        error = await failure_of(transport, request_to(fake))
        assert (error.status, error.server_message.split(" (")[0]) == (status, "That is so.")
        assert len(fake.requests) == 1
        await transport.aclose()
    assert clockwork.waits == []


async def test_a_used_up_quota_is_asked_once() -> None:
    """429 with `insufficient_quota` is no matter of waiting."""
    async with FakeProvider([answer_error(429, "You are out", code="insufficient_quota")]) as fake:
        transport = Transport(sleep=Clockwork().sleep)
        assert (await failure_of(transport, request_to(fake))).kind is FailureKind.QUOTA
        assert len(fake.requests) == 1
        await transport.aclose()


@pytest.mark.parametrize(
    ("answer", "wait"),
    [
        (answer_error(429, retry_after=7), 7.0),
        (answer_error(429, retry_after_ms=250, retry_after=1), 0.25),
        (answer_error(429, retry_after=datetime(2026, 11, 30, 12, 0, 9, tzinfo=UTC)), 9.0),
        (answer_error(429, retry_after=datetime(2015, 10, 21, tzinfo=UTC)), 1.0),
        (answer_error(429, retry_after="rubbish"), 1.0),
        (answer_error(429, "Please try again in 94ms"), 0.094),
        (answer_error(429, form="gemini", extra={"details": [{"retryDelay": "3s"}]}), 3.0),
    ],
)
async def test_the_wait_is_the_one_the_host_asks_for(answer: object, wait: float) -> None:
    """Seconds, milliseconds, dates and hints in the body decide how long to wait."""
    clockwork = Clockwork()
    async with FakeProvider([answer, answer_raw(b"ok")]) as fake:  # type: ignore[list-item]  # one of the answers
        transport = Transport(sleep=clockwork.sleep, clock=lambda: datetime(2026, 11, 30, 12, tzinfo=UTC))
        assert await body_of(transport, request_to(fake)) == b"ok"
        await transport.aclose()
    assert clockwork.waits == pytest.approx([wait])


async def test_a_host_that_asks_for_too_long_a_wait_gets_no_further_try() -> None:
    """Beyond the longest sum of waits the error is told at once, with the wait asked for."""
    clockwork = Clockwork()
    async with FakeProvider([answer_error(429, retry_after=3600)]) as fake:
        transport = Transport(sleep=clockwork.sleep)
        error = await failure_of(transport, request_to(fake))
        await transport.aclose()
    assert (error.kind, error.retry_after, clockwork.waits) == (FailureKind.RATE_LIMIT, 3600.0, [])


async def test_the_number_of_tries_is_the_policys() -> None:
    """No more tries are made than the policy allows."""
    async with FakeProvider(lambda _: answer_error(429)) as fake:
        transport = Transport(sleep=Clockwork().sleep, retry=RetryPolicy(retries=1))
        assert (await failure_of(transport, request_to(fake))).kind is FailureKind.RATE_LIMIT
        assert len(fake.requests) == 2
        await transport.aclose()


async def test_a_refused_connection_asks_whether_it_is_running() -> None:
    """A port where nobody listens is tried again, then told in words that help."""
    clockwork = Clockwork()
    async with FakeProvider() as fake:
        request = request_to(fake)
    transport = Transport(sleep=clockwork.sleep)
    error = await failure_of(transport, request)
    await transport.aclose()
    assert error.kind is FailureKind.UNREACHABLE
    assert str(error).endswith("cannot be reached: connection refused. Is it running?")
    assert len(clockwork.waits) == 2


async def test_an_answer_that_never_begins_is_asked_again() -> None:
    """A connection closed before any answer, as a pooled one may be, costs another try and nothing else."""
    cut = answer_raw(b"", delivery=Delivery(cut_before_headers=True))
    async with FakeProvider([cut, answer_raw(b"ok")]) as fake:
        transport = Transport(sleep=Clockwork().sleep)
        assert await body_of(transport, request_to(fake)) == b"ok"
        await transport.aclose()


@pytest.mark.parametrize("reset", [False, True])
async def test_a_connection_that_breaks_in_the_middle_is_cut_off(reset: bool) -> None:
    """What was used of an answer is never asked for again: the break is told."""
    broken = answer_raw(b"0123456789", delivery=Delivery(cut_after=4, framing="chunked", reset=reset))
    async with FakeProvider([broken]) as fake:
        transport = Transport()
        assert (await failure_of(transport, request_to(fake))).kind is FailureKind.CUT_OFF
        assert len(fake.requests) == 1
        await transport.aclose()


@pytest.mark.parametrize("begun", [False, True])
async def test_silence_ends_in_a_timeout(begun: bool) -> None:
    """A host that says nothing, or nothing more, is given up after the time to read; it is not asked again."""
    where = {"cut_after": 3} if begun else {"cut_before_headers": True}
    silent = answer_raw(b"0123456789", delivery=Delivery(hang=True, **where))
    async with FakeProvider([silent]) as fake:
        transport = Transport()
        error = await failure_of(transport, request_to(fake, timeouts=Timeouts(read=0.05)))
        assert (error.kind, len(fake.requests)) == (FailureKind.TIMEOUT, 1)
        await transport.aclose()


async def test_a_cancelled_task_closes_the_connection() -> None:
    """Whoever cancels a run ends the connection at once, while the host still speaks."""
    begun = asyncio.Event()

    async def read_on(request: HttpRequest) -> None:
        async with transport.stream(request) as answer:
            async for _ in answer:
                begun.set()

    async with FakeProvider([answer_raw(b"data", delivery=Delivery(hang=True, framing="chunked"))]) as fake:
        transport = Transport()
        task = asyncio.create_task(read_on(request_to(fake)))
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.wait_for(fake.disconnected.wait(), 5)
        await transport.aclose()


async def test_leaving_early_closes_the_connection() -> None:
    """An answer that nobody reads to its end does not stay open."""
    async with FakeProvider([answer_raw(b"data", delivery=Delivery(hang=True, framing="chunked"))]) as fake:
        transport = Transport()
        async with transport.stream(request_to(fake)) as answer:
            assert await anext(answer) == b"data"
        await asyncio.wait_for(fake.disconnected.wait(), 5)
        await transport.aclose()


async def test_a_body_beyond_the_limit_is_malformed() -> None:
    """A whole answer may not grow without end."""
    async with FakeProvider([answer_raw(b"x" * 1000)]) as fake:
        transport = Transport()
        with pytest.raises(ProviderError) as caught:
            async with transport.stream(request_to(fake)) as answer:
                await answer.read(999)
        assert caught.value.kind is FailureKind.MALFORMED
        await transport.aclose()


async def test_a_huge_error_is_read_in_part() -> None:
    """Of an endless error body no more is read than is worth it."""
    async with FakeProvider([answer_raw(b"e" * 300_000, status=400, content_type="text/plain")]) as fake:
        transport = Transport()
        error = await failure_of(transport, request_to(fake))
        assert (error.kind, len(error.server_message)) == (FailureKind.BAD_REQUEST, 2_000)
        await transport.aclose()


async def test_an_error_that_breaks_off_is_told_by_its_status() -> None:
    """A cut error body does not hide the error."""
    cut = answer_raw(b"bad", status=400, delivery=Delivery(cut_after=2, framing="length"))
    async with FakeProvider([cut]) as fake:
        transport = Transport()
        assert (await failure_of(transport, request_to(fake))).status == 400
        await transport.aclose()


async def test_a_proxys_page_is_told_by_its_title() -> None:
    """An HTML page is not poured out before a person."""
    async with FakeProvider(lambda _: answer_page(502, title="Bad Gateway")) as fake:
        transport = Transport(sleep=Clockwork().sleep)
        error = await failure_of(transport, request_to(fake))
        assert error.server_message == "an HTML page with the title 'Bad Gateway'"
        await transport.aclose()


async def test_the_key_is_in_no_error_no_log_and_no_repr(caplog: pytest.LogCaptureFixture) -> None:
    """A host that quotes the key gives it to nobody."""
    caplog.set_level(logging.DEBUG, logger="lockgate")
    quoting = answer_error(429, f"Bearer {KEY} used too often: {KEY}")
    async with FakeProvider([quoting, answer_error(401, f"bad key {KEY}")]) as fake:
        transport = Transport(sleep=Clockwork().sleep)
        request = request_to(fake)
        error = await failure_of(transport, request)
        await transport.aclose()
    own = [record.getMessage() for record in caplog.records if record.name.startswith("lockgate")]
    assert any("Asking again" in message for message in own)
    for text in (str(error), repr(error), error.server_message, repr(request), repr(request.host), *own):
        assert KEY not in text
    assert error.__cause__ is None


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"url": "ftp://127.0.0.1/x"}, "http://"),
        ({"url": "http://127.0.0.1:99999999/x"}, "http://"),
        ({"url": "http:///x"}, "http://"),
        ({"headers": {"Authorization": f"Bearer {KEY}\nX: y"}}, "characters that HTTP does not allow"),
    ],
)
async def test_what_cannot_be_sent_is_told_without_the_key(changes: dict[str, object], words: str) -> None:
    """An impossible address or header is named in words, and the words do not quote it."""
    async with FakeProvider() as fake:
        transport = Transport(sleep=Clockwork().sleep)
        error = await failure_of(transport, request_to(fake, **changes))
        assert words in str(error)
        assert KEY not in str(error)
        await transport.aclose()


async def test_a_plain_server_behind_https_is_not_asked_twice() -> None:
    """A server that does not speak TLS is told as such, without further tries."""

    async def answer_plainly(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    clockwork = Clockwork()
    server = await asyncio.start_server(answer_plainly, "127.0.0.1", 0)
    async with server:
        transport = Transport(sleep=clockwork.sleep)
        port = server.sockets[0].getsockname()[1]
        error = await failure_of(transport, HttpRequest("POST", f"https://127.0.0.1:{port}/v1"))
        await transport.aclose()
    assert (error.kind, clockwork.waits) == (FailureKind.UNREACHABLE, [])
    assert "it does not speak TLS" in str(error)


async def test_a_server_that_never_shakes_hands_is_given_up() -> None:
    """Where TLS does not begin within the time to connect, the provider is told as unreachable, once."""
    clockwork = Clockwork()
    async with FakeProvider() as fake:
        transport = Transport(sleep=clockwork.sleep)
        url = fake.base_url.replace("http://", "https://")
        error = await failure_of(transport, request_to(fake, url=url, timeouts=Timeouts(connect=0.05)))
        await transport.aclose()
    assert (error.kind, clockwork.waits) == (FailureKind.UNREACHABLE, [])
    assert "no connection within 0.05 seconds" in str(error)


async def test_connections_are_used_again_and_drained() -> None:
    """The little that follows the last event is read, so that the next request finds its connection open."""
    answers = [answer_text("x", delivery=Delivery(pieces="bytes")) for _ in range(3)]
    async with FakeProvider(answers) as fake:
        transport = Transport()
        for _ in answers:
            async with transport.stream(request_to(fake)) as answer:
                seen = b""
                async for piece in answer:
                    seen += piece
                    if b"[DONE]" in seen:
                        break
                await answer.drain()
        assert len(fake._server._connections) == 1
        await transport.aclose()


def test_one_transport_serves_one_loop_after_another() -> None:
    """A second `asyncio.run` works, and the first one leaves no connection behind."""
    transport = Transport()
    with FakeProvider(lambda _: answer_raw(b"ok")) as fake:
        for _ in range(3):
            assert asyncio.run(body_of(transport, request_to(fake))) == b"ok"
        assert len(transport._loops) == 1


def test_httpx_is_loaded_late_and_without_its_command_line() -> None:
    """Providers cost no httpx before the first request, and never click or rich; its command line stays importable."""
    script = """
import asyncio, sys
from lockgate.providers import HttpRequest, Transport
assert "httpx" not in sys.modules
async def ask():
    async with Transport().stream(HttpRequest("GET", "ftp://x")) as answer:
        pass
try:
    asyncio.run(ask())
except Exception as error:
    print(type(error).__name__)
assert "httpx" in sys.modules and "rich" not in sys.modules and "httpx._main" not in sys.modules
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("ProviderError\n", "")


@pytest.mark.parametrize("after", [b"x" * 200_000, b""])
async def test_draining_is_bounded(after: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """A host that goes on, or falls silent, after the end of an answer costs its connection and little time."""
    monkeypatch.setattr("lockgate.providers.transport._LONGEST_DRAIN", 0.05)
    body = answer_raw([b"[DONE]", after], delivery=Delivery(hang=True, framing="chunked"))
    async with FakeProvider([body]) as fake:
        transport = Transport()
        async with transport.stream(request_to(fake)) as answer:
            assert (await anext(answer)).startswith(b"[DONE]")
            await answer.drain()
        await asyncio.wait_for(fake.disconnected.wait(), 5)
        await transport.aclose()


async def test_what_was_read_needs_no_draining() -> None:
    """After the end of the body draining does nothing; the representation shows the status alone."""
    async with FakeProvider([answer_raw(b"ok")]) as fake:
        transport = Transport()
        async with transport.stream(request_to(fake)) as answer:
            assert await answer.read() == b"ok"
            await answer.drain()
            assert repr(answer) == "HttpAnswer(200)"
        await transport.aclose()
        await transport.aclose()


@pytest.mark.parametrize(
    ("cause", "words", "again"),
    [
        (socket.gaierror(-2, "Name or service not known"), "the name of its host is not known", True),
        (ssl.SSLCertVerificationError(1, "self-signed"), "its certificate is not trusted", False),
        (ssl.SSLError(1, "WRONG_VERSION_NUMBER"), "it does not speak TLS", False),
        (OSError(113, "No route to host"), "All connection attempts failed", True),
    ],
)
def test_why_a_host_cannot_be_reached_is_found_among_the_causes(cause: OSError, words: str, again: bool) -> None:
    """The reason lies below what the client raises, in causes and in groups."""
    problem = OSError("All connection attempts failed")
    problem.__cause__ = ExceptionGroup("several addresses", [cause, ValueError("other")])
    told, is_worth_it = _why_unreachable(problem)
    assert words in told
    assert is_worth_it is again
