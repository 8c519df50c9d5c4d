"""The adapter for Chat Completions: one run's conversation with a host, streamed.

The API in short: https://platform.openai.com/docs/api-reference/chat. What hosts do differently is data
(`ProviderProfile`) or one of the rules in `assembly` and `calls`; no host is known here by name.
"""

import json
import logging
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from lockgate import (
    CallResult,
    FailureKind,
    HttpAnswer,
    ModelRequest,
    OfferedFunction,
    OnText,
    ProviderError,
    ProviderProfile,
    Round,
    SseReader,
    StopReason,
    ToolBlock,
    Transport,
    UsageError,
    read_error_body,
)
from lockgate_openai.assembly import MAX_SOURCES, Assembly, error_of
from lockgate_openai.calls import CallIds, FinishedCall, finish_calls
from lockgate_openai.encoding import (
    encode_call_turn,
    encode_result,
    encode_system,
    encode_tools,
    encode_turn,
    http_request,
    request_head,
)
from lockgate_openai.profiles import ADAPTER

LARGEST_STREAM = 256 * 1024 * 1024
"""Bytes of one streamed answer, from its first character on; more is refused."""

LARGEST_BODY = 16 * 1024 * 1024
"""Bytes of an answer in one piece, as of a single event: what is parsed at once takes some twenty times as much."""

LONGEST_LEAD = 64 * 1024
"""Bytes of blanks before an answer: some hosts send a line now and then while a request waits its turn."""

_MARK = b"\xef\xbb\xbf"
_LEAD = _MARK + b" \t\n\r\v\f"
_DONE = b"[DONE]"
_STOPS = {
    "length": StopReason.LENGTH,
    "max_tokens": StopReason.LENGTH,
    "model_length": StopReason.LENGTH,
    "content_filter": StopReason.CONTENT_FILTER,
    "refusal": StopReason.REFUSAL,
    "error": StopReason.ERROR,
}
_WITHHELD = (StopReason.CONTENT_FILTER, StopReason.REFUSAL)
"""What was filtered or refused is no answer: even a whole call beside it does not run."""

_CUT_OFF_BY = {
    StopReason.LENGTH: "the limit of the output's length",
    StopReason.CONTENT_FILTER: "the provider's content filter",
    StopReason.REFUSAL: "the model's refusal",
    StopReason.ERROR: "an error of the provider",
}

_log = logging.getLogger(__name__)


class ChatCompletionsAdapter:
    """Speaks Chat Completions with any host that has a profile."""

    id = ADAPTER

    def tool_block(self, functions: Sequence[OfferedFunction], profile: ProviderProfile) -> ToolBlock:
        """Encode functions as the member `tools`."""
        return encode_tools(functions, profile)

    def open(self, request: ModelRequest, profile: ProviderProfile, transport: Transport) -> "ChatCompletionsExchange":
        """Begin a run's conversation.

        Raises:
            ConfigurationError: The address, the key or a header cannot be used.
        """
        return ChatCompletionsExchange(request, profile, transport)


class ChatCompletionsExchange:
    """The wire conversation of one run. Messages are encoded once, and only ever added."""

    def __init__(self, request: ModelRequest, profile: ProviderProfile, transport: Transport) -> None:
        self._request = request
        self._profile = profile
        self._transport = transport
        self._http = http_request(request, profile)
        self._host = self._http.host
        self._head = request_head(request, profile, with_tools=True)
        self._system = encode_system(profile.system_role, request.system, None)
        self._messages = [encode_turn(message) for message in request.messages]
        self._ids = CallIds(nine_only=profile.tool_call_id_format == "nine_alphanumeric")
        self._turn = b""
        self._calls: list[FinishedCall] = []

    async def round(self, on_text: OnText, *, final: str | None = None) -> Round:
        """Ask the model once. See `Exchange.round`."""
        if self._calls:
            raise UsageError(f"The results of {len(self._calls)} calls are missing: call answer() before round().")
        answer = Assembly(self._profile.reasoning_field)
        async with self._transport.stream(replace(self._http, body=self._body(final))) as http:
            await self._receive(http, answer, on_text)
        return self._finish(answer)

    def answer(self, results: Sequence[CallResult]) -> None:
        """Take the results of the last round, one per call, in the order of the calls.

        Raises:
            UsageError: There are more or fewer results than calls, or they are in another order.
        """
        asked = [call.requested.id for call in self._calls]
        if [result.call_id for result in results] != asked:
            arrived = [result.call_id for result in results]
            raise UsageError(f"One result per call is needed, in order: for {asked}, not for {arrived}.")
        if not self._calls:
            return
        self._messages.append(self._turn)
        self._messages += [encode_result(result.call_id, result) for result in results]
        self._calls = []

    async def close(self) -> None:
        """Forget the conversation. Connections are the transport's."""
        self._messages.clear()
        self._calls = []

    def _body(self, final: str | None) -> bytes:
        head, system = self._head, self._system
        if final is not None:
            head = request_head(self._request, self._profile, with_tools=False)
            system = encode_system(self._profile.system_role, self._request.system, final)
        messages = [system, *self._messages] if system else self._messages
        return b"".join((head, b",".join(messages), b"]}"))

    async def _receive(self, http: HttpAnswer, answer: Assembly, on_text: OnText) -> None:
        """Read an answer in whatever form it comes: events, although streamed one JSON object, or a page."""
        content_type = http.headers.get("content-type", "").lower()
        if "json" in content_type and "event-stream" not in content_type:
            return self._take_body(await http.read(LARGEST_BODY), answer, on_text)
        begun = await self._beginning(http)
        # Some relays call everything an event stream: the first character says what it is.
        begun = begun.removeprefix(_MARK).lstrip()
        sign = begun[:1]
        if not sign:
            return self._check_end(answer, done=False)
        if sign in b"{[":
            return self._take_body(await self._whole(begun, http), answer, on_text)
        if sign == b"<":
            page = read_error_body((await self._whole(begun, http))[:65_536]).message
            raise self._malformed("answered with something that is no model's answer", page)
        return await self._take_stream(begun, http, answer, on_text)

    async def _beginning(self, http: HttpAnswer) -> bytes:
        """Return what came up to and with the first piece that holds more than blanks; all where none does."""
        begun = bytearray()
        async for piece in http:
            content = piece.lstrip(_LEAD)
            if len(begun) + len(piece) - len(content) > LONGEST_LEAD:
                raise self._malformed(f"sent more than {LONGEST_LEAD} bytes of nothing but blanks before its answer")
            begun += piece
            if content:
                break
        return bytes(begun)

    async def _whole(self, begun: bytes, http: HttpAnswer) -> bytes:
        body = begun + await http.read(LARGEST_BODY)
        if len(body) > LARGEST_BODY:
            raise self._malformed(f"sent an answer of more than {LARGEST_BODY} bytes")
        return body

    async def _take_stream(self, begun: bytes, http: HttpAnswer, answer: Assembly, on_text: OnText) -> None:
        reader = SseReader()
        size = len(begun)
        try:
            done = self._take_events(reader.feed(begun), answer, on_text)
            if not done:
                async for piece in http:
                    size += len(piece)
                    if size > LARGEST_STREAM:
                        raise self._malformed(f"sent an answer of more than {LARGEST_STREAM} bytes")
                    if events := reader.feed(piece):
                        done = self._take_events(events, answer, on_text)
                        if done:
                            break
        except ProviderError as failure:
            if failure.kind is not FailureKind.CUT_OFF or not answer.finish:
                raise
            _log.info("The connection ended after the answer was complete: %s", failure)
            return
        if done:
            await http.drain()
        else:
            done = self._take_events(reader.finish(), answer, on_text, is_rest=True)
        self._check_end(answer, done=done)

    def _take_events(
        self, events: list[tuple[str, bytes]], answer: Assembly, on_text: OnText, *, is_rest: bool = False
    ) -> bool:
        """Take events and pass on their text; tell whether the end was among them."""
        for name, data in events:
            if not data.startswith(b"{"):
                if data.strip() == _DONE:
                    return True
                if not data.lstrip().startswith((b"{", b"[{")):
                    continue  # comments that a relay wrapped as data
            try:
                chunk = _parse(data)
            except (ValueError, RecursionError):
                if is_rest:
                    break  # what a cut left over
                raise self._malformed("sent an event that is no JSON") from None
            if not isinstance(chunk, dict):
                error = read_error_body(data)
                raise self._host.stream_failure(error, datetime.now(UTC))
            error_found = error_of(chunk, name)
            if error_found is not None:
                raise self._host.stream_failure(error_found, datetime.now(UTC))
            if text := self._take_chunk(chunk, answer):
                on_text(text)
        return False

    def _take_chunk(self, chunk: dict[str, Any], answer: Assembly) -> str:
        text = answer.add(chunk)
        if answer.excess:
            raise self._malformed(f"sent an answer with {answer.excess}, which is no answer to work with")
        return text

    def _take_body(self, body: bytes, answer: Assembly, on_text: OnText) -> None:
        """Take an answer that came as one JSON object."""
        try:
            value = _parse(body.removeprefix(b"\xef\xbb\xbf"))
        except (ValueError, RecursionError):
            raise self._malformed("sent an answer that is no JSON") from None
        if not isinstance(value, dict):
            raise self._host.stream_failure(read_error_body(body), datetime.now(UTC))
        error = error_of(value)
        if error is not None:
            raise self._host.stream_failure(error, datetime.now(UTC))
        text = self._take_chunk(value, answer)
        if not answer.has_choice:
            raise self._malformed("sent an answer without a message of the model")
        if text:
            on_text(text)

    def _check_end(self, answer: Assembly, *, done: bool) -> None:
        if not answer.finish and not done:
            words = "ended its answer in the middle: neither a reason to finish nor the end mark came"
            raise self._host.failure(FailureKind.CUT_OFF, words)
        if not answer.has_choice:
            raise self._malformed("sent an answer without a message of the model")

    def _finish(self, answer: Assembly) -> Round:
        stop = _STOPS.get(answer.finish.lower(), StopReason.STOP)
        cut_off_by = _CUT_OFF_BY.get(stop, "")
        calls = finish_calls(answer.calls, self._request.functions, self._ids, cut_off_by=cut_off_by)
        if answer.refused and stop is StopReason.STOP:
            stop = StopReason.REFUSAL
        if stop not in _WITHHELD and calls and all(call.is_whole for call in calls):
            stop = StopReason.TOOL_CALLS
        self._turn, self._calls = self._encode(answer, calls), calls
        if answer.left_out:
            _log.warning("%s named more than %d sources; %d are left out.", self._host, MAX_SOURCES, answer.left_out)
        return Round(
            text="".join(answer.text),
            calls=tuple(call.requested for call in calls),
            stop=stop,
            usage=answer.usage,
            sources=answer.sources,
        )

    def _encode(self, answer: Assembly, calls: Sequence[FinishedCall]) -> bytes:
        """Encode the turn as it goes back with the results; nothing where there is no call."""
        if not calls:
            return b""
        try:
            return encode_call_turn(answer, calls, returns_reasoning=self._profile.returns_reasoning)
        except (ValueError, RecursionError):
            words = "sent beside its calls what cannot go back: a number that JSON does not have, or too deep a value"
            raise self._malformed(words) from None

    def _malformed(self, words: str, server_message: str = "") -> ProviderError:
        return self._host.failure(FailureKind.MALFORMED, words, server_message=server_message)


def _parse(data: bytes) -> Any:
    """Read JSON. Bytes that are no UTF-8 become replacement characters: some hosts cut a character in two."""
    try:
        return json.loads(data)
    except UnicodeDecodeError:
        return json.loads(data.decode("utf-8", "replace"))
