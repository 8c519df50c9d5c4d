"""A loop is replaceable, and can leave nothing out: it only sees a job."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from calling_kit import DONE, AnyTool, Asked, asking, returning

from lockgate.app import ProviderConfig
from lockgate.calling import Job, Stopped, ToolCallingLoop
from lockgate.calling import job as job_module
from lockgate.calling.loop import MAX_PAUSES
from lockgate.chat import MemoryChatStore, Usage
from lockgate.errors import ProviderDenied
from lockgate.policy import NOTHING, ChatRequirements, ConfidenceLevel, DataSourceSecurity
from lockgate.providers import CallResult, ModelRequest, ProviderProfile, RequestedCall, Round, StopReason, ToolBlock
from lockgate.registry import Rules
from lockgate.testing import Answer, Call, PluginOf, answer_calls
from lockgate.tools import ToolContext, ToolResult

NOT_RUN = "Tool execution failed: this call was not run."
TWO = answer_calls(Call("probe", {"n": 1}), Call("probe", {"n": 2}))


class As:
    """A loop made of a function."""

    def __init__(self, drive: Callable[[Job], Awaitable[None]]) -> None:
        self.drive = drive

    async def run(self, job: Job) -> None:
        """Drive the job."""
        await self.drive(job)


async def driven(drive: Callable[[Job], Awaitable[None]], script: list[Answer], *tools: Any, **options: Any) -> Asked:
    """Let a loop answer a question."""
    async with asking(script, *(tools or (returning("fine"),)), loop=As(drive), **options) as asked_now:
        error = await asked_now.end()
        assert error is None, error
    asked_now.fake.assert_no_problems()
    return asked_now


async def test_a_loop_that_forgets_calls_still_answers_each() -> None:
    """Every call has one result, in order; what was not executed says so."""

    async def forgetful(job: Job) -> None:
        found = await job.round()
        await job.execute(found.calls[0])
        await job.round()
        job.finish(Stopped.ANSWERED)

    done = await driven(forgetful, [TWO, DONE])
    assert done.results == ["fine", NOT_RUN]
    assert len(done.run.traces) == 1


async def test_a_loop_that_executes_nothing_answers_nothing_away() -> None:
    """All results say that the calls were not run."""

    async def lazy(job: Job) -> None:
        await job.round()
        await job.round()
        job.finish(Stopped.ANSWERED)

    assert (await driven(lazy, [TWO, DONE])).results == [NOT_RUN, NOT_RUN]


async def test_calls_are_taken_in_order_and_once() -> None:
    """Out of order, twice, from elsewhere, before a round: each is refused, and what is right goes on."""
    refused: list[str] = []

    async def attempt(job: Job, call: RequestedCall) -> None:
        with pytest.raises(ValueError, match="one after the other, each once") as error:
            await job.execute(call)
        refused.append(str(error.value))

    async def muddled(job: Job) -> None:
        await attempt(job, RequestedCall("made-up", "probe", "{}"))
        first, second = (await job.round()).calls
        await attempt(job, second)
        await attempt(job, RequestedCall(first.id, first.name, first.arguments))
        await job.execute(first)
        await attempt(job, first)
        await job.execute(second)
        await attempt(job, second)
        await job.round()
        await attempt(job, second)
        job.finish(Stopped.ANSWERED)

    done = await driven(muddled, [TWO, DONE])
    assert len(refused) == 6
    assert done.results == ["fine", "fine"]


async def test_calls_never_run_beside_each_other() -> None:
    """A loop that starts them together gets an error for all but the first, and a round has to wait as well."""
    running = most = 0
    release = asyncio.Event()

    async def execute(arguments: dict[str, Any], context: ToolContext) -> ToolResult:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await release.wait()
        running -= 1
        return ToolResult("fine")

    async def eager(job: Job) -> None:
        first, second = (await job.round()).calls
        tasks = [asyncio.ensure_future(step) for step in (job.execute(first), job.execute(second), job.execute(first))]
        await asyncio.sleep(0)
        with pytest.raises(ValueError, match="has to wait"):
            await job.round()
        release.set()
        outcomes = await asyncio.gather(*tasks, return_exceptions=True)
        assert [type(outcome) for outcome in outcomes] == [CallResult, ValueError, ValueError]
        await job.round()
        job.finish(Stopped.ANSWERED)

    done = await driven(eager, [TWO, DONE], AnyTool(execute))
    assert most == 1
    assert done.results == ["fine", NOT_RUN]


async def test_a_call_that_a_loop_gives_up_waiting_for_keeps_its_place() -> None:
    """The results of the others stay where they belong."""

    async def execute(arguments: dict[str, Any], context: ToolContext) -> ToolResult:
        if arguments["n"] == 1:
            await asyncio.Event().wait()
        return ToolResult("fine")

    async def impatient(job: Job) -> None:
        first, second = (await job.round()).calls
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(job.execute(first), 0.01)
        await job.execute(second)
        await job.round()
        job.finish(Stopped.ANSWERED)

    assert (await driven(impatient, [TWO, DONE], AnyTool(execute))).results == [NOT_RUN, "fine"]


async def test_a_loop_that_ignores_the_limit_meets_it_all_the_same() -> None:
    """Calls are refused by the executor, and a round after the limit has no tools."""

    async def greedy(job: Job) -> None:
        found = await job.round()
        for call in found.calls:
            await job.execute(call)
        await job.round()
        job.finish(Stopped.ANSWERED)

    done = await driven(greedy, [TWO, DONE], rules=Rules(max_tool_calls=1))
    assert len(done.run.traces) == 1
    assert "which is the limit" in done.results[1]
    assert done.fake.requests[1].tool_names == []


async def test_a_loop_cannot_ask_past_a_denial() -> None:
    """Once the chat may not be sent any more, every further round is refused, and nothing is sent."""

    class Stricter(MemoryChatStore):
        """Another process demands more whenever something rises."""

        async def raise_requirements(self, chat_id: str, requirements: ChatRequirements) -> ChatRequirements:
            at_home = ChatRequirements(data_security=DataSourceSecurity.SELF_HOSTED)
            more = requirements if requirements == NOTHING else requirements.join(at_home)
            return await super().raise_requirements(chat_id, more)

    denied: list[bool] = []

    async def stubborn(job: Job) -> None:
        found = await job.round()
        await job.execute(found.calls[0])
        for _ in range(3):
            with pytest.raises(ProviderDenied):
                await job.round()
            denied.append(True)
        job.finish(Stopped.ANSWERED)

    precious = returning(ToolResult("precious", requires=ChatRequirements(ConfidenceLevel.LOW)))
    done = await driven(stubborn, [TWO], precious, store=Stricter())
    assert denied == [True] * 3
    assert len(done.fake.requests) == 1


async def test_nothing_runs_after_the_run() -> None:
    """What a loop leaves behind finds the job closed."""
    jobs: list[tuple[Job, RequestedCall]] = []

    async def leaving(job: Job) -> None:
        found = await job.round()
        jobs.append((job, found.calls[0]))
        job.finish(Stopped.ANSWERED)

    done = await driven(leaving, [TWO])
    job, call = jobs[0]
    for step in (job.execute(call), job.round()):
        with pytest.raises(ValueError, match="The run is over"):
            await step
    assert done.run.traces == ()
    assert len(done.fake.requests) == 1


async def test_a_loop_that_finishes_with_nothing_gave_no_answer() -> None:
    """A run always says why it ended; an ending nobody knows is refused."""

    async def silent(job: Job) -> None:
        await job.round()
        with pytest.raises(TypeError, match="member of Stopped"):
            job.finish("done")  # type: ignore[arg-type] # nonsense on purpose

    done = await driven(silent, [DONE])
    assert (done.run.stopped, done.run.text) == ("no_answer", "Done.")
    assert done.run.chat.messages[-1].partial


class Scripted:
    """An adapter without a wire: rounds come from a list."""

    id = "scripted"

    def __init__(self, *rounds: Round, close: Callable[[], Awaitable[None]] | None = None) -> None:
        self.rounds, self.answers, self.closed = list(rounds), list[list[CallResult]](), 0
        self.finals: list[str | None] = []
        self._close = close

    def tool_block(self, functions: Any, profile: ProviderProfile) -> ToolBlock:
        """No tools are encoded."""
        return ToolBlock(b"")

    def open(self, request: ModelRequest, profile: ProviderProfile, transport: Any) -> "Scripted":
        """Be the exchange, too."""
        return self

    async def round(self, on_text: Callable[[str], None], *, final: str | None = None) -> Round:
        """Return the next round."""
        self.finals.append(final)
        return self.rounds.pop(0)

    def answer(self, results: list[CallResult]) -> None:
        """Keep results."""
        self.answers.append(results)

    async def close(self) -> None:
        """Count, and do what the test says."""
        self.closed += 1
        if self._close is not None:
            await self._close()


async def scripted(adapter: Scripted, *tools: Any) -> Asked:
    """Ask through an adapter without a wire."""
    profile = ProviderProfile(
        id="p", title="P", provider_type="OPEN_AI", adapter="scripted", base_url="http://127.0.0.1:9", default_model="m"
    )
    plugin = PluginOf("adapter", provider_adapters=[adapter], provider_profiles=[profile])
    config = ProviderConfig("fake", "p", api_key="k")
    async with asking([], *tools, plugins=[plugin], providers=[config], loop=ToolCallingLoop(), entered=False) as made:
        run = made.gate.ask(None, "Hello?", provider=config, selected=[tool.definition.id for tool in tools])
        async with run:
            done = made._replace(run=run)
            assert await done.end() is None
        return done


async def test_a_call_without_an_id_ends_the_run() -> None:
    """It cannot be answered: a plain sentence, a trace for each call, an event, the sources so far."""
    calls = (RequestedCall("", "probe", "{}"), RequestedCall("b", "", "{}"))
    done = await scripted(Scripted(Round("Well.", calls, StopReason.TOOL_CALLS, Usage(1, 2))), returning("never"))
    assert done.run.stopped == "call_without_id"
    assert done.run.text.startswith("Well.\n\nThe model asked for a tool in a form that cannot be answered")
    traces = [(trace.order, trace.tool_id, trace.tool_name, trace.status.value) for trace in done.run.traces]
    assert traces == [(1, "", "probe", "ERROR"), (2, "", "Invalid tool call", "ERROR")]
    assert [trace for event in done.events if (trace := getattr(event, "trace", None))] == list(done.run.traces)
    assert done.run.usage == Usage(1, 2)


async def test_a_paused_turn_is_continued_and_not_for_ever() -> None:
    """The host is asked to go on; a host that only pauses ends the run with what there is."""
    adapter = Scripted(Round("One.", stop=StopReason.PAUSE), Round("Two."))
    assert (await scripted(adapter)).run.text == "One.\n\nTwo."
    adapter = Scripted(*[Round("", stop=StopReason.PAUSE)] * (MAX_PAUSES + 5))
    done = await scripted(adapter)
    assert (done.run.stopped, len(adapter.finals)) == ("paused", MAX_PAUSES + 1)
    assert done.run.text == "The provider paused the answer and did not go on with it."


async def test_an_exchange_is_closed_at_the_end() -> None:
    """Once, whatever the end is; one that cannot be closed costs nothing."""

    async def broken() -> None:
        raise SystemExit("broken")

    for close in (None, broken):
        adapter = Scripted(Round("Done."), close=close)
        assert (await scripted(adapter)).run.text == "Done."
        assert adapter.closed == 1


async def test_an_exchange_that_does_not_close_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """The run ends all the same."""
    monkeypatch.setattr(job_module, "CLOSE_DEADLINE", 0.01)

    async def never() -> None:
        await asyncio.Event().wait()

    adapter = Scripted(Round("Done."), close=never)
    assert (await scripted(adapter)).run.stopped == "answered"
