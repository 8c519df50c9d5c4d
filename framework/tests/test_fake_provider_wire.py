import asyncio
import json
import re
from typing import Any

import httpx
import pytest
from fake_client import exchange, post, raw_post, request

from lockgate.testing import (
    Delivery,
    FakeProvider,
    RandomPieces,
    answer_events,
    answer_json,
    answer_page,
    answer_raw,
    answer_text,
)
from lockgate.testing.fake_wire import cut_pieces

PARTS = (b"data: one\n\n", b"data: two\n\n", b"data: [DONE]\n\n")
STREAM = "text/event-stream"


def chunk_sizes(answer: bytes) -> list[int]:
    """The sizes of the chunks of an answer, read strictly."""
    rest = answer.split(b"\r\n\r\n", 1)[1]
    sizes = []
    while rest:
        size, rest = rest.split(b"\r\n", 1)
        sizes.append(int(size, 16))
        assert rest[sizes[-1] : sizes[-1] + 2] == b"\r\n"
        rest = rest[sizes[-1] + 2 :]
    return sizes


async def test_a_stream_is_chunked_one_event_a_chunk() -> None:
    """By default every event is a chunk, and an empty chunk ends the body."""
    async with FakeProvider([answer_raw(PARTS, content_type=STREAM)]) as fake:
        answer = await exchange(fake, raw_post())
    assert b"\r\nTransfer-Encoding: chunked\r\n" in answer
    assert b"Content-Length" not in answer
    assert chunk_sizes(answer) == [11, 11, 14, 0]


async def test_json_has_a_length() -> None:
    """By default what is no stream says its length."""
    async with FakeProvider([answer_json({"a": 1})]) as fake:
        answer = await exchange(fake, raw_post())
    assert answer.startswith(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 7\r\n")
    assert answer.endswith(b'\r\n\r\n{"a":1}')


async def test_a_body_can_end_with_the_connection() -> None:
    """The framing `close` has neither length nor chunks."""
    delivery = Delivery(framing="close")
    async with FakeProvider([answer_raw(PARTS, content_type=STREAM, delivery=delivery)]) as fake:
        answer = await exchange(fake, raw_post(close=False))
    head, body = answer.split(b"\r\n\r\n", 1)
    assert b"Connection: close" in head
    assert b"Transfer-Encoding" not in head
    assert body == b"".join(PARTS)


async def test_a_stream_can_have_a_length() -> None:
    """The framing is free of the content."""
    delivery = Delivery(framing="length")
    async with FakeProvider([answer_raw(PARTS, content_type=STREAM, delivery=delivery)]) as fake:
        answer = await post(fake)
    assert answer.headers["content-length"] == "36"
    assert answer.content == b"".join(PARTS)


async def test_an_old_client_gets_no_chunks() -> None:
    """HTTP/1.0 has no chunks: the connection ends the body."""
    async with FakeProvider([answer_raw(PARTS, content_type=STREAM)]) as fake:
        answer = await exchange(fake, raw_post(version="HTTP/1.0", close=False))
    assert answer.split(b"\r\n\r\n", 1)[1] == b"".join(PARTS)


async def test_a_connection_carries_several_requests() -> None:
    """Without a word against it the connection stays, also when requests come in one piece."""
    async with FakeProvider([answer_json(1), answer_json(2), answer_json(3)]) as fake:
        answer = await exchange(fake, raw_post(close=False) * 2 + raw_post())
    assert re.findall(rb"\r\n\r\n(\d)", answer) == [b"1", b"2", b"3"]
    assert answer.count(b"Connection: keep-alive") == 2
    assert answer.count(b"Connection: close") == 1
    assert not fake.disconnected.is_set()


async def test_the_server_can_end_the_connection() -> None:
    """`keep_alive=False` closes after a whole answer."""
    async with FakeProvider([answer_json(1, delivery=Delivery(keep_alive=False))]) as fake:
        answer = await exchange(fake, raw_post(close=False))
    assert b"Connection: close" in answer
    assert answer.endswith(b"\r\n\r\n1")


async def test_a_request_may_be_chunked() -> None:
    """Bodies of requests are read in chunks, with extensions and trailers passed over."""
    body = json.dumps(request()).encode()
    head = b"POST /v1/chat/completions HTTP/1.1\r\nContent-Type: application/json\r\nConnection: close\r\n"
    chunked = b"5;x=y\r\n" + body[:5] + b"\r\n%x\r\n" % len(body[5:]) + body[5:] + b"\r\n0\r\nT: 1\r\n\r\n"
    async with FakeProvider([answer_json(1)]) as fake:
        answer = await exchange(fake, head + b"Transfer-Encoding: chunked\r\n\r\n" + chunked)
    assert answer.endswith(b"\r\n\r\n1")
    assert fake.requests[0].arrived_bytes == body


async def test_a_client_that_asks_first_is_told_to_go_on() -> None:
    """`Expect: 100-continue` gets its interim answer."""
    async with FakeProvider([answer_json(1)]) as fake:
        answer = await exchange(fake, raw_post(head="Expect: 100-continue"))
    assert answer.startswith(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n")


@pytest.mark.parametrize(
    "data,why",
    [
        (b"HELLO\r\n\r\n", "the request line"),
        (b"GET / HTTP/2\r\n\r\n", "the request line"),
        (b"GET / HTTP/1.1\r\nno colon\r\n\r\n", "not a header"),
        (b"GET / HTTP/1.1\r\nspace : x\r\n\r\n", "not a header"),
        (b"POST / HTTP/1.1\r\nContent-Length: many\r\n\r\n", "Content-Length is not a number"),
        (b"POST / HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n", "either chunked or"),
        (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n", "either chunked or"),
        (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nxy\r\n", "a chunk size is hexadecimal"),
        (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n", "longer than it says"),
        (b"GET / HTTP/1.1\r\nX: " + b"x" * 70_000 + b"\r\n\r\n", "longer than 65536 bytes"),
    ],
)
async def test_what_is_no_request_is_refused(data: bytes, why: str) -> None:
    """Broken HTTP gets one clear answer, a problem, and the end of the connection."""
    async with FakeProvider() as fake:
        answer = await exchange(fake, data)
    assert answer.startswith(b"HTTP/1.1 400 Bad Request\r\n")
    assert why in json.loads(answer.split(b"\r\n\r\n", 1)[1])["error"]["message"]
    assert why in fake.problems[0].message
    assert fake.requests == []


async def test_single_bytes() -> None:
    """Each byte of the body travels in its own chunk."""
    delivery = Delivery(pieces="bytes")
    async with FakeProvider([answer_raw(PARTS, content_type=STREAM, delivery=delivery)]) as fake:
        answer = await exchange(fake, raw_post())
    assert chunk_sizes(answer) == [1] * 36 + [0]


async def test_a_client_reads_single_bytes() -> None:
    """The pieces reach a client's own reads and are not joined on the way."""
    delivery = Delivery(pieces="bytes")
    url = "/chat/completions"
    async with (
        FakeProvider([answer_raw(PARTS, content_type=STREAM, delivery=delivery)]) as fake,
        httpx.AsyncClient(trust_env=False) as client,
        client.stream("POST", fake.base_url + url, json=request()) as answer,
    ):
        read = [piece async for piece in answer.aiter_raw()]
    assert read == [bytes([byte]) for byte in b"".join(PARTS)]


async def test_pieces_at_given_offsets() -> None:
    """Offsets cut the joined body, wherever events end."""
    delivery = Delivery(pieces=(3, 20))
    async with FakeProvider([answer_raw(PARTS, content_type=STREAM, delivery=delivery)]) as fake:
        answer = await exchange(fake, raw_post())
    assert chunk_sizes(answer) == [3, 17, 16, 0]


async def test_the_whole_in_one_piece() -> None:
    """All events come at once."""
    delivery = Delivery(pieces="whole")
    async with FakeProvider([answer_raw(PARTS, content_type=STREAM, delivery=delivery)]) as fake:
        answer = await exchange(fake, raw_post())
    assert chunk_sizes(answer) == [36, 0]


def test_random_pieces_repeat_with_their_seed() -> None:
    """The same seed cuts the same way, another one another way, and nothing is lost."""
    body = (bytes(range(256)) * 4,)
    first, again, other = (cut_pieces(body, RandomPieces(seed, largest=9)) for seed in (1, 1, 2))
    assert first == again != other
    assert b"".join(first) == body[0]
    assert {len(piece) for piece in first} <= set(range(1, 10))
    assert len(first) > 100


def test_an_empty_body_has_no_pieces() -> None:
    """Nothing to send is no piece, whatever the cut."""
    for pieces in ("parts", "whole", "bytes"):
        assert cut_pieces((b"",), pieces) == []
    assert cut_pieces((), (0, 5)) == []


@pytest.mark.parametrize("framing", ["chunked", "length", "close"])
async def test_a_connection_cut_in_the_body(framing: str) -> None:
    """The promised rest never comes, in each framing."""
    delivery = Delivery(framing=framing, cut_after=15)  # type: ignore[arg-type]  # a parameter of the test
    async with FakeProvider([answer_raw(PARTS, content_type=STREAM, delivery=delivery)]) as fake:
        answer = await exchange(fake, raw_post(close=False))
    body = answer.split(b"\r\n\r\n", 1)[1]
    sent = b"".join(PARTS)[:15]
    if framing == "chunked":
        assert body == b"b\r\n" + sent[:11] + b"\r\n4\r\n" + sent[11:] + b"\r\n"
    else:
        assert body == sent
    assert (b"Content-Length: 36" in answer) == (framing == "length")


async def test_a_client_notices_a_cut() -> None:
    """A client that is worth its name sees an incomplete body."""
    delivery = Delivery(cut_after=15)
    async with FakeProvider([answer_raw(PARTS, content_type=STREAM, delivery=delivery)]) as fake:
        with pytest.raises(httpx.RemoteProtocolError):
            await post(fake)


async def test_a_cut_behind_the_last_byte() -> None:
    """All bytes come, but in chunks the end is missing."""
    delivery = Delivery(cut_after=1000)
    async with FakeProvider([answer_raw(PARTS, content_type=STREAM, delivery=delivery)]) as fake:
        answer = await exchange(fake, raw_post())
    assert answer.endswith(b"e\r\n" + PARTS[2] + b"\r\n")


async def test_a_connection_cut_after_the_headers() -> None:
    """Zero bytes of the body, but a status line."""
    async with FakeProvider([answer_json(1, delivery=Delivery(cut_after=0))]) as fake:
        answer = await exchange(fake, raw_post())
    assert answer.startswith(b"HTTP/1.1 200 OK")
    assert answer.endswith(b"\r\n\r\n")


async def test_a_connection_cut_before_the_headers() -> None:
    """The client gets not a single byte."""
    async with FakeProvider([answer_json(1, delivery=Delivery(cut_before_headers=True))]) as fake:
        assert await exchange(fake, raw_post()) == b""


async def test_a_cut_can_be_a_reset() -> None:
    """A reset is an error of the connection and no end of it."""
    delivery = Delivery(cut_before_headers=True, reset=True)
    async with FakeProvider([answer_json(1, delivery=delivery)]) as fake:
        with pytest.raises(ConnectionResetError):
            await exchange(fake, raw_post())


@pytest.mark.parametrize(
    "delivery,read",
    [
        (Delivery(cut_before_headers=True, hang=True), 0),
        (Delivery(cut_after=11, hang=True), 11),
        (Delivery(hang=True), 36),
    ],
)
async def test_a_server_that_hangs_sees_the_client_leave(delivery: Delivery, read: int) -> None:
    """Silence lasts until the client closes, which is noted."""
    async with FakeProvider([answer_raw(PARTS, content_type=STREAM, delivery=delivery)]) as fake:
        port = int(fake.base_url.split(":")[2].split("/")[0])
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(raw_post())
        async with asyncio.timeout(20):
            if read:
                await reader.readuntil(b"\r\n\r\n")
                received = b""
                while len(received) < read:
                    size = int(await reader.readuntil(b"\r\n"), 16)
                    received += (await reader.readexactly(size + 2))[:-2]
                assert received == b"".join(PARTS)[:read]
            assert not fake.disconnected.is_set()
            writer.close()
            await writer.wait_closed()
            await fake.disconnected.wait()
    assert fake.disconnected.count == 1


async def test_a_client_that_gives_up_is_noticed() -> None:
    """A client's own time limit ends in a disconnect that a test can wait for."""
    answer = answer_text("x", delivery=Delivery(cut_before_headers=True, hang=True))
    async with FakeProvider([answer]) as fake, httpx.AsyncClient(trust_env=False, timeout=0.05) as client:
        with pytest.raises(httpx.ReadTimeout):
            await client.post(f"{fake.base_url}/chat/completions", json=request())
        async with asyncio.timeout(20):
            await fake.disconnected.wait()


@pytest.mark.parametrize("delivery", [Delivery(delay=3600), Delivery(delay_between=3600)])
async def test_a_client_that_leaves_during_a_pause_is_noticed(delivery: Delivery) -> None:
    """A pause ends when nobody waits for the rest."""
    async with FakeProvider([answer_raw(PARTS, content_type=STREAM, delivery=delivery)]) as fake:
        port = int(fake.base_url.split(":")[2].split("/")[0])
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(raw_post())
        if delivery.delay_between:
            await reader.readuntil(b"data: one\n\n")
        writer.close()
        await writer.wait_closed()
        async with asyncio.timeout(20):
            await fake.disconnected.wait()


def test_a_disconnect_is_seen_from_another_thread() -> None:
    """Tests that are not async wait for it with a limit."""
    answer = answer_text("x", delivery=Delivery(hang=True, cut_after=0))
    with FakeProvider([answer]) as fake:
        assert not fake.disconnected.wait_blocking(0)
        with pytest.raises(httpx.ReadTimeout):
            httpx.post(f"{fake.base_url}/chat/completions", json=request(), timeout=0.05, trust_env=False)
        assert fake.disconnected.wait_blocking(20)


async def test_pauses_do_not_change_the_bytes() -> None:
    """A slow answer is the same answer."""
    delivery = Delivery(delay=0.001, delay_between=0.001)
    async with FakeProvider([answer_raw(PARTS, content_type=STREAM, delivery=delivery)]) as fake:
        answer = await post(fake)
    assert answer.content == b"".join(PARTS)
    assert not fake.disconnected.is_set()


async def test_leaving_the_block_ends_a_hanging_answer() -> None:
    """The provider does not wait for clients that wait for it."""
    async with FakeProvider([answer_text("x", delivery=Delivery(hang=True))]) as fake:
        port = int(fake.base_url.split(":")[2].split("/")[0])
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(raw_post())
        await reader.readuntil(b"\r\n\r\n")
    async with asyncio.timeout(20):
        rest = await reader.read()
    assert b"[DONE]" in rest or b'"content":"x"' in rest
    assert not rest.endswith(b"0\r\n\r\n")
    writer.close()


async def test_leaving_the_block_ends_an_answer_nobody_reads() -> None:
    """A full socket does not keep the provider alive."""
    async with FakeProvider([answer_raw(b"x" * 50_000_000)]) as fake, asyncio.timeout(20):
        port = int(fake.base_url.split(":")[2].split("/")[0])
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(raw_post())
        await reader.readuntil(b"\r\n\r\n")
    assert not fake.requests[1:]
    writer.transport.abort()


async def test_any_status_and_header() -> None:
    """Raw answers carry any status, any header and no content type if so wished."""
    answer = answer_raw("", status=299, content_type=None, headers=(("X-Request-Id", "7"),))
    async with FakeProvider([answer]) as fake:
        got = await post(fake)
    assert got.status_code == 299
    assert got.headers["x-request-id"] == "7"
    assert "content-type" not in got.headers


@pytest.mark.parametrize("status", [200, 502])
async def test_a_page_in_place_of_an_answer(status: int) -> None:
    """A proxy's page comes as HTML, with any status."""
    async with FakeProvider([answer_page(status)]) as fake:
        answer = await post(fake, request(stream=True))
    assert answer.status_code == status
    assert answer.headers["content-type"].startswith("text/html")
    assert "<h1>Bad Gateway</h1>" in answer.text


async def test_events_of_any_values() -> None:
    """Values become JSON events; texts stay as they are."""
    async with FakeProvider([answer_events({"a": 1}, None, "[DONE]")]) as fake:
        answer = await post(fake)
    assert answer.text == 'data: {"a":1}\n\ndata: null\n\ndata: [DONE]\n\n'


def test_deliveries_that_mean_nothing_are_refused() -> None:
    """A test with a contradiction fails at once instead of passing by accident."""
    contradictions: list[dict[str, Any]] = [
        {"delay": -1},
        {"delay_between": -1},
        {"cut_after": -1},
        {"cut_after": 1, "cut_before_headers": True},
        {"reset": True},
        {"reset": True, "hang": True},
        {"pieces": (5, 3)},
    ]
    for members in contradictions:
        with pytest.raises(ValueError, match=r"^(a delay|cut_after counts|an answer is cut|reset says|offsets)"):
            Delivery(**members)
