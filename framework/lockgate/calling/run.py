"""A run: one question being answered. What it holds is right at any moment, also after a cancel or a failure."""

import asyncio
import logging
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Protocol, Self

from lockgate.calling.events import Event, RunEnded, TextDelta, ToolFinished
from lockgate.calling.executor import Executor
from lockgate.calling.job import Job, Stopped
from lockgate.chat.values import ChatThread, Message, Role, Source, ToolTrace, Usage
from lockgate.errors import Failure, LockgateError, ProviderDenied

logger = logging.getLogger("lockgate.calling")


class Observer(Protocol):
    """Is told what happens in runs: no pieces of text, no results. One that raises is not told again."""

    def on(self, event: Event) -> None:
        """Take an event."""


Begin = Callable[["Run"], Awaitable[tuple[Job, Executor]]]
Drive = Callable[[Job], Awaitable[None]]
Save = Callable[[ChatThread], Awaitable[None]]


class Run:
    """One question being answered. Use it as ``async with run:`` and iterate over its events.

    Leaving the block cancels what still runs and waits for it. Nothing has to be read: iterating is optional.

    Args:
        chat: The chat with the user's new message.
        begin: Prepares the request.
        drive: Runs the loop.
        save: Stores the chat at the end.
        observers: Who else is told.
    """

    def __init__(
        self, chat: ChatThread, begin: Begin, drive: Drive, save: Save, observers: Sequence[Observer] = ()
    ) -> None:
        self._chat = chat
        self._begin, self._drive, self._save = begin, drive, save
        self._observers = list(observers)
        self._events: deque[Event] = deque()
        self._wake: asyncio.Event | None = None
        self._task: asyncio.Task[None] | None = None
        self._job: Job | None = None
        self._executor: Executor | None = None
        self._stopped: Stopped | None = None
        self.error: LockgateError | None = None
        """Why the run failed, where it did."""

    # What there is

    @property
    def text(self) -> str:
        """The answer so far."""
        return self._job.text if self._job else ""

    @property
    def sources(self) -> tuple[Source, ...]:
        """The sources so far."""
        return self._job.sources if self._job else ()

    @property
    def traces(self) -> tuple[ToolTrace, ...]:
        """The calls so far."""
        return self._executor.traces if self._executor else ()

    @property
    def usage(self) -> Usage:
        """Tokens of all rounds so far."""
        return self._job.usage if self._job else Usage()

    @property
    def stopped(self) -> str:
        """Why the run ended; empty while it runs."""
        return self._stopped.value if self._stopped else ""

    @property
    def chat(self) -> ChatThread:
        """The chat as of now: the question, the answer so far, and what the chat demands."""
        chat = self._executor.chat if self._executor else self._chat
        if self.text or self.traces:
            complete = self._stopped in (Stopped.ANSWERED, Stopped.LIMIT)
            answer = Message(Role.ASSISTANT, self.text, (), self.sources, self.traces, partial=not complete)
            chat = chat.with_message(answer)
        return chat

    # Running

    async def __aenter__(self) -> Self:
        """Begin to answer."""
        self._wake = asyncio.Event()
        self._task = asyncio.create_task(self._run(), name="lockgate-run")
        return self

    async def __aexit__(self, *exception: object) -> None:
        """Cancel what still runs and wait for it."""
        await self.cancel()

    async def cancel(self) -> None:
        """End the run now. Text, sources and traces so far stay."""
        task = self._task
        if task is None:
            return
        if not task.done():
            task.cancel()
        await asyncio.wait((task,))

    async def wait(self) -> Self:
        """Wait for the end.

        Raises:
            LockgateError: The run failed; what there is so far stays readable.
        """
        async for _ in self:
            pass
        return self

    async def __aiter__(self) -> AsyncIterator[Event]:
        """Yield events as they come.

        Raises:
            LockgateError: The run failed; raised after the last event.
            RuntimeError: The run was not entered.
        """
        if self._task is None or self._wake is None:
            raise RuntimeError("Enter the run first: `async with lockgate.ask(…) as run:`.")
        while True:
            while self._events:
                yield self._events.popleft()
            if self._task.done() and not self._events:
                break
            self._wake.clear()
            if not self._events and not self._task.done():
                await self._wake.wait()
        if self.error is not None:
            raise self.error

    def emit(self, event: Event) -> None:
        """Take an event: for who iterates, and for observers."""
        self._events.append(event)
        if self._wake is not None:
            self._wake.set()
        if self._observers and not isinstance(event, TextDelta):
            self._tell(event)

    def _tell(self, event: Event) -> None:
        if isinstance(event, ToolFinished):
            event = ToolFinished(replace(event.trace, result="", json_result=""))
        for observer in list(self._observers):
            try:
                observer.on(event)
            except Exception as error:  # noqa: BLE001 - an observer is a stranger's code
                self._observers.remove(observer)
                logger.warning("observer %r failed and is not told again: %s", type(observer).__name__, error)

    async def _run(self) -> None:
        try:
            self._job, self._executor = await self._begin(self)
            await self._drive(self._job)
            self._stopped = self._job.stopped or Stopped.NO_ANSWER
        except asyncio.CancelledError:
            self._stopped = Stopped.CANCELLED
            raise
        except ProviderDenied as denied:
            self._stopped, self.error = Stopped.DENIED, denied
        except LockgateError as error:
            self._stopped, self.error = Stopped.FAILED, error
        except (Exception, SystemExit) as error:
            logger.exception("a run failed")
            self._stopped, self.error = Stopped.FAILED, Failure(f"The run failed: {type(error).__name__}: {error}")
        finally:
            if self._stopped is None:
                self._stopped = Stopped.FAILED
            await self._end()

    async def _end(self) -> None:
        """Save, and say that it is over; also after a cancel."""
        try:
            await self._save(self.chat)
        except LockgateError as error:
            self.error = self.error or error
            logger.error("the chat could not be saved: %s", error)
        finally:
            self.emit(RunEnded(self.stopped, self.usage))
