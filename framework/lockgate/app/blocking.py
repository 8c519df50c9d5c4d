"""The synchronous door: one background thread with one event loop per ``Lockgate``."""

import asyncio
import threading
from collections.abc import Coroutine, Iterator
from queue import SimpleQueue
from typing import Any, Self, TypeVar

from lockgate.app.lockgate import Lockgate
from lockgate.calling.events import Event
from lockgate.calling.run import Run
from lockgate.chat.values import ChatThread

T = TypeVar("T")


class BlockingLockgate:
    """A ``Lockgate`` for programs without an event loop: ``with BlockingLockgate(Lockgate(…)) as gate:``.

    May be used from several threads. What runs is cancelled when the block is left.

    Args:
        gate: The ``Lockgate``, not entered.
    """

    def __init__(self, gate: Lockgate) -> None:
        self.gate = gate
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._serve, name="lockgate-loop", daemon=True)

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()

    def __enter__(self) -> Self:
        """Start the thread, find plugins and put everything together."""
        self._thread.start()
        try:
            self._call(self.gate.__aenter__())
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(self, *exception: object) -> None:
        """End what still runs, release everything, and end the thread."""
        try:
            self._call(self.gate.__aexit__(*exception))
        finally:
            self._stop()

    def _stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        self._loop.close()

    def _call(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def ask(self, chat: ChatThread | None, text: str, **options: Any) -> Run:
        """Ask a question and wait for the answer.

        Args:
            chat: The chat so far; a new one when None.
            text: The user's message.
            options: As in `Lockgate.ask`.

        Returns:
            The run, ended: its text, chat, sources and traces can be read.

        Raises:
            LockgateError: As `Lockgate.ask` and the run raise it.
        """

        async def answered() -> Run:
            async with self.gate.ask(chat, text, **options) as run:
                return await run.wait()

        return self._call(answered())

    def events(self, chat: ChatThread | None, text: str, **options: Any) -> Iterator[Event]:
        """Ask a question and yield what happens; leaving the iteration early cancels the run.

        Raises:
            LockgateError: As in `ask`, after the last event.
        """
        queue: SimpleQueue[Event | BaseException | None] = SimpleQueue()

        async def told() -> None:
            try:
                async with self.gate.ask(chat, text, **options) as run:
                    async for event in run:
                        queue.put(event)
                queue.put(None)
            except BaseException as error:
                queue.put(error)
                raise

        future = asyncio.run_coroutine_threadsafe(told(), self._loop)
        try:
            while (item := queue.get()) is not None:
                if isinstance(item, BaseException):
                    raise item
                yield item
        finally:
            future.cancel()
