"""Chat Completions as a dialect of the fake provider: what a model means becomes chunks or a body.

Source: the event types of OpenAI's published SDK, and recordings of other hosts for the shapes beside it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from typing import Any

from lockgate.testing.fake_answers import (
    ABSENT,
    AUTO,
    Call,
    ChatShape,
    Marker,
    ModelAnswer,
    StreamError,
    Usage,
)
from lockgate.testing.fake_chat_rules import check_chat_request
from lockgate.testing.fake_host import FakeHost
from lockgate.testing.fake_script import FakeRequest
from lockgate.testing.fake_wire import EVENT_STREAM, Reply, SseEvent, sse_parts

CREATED = 1_760_000_000
"""The time every answer claims to be made at, in Unix seconds: fixed, so that bytes repeat."""

Members = dict[str, Any]


class ChatDialect:
    """POST /chat/completions."""

    path = "/chat/completions"
    error_form = "openai"

    def check(self, request: FakeRequest, host: FakeHost) -> None:
        """Raise `Refused` for what OpenAI would answer with 400."""
        check_chat_request(request.body, host)

    def render(self, answer: ModelAnswer, request: FakeRequest) -> Reply:
        """The reply in which a model's answer comes, streamed or not as the request asked."""
        rendering = _Rendering(answer, request.body, request.number)
        streamed = request.body.get("stream") is True if answer.streamed is None else answer.streamed
        if streamed:
            parts = sse_parts(rendering.events(), answer.sse)
            return Reply(content_type=EVENT_STREAM, headers=answer.headers, parts=parts, delivery=answer.delivery)
        body = answer.sse.text(rendering.body()).encode()
        return Reply(headers=answer.headers, parts=(body,), delivery=answer.delivery)


@dataclass(frozen=True, slots=True)
class _Rendering:
    answer: ModelAnswer
    asked: Mapping[str, Any]
    number: int

    @property
    def shape(self) -> ChatShape:
        return self.answer.chat

    def events(self) -> Iterator[SseEvent]:
        """All events of a stream, in order."""
        text = self.answer.sse.text
        for value in chain(self._null_chunks(), self.shape.chunks_before):
            yield SseEvent(text(value))
        deltas = self._deltas()
        ends = self.shape.finish_chunk and self.answer.error is None
        held = deltas.pop() if ends and self.shape.finish_with_last else {}
        for delta in deltas:
            yield SseEvent(text(self._chunk([self._choice("delta", delta, None)])))
        if self.answer.error is not None:
            yield self._error_event(self.answer.error)
        elif ends:
            for value in self._end(held):
                yield SseEvent(text(value))
        if self.shape.done:
            yield SseEvent("[DONE]")

    def body(self) -> Members:
        """The body of an answer that is not streamed."""
        error = self.answer.error
        body: Members = {} if error is None else {"error": error.body()}
        if error is not None and error.where != "beside_choices":
            return body
        finish = "error" if error is not None else self._finish()
        choices = None if self.shape.choices_null else [self._choice("message", self._message(), finish)]
        body |= self._envelope("chat.completion", choices)
        if self.answer.usage is not None and self.shape.usage_at != "none":
            body["usage"] = _usage(self.answer.usage)
        return body

    def _null_chunks(self) -> Iterator[Members]:
        if self.shape.choices_null:
            yield self._chunk(None)
            yield self._chunk([self._choice("delta", None, None)])

    def _end(self, held: Members) -> Iterator[object]:
        usage = None if self.answer.usage is None else _usage(self.answer.usage)
        at = self._usage_at()
        last = self._chunk([self._choice("delta", held, self._finish())])
        if usage is not None and at in ("finish", "both"):
            last["usage"] = usage
        yield last
        yield from self.shape.chunks_after
        if usage is not None and at in ("chunk", "both"):
            yield self._chunk([]) | {"usage": usage}

    def _error_event(self, error: StreamError) -> SseEvent:
        value: Members = {"error": error.body()}
        if error.where == "beside_choices":
            value = self._chunk([self._choice("delta", {"content": ""}, "error")]) | value
        return SseEvent(self.answer.sse.text(value), "error" if error.where == "event" else None)

    def _usage_at(self) -> str:
        if self.shape.usage_at != "as_asked":
            return self.shape.usage_at
        options = self.asked.get("stream_options") or {}
        return "chunk" if options.get("include_usage") else "none"

    def _finish(self) -> str | Marker | None:
        if self.answer.finish is not AUTO:
            return self.answer.finish
        return "tool_calls" if self.answer.calls else "stop"

    def _chunk(self, choices: list[Members] | None) -> Members:
        chunk = self._envelope("chat.completion.chunk", choices)
        if self._usage_at() == "chunk":
            chunk.setdefault("usage", None)
        return chunk

    def _envelope(self, kind: str, choices: list[Members] | None) -> Members:
        envelope: Members = {
            "id": f"chatcmpl-fake{self.number}",
            "object": kind,
            "created": CREATED,
            "model": self.asked.get("model", "fake-model"),
            "choices": choices,
        }
        return envelope | dict(self.shape.chunk_extra)

    def _choice(self, name: str, content: Members | None, finish: str | Marker | None) -> Members:
        choice: Members = {"index": 0, name: content, "logprobs": None}
        if finish is not ABSENT and self.answer.finish is not ABSENT:
            choice["finish_reason"] = finish
        return choice | dict(self.shape.choice_extra)

    def _message(self) -> Members:
        answer, shape = self.answer, self.shape
        message: Members = {"role": "assistant", "content": "".join(answer.text), "refusal": None}
        if shape.content_parts:
            thought = [_thinking("".join(answer.reasoning))] if answer.reasoning else []
            message["content"] = [*thought, {"type": "text", "text": "".join(answer.text)}]
        elif answer.reasoning:
            message[shape.reasoning_field] = "".join(answer.reasoning)
        if answer.refusal:
            message |= {"content": None, "refusal": "".join(answer.refusal)}
        if answer.calls:
            if not answer.text:
                message |= {"content": shape.content_beside_calls}
            numbered = enumerate(answer.calls)
            message["tool_calls"] = [_whole_call(call, self._call_id(call, i)) for i, call in numbered]
        return _present(message | dict(shape.message_extra))

    def _deltas(self) -> list[Members]:
        """The deltas before the finish: role, reasoning, text, refusal, calls."""
        answer, shape = self.answer, self.shape
        content = shape.content_beside_calls if answer.calls and not answer.text else ""
        first = {"role": "assistant", "content": content, "refusal": None} | dict(shape.message_extra)
        deltas = [_present(first)]
        if shape.content_parts:
            deltas += [{"content": [_thinking(piece)]} for piece in answer.reasoning]
            deltas += [{"content": [{"type": "text", "text": piece}]} for piece in answer.text]
        else:
            deltas += [{shape.reasoning_field: piece} for piece in answer.reasoning]
            deltas += [{"content": piece} for piece in answer.text]
        deltas += [{"refusal": piece} for piece in answer.refusal]
        runs = [self._call_deltas(call, number) for number, call in enumerate(answer.calls)]
        ordered = _take_turns(runs) if shape.interleaved else list(chain.from_iterable(runs))
        return deltas + [{"tool_calls": [delta]} for delta in ordered]

    def _call_id(self, call: Call, number: int) -> str | Marker | None:
        return f"call_{self.number:012d}{number:012d}" if call.id is AUTO else call.id

    def _call_deltas(self, call: Call, number: int) -> list[Members]:
        """One call as the entries of `tool_calls`, the whole or the beginning first."""
        indexes: dict[str, int | Marker | None] = {
            "counted": number, "zero": 0, "absent": ABSENT, "null": None,
        }  # fmt: skip
        index = indexes[self.shape.index]
        call_id = self._call_id(call, number)
        first = _present({"index": index} | _whole_call(call, call_id))
        function = first.get("function")
        if not isinstance(function, dict):
            return [first]
        later: list[Members] = []
        if isinstance(call.name, tuple):
            first["function"] = function = function | {"name": call.name[0] if call.name else ""}
            later += [{"name": piece} for piece in call.name[1:]]
        arguments = function.get("arguments")
        if isinstance(arguments, str) and (later or self.shape.fragments is not None):
            first["function"] = _present(function | {"arguments": self.shape.first_arguments})
            later += [{"arguments": piece} for piece in _fragments(arguments, self.shape.fragments)]
        return [first] + [_present(self._continuation(call, index, call_id, piece)) for piece in later]

    def _continuation(
        self, call: Call, index: int | Marker | None, call_id: str | Marker | None, function: Members
    ) -> Members:
        name = "".join(call.name) if isinstance(call.name, tuple) else call.name
        match self.shape.continuation:
            case "bare":
                return {"index": index, "function": function}
            case "id":
                return {"index": index, "id": call_id, "function": function}
            case "id_and_name":
                function = _present({"name": name} | function)
                return {"index": index, "id": call_id, "type": call.type, "function": function}
            case "empty":
                return {"index": index, "id": "", "type": "function", "function": {"name": ""} | function}
            case "null":
                return {"index": index, "id": None, "type": None, "function": {"name": None} | function}


def _whole_call(call: Call, call_id: str | Marker | None) -> Members:
    whole: Members = {"id": call_id, "type": call.type}
    if call.function == "object":
        name = "".join(call.name) if isinstance(call.name, tuple) else call.name
        whole["function"] = _present({"name": name, "arguments": call.argument_value})
    elif call.function == "null":
        whole["function"] = None
    return _present(whole | dict(call.extra))


def _present(members: Members) -> Members:
    """The members without those that are to be left out."""
    return {name: value for name, value in members.items() if value is not ABSENT}


def _fragments(text: str, size: int | None) -> list[str]:
    if size is None:
        return [text]
    return [text[start : start + size] for start in range(0, len(text), size)]


def _take_turns(runs: Sequence[list[Members]]) -> list[Members]:
    return [delta for turn in zip_longest(*runs) for delta in turn if delta is not None]


def _thinking(text: str) -> Members:
    return {"type": "thinking", "thinking": [{"type": "text", "text": text}]}


def _usage(usage: Usage) -> Members:
    total = usage.prompt + usage.completion
    return {"prompt_tokens": usage.prompt, "completion_tokens": usage.completion, "total_tokens": total}
