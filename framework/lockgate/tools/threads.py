"""Running blocking functions in daemon threads, so that one left behind never keeps the process alive."""

import asyncio
import contextvars
import threading
from collections import deque
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

_Job = tuple[asyncio.AbstractEventLoop, "asyncio.Future[Any]", Callable[[], Any]]


class _Worker:
    """One daemon thread that does one job after the other and then offers itself again."""

    def __init__(self) -> None:
        self._ready = threading.Semaphore(0)
        self._job: _Job | None = None
        threading.Thread(target=self._work, name="lockgate-worker", daemon=True).start()

    def take(self, job: _Job) -> None:
        self._job = job
        self._ready.release()

    def _work(self) -> None:
        while True:
            self._ready.acquire()
            job, self._job = self._job, None
            if job is not None:
                _do(*job)
            del job
            if len(_idle) >= _MOST_IDLE:
                return
            _idle.append(self)


_idle: deque[_Worker] = deque()
_MOST_IDLE = 8


def _do(loop: asyncio.AbstractEventLoop, future: "asyncio.Future[Any]", function: Callable[[], Any]) -> None:
    result: Any = None
    error: BaseException | None = None
    try:
        result = function()
    except StopIteration as stop:
        error = RuntimeError(f"StopIteration left a function: {stop.value!r}")
    except BaseException as caught:  # noqa: BLE001 - everything goes to the caller, SystemExit included
        error = caught
    try:
        loop.call_soon_threadsafe(_settle, future, result, error)
    except RuntimeError:
        return  # the loop is closed: nobody waits any more


def _settle(future: "asyncio.Future[Any]", result: Any, error: BaseException | None) -> None:
    if future.cancelled():
        return
    if error is not None:
        future.set_exception(error)
    else:
        future.set_result(result)


async def run_in_thread(function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Run a blocking function in a daemon thread and await its result.

    A cancelled caller leaves the thread behind; it ends with the function or with the process.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[R] = loop.create_future()
    context = contextvars.copy_context()
    try:
        worker = _idle.pop()
    except IndexError:
        worker = _Worker()
    worker.take((loop, future, lambda: context.run(function, *args, **kwargs)))
    return await future
