"""A run: one question being answered. What it holds is right at any moment, also after a cancel or a failure."""

import asyncio
import logging
import threading
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Protocol, Self

from lockgate.calling.events import ContentFiltered, Event, RunEnded, TextDelta, ToolFinished, ToolProgress, ToolStarted
from lockgate.calling.executor import Executor
from lockgate.calling.job import Job, Stopped
from lockgate.chat.values import ChatThread, Message, Role, Source, ToolTrace, Usage, new_message_id
from lockgate.errors import Failure, LockgateError, ProviderDenied, StorageError
from lockgate.guard import GuardReport
from lockgate.registry.calls import describe

logger = logging.getLogger("lockgate.calling")


class Observer(Protocol):
    """Is told what happens in runs, less all content: texts, arguments, results, reasons. Who raises is dropped."""

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
        self._answer_id = new_message_id()  # the answer is one turn, however often it is saved while it grows
        self._begin, self._drive, self._save = begin, drive, save
        self._observers = list(observers)
        self._events: deque[Event] = deque()
        self._wake: asyncio.Event | None = None
        self._task: asyncio.Task[None] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = 0
        self._cancelled = False
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
        """The chat as of now: the question, the answer so far, and what the chat demands.

        It is what this run was asked about. Turns that others stored meanwhile are in the store, not here.
        """
        chat = self._executor.chat if self._executor else self._chat
        if self.text or self.traces:
            complete = self._stopped in (Stopped.ANSWERED, Stopped.LIMIT)
            chat = chat.with_message(Message(
                Role.ASSISTANT, self.text, (), self.sources, self.traces, partial=not complete, id=self._answer_id
            ))  # fmt: skip
        return chat

    # Running

    async def __aenter__(self) -> Self:
        """Begin to answer.

        Raises:
            RuntimeError: The run was entered before; every question needs a run of its own.
        """
        if self._task is not None:
            raise RuntimeError("A run can be entered once: ask again for another one.")
        self._wake = wake = asyncio.Event()
        self._loop, self._thread = asyncio.get_running_loop(), threading.get_ident()
        self._task = asyncio.create_task(self._run(), name="lockgate-run")
        self._task.add_done_callback(lambda _: wake.set())
        return self

    async def __aexit__(self, *exception: object) -> None:
        """Cancel what still runs and wait for it."""
        await self.cancel()

    async def cancel(self) -> None:
        """End the run now. Text, sources and traces so far stay, and the chat is saved."""
        task = self._task
        if task is None:
            return
        if self._stopped is None and not self._cancelled:  # once: what ends already is to be saved in peace
            self._cancelled = True
            task.cancel()
        await asyncio.wait((task,))
        if self._stopped is None:  # it was cancelled before its first step
            self._stopped = Stopped.CANCELLED
            await self._end()

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
        """Take an event: for who iterates, and for observers. May be called from a tool's thread."""
        if self._loop is not None and threading.get_ident() != self._thread:
            try:
                self._loop.call_soon_threadsafe(self._emit_late, event)
            except RuntimeError:
                return  # the loop is closed: nobody listens any more
            return
        self._events.append(event)
        if self._wake is not None:
            self._wake.set()
        if self._observers and not isinstance(event, TextDelta):
            self._tell(event)

    def _emit_late(self, event: Event) -> None:
        if self._stopped is None:
            self.emit(event)

    def _tell(self, event: Event) -> None:
        if isinstance(event, ToolStarted):
            event = replace(event, arguments=())
        elif isinstance(event, ToolFinished):
            event = ToolFinished(replace(event.trace, arguments={}, result="", json_result="", status_message=""))
        elif isinstance(event, ToolProgress):
            event = replace(event, text="")
        elif isinstance(event, ContentFiltered):
            event = replace(event, report=_without_quotations(event.report))
        for observer in list(self._observers):
            try:
                observer.on(event)
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # noqa: BLE001 - an observer is a stranger's code
                self._observers.remove(observer)
                name = type(observer).__name__
                logger.warning("observer %r failed and is not told again: %s", name, describe(error).error)

    async def _run(self) -> None:
        try:
            self._job, self._executor = await self._begin(self)
            await self._drive(self._job)
            self._stopped = self._job.stopped or Stopped.NO_ANSWER
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                self._stopped = Stopped.CANCELLED
                raise
            self._stopped, self.error = Stopped.FAILED, Failure("The run failed: a part of it cancelled itself.")
        except ProviderDenied as denied:
            self._stopped, self.error = Stopped.DENIED, denied
        except LockgateError as error:
            self._stopped, self.error = Stopped.FAILED, error
        except BaseException as error:  # adapters and loops are strangers' code, too
            fault = describe(error)
            self._stopped, self.error = Stopped.FAILED, Failure(f"The run failed: {fault.error}")
            if isinstance(error, KeyboardInterrupt):
                raise
            logger.error("a run failed: %s\n%s", fault.error, fault.traceback)
        finally:
            await self._end()

    async def _end(self) -> None:
        """Save, and say that it is over; also after a cancel."""
        try:
            await self._save(self.chat)
        except LockgateError as error:
            self.error = self.error or error
            logger.error("the chat could not be saved: %s", error)
        except BaseException as error:  # a store is replaceable, and may raise what it likes
            task = asyncio.current_task()
            cancelled = isinstance(error, asyncio.CancelledError) and task is not None and task.cancelling()
            if isinstance(error, KeyboardInterrupt) or cancelled:
                raise
            fault = describe(error)
            self.error = self.error or StorageError(f"The chat could not be saved: {fault.error}")
            logger.error("the chat could not be saved: %s\n%s", fault.error, fault.traceback)
        finally:
            if self._job is not None:
                await self._job.close()
            self.emit(RunEnded(self.stopped, self.usage))


def _without_quotations(report: GuardReport) -> GuardReport:
    """Return a report that says what was found and where, without pieces of the text."""
    return GuardReport(tuple(
        replace(source, findings=tuple(replace(finding, snippet="") for finding in source.findings))
        for source in report.sources
    ))  # fmt: skip
