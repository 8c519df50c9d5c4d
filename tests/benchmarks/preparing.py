"""What it costs to prepare a request, by the number of registered tools.

Prints microseconds of CPU a tool for each step (checks and resolution, the tool block, its fingerprint), for rising
numbers of tools, and how the whole grows when they double: 2.0 is linear. The bar: 20 microseconds a tool at 1,000
tools for all steps of a request after the first (`first` is the tool block before anything was encoded), and growth
that is no faster than linear. The last column is the ratio to a loop that does nothing but call eight
empty functions a tool in the same run, so that figures of different machines can be compared.

Run it with `make bench`, or ``python tests/benchmarks/preparing.py``.
"""

import asyncio
import statistics
import sys
import time
from collections.abc import Awaitable, Callable
from typing import Annotated, Any, cast

from pydantic import Field

from lockgate.chat import ChatThread, prompt_prefix
from lockgate.policy import ConfidenceLevel, ProviderStanding, ToolOutboundData
from lockgate.registry import Contribution, Owner, Preparation, Registry, Rules
from lockgate.tools import Components, Tool, ToolCollection, tool
from lockgate_openai.encoding import encode_tools
from lockgate_openai.profiles import OPENAI, VLLM

NUMBERS = (250, 500, 1_000, 2_000, 4_000)
TURNS = 7
BAR = 20.0
"""Microseconds a tool at 1,000 tools."""

STANDING = ProviderStanding("p", "OPEN_AI", ConfidenceLevel.MEDIUM)


def made(number: int) -> Tool:
    """Return a tool with two arguments and instructions."""

    @tool(id=f"tool_{number:05}", outbound_data=ToolOutboundData.NONE, instructions=f"Use tool {number} with care.")
    def look_up(
        name: Annotated[str, Field(description="what to look up", max_length=200)],
        limit: Annotated[int, Field(description="how many at most", ge=1)] = 10,
    ) -> str:
        """Look something up in a register."""
        return f"{name} {limit}"

    return look_up


def registry_of(number: int, *, together: bool = False) -> Registry:
    """Register that many tools of one pack, as one collection if they belong together."""
    owner = Owner("bench", "1", entry_point="bench")
    tools = [made(index) for index in range(number)]
    items = [Contribution("tools", item, owner) for item in tools]
    if together:
        whole = ToolCollection("all_of_them", tuple(item.definition.id for item in tools))
        items.append(Contribution("collections", whole, owner))
    return Registry(items, Rules())


async def cpu_of(work: Callable[[], Awaitable[object]]) -> float:
    """Return the median of CPU seconds of one piece of work."""
    await work()
    found = []
    for _ in range(TURNS):
        before = time.process_time()
        await work()
        found.append(time.process_time() - before)
    return statistics.median(found)


def _empty(_: int) -> None:
    return None


async def floor(number: int) -> float:
    """Return what eight calls a tool cost that do nothing."""

    async def work() -> None:
        for index in range(number):
            for _ in range(8):
                _empty(index)

    return await cpu_of(work)


async def steps_of(number: int) -> dict[str, float]:
    """Return microseconds a tool by step."""
    registry = registry_of(number)
    preparation = Preparation(registry, cast("Any", None))
    chat, selected = ChatThread(id="bench"), [item.id for item in registry.tools]

    async def prepare() -> object:
        return await preparation.prepare(chat, STANDING, Components.CHAT, selected)

    async def prepare_none() -> object:
        return await preparation.prepare(chat, STANDING, Components.CHAT, ())

    offer = await preparation.prepare(chat, STANDING, Components.CHAT, selected)
    assert len(offer.tools) == number, offer.left_out
    block = encode_tools(offer.functions, VLLM)

    async def encode() -> object:
        return encode_tools(offer.functions, VLLM)

    async def encode_strict() -> object:
        return encode_tools(offer.functions, OPENAI)

    async def first_block() -> object:
        for function in offer.functions:
            function.encodings.clear()
        return encode_tools(offer.functions, VLLM)

    async def fingerprint() -> object:
        return prompt_prefix(offer.instructions, block.encoded, block.items)

    works = {
        "prepare": prepare, "not selected": prepare_none, "block": encode, "strict block": encode_strict,
        "first block": first_block, "fingerprint": fingerprint,
    }  # fmt: skip
    return {name: await cpu_of(work) / number * 1e6 for name, work in works.items()}


async def first_of_a_collection(number: int) -> float:
    """Return microseconds a tool of the first request after a change of rules, with all tools in one collection."""
    found = []
    for _ in range(3):
        preparation = Preparation(registry_of(number, together=True), cast("Any", None))
        before = time.process_time()
        offer = await preparation.prepare(ChatThread(id="bench"), STANDING, Components.CHAT, ["all_of_them"])
        found.append(time.process_time() - before)
        assert len(offer.tools) == number
    return statistics.median(found) / number * 1e6


async def main() -> int:
    """Measure and print; return 1 when the bar is missed."""
    heads = (
        ("tools", 6), ("prepare", 10), ("not sel.", 10), ("block", 8), ("strict", 8), ("first", 8), ("fingerpr.", 10),
        ("x2", 7),
    )  # fmt: skip
    print("".join(f"{head:>{width}}" for head, width in (*heads, ("x floor", 9))))
    whole: dict[int, float] = {}
    growth = []
    for number in NUMBERS:
        if sys.stderr.isatty():
            print(f"\r{number} tools ...\r", end="", file=sys.stderr, flush=True)
        steps = await steps_of(number)
        whole[number] = (steps["prepare"] + steps["block"] + steps["fingerprint"]) * number
        doubled = whole[number] / whole[number // 2] if number // 2 in whole else 0.0
        growth += [doubled] if doubled else []
        ratio = whole[number] / (await floor(number) * 1e6)
        print(
            f"{number:6}{steps['prepare']:10.2f}{steps['not selected']:10.2f}{steps['block']:8.2f}"
            f"{steps['strict block']:8.2f}{steps['first block']:8.2f}{steps['fingerprint']:10.2f}"
            f"{f'{doubled:7.2f}' if doubled else '      -'}{ratio:9.1f}"
        )
    for number in (1_000, 4_000):
        print(f"first request, one collection of {number} tools: {await first_of_a_collection(number):.1f} a tool")
    a_tool = whole[1_000] / 1_000
    mean_growth = statistics.geometric_mean(growth)
    print(f"1,000 tools: {a_tool:.1f} microseconds a tool (bar {BAR:g}); twice as many cost {mean_growth:.2f}x")
    return 0 if a_tool <= BAR and mean_growth < 2.3 else 1  # 2.3: what noise makes of 2.0 on two busy cores


if __name__ == "__main__":
    raise SystemExit(asyncio.run(main()))
