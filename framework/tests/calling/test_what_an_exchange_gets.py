"""What the wire conversation of a run is handed, and when: results of a round that had calls, and nothing else."""

from collections.abc import Sequence
from typing import cast

from lockgate.calling import Executor, Job
from lockgate.chat import ChatThread
from lockgate.providers.contract import CallResult, OnText, RequestedCall, Round


class Noting:
    """An exchange that notes what it is handed before each of its rounds."""

    def __init__(self, *rounds: Round) -> None:
        self._rounds = iter(rounds)
        self.handed: list[object] = []

    async def round(self, on_text: OnText, *, final: str | None = None) -> Round:
        self.handed.append("round" if final is None else f"last round: {final}")
        return next(self._rounds)

    def answer(self, results: Sequence[CallResult]) -> None:
        self.handed.append([result.call_id for result in results])

    async def close(self) -> None:
        self.handed.append("close")


class Answering:
    """An executor that answers each call with its name and knows no limit."""

    chat = ChatThread()

    async def execute(self, call: RequestedCall) -> CallResult:
        return CallResult(call.id, call.name)

    def limit(self) -> None:
        return None


async def test_results_are_handed_on_only_where_there_were_calls() -> None:
    """Nothing before the first round or after one without calls; a call that was left out has a result, too."""
    one, two = RequestedCall("c1", "a", "{}"), RequestedCall("c2", "b", "{}")
    exchange = Noting(Round("x"), Round("", (one, two)), Round("y"), Round("z"))
    job = Job(exchange, cast("Executor", Answering()), lambda demanded: None, lambda event: None)  # noqa: ARG005 - asked in vain
    await job.round()
    await job.round()
    await job.execute(one)
    await job.round()
    await job.round("that is all")
    await job.close()
    assert exchange.handed == ["round", "round", ["c1", "c2"], "round", "last round: that is all", "close"]
    assert (job.text, job.rounds) == ("x\n\ny\n\nz", 4)
