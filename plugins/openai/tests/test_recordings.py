"""Recorded answers of real hosts, and streams with known quirks, cut into pieces in several ways."""

import asyncio

import pytest
from recorded_wire import FOLDER, Recorded, a_message, difference, error_difference, no_tools, recorded_chats

from lockgate.errors import ProviderError
from lockgate.providers import Endpoint, ModelRequest, Transport
from lockgate.testing import Delivery, FakeProvider, RandomPieces, answer_raw
from lockgate.testing.fake_wire import Pieces
from lockgate_openai.chat_completions import ChatCompletionsAdapter
from lockgate_openai.profiles import OPENAI_COMPATIBLE

RECORDED = recorded_chats()
CUTS: dict[str, Pieces] = {
    "whole": "whole",
    "bytes": "bytes",
    "random-1": RandomPieces(1),
    "random-2": RandomPieces(2, largest=900),
}
SINGLE_BYTES_UP_TO = 12_000  # a longer body says nothing more, and takes seconds

needs_recordings = pytest.mark.skipif(
    not RECORDED, reason="needs the folder with recorded answers of hosts beside the project"
)


def test_recordings_are_found_or_missed_aloud() -> None:
    """Where the folder with recordings exists it holds some for this API."""
    if not FOLDER.exists():
        pytest.skip("the recorded answers of hosts are not here: tests with them are left out")
    assert len(RECORDED) > 20


@needs_recordings
@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize("recorded", RECORDED, ids=lambda recorded: recorded.name)
async def test_a_recorded_answer_is_read_as_expected(recorded: Recorded, cut: str) -> None:
    """Text, calls and the end of a recorded answer come out right, however its bytes are cut."""
    if cut == "bytes" and sum(len(response["body"]) for response in recorded.responses) > SINGLE_BYTES_UP_TO:
        cut = "random-1"
    script = [
        answer_raw(
            response["body"],
            status=response["status"],
            content_type=response["headers"].get("content-type"),
            headers=tuple((n, v) for n, v in response["headers"].items() if n.lower().startswith("retry-after")),
            delivery=Delivery(
                pieces=CUTS[cut],
                framing="chunked",
                cut_after=len(response["body"].encode()) + 1 if recorded.cut else None,
            ),
        )
        for response in recorded.responses
    ]
    script += script[-1:] * 2  # for what is asked again
    transport = Transport(sleep=lambda _: asyncio.sleep(0))
    async with FakeProvider(script) as fake:
        request = ModelRequest(
            "m", "", [a_message()], no_tools(), recorded.functions, endpoint=Endpoint(fake.base_url, name="x")
        )
        exchange = ChatCompletionsAdapter().open(request, OPENAI_COMPATIBLE, transport)
        pieces: list[str] = []
        try:
            done = await exchange.round(pieces.append)
        except ProviderError as failure:
            wrong = [error_difference(expected, str(failure), failure.status) for expected in recorded.expected]
        else:
            wrong = [difference(expected, done) for expected in recorded.expected]
            assert "".join(pieces) == done.text
        await transport.aclose()
    assert fake.problems == []
    assert "" in wrong, wrong
