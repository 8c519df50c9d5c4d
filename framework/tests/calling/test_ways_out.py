"""However a run ends: text, sources, traces and tokens so far are right, the chat is saved, and it can go on."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from calling_kit import DONE, AnyTool, Asked, asked, asking, probe, returning

from lockgate.calling import Job, RunEnded, TextDelta
from lockgate.chat import ChatThread, MemoryChatStore, Role, Source, Usage
from lockgate.errors import Failure, ProviderDenied, ProviderError, StorageError
from lockgate.policy import ChatRequirements, ConfidenceLevel, DataSourceSecurity
from lockgate.registry import Rules
from lockgate.testing import Call, ChatShape, Delivery, answer_calls, answer_error, answer_text
from lockgate.tools import ToolContext, ToolResult

FOUND = ToolResult("found", (Source("A page", "https://example.org/a"),))
FIRST = answer_calls(Call("probe", {"number": 1}), text=("Let me look.",))


class Saving(MemoryChatStore):
    """A store that can be held up, and can fail."""

    def __init__(self) -> None:
        super().__init__()
        self.saved: list[ChatThread] = []
        self.hold: asyncio.Event | None = None
        self.holding = asyncio.Event()
        self.error: Exception | None = None

    async def save(self, chat: ChatThread) -> None:
        if self.hold is not None and chat.messages[-1].role is Role.ASSISTANT:
            self.holding.set()
            await self.hold.wait()
        if self.error is not None and chat.messages[-1].role is Role.ASSISTANT:
            raise self.error
        await super().save(chat)
        self.saved.append(chat)


def two_calls() -> tuple[AnyTool, asyncio.Event, list[str]]:
    """A tool whose first call brings something and whose second never ends; an event that it runs; what it saw."""
    runs, seen = asyncio.Event(), list[str]()

    async def execute(arguments: dict[str, Any], context: ToolContext) -> ToolResult:
        if arguments["number"] == 1:
            return FOUND
        runs.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            seen.append("cancelled")
            raise
        return ToolResult("never")

    return AnyTool(execute), runs, seen


def check_so_far(done: Asked, rounds: int, *, stopped: str, text: str = "Let me look.") -> None:
    """What every way out has in common after a first round with a call that worked."""
    run = done.run
    assert (run.stopped, run.text) == (stopped, text)
    assert run.sources == FOUND.sources
    assert (run.traces[0].order, run.traces[0].status.value) == (1, "SUCCESS")
    assert run.usage == Usage(11 * rounds, 7 * rounds)
    last = run.chat.messages[-1]
    assert (last.role, last.text, last.sources, last.traces) == (Role.ASSISTANT, text, run.sources, run.traces)
    assert last.partial == (stopped not in ("answered", "limit"))


async def test_an_answer() -> None:
    """Texts of rounds are two newlines apart, tokens are those of all rounds."""
    done = await asked([FIRST, DONE], returning(FOUND))
    check_so_far(done, 2, stopped="answered", text="Let me look.\n\nDone.")
    assert done.events[-1] == RunEnded("answered", Usage(22, 14))


async def test_a_limit() -> None:
    """The answer of the last round is a whole answer."""
    done = await asked([FIRST, DONE], returning(FOUND), rules=Rules(max_tool_calls=1))
    check_so_far(done, 2, stopped="limit", text="Let me look.\n\nDone.")


async def test_an_error_of_the_provider_in_the_second_round() -> None:
    """It is raised after the last event; what was there stays, and is said to be partial."""
    store = Saving()
    async with asking([FIRST, answer_error(500), DONE], returning(FOUND), store=store) as asked_now:
        error = await asked_now.end()
        assert isinstance(error, ProviderError)
        assert asked_now.run.error is error
        check_so_far(asked_now, 1, stopped="failed")
        assert store.saved[-1] == asked_now.run.chat
        await goes_on(asked_now)


async def test_a_denial_in_the_second_round() -> None:
    """A result that another process makes too precious ends the run before the next request."""

    class Stricter(Saving):
        async def raise_requirements(self, chat_id: str, requirements: ChatRequirements) -> ChatRequirements:
            if requirements.confidence:
                requirements = requirements.join(ChatRequirements(data_security=DataSourceSecurity.SELF_HOSTED))
            return await super().raise_requirements(chat_id, requirements)

    precious = ToolResult("precious words", requires=ChatRequirements(ConfidenceLevel.LOW))
    async with asking([FIRST], returning(precious), store=Stricter()) as asked_now:
        assert isinstance(await asked_now.end(), ProviderDenied)
    run = asked_now.run
    assert (run.stopped, run.text) == ("denied", "Let me look.")
    assert [trace.status.value for trace in run.traces] == ["BLOCKED"]
    assert len(asked_now.fake.requests) == 1
    assert "precious words" not in repr(asked_now.events) + repr(run.chat)


async def goes_on(before: Asked) -> None:
    """The next question in the chat is answered, and sends texts alone."""
    async with before.gate.ask(before.run.chat, "And now?") as run:
        await run.wait()
    assert run.text == "Done."
    roles = [message["role"] for message in before.fake.requests[-1].messages]
    assert roles == ["user", "assistant", "user"]


async def test_leaving_the_block_cancels_the_tool() -> None:
    """It is waited for; what there is so far is saved as partial, and the chat goes on."""
    tool, runs, seen = two_calls()
    store = Saving()
    async with asking([FIRST, probe(2), DONE], tool, store=store, entered=False) as asked_now:
        async with asked_now.run:
            await runs.wait()
        assert seen == ["cancelled"]
        assert await asked_now.end() is None
        check_so_far(asked_now, 2, stopped="cancelled")
        assert asked_now.events[-1] == RunEnded("cancelled", Usage(22, 14))
        assert store.saved[-1] == asked_now.run.chat
        await goes_on(asked_now)


async def test_leaving_the_block_by_an_exception_cancels_too() -> None:
    """The exception is the caller's and passes."""
    tool, runs, seen = two_calls()
    async with asking([FIRST, probe(2)], tool, entered=False) as asked_now:

        async def leaving() -> None:
            async with asked_now.run:
                await runs.wait()
                raise KeyError("caller")

        with pytest.raises(KeyError):
            await leaving()
        assert seen == ["cancelled"]


async def test_leaving_in_the_middle_of_streaming_keeps_the_text_so_far() -> None:
    """What a person has read is what the chat holds."""
    hanging = answer_text("Half", " an answer", delivery=Delivery(pieces="parts", cut_after=10_000, hang=True))
    hanging = replace(hanging, chat=ChatShape(finish_chunk=False, done=False))
    async with asking([FIRST, hanging], returning(FOUND), entered=False) as asked_now:
        async with asked_now.run:
            async for event in asked_now.run:
                if event == TextDelta(" an answer"):
                    break
        check_so_far(asked_now, 1, stopped="cancelled", text="Let me look.\n\nHalf an answer")
        await asked_now.fake.disconnected.wait()


async def test_leaving_at_once_saves_the_question() -> None:
    """Nothing was sent, and the run says why it ended."""
    store = Saving()
    async with asking([], returning(FOUND), store=store, entered=False) as asked_now:
        async with asked_now.run:
            pass
        assert asked_now.run.stopped == "cancelled"
        assert [chat.messages[-1].text for chat in store.saved] == ["Hello?"]
        assert await asked_now.end() is None
        assert asked_now.events == [RunEnded("cancelled", Usage())]
        assert asked_now.fake.requests == []


@pytest.mark.parametrize("leave_early", [False, True])
async def test_a_chat_that_is_being_saved_is_saved_in_peace(leave_early: bool) -> None:
    """A second cancel, and leaving after the answer, do not interrupt it."""
    store = Saving()
    store.hold = asyncio.Event()
    tool, runs, _ = two_calls()
    script = [FIRST, DONE] if leave_early else [FIRST, probe(2)]
    async with asking(script, tool, store=store, entered=False) as asked_now:
        run = await asked_now.run.__aenter__()
        if leave_early:
            await store.holding.wait()
        else:
            await runs.wait()
        leaving = [asyncio.create_task(run.cancel()) for _ in range(2)]
        await store.holding.wait()
        late = asyncio.create_task(run.cancel())
        await asyncio.sleep(0)
        store.hold.set()
        await asyncio.gather(*leaving, late)
        assert run.stopped == ("answered" if leave_early else "cancelled")
        assert store.saved[-1] == run.chat


async def test_the_end_of_a_gate_cancels_its_runs() -> None:
    """Runs that nobody leaves do not outlive it, and their chats are saved."""
    tool, runs, seen = two_calls()
    store = Saving()
    async with asking([FIRST, probe(2)], tool, store=store, entered=False) as asked_now:
        run = await asked_now.run.__aenter__()
        await runs.wait()
    assert seen == ["cancelled"]
    assert run.stopped == "cancelled"
    assert store.saved[-1].messages[-1].partial


@pytest.mark.parametrize("error", [StorageError("disk full"), OSError("disk full"), RuntimeError("disk full")])
async def test_a_chat_that_cannot_be_saved_is_told(error: Exception) -> None:
    """The answer stays readable, and the error is raised at the end."""
    store = Saving()
    store.error = error
    async with asking([FIRST, DONE], returning(FOUND), store=store) as asked_now:
        raised = await asked_now.end()
    assert isinstance(raised, StorageError)
    assert "disk full" in str(raised)
    assert asked_now.run.text == "Let me look.\n\nDone."
    assert asked_now.events[-1] == RunEnded("answered", Usage(22, 14))


async def test_a_run_is_entered_once() -> None:
    """A second question needs a run of its own; one that was not entered cannot be read."""
    async with asking([DONE]) as asked_now:
        await asked_now.end()
        with pytest.raises(RuntimeError, match="entered once"):
            await asked_now.run.__aenter__()
        with pytest.raises(RuntimeError, match="Enter the run first"):
            await asked_now.gate.ask(None, "Hello?").wait()


class Odd(BaseException):
    """No Exception."""


@pytest.mark.parametrize(
    "error", [asyncio.CancelledError(), SystemExit(2), Odd("odd"), GeneratorExit(), ValueError("odd")], ids=repr
)
async def test_a_loop_that_raises_anything_is_a_failed_run(error: BaseException) -> None:
    """Nobody cancelled, so the caller gets an error, and what there was stays."""

    class Raising:
        async def run(self, job: Job) -> None:
            found = await job.round()
            await job.execute(found.calls[0])
            raise error

    async with asking([FIRST], returning(FOUND), loop=Raising()) as asked_now:
        assert isinstance(await asked_now.end(), Failure)
        check_so_far(asked_now, 1, stopped="failed")


async def test_a_text_of_the_last_round_alone_has_no_blank_lines_before_it() -> None:
    """White space that a model begins a round with is not shown."""
    done = await asked([probe(), answer_text("\n\n", "Here.", "\n", "There.")], returning("x"))
    assert done.run.text == "Here.\nThere."
