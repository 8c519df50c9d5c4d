"""Short ways to talk to a fake host through the adapter."""

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from lockgate.chat.values import Message, Role
from lockgate.providers import (
    CallResult,
    Endpoint,
    ModelRequest,
    OfferedFunction,
    ProviderProfile,
    Round,
    Transport,
)
from lockgate.testing import Answer, FakeHost, FakeProvider, answer_events
from lockgate_openai.chat_completions import ChatCompletionsAdapter, ChatCompletionsExchange
from lockgate_openai.profiles import OPENAI_COMPATIBLE

PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "additionalProperties": False,
}
PARIS = {"city": "Paris"}
ROME = {"city": "Rome"}
WEATHER = OfferedFunction("get_weather", "Tells the weather.", PARAMETERS)
TIME = OfferedFunction("get_time", "Tells the time.", PARAMETERS, strict=False)


@asynccontextmanager
async def talking(
    script: Sequence[Answer],
    *,
    profile: ProviderProfile = OPENAI_COMPATIBLE,
    functions: Sequence[OfferedFunction] = (WEATHER, TIME),
    host: FakeHost | None = None,
    system: str = "Be brief.",
    messages: Sequence[Message] = (Message(Role.USER, "How is it?"),),
    parameters: dict[str, object] | None = None,
    api_key: str = "",
) -> AsyncIterator[tuple[FakeProvider, ChatCompletionsExchange]]:
    """A fake host and an exchange with it; whatever the host would refuse fails the test."""
    adapter, transport = ChatCompletionsAdapter(), Transport()
    async with FakeProvider(script, host=host, api_key=api_key or None) as fake:
        request = ModelRequest(
            "fake-model",
            system,
            messages,
            adapter.tool_block(functions, profile),
            {function.name: function for function in functions},
            parameters or {},
            endpoint=Endpoint(fake.base_url, api_key, name="Fake"),
        )
        exchange = adapter.open(request, profile, transport)
        try:
            yield fake, exchange
        finally:
            await exchange.close()
            await transport.aclose()
    fake.assert_no_problems()


async def one_round(answer: Answer, **options: Any) -> Round:
    """What a single answer is read as."""
    async with talking([answer], **options) as (_, exchange):
        return await exchange.round(lambda _: None)


def results(done: Round, content: str = "fine") -> list[CallResult]:
    """A result for every call of a round."""
    return [CallResult(call.id, content) for call in done.calls]


def arguments(done: Round) -> list[object]:
    """The arguments of all calls, parsed."""
    return [json.loads(call.arguments) for call in done.calls]


def delta(content: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    """One chunk of a stream."""
    return {"choices": [{"index": 0, "delta": content, "finish_reason": finish}]}


def calls_stream(*entries: dict[str, Any], finish: str | None = "tool_calls") -> Answer:
    """A stream with one entry of `tool_calls` a chunk."""
    return answer_events(*(delta({"tool_calls": [entry]}) for entry in entries), delta({}, finish), "[DONE]")


def piece(
    name: str | None = None, text: object = None, *, id: str | None = None, index: int | None = None
) -> dict[str, Any]:
    """One entry of `tool_calls`."""
    entry: dict[str, Any] = {} if index is None else {"index": index}
    if id is not None:
        entry["id"] = id
    function = {} if name is None else {"name": name}
    return entry | {"function": function if text is None else function | {"arguments": text}}
