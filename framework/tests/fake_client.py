"""A plain client for the tests of the fake provider: no tolerance, so that every byte is seen."""

import asyncio
import json
from collections.abc import Mapping
from typing import Any

import httpx

from lockgate.testing import FakeProvider

Members = dict[str, Any]

ADD_SCHEMA: Members = {
    "type": "object",
    "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
    "required": ["a", "b"],
    "additionalProperties": False,
}
ADD_TOOL: Members = {
    "type": "function",
    "function": {"name": "add", "description": "Adds.", "parameters": ADD_SCHEMA, "strict": True},
}


def request(**members: object) -> Members:
    """A request that every host accepts, with members replaced or added."""
    return {"model": "fake-model", "messages": [{"role": "user", "content": "Hello"}]} | members


def turn(*ids: str, **function: object) -> list[Members]:
    """A question and an assistant message with one call an id; results are up to the test."""
    called = {"name": "add", "arguments": "{}"} | function
    calls = [{"id": call_id, "type": "function", "function": called} for call_id in ids]
    return [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": None, "tool_calls": calls}]


def result(call_id: str, content: object = "3") -> Members:
    """The tool message for one call."""
    return {"role": "tool", "tool_call_id": call_id, "content": content}


async def post(
    fake: FakeProvider,
    body: object = None,
    *,
    path: str = "/chat/completions",
    headers: Mapping[str, str] | None = None,
) -> httpx.Response:
    """Send one request and read the whole answer."""
    async with httpx.AsyncClient(trust_env=False) as client:
        return await client.post(
            fake.base_url + path, json=request() if body is None else body, headers=headers, timeout=20
        )


async def exchange(fake: FakeProvider, data: bytes) -> bytes:
    """Send bytes on a fresh connection and read until the server closes."""
    port = int(fake.base_url.split(":")[2].split("/")[0])
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(data)
    async with asyncio.timeout(20):
        answer = await reader.read()
    writer.close()
    await writer.wait_closed()
    return answer


def raw_post(body: object = None, *, close: bool = True, version: str = "HTTP/1.1", head: str = "") -> bytes:
    """The bytes of a request."""
    content = json.dumps(request() if body is None else body).encode()
    lines = [f"POST /v1/chat/completions {version}", "Host: fake", "Content-Type: application/json"]
    lines += [f"Content-Length: {len(content)}", *([head] if head else []), *(["Connection: close"] if close else [])]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + content


def chunks(body: str) -> list[Any]:
    """The JSON values of a stream in the default spelling; `[DONE]` stays a text."""
    events = body.removesuffix("\n\n").split("\n\n")
    data = [event.removeprefix("data: ") for event in events]
    return [text if text == "[DONE]" else json.loads(text) for text in data]


def deltas(body: str) -> list[Any]:
    """The deltas of a stream, in order."""
    return [choice["delta"] for chunk in chunks(body) if chunk != "[DONE]" for choice in chunk.get("choices") or []]


def call_deltas(body: str) -> list[Any]:
    """The entries of `tool_calls` of a stream, in order."""
    return [entry for delta in deltas(body) if delta for entry in delta.get("tool_calls", [])]
