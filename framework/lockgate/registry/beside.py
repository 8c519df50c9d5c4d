"""Asking a plugin's coroutine beside the event loop, so that one that never lets go does not hold up everything.

A deadline can end a coroutine that waits, but not one that blocks: ``time.sleep`` in an ``async def`` stops the whole
event loop. The questions asked while a request is prepared therefore run on an event loop of their own, on a daemon
thread. When it stands still, the coroutine that holds it is named, its loop is left behind, and the others are asked
again on a new one.
"""

import asyncio
import os
import threading
from collections.abc import Callable, Coroutine, Generator
from typing import Any

from lockgate.registry.calls import CANCEL_GRACE, guarded_acall
from lockgate.registry.contribution import Owner
from lockgate.registry.incidents import IncidentLog

STALL_GRACE = 0.4
"""Seconds beyond its deadline after which a loop that does not answer counts as standing still."""


class _Beside:
    """An event loop on a daemon thread, and whose step it is running."""

    def __init__(self) -> None:
        self.running: object = None
        self.loop = asyncio.new_event_loop()
        threading.Thread(target=self._run, name="lockgate-questions", daemon=True).start()

    def _run(self) -> None:
        asyncio.set_event_loop(self.loop)
        self.loop.run_forever()
        if left := asyncio.all_tasks(self.loop):
            for task in left:
                task.cancel()
            self.loop.run_until_complete(asyncio.wait(left, timeout=CANCEL_GRACE))
        self.loop.close()

    def retire(self, ended: Callable[[], None]) -> None:
        """Let the loop end as soon as it moves again."""
        self.loop.call_soon_threadsafe(ended)
        self.loop.call_soon_threadsafe(self.loop.stop)


class _Marked:
    """Awaits a coroutine and notes on the loop while one of its steps runs."""

    def __init__(self, inner: Coroutine[Any, Any, Any], beside: _Beside, mark: object) -> None:
        self._inner, self._beside, self._mark = inner, beside, mark

    def __await__(self) -> Generator[Any, Any, Any]:
        value: Any = None
        error: BaseException | None = None
        while True:
            self._beside.running = self._mark
            try:
                waiting = self._inner.send(value) if error is None else self._inner.throw(error)
            except StopIteration as stop:
                return stop.value
            finally:
                self._beside.running = None
            value = error = None
            try:
                value = yield waiting
            except BaseException as thrown:  # noqa: BLE001 - handed into the coroutine, cancellation included
                error = thrown


_lock = threading.Lock()
_current: list[_Beside] = []


def _beside() -> _Beside:
    with _lock:
        if not _current:
            _current.append(_Beside())
        return _current[0]


def _leave(beside: _Beside) -> None:
    with _lock:
        if beside in _current:
            _current.remove(beside)


async def guarded_beside(
    owner: Owner,
    what: str,
    function: Callable[..., Any],
    *args: Any,
    deadline: float,
    fallback: Any,
    incidents: IncidentLog,
) -> Any:
    """Call a function of a plugin, as `guarded_acall` does; a coroutine function runs beside the caller's loop.

    It may therefore not share anything bound to an event loop with `Tool.execute`.
    """
    if not asyncio.iscoroutinefunction(function) or incidents.is_left(owner, what):
        return await guarded_acall(owner, what, function, *args, deadline=deadline, fallback=fallback,
                                   incidents=incidents)  # fmt: skip
    mark, beside = object(), _beside()
    for last in (False, True):

        async def marked(*given: Any, beside: _Beside = beside) -> Any:
            return await _Marked(function(*given), beside, mark)

        asked = guarded_acall(owner, what, marked, *args, deadline=deadline, fallback=fallback, incidents=incidents)
        future = asyncio.wrap_future(asyncio.run_coroutine_threadsafe(asked, beside.loop))
        await asyncio.wait((future,), timeout=deadline + CANCEL_GRACE + STALL_GRACE)
        if future.done():
            return future.result()
        _leave(beside)
        if beside.running is mark or last:
            break
        beside.retire(lambda: None)
        beside = _beside()
    note = incidents.begin(owner, what)
    note.leave()
    beside.retire(note.end)
    incidents.add(owner, what, f"it held up its event loop for more than {deadline:g} seconds")
    return fallback


if hasattr(os, "register_at_fork"):  # there is no fork on Windows
    os.register_at_fork(after_in_child=_current.clear)  # the threads of the parent do not exist in the child
