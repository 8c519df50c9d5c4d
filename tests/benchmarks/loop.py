"""What a tool round costs: Lockgate with every check on, beside a hand-written loop with none.

Prints CPU milliseconds per round of each, in turn, and the ratio of the medians. One server process on loopback sends
prepared bytes, so that only the client's own work differs. A ratio is comparable from run to run; milliseconds are not.

Run it with `make bench`, or ``python tests/benchmarks/loop.py``.
"""

import asyncio
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable

ROUNDS, PIECES, CHATS, TURNS = 20, 100, 10, 5
Answer = Callable[[str], Awaitable[str]]


def add(a: int, b: int) -> int:
    """Add two whole numbers.

    Args:
        a: the first number
        b: the second number
    """
    return a + b


# --- the server ---------------------------------------------------------------------------------------------


def _event(delta: dict[str, object], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    chunk = {"id": "1", "object": "chat.completion.chunk", "choices": [choice]}
    return b"data: " + json.dumps(chunk).encode() + b"\n\n"


def _call(number: int) -> bytes:
    first = {"index": 0, "id": f"call_{number}", "type": "function", "function": {"name": "add", "arguments": ""}}
    pieces = [_event({"role": "assistant", "content": None, "tool_calls": [first]})]
    texts = ('{"a": ', str(number), ', "b"', ": 2", "}")
    pieces.extend(_event({"tool_calls": [{"index": 0, "function": {"arguments": text}}]}) for text in texts)
    return b"".join(pieces) + _event({}, "tool_calls") + b"data: [DONE]\n\n"


CALLS = [_call(number) for number in range(ROUNDS)]
TEXT = b"".join(_event({"content": "word "}) for _ in range(PIECES)) + _event({}, "stop") + b"data: [DONE]\n\n"


async def _serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while head := await reader.readuntil(b"\r\n\r\n"):
            length = next(int(line[15:]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:"))
            messages = json.loads(await reader.readexactly(length))["messages"]
            done = sum(message["role"] == "tool" for message in messages)
            body = CALLS[done] if done < ROUNDS else TEXT
            start = f"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: {len(body)}\r\n\r\n"
            writer.write(start.encode() + body)
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


async def serve() -> None:
    """Serve on a free port of loopback and print it."""
    server = await asyncio.start_server(_serve, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    async with server:
        await server.serve_forever()


# --- the clients --------------------------------------------------------------------------------------------


def floor(base_url: str) -> Answer:
    """The least a client can do: no checks, no limits, no traces."""
    import httpx

    client = httpx.AsyncClient(trust_env=False)
    parameters = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}}
    tools = [{"type": "function", "function": {"name": "add", "description": "Add.", "parameters": parameters}}]

    async def answer(text: str) -> str:
        messages: list[dict[str, object]] = [{"role": "user", "content": text}]
        while True:
            texts, name, call_id, arguments = [], "", "", []
            body = {"model": "m", "messages": messages, "tools": tools, "stream": True}
            async with client.stream("POST", f"{base_url}/chat/completions", json=body) as response:
                async for line in response.aiter_lines():
                    if not line.startswith("data: ") or line.endswith("[DONE]"):
                        continue
                    delta = json.loads(line[6:])["choices"][0]["delta"]
                    texts.append(delta.get("content") or "")
                    for call in delta.get("tool_calls", ()):
                        call_id, name = call.get("id", call_id), call["function"].get("name", name)
                        arguments.append(call["function"]["arguments"])
            if not name:
                return "".join(texts)
            function = {"name": name, "arguments": "".join(arguments)}
            called = [{"id": call_id, "type": "function", "function": function}]
            messages.append({"role": "assistant", "content": None, "tool_calls": called})
            result = str(add(**json.loads(function["arguments"])))
            messages.append({"role": "tool", "tool_call_id": call_id, "content": result})

    return answer


async def measure(kind: str, base_url: str) -> None:
    """Print the CPU milliseconds per round of one client."""
    if kind == "lockgate":
        from lockgate_driver import make

        answer: Answer = make(base_url, add)
    else:
        answer = floor(base_url)
    for _ in range(2):
        assert (await answer("add things")).startswith("word")
    before = time.process_time()
    for _ in range(CHATS):
        await answer("add things")
    print((time.process_time() - before) / (CHATS * (ROUNDS + 1)) * 1000)


def main() -> None:
    """Measure both in turn and print the table."""
    server = subprocess.Popen([sys.executable, __file__, "serve"], stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    base_url = f"http://127.0.0.1:{server.stdout.readline().strip()}/v1"
    found: dict[str, list[float]] = {"floor": [], "lockgate": []}
    try:
        for turn in range(TURNS):
            for kind, figures in found.items():
                if sys.stderr.isatty():
                    print(f"\rturn {turn + 1} of {TURNS}: {kind:10}\r", end="", file=sys.stderr, flush=True)
                command = [sys.executable, __file__, kind, base_url]
                done = subprocess.run(command, capture_output=True, text=True, check=True)
                figures.append(float(done.stdout))
    finally:
        server.terminate()
        server.wait()
    medians = {kind: statistics.median(figures) for kind, figures in found.items()}
    print(f"{'':12}{'CPU ms/round':>14}{'x floor':>10}")
    for kind, median in medians.items():
        print(f"{kind:12}{median:14.3f}{median / medians['floor']:10.2f}")


if __name__ == "__main__":
    if sys.argv[1:] == ["serve"]:
        asyncio.run(serve())
    elif len(sys.argv) > 2:
        asyncio.run(measure(*sys.argv[1:3]))
    else:
        main()
