"""The beginning of a chat's requests is equal in every process, whatever Python's seed of hashes is."""

import os
import subprocess
import sys
from dataclasses import dataclass

PROGRAM = r'''
import asyncio, enum, hashlib
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from lockgate.calling import RequestPrepared
from lockgate.chat import ChatThread
from lockgate.policy import ToolOutboundData
from lockgate.testing import FakeProvider, PluginOf, answer_text, lockgate_for
from lockgate.tools import (
    DataTool, RequestContext, Tool, ToolActivation, ToolCollection, ToolDefinition, ToolFunction, ToolResult, tool,
)

WORDS = {"alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta"}


class Colour(enum.Enum):
    RED = "red"
    GREEN = "green"
    BLUE = "blue"


class Place(BaseModel):
    name: str
    tags: set[str] = set()
    colour: Colour | None = None


class Trip(BaseModel):
    start: Place
    stops: list[Place] = []
    notes: dict[str, int] = {}
    mode: Literal["foot", "train"] = "foot"


@tool(outbound_data=ToolOutboundData.NONE, strict=False)
def plan_trip(trip: Trip, labels: set[Colour], weights: dict[str, float] | None = None) -> str:
    """Plan a trip.

    Args:
        trip: The trip.
        labels: Its labels.
        weights: How much each counts.
    """
    return "planned"


def made(tool_id, **facts):
    @tool(id=tool_id, outbound_data=ToolOutboundData.NONE, instructions=f"Use {tool_id}.", **facts)
    def run(count: Annotated[int, Field(description="How many.", ge=1)] = 1) -> str:
        """Do something."""
        return tool_id

    return run


class Choosing(Tool):
    """Chooses among words, and offers itself."""

    definition = ToolDefinition(
        "choose_word",
        {"type": "object", "properties": {"word": {"type": "string"}, "words": {"type": "array", "items": {
            "type": "string"}}}, "required": ["word"], "additionalProperties": False},
        "Choose.", activation=ToolActivation.CONTEXT, outbound_data=ToolOutboundData.NONE,
    )

    async def resolve_function(self, context: RequestContext) -> ToolFunction:
        choices = {name: tuple(sorted(WORDS)) for name in {"word", "words"}}
        return ToolFunction("Choose a word.", self.definition.parameters, choices)

    async def execute(self, arguments, context):
        return ToolResult("chosen")


async def count(arguments):
    return len(arguments)


as_data = DataTool(
    ToolDefinition("count_items", {"properties": {"b": {"type": "integer"}, "a": {"enum": [2, 1, "x"]}},
                                   "type": "object"}, "Count.", outbound_data=ToolOutboundData.NONE), count)

packs = [
    PluginOf("pack-words", tools=[made(f"say_{word}") for word in WORDS], collections=[
        ToolCollection("sayings", tuple({f"say_{word}" for word in WORDS - {"eta", "zeta"}})),
    ]),
    PluginOf("pack-trips", tools=[plan_trip, Choosing(), as_data]),
    PluginOf("pack-leads", tools=[made("lead", companions=tuple({"say_eta", "follow_one", "follow_two"})),
                                  made("follow_one"), made("follow_two", companions=("follow_one",))]),
]


async def main() -> None:
    async with FakeProvider([answer_text("Done.")]) as fake, lockgate_for(fake, plugins=list(set(packs))) as gate:
        chat = ChatThread(id="0" * 16, system_prompt="Be brief.")
        run = gate.ask(chat, "Hello?", selected={"sayings", "lead", "plan_trip", "count_items"})
        async with run:
            events = [event async for event in run]
    assert run.stopped == "answered", run.error
    request = fake.requests[0]
    print("TOOLS", *request.tool_names)
    print("FINGERPRINT", next(event.fingerprint for event in events if isinstance(event, RequestPrepared)))
    print("PARTS", *(f"{part.name}:{part.size}:{part.digest}" for part in run.chat.prefix.tools))
    print("BYTES", hashlib.sha256(request.arrived_bytes).hexdigest(), len(request.arrived_bytes))
    print("ORDER", *WORDS)


asyncio.run(main())
'''


@dataclass(frozen=True)
class Printed:
    """What a process printed: the facts of its request, and the order its sets had."""

    facts: tuple[str, ...]
    order: str


def run_with(seed: str) -> Printed:
    """Run the program with a seed of hashes."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", PROGRAM], capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONHASHSEED": seed},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    *facts, order = done.stdout.splitlines()
    return Printed(tuple(facts), order)


def test_the_beginning_is_equal_across_processes_and_seeds_of_hashes() -> None:
    """Although the plugins make their tools, companions, collections and choices from sets, and are in a set."""
    runs = [run_with(seed) for seed in ("0", "1", "2", "random")]
    assert len({run.order for run in runs}) > 1, "the seeds made no difference, so nothing was tested"
    assert {run.facts for run in runs} == {runs[0].facts}
    tools, fingerprint, parts, _ = runs[0].facts
    assert tools.split()[1:] == [
        "choose_word", "count_items", "follow_one", "follow_two", "lead", "plan_trip", "say_alpha", "say_beta",
        "say_delta", "say_epsilon", "say_eta", "say_gamma", "say_theta",
    ]  # fmt: skip
    assert len(fingerprint.split()[1]) == 16
    assert len(parts.split()) == len(tools.split())
