"""Lockgate in the loop benchmark: every check on, a real registry, the ordinary adapter and transport.

`make` gives an asynchronous function from a question to an answer, as the benchmark's client asks for it. Limits are
raised above the benchmark's rounds; nothing else differs from an ordinary run, except that chats are kept in memory.
"""

from collections.abc import Awaitable, Callable
from types import SimpleNamespace

from lockgate import hookimpl, tool
from lockgate.app import Configuration, Lockgate, ProviderConfig
from lockgate.registry import Rules


def make(base_url: str, add: Callable[[int, int], int]) -> Callable[[str], Awaitable[str]]:
    """Return an asynchronous function that answers a question with the tool `add`."""
    import lockgate_openai.plugin as openai_plugin

    adder = tool(add, blocking=False)
    pack = SimpleNamespace(__name__="pack", lockgate_tools=hookimpl(lambda: [adder]))
    configuration = Configuration(
        rules=Rules(max_tool_calls=1000),
        providers={"bench": ProviderConfig("bench", "openai", base_url=base_url, model="m", api_key="x")},
    )
    gate = Lockgate(configuration, plugins=[pack, openai_plugin])
    entered: list[Lockgate] = []

    async def answer(text: str) -> str:
        if not entered:
            entered.append(await gate.__aenter__())
        async with gate.ask(None, text, provider="bench", selected=("add",)) as run:
            async for _ in run:
                pass
        return run.text

    return answer
