"""Awaiting a blocking function that runs on a daemon thread."""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any, ParamSpec, TypeVar

from lockgate.tools.workers import run_on_worker

P = ParamSpec("P")
R = TypeVar("R")


async def run_in_thread(function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Run a blocking function in a daemon thread and await its result.

    A cancelled caller leaves the thread behind; it ends with the function or with the process.

    Raises:
        RuntimeError: No thread can be started, or the function raised StopIteration, which no task can carry.
        BaseException: Whatever the function raised.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[R] = loop.create_future()

    def work() -> Callable[[], None]:
        result: Any = None
        error: BaseException | None = None
        try:
            result = function(*args, **kwargs)
        except StopIteration as stop:
            error = RuntimeError(f"StopIteration left a function: {stop.value!r}")
        except BaseException as caught:  # noqa: BLE001 - everything goes to the caller, SystemExit included
            error = caught
        return partial(_deliver, loop, future, result, error)

    run_on_worker(work)
    return await future


def _deliver(
    loop: asyncio.AbstractEventLoop, future: "asyncio.Future[Any]", result: Any, error: BaseException | None
) -> None:
    try:
        loop.call_soon_threadsafe(_settle, future, result, error)
    except RuntimeError:
        return  # the loop is closed: nobody waits any more


def _settle(future: "asyncio.Future[Any]", result: Any, error: BaseException | None) -> None:
    if future.done():
        return
    if error is not None:
        future.set_exception(error)
    else:
        future.set_result(result)
