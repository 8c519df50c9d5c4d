"""A result leaves only after what it demands was joined, stored and admitted."""

import asyncio
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from calling_kit import DONE, AnyTool, Asked, asked, asking, probe, returning

from lockgate.app.configuration import Configuration
from lockgate.calling import RequirementsRaised, ToolFinished
from lockgate.chat import ChatThread, MemoryChatStore, Source
from lockgate.errors import ProviderDenied, StorageError
from lockgate.policy import (
    BY_USER,
    NOTHING,
    ChatRequirements,
    ConfidenceLevel,
    ConfidenceScheme,
    DataSourceSecurity,
    OutboundDataRestriction,
    SetBy,
    SetByKind,
    ToolOutboundData,
)
from lockgate.registry import Minimum, Rules
from lockgate.storage import SqliteChatStore
from lockgate.testing import Answer, Call, FakeProvider, FakeRequest, answer_calls, answer_text
from lockgate.tools import ToolContext, ToolResult

CONTRACTS = SetBy(SetByKind.DATA_SOURCE, "Contracts")
LOW = ChatRequirements(ConfidenceLevel.LOW, confidence_by=CONTRACTS)
HIGH = ChatRequirements(ConfidenceLevel.HIGH, confidence_by=CONTRACTS)
AT_HOME = ChatRequirements(data_security=DataSourceSecurity.SELF_HOSTED, data_security_by=CONTRACTS)
LINKS = ChatRequirements(outbound=OutboundDataRestriction.ONLY_LINKS_FROM_CHAT, outbound_by=CONTRACTS)
WORDS = "the precious words"


def precious(requires: ChatRequirements, **facts: Any) -> AnyTool:
    """A tool whose result demands something."""
    sources = (Source(f"About {WORDS}", f"https://example.org/{WORDS.replace(' ', '-')}"),)
    return returning(ToolResult(WORDS, sources, requires), **facts)


class Noting(MemoryChatStore):
    """A store that notes when requirements rise, and may fail."""

    def __init__(self, log: list[str] | None = None, error: BaseException | None = None) -> None:
        super().__init__()
        self.log = [] if log is None else log
        self.error = error

    async def raise_requirements(self, chat_id: str, requirements: ChatRequirements) -> ChatRequirements:
        if requirements != NOTHING and self.error is not None:
            raise self.error
        raised = await super().raise_requirements(chat_id, requirements)
        if requirements != NOTHING:
            self.log.append(f"stored {requirements.confidence.name}")
        return raised


def everything_seen(done: Asked) -> str:
    """All that left the executor: requests, events, traces, sources, the chat."""
    sent = [request.arrived_bytes.decode() for request in done.fake.requests]
    return repr((sent, done.events, done.run.traces, done.run.sources, done.run.chat))


async def test_the_raise_is_stored_before_anything_is_handed_on() -> None:
    """Tool, store, event of the raise, end of the call, next request: in this order."""
    log: list[str] = []

    class Watching:
        def on(self, event: object) -> None:
            if isinstance(event, RequirementsRaised | ToolFinished):
                log.append(type(event).__name__)

    def script(request: FakeRequest) -> Answer:
        log.append(f"request {request.number}")
        return [probe(), DONE][request.number]

    done = await asked(script, precious(LOW), store=Noting(log), observers=[Watching()])
    assert log[:5] == ["request 0", "stored LOW", "RequirementsRaised", "ToolFinished", "request 1"]
    assert done.results == [WORDS]
    assert done.run.chat.requirements == LOW


@pytest.mark.parametrize(
    "error", [StorageError("disk full"), OSError("disk full"), ValueError("disk full")], ids=lambda e: type(e).__name__
)
async def test_what_cannot_be_stored_is_withheld(error: BaseException) -> None:
    """Nothing of the result leaves, the call is an error, and the run goes on with the chat as it was."""
    done = await asked([probe(), DONE], precious(LOW), store=Noting(error=error))
    (trace,) = done.run.traces
    assert (trace.status.value, trace.was_executed) == ("ERROR", True)
    assert "disk full" in trace.status_message
    assert done.results == [
        "Tool execution failed: its result was withheld, because what the chat now requires could not be stored."
    ]
    assert "precious" not in everything_seen(done)
    assert done.run.chat.requirements == NOTHING


async def test_a_cancel_while_the_raise_is_stored_hands_nothing_on() -> None:
    """A trace that says so and nothing of the result, no request; the chat is saved."""
    storing = asyncio.Event()

    class Slow(Noting):
        async def raise_requirements(self, chat_id: str, requirements: ChatRequirements) -> ChatRequirements:
            if requirements != NOTHING:
                storing.set()
                await asyncio.Event().wait()
            return await super().raise_requirements(chat_id, requirements)

    async with asking([probe()], precious(LOW), store=Slow(), entered=False) as asked_now:
        async with asked_now.run:
            await storing.wait()
        await asked_now.end()
    assert asked_now.run.stopped == "cancelled"
    assert [(trace.status.value, trace.status_message) for trace in asked_now.run.traces] == [
        ("ERROR", "It was cancelled.")
    ]
    assert "precious" not in everything_seen(asked_now)


async def test_a_store_that_answers_too_little_lowers_nothing() -> None:
    """What was demanded counts, whatever the store says."""

    class Forgetful(Noting):
        async def raise_requirements(self, chat_id: str, requirements: ChatRequirements) -> ChatRequirements:
            return NOTHING

    done = await asked([probe(), DONE], precious(LOW), store=Forgetful())
    assert done.run.chat.requirements == LOW


@pytest.mark.parametrize("requires", [HIGH, AT_HOME], ids=["confidence", "data security"])
async def test_a_result_this_provider_may_not_have_is_a_block_without_content(requires: ChatRequirements) -> None:
    """The chat is not raised by what never arrived, says who demanded it, and goes on."""
    store = Noting()
    async with asking([probe(), DONE, answer_text("Again.")], precious(requires), store=store) as asked_now:
        assert await asked_now.end() is None
        (trace,) = asked_now.run.traces
        assert (trace.status.value, trace.was_executed) == ("BLOCKED", True)
        assert "set by data source 'Contracts'" in trace.status_message
        assert asked_now.results == [trace.status_message]
        assert "precious" not in everything_seen(asked_now)
        assert asked_now.run.chat.requirements == NOTHING
        assert store.log == []
        async with asked_now.gate.ask(asked_now.run.chat, "And now?") as run:
            assert (await run.wait()).text == "Again."


async def test_a_provider_that_is_trusted_gets_it() -> None:
    """A self-hosted one may have what stays at home."""
    done = await asked([probe(), DONE], precious(AT_HOME), self_hosted=True)
    assert done.results == [WORDS]
    assert done.run.chat.requirements == AT_HOME


async def test_requirements_only_rise() -> None:
    """A later, weaker demand changes nothing and is not stored again."""
    log: list[str] = []
    strong = replace(LOW, confidence=ConfidenceLevel.MODERATE)

    async def execute(arguments: dict[str, Any], context: ToolContext) -> ToolResult:
        return ToolResult("x", requires=strong if arguments["number"] == 1 else LOW)

    done = await asked([probe(1), probe(2), DONE], AnyTool(execute), store=Noting(log))
    assert done.run.chat.requirements == strong
    assert log.count("stored MODERATE") == 2  # by the call, and by saving the chat at the end
    assert "stored LOW" not in log


async def test_a_chat_that_was_tightened_blocks_a_later_call_of_the_run() -> None:
    """The second tool would send data too far, and never runs; its trace names who demanded it."""
    sending = returning("sent", "send", outbound_data=ToolOutboundData.THIRD_PARTY_QUERIES)
    calls = answer_calls(Call("send", {"n": 1}), Call("probe", {"n": 2}), Call("send", {"n": 3}))
    done = await asked([calls, DONE], precious(LINKS), sending)
    statuses = [(trace.tool_id, trace.status.value, trace.was_executed) for trace in done.run.traces]
    assert statuses == [("send", "SUCCESS", True), ("probe", "SUCCESS", True), ("send", "BLOCKED", False)]
    assert "'Contracts'" in done.results[2]
    assert "ONLY_LINKS_FROM_CHAT" in done.results[2]


async def test_a_tool_that_keeps_the_restriction_itself_still_runs() -> None:
    """It is told of the chat as the call before left it."""
    seen: list[OutboundDataRestriction] = []

    async def execute(arguments: dict[str, Any], context: ToolContext) -> ToolResult:
        seen.append(context.chat.requirements.outbound)
        return ToolResult("read")

    reading = AnyTool(
        execute, "read", outbound_data=ToolOutboundData.MODEL_CHOSEN_ADDRESSES, enforces_outbound_restriction=True
    )
    calls = answer_calls(Call("probe", {}), Call("read", {}))
    done = await asked([calls, DONE], precious(LINKS), reading)
    assert [trace.status.value for trace in done.run.traces] == ["SUCCESS", "SUCCESS"]
    assert seen == [OutboundDataRestriction.ONLY_LINKS_FROM_CHAT]


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"disabled": {"probe": BY_USER}}, "is switched off"),
        ({"tools_enabled": False, "tools_enabled_by": BY_USER}, "Tools are switched off"),
        ({"minimums": {"probe": Minimum(ConfidenceLevel.HIGH, BY_USER)}}, "confidence HIGH or higher"),
        ({"scheme": ConfidenceScheme.LOCAL_TRUST_ONLY, "minimums": {"probe": Minimum(ConfidenceLevel.LOW, BY_USER)}},
         "has VERY_LOW"),
    ],
)  # fmt: skip
async def test_other_rules_count_at_the_next_call(changed: dict[str, Any], words: str) -> None:
    """Rules that change in the middle of a run do not wait for the next question."""
    async with asking([probe(1), probe(2), DONE], returning("fine"), entered=False) as asked_now:
        gate = asked_now.gate

        async def change(request: FakeRequest) -> Answer:
            if request.number == 1:
                configs = gate.assembly.directory.configs
                await gate.reconfigure(
                    Configuration(rules=Rules(**changed), providers=configs, default_provider="fake")
                )
            return [probe(1), probe(2), DONE][request.number]

        asked_now.fake._script._behaviour = change
        async with asked_now.run:
            assert await asked_now.end() is None
    first, second = asked_now.run.traces
    assert first.status.value == "SUCCESS"
    assert (second.status.value, second.was_executed) == ("BLOCKED", False)
    assert words in second.status_message
    if "scheme" not in changed:
        assert "(set by user)" in second.status_message


async def test_a_provider_that_loses_its_trust_gets_nothing_more() -> None:
    """The standing is worked out again before each round: after a denial no request follows."""
    chat = ChatThread(requirements=LOW)
    async with asking([probe()], returning(WORDS), chat=chat, entered=False) as asked_now:
        gate = asked_now.gate

        async def change(request: FakeRequest) -> Answer:
            rules = Rules(scheme=ConfidenceScheme.LOCAL_TRUST_ONLY)
            configs = gate.assembly.directory.configs
            await gate.reconfigure(Configuration(rules=rules, providers=configs, default_provider="fake"))
            return probe()

        asked_now.fake._script._behaviour = change
        async with asked_now.run:
            assert isinstance(await asked_now.end(), ProviderDenied)
    assert asked_now.run.stopped == "denied"
    assert len(asked_now.fake.requests) == 1
    assert "precious" not in everything_seen(asked_now)


KILLED = """
import asyncio, os, sys
from pathlib import Path
from lockgate.chat import ChatThread
from lockgate.policy import NOTHING, ChatRequirements, ConfidenceLevel
from lockgate.storage import SqliteChatStore
from lockgate.app import ProviderConfig
from lockgate.testing import lockgate_for
from calling_kit import returning
from lockgate.tools import ToolResult

where, path, address = sys.argv[1:]

class Killing(SqliteChatStore):
    async def raise_requirements(self, chat_id, requirements):
        if requirements != NOTHING and where == "before":
            os._exit(7)
        raised = await super().raise_requirements(chat_id, requirements)
        if requirements != NOTHING and where == "after":
            os._exit(7)
        return raised

async def main():
    import lockgate_openai.plugin
    tool = returning(ToolResult("the precious words", requires=ChatRequirements(ConfidenceLevel.LOW)))
    config = ProviderConfig("host", "openai", base_url=address, model="m", api_key="k")
    gate = lockgate_for(tools=[tool], plugins=[lockgate_openai.plugin], providers=[config], store=Killing(Path(path)))
    async with gate, gate.ask(ChatThread(id="chat"), "Hello?", provider="host", selected=["probe"]) as run:
        await run.wait()
asyncio.run(main())
"""


@pytest.mark.parametrize(("where", "kept"), [("before", NOTHING), ("after", ChatRequirements(ConfidenceLevel.LOW))])
async def test_a_process_killed_at_the_store_has_handed_nothing_on(
    where: str, kept: ChatRequirements, tmp_path: Path
) -> None:
    """Killed before, nothing was demanded and nothing left; killed after, the demand is on disk and nothing left."""
    path = tmp_path / "chats.sqlite"
    with FakeProvider([probe(), DONE]) as fake:
        folders = [str(Path(__file__).parent.parent), os.environ.get("PYTHONPATH", "")]
        process = await asyncio.to_thread(
            subprocess.run,
            [sys.executable, "-c", KILLED, where, str(path), fake.base_url],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(folders)}, capture_output=True, timeout=60, check=False,
        )  # fmt: skip
        assert process.returncode == 7, process.stderr.decode()
        assert len(fake.requests) == 1
    store = SqliteChatStore(path)
    stored = await store.load("chat")
    await store.close()
    assert stored is not None
    assert stored.requirements == kept
    assert [message.text for message in stored.messages] == ["Hello?"]
