"""All that a loop may touch: ask the model, execute a call, ask for the limit, finish.

A loop cannot leave a check out: admission stands in front of every round, limits and checks stand in the executor.
"""

from collections.abc import Callable
from enum import Enum

from lockgate.calling.events import Event, RoundEnded, TextDelta
from lockgate.calling.executor import Executor
from lockgate.chat.values import Source, ToolTrace, TraceStatus, Usage, merge_sources
from lockgate.errors import ProviderDenied
from lockgate.policy import ProviderStanding
from lockgate.providers.contract import CallResult, Exchange, RequestedCall, Round

_NOT_RUN = "Tool execution failed: this call was not run."


class Stopped(Enum):
    """Why a run ended."""

    ANSWERED = "answered"
    NO_ANSWER = "no_answer"
    LIMIT = "limit"
    LENGTH = "length"
    CONTENT_FILTER = "content_filter"
    REFUSED = "refused"
    PAUSED = "paused"
    CONTEXT_TOO_LONG = "context_too_long"
    CALL_WITHOUT_ID = "call_without_id"
    DENIED = "denied"
    FAILED = "failed"
    CANCELLED = "cancelled"


class Job:
    """One run's work, as a loop sees it.

    Args:
        exchange: The wire conversation.
        executor: Executes calls.
        standing: Returns the provider's standing as it is now.
        emit: Takes events.
    """

    def __init__(
        self,
        exchange: Exchange,
        executor: Executor,
        standing: Callable[[], ProviderStanding],
        emit: Callable[[Event], None],
    ) -> None:
        self._exchange, self._executor, self._standing, self._emit = exchange, executor, standing, emit
        self._asked: tuple[RequestedCall, ...] = ()
        self._results: list[CallResult] = []
        self._texts: list[str] = []
        self._round_has_text = False
        self.rounds = 0
        self.usage = Usage()
        self.stopped: Stopped | None = None
        self._provider_sources: tuple[Source, ...] = ()

    @property
    def text(self) -> str:
        """The answer so far; texts of rounds are two newlines apart."""
        return "".join(self._texts)

    @property
    def sources(self) -> tuple[Source, ...]:
        """The sources so far: what tools brought, and what the provider names."""
        return merge_sources(self._executor.sources, self._provider_sources)

    @property
    def calls(self) -> int:
        """Calls counted so far."""
        return self._executor.calls

    def _on_text(self, text: str) -> None:
        if not text:
            return
        if not self._round_has_text:
            if not text.strip():
                return
            self._round_has_text = True
            if self._texts:
                self._texts.append("\n\n")
                self._emit(TextDelta("\n\n"))
        self._texts.append(text)
        self._emit(TextDelta(text))

    async def round(self, final: str | None = None) -> Round:
        """Ask the model once; results of the last round's calls go with it.

        Args:
            final: For the last round: words for the system prompt; tools are withheld.

        Raises:
            ProviderDenied: The chat now holds what this provider may not have.
            ProviderError: The host gave no usable answer.
        """
        denial = self._executor.chat.requirements.admits(self._standing())
        if denial is not None:
            raise ProviderDenied(denial.why)
        if self._asked:
            self._exchange.answer(self._complete_results())
        self._asked, self._results = (), []
        self._round_has_text = False
        self.rounds += 1
        found = await self._exchange.round(self._on_text, final=final)
        if found.text.strip() and not self._round_has_text:
            self._on_text(found.text)
        if found.usage is not None:
            self.usage += found.usage
        self._provider_sources = merge_sources(self._provider_sources, found.sources)
        self._asked = found.calls
        self._emit(RoundEnded(self.rounds, len(found.calls), found.stop.value, found.usage))
        return found

    def _complete_results(self) -> list[CallResult]:
        """Return exactly one result per call, in their order; a call the loop left out is said not to have run."""
        given = list(self._results)
        missing = [CallResult(call.id, _NOT_RUN, is_error=True) for call in self._asked[len(given):]]
        return given[: len(self._asked)] + missing

    async def execute(self, call: RequestedCall) -> CallResult:
        """Execute the next call of the round. Calls are taken in the order the model asked for them.

        Raises:
            ValueError: The loop passed a call that is not the next one.
        """
        position = len(self._results)
        if position >= len(self._asked) or self._asked[position] is not call:
            raise ValueError("A loop has to execute the calls of a round one after the other, each once.")
        result = await self._executor.execute(call)
        self._results.append(result)
        return result

    def invalid(self, call: RequestedCall, why: str) -> None:
        """Note a call that can neither run nor be answered."""
        order = len(self._executor.traces) + 1
        trace = ToolTrace(order, "", "Invalid tool call", call.id, TraceStatus.ERROR, status_message=why)
        self._executor.traces = (*self._executor.traces, trace)

    def say(self, notice: str) -> None:
        """Add a sentence of the framework to the answer."""
        self._round_has_text = False
        self._on_text(notice)

    def limit(self) -> str | None:
        """Return what the model is told when a limit is reached, or None."""
        hit = self._executor.limit()
        return None if hit is None else hit.instruction

    def finish(self, stopped: Stopped) -> None:
        """Say why the run ends."""
        self.stopped = stopped
