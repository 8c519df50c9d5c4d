"""All that a loop may touch: ask the model, execute a call, ask for the limit, finish.

A loop cannot leave a check out: admission stands in front of every round, limits and checks stand in the executor.
"""

import asyncio
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import Enum

from lockgate.calling.events import Event, RoundEnded, TextDelta
from lockgate.calling.executor import Executor
from lockgate.calling.running import end_task
from lockgate.chat.values import Source, Usage, merge_sources
from lockgate.errors import ProviderDenied
from lockgate.policy import ChatRequirements, Denial
from lockgate.providers.contract import CallResult, Exchange, RequestedCall, Round
from lockgate.registry.calls import describe

logger = logging.getLogger("lockgate.calling")

CLOSE_DEADLINE = 2.0
"""Seconds an exchange has to release what it holds."""

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
        admission: Says why this provider may not have a chat of such requirements, or None, by the rules of now.
        emit: Takes events.
    """

    def __init__(
        self,
        exchange: Exchange,
        executor: Executor,
        admission: Callable[[ChatRequirements], Denial | None],
        emit: Callable[[Event], None],
    ) -> None:
        self._exchange, self._executor, self._admission, self._emit = exchange, executor, admission, emit
        self._asked: tuple[RequestedCall, ...] = ()
        self._results: dict[int, CallResult] = {}
        self._taken = 0
        self._busy = self._closed = False
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

        Once a limit is reached the round is a last one, whatever the loop says.

        Raises:
            ProviderDenied: The chat now holds what this provider may not have.
            ProviderError: The host gave no usable answer.
            ValueError: The loop has not waited for something it began, or the run is over.
        """
        with self._one_at_a_time():
            return await self._round(final if final is not None else self.limit())

    async def _round(self, final: str | None) -> Round:
        if (denial := self._admission(self._executor.chat.requirements)) is not None:
            raise ProviderDenied(denial.why)
        if self._asked:
            self._exchange.answer(self._complete_results())
        self._asked, self._results, self._taken = (), {}, 0
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
        return [
            self._results.get(position) or CallResult(call.id, _NOT_RUN, is_error=True)
            for position, call in enumerate(self._asked)
        ]

    async def execute(self, call: RequestedCall) -> CallResult:
        """Execute the next call of the round. Calls are taken in the order the model asked for them.

        Raises:
            ValueError: The call is not the next one, the loop has not waited for something it began, or the run is
                over.
        """
        with self._one_at_a_time():
            position = self._taken
            if position >= len(self._asked) or self._asked[position] is not call:
                raise ValueError("A loop has to execute the calls of a round one after the other, each once.")
            self._taken += 1
            result = await self._executor.execute(call)
            self._results[position] = result
            return result

    @contextmanager
    def _one_at_a_time(self) -> Iterator[None]:
        if self._closed:
            raise ValueError("The run is over.")
        if self._busy:
            raise ValueError("A loop has to wait for a round or a call before it begins the next.")
        self._busy = True
        try:
            yield
        finally:
            self._busy = False

    def invalid(self, call: RequestedCall, why: str) -> None:
        """Note a call that can neither run nor be answered."""
        self._executor.invalid(call, why)

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
        if not isinstance(stopped, Stopped):
            raise TypeError(f"A run ends with a member of Stopped, not with {stopped!r}.")
        self.stopped = stopped

    async def close(self) -> None:
        """Release the conversation; nothing can be asked or executed any more. Called when the run ends."""
        self._closed = True
        task = asyncio.ensure_future(self._close_exchange())
        try:
            await asyncio.wait((task,), timeout=CLOSE_DEADLINE)
        finally:
            if not task.done():
                logger.warning("an exchange was not closed within %g seconds", CLOSE_DEADLINE)
                await end_task(task)

    async def _close_exchange(self) -> None:
        try:
            await self._exchange.close()
        except (asyncio.CancelledError, KeyboardInterrupt):
            raise
        except BaseException as error:  # noqa: BLE001 - an adapter is a stranger's code
            logger.warning("an exchange could not be closed: %s", describe(error).error)
