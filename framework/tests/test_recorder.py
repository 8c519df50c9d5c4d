"""The network that remembers: what it keeps of requests, of what is no request, and of names."""

import asyncio
import contextlib

import pytest

from lockgate.testing import NetworkRecorder, RecordedRequest, RecorderAnswer


async def _send(network: NetworkRecorder, host: str, *pieces: bytes) -> bytes:
    reader, writer = await network.connect(host)
    for piece in pieces:
        writer.write(piece)
        await writer.drain()
        await asyncio.sleep(0)
    writer.write_eof()
    answer = await reader.read()
    writer.close()
    await writer.wait_closed()
    return answer


async def test_a_request_is_kept_as_it_was_sent() -> None:
    """Spelling and order of headers, repeated ones, the target byte for byte, the body."""
    async with NetworkRecorder() as network:
        head = b"POST /a%20b?q=%C3%A9&x HTTP/1.1\r\nhOsT: A.example:81\r\nX-Two: 1\r\nx-two: 2\r\n"
        head += b"Content-Length: 3\r\n\r\n"
        await _send(network, "a.example", head[:30], head[30:], b"a\x00b")
        assert network.requests == [
            RecordedRequest(
                "web", "POST", "/a%20b?q=%C3%A9&x",
                (("hOsT", "A.example:81"), ("X-Two", "1"), ("x-two", "2"), ("Content-Length", "3")), b"a\x00b",
            )
        ]  # fmt: skip
        (request,) = network.requests
        assert (request.path, request.query, request.header("X-TWO")) == ("/a%20b", "q=%C3%A9&x", "1, 2")
        assert request.address == "http://A.example:81/a%20b?q=%C3%A9&x"
        assert network.arrived("web") == head + b"a\x00b"


async def test_several_requests_on_one_connection_and_chunks_are_read() -> None:
    """A client that keeps its connection, and one that does not know the length."""
    async with NetworkRecorder(answer=lambda request: RecorderAnswer(request.target)) as network:
        answer = await _send(
            network, "a.example", b"GET /1 HTTP/1.1\r\nHost: a\r\n\r\n",
            b"PUT /2 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n",
        )  # fmt: skip
        assert [(request.method, request.body) for request in network.requests] == [("GET", b""), ("PUT", b"abcde")]
        assert answer.count(b"HTTP/1.1 200 OK") == 2
        assert answer.endswith(b"/2")


@pytest.mark.parametrize(
    "sent",
    [
        b"\x16\x03\x01\x02\x00\x01", b"SECRET", b"GET /secret HTTP/1.1\r\nHost: a",
        b"GET / HTTP/1.1\r\nno header\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\nhalf", b"POST / HTTP/1.1\r\nContent-Length: x\r\n\r\n",
        b"x" * 100_000,
    ],
)  # fmt: skip
async def test_what_is_no_request_is_kept_too(sent: bytes) -> None:
    """It was sent all the same: the bytes are there, and no request is made up of them."""
    async with NetworkRecorder() as network:
        with contextlib.suppress(ConnectionError):
            await _send(network, "a.example", sent)
        assert network.requests == []
        arrived = network.arrived("web")
        assert sent.startswith(arrived)
        assert len(arrived) >= min(len(sent), 60_000)


async def test_names_lead_to_servers_and_are_kept() -> None:
    """Names as they were asked for; an address that is configured asks for none; forgetting forgets all of it."""
    async with NetworkRecorder("web", "wiki", names={"Wiki.example": "wiki"}) as network:
        await _send(network, "wiki.EXAMPLE", b"GET / HTTP/1.0\r\n\r\n")
        await _send(network, "other.example", b"GET / HTTP/1.0\r\n\r\n")
        assert [request.server for request in network.requests] == ["wiki", "web"]
        assert network.lookups == ["wiki.EXAMPLE", "other.example"]
        assert network.base_url("wiki").endswith(str(network.lookup("wiki.example")[1]))
        assert network.base_url() != network.base_url("wiki")
        network.clear()
        assert (network.requests, network.lookups, network.arrived("wiki")) == ([], [], b"")


def test_a_name_that_leads_nowhere_is_refused() -> None:
    """The message says which servers there are."""
    with pytest.raises(ValueError, match="leads to 'wki'; the servers are: web, wiki"):
        NetworkRecorder("web", "wiki", names={"a": "wki"})
