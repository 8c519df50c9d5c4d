"""The way into a plugin: every call into foreign code has an owner, a deadline and a fallback.

What a plugin raises, even `SystemExit`, is a value here and no exception. Three things pass:
`KeyboardInterrupt`, which is the person at the keyboard; cancellation, which is the caller's; and the errors
that a contract allows.

A call that misses its deadline is left behind: its thread or task goes on alone, and what it brings is
dropped. As long as it does, the same call is answered with its fallback at once, so that threads do not pile
up. What nothing can interrupt is a coroutine that blocks the event loop, and an extension that never lets
other threads run.
"""

import asyncio
import inspect
import traceback
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any, Generic, TypeVar, cast, overload

from lockgate.registry.contribution import Owner
from lockgate.registry.incidents import CallUnderWay, IncidentLog
from lockgate.tools.workers import run_on_worker

CALL_DEADLINE = 5.0
"""Seconds a call into a plugin may take unless its caller says otherwise."""

CANCEL_GRACE = 0.1
"""Seconds a cancelled coroutine has to end before it is left behind."""

T = TypeVar("T")
F = TypeVar("F")
Passes = tuple[type[Exception], ...]

_left_tasks: "set[asyncio.Task[Any]]" = set()  # the event loop itself holds tasks weakly only


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a call brought nothing.

    Attributes:
        error: Type and message of the exception, or that the deadline passed; a line of at most 500
            characters.
        traceback: The last 20,000 characters of the traceback; empty where there was no exception.
        overrun: Whether the deadline passed.
    """

    error: str
    traceback: str = ""
    overrun: bool = False


@dataclass(frozen=True, slots=True)
class Outcome(Generic[T]):
    """What came of a call: a value, a fault, or an exception that is to be raised on the caller's side."""

    value: T | None = None
    fault: Fault | None = None
    passed: BaseException | None = None


def describe(error: BaseException) -> Fault:
    """Make text of an exception. It runs the exception's own code, so call it where a deadline still holds."""
    try:
        message = " ".join(str(error).split())
    except BaseException:  # noqa: BLE001 - a stranger's __str__ may raise anything
        message = "(its message cannot be read)"
    line = f"{type(error).__name__}: {message}" if message else type(error).__name__
    try:
        trace = "".join(traceback.format_exception(error))
    except BaseException:  # noqa: BLE001 - formatting runs the stranger's code, too
        trace = ""
    return Fault(line if len(line) <= 500 else f"{line[:497]}...", trace[-20_000:])


def attempt(
    function: Callable[..., T],
    *args: Any,
    deadline: float,
    passes: Passes = (),
    note: CallUnderWay | None = None,
) -> Outcome[T]:
    """Call a synchronous function on a daemon thread and wait for it.

    Args:
        function: Foreign code.
        args: Its arguments.
        deadline: Seconds to wait.
        passes: Exceptions the contract of the function allows.
        note: Told when the call is left behind, and when it is over.

    Raises:
        KeyboardInterrupt: From the keyboard, or raised by the function.
    """
    box: SimpleQueue[Outcome[T]] = SimpleQueue()

    def work() -> Callable[[], None]:
        outcome = _run(function, args, passes)
        if note is not None:
            note.end()
        return partial(box.put, outcome)

    try:
        run_on_worker(work)
        outcome = box.get(timeout=deadline)
    except Empty:
        if note is not None:
            note.leave()
        return Outcome(fault=_overrun(deadline))
    except RuntimeError as error:  # the interpreter is shutting down
        return Outcome(fault=describe(error))
    if isinstance(outcome.passed, KeyboardInterrupt):
        raise outcome.passed
    return outcome


def guarded_call(
    owner: Owner,
    what: str,
    function: Callable[..., T],
    *args: Any,
    deadline: float,
    fallback: F,
    incidents: IncidentLog,
    passes: Passes = (),
) -> T | F:
    """Call a synchronous function of a plugin. Blocks the thread; on an event loop use `guarded_acall`.

    Args:
        owner: Whose code it is.
        what: What is called, such as ``is_available of my_tool``; also the key of calls that were left
            behind.
        function: Foreign code.
        args: Its arguments.
        deadline: Seconds to wait.
        fallback: What is returned when the call raises or is late.
        incidents: Where a failure is written.
        passes: Exceptions the contract of the function allows; they reach the caller.
    """
    if incidents.is_left(owner, what):
        incidents.add(owner, what, *_busy())
        return fallback
    outcome = attempt(function, *args, deadline=deadline, passes=passes, note=incidents.begin(owner, what))
    return _settle(outcome, owner, what, fallback, incidents)


@overload
async def guarded_acall(
    owner: Owner,
    what: str,
    function: Callable[..., Awaitable[T]],
    *args: Any,
    deadline: float,
    fallback: F,
    incidents: IncidentLog,
    passes: Passes = (),
) -> T | F: ...


@overload
async def guarded_acall(
    owner: Owner,
    what: str,
    function: Callable[..., T],
    *args: Any,
    deadline: float,
    fallback: F,
    incidents: IncidentLog,
    passes: Passes = (),
) -> T | F: ...


async def guarded_acall(
    owner: Owner,
    what: str,
    function: Callable[..., Any],
    *args: Any,
    deadline: float,
    fallback: Any,
    incidents: IncidentLog,
    passes: Passes = (),
) -> Any:
    """Call a function of a plugin without holding up the event loop.

    A coroutine function runs as a task of its own; one that holds on to its cancellation is left behind after
    `CANCEL_GRACE`. Any other function runs on a daemon thread, and what it returns is awaited if it can be.
    Arguments as for `guarded_call`.
    """
    if incidents.is_left(owner, what):
        incidents.add(owner, what, *_busy())
        return fallback
    loop = asyncio.get_running_loop()
    ends = loop.time() + deadline
    note = incidents.begin(owner, what)
    outcome: Outcome[Any]
    if _is_async(function):
        outcome = await _in_task(_await(function, args, passes), deadline, note)
    else:
        outcome = await _on_thread(function, args, passes, deadline, note)
        if inspect.isawaitable(outcome.value):
            rest, note = outcome.value, incidents.begin(owner, what)
            outcome = await _in_task(_await(lambda: rest, (), passes), max(0.0, ends - loop.time()), note)
    if outcome.fault is not None and outcome.fault.overrun:
        outcome = Outcome(fault=_overrun(deadline))
    return _settle(outcome, owner, what, fallback, incidents)


def _settle(outcome: Outcome[T], owner: Owner, what: str, fallback: F, incidents: IncidentLog) -> T | F:
    if outcome.passed is not None:
        raise outcome.passed
    if outcome.fault is None:
        return cast("T", outcome.value)
    incidents.add(owner, what, outcome.fault.error, outcome.fault.traceback)
    return fallback


def _run(function: Callable[..., T], args: tuple[Any, ...], passes: Passes) -> Outcome[T]:
    try:
        return Outcome(function(*args))
    except passes as error:
        return Outcome(passed=error)
    except KeyboardInterrupt as error:
        return Outcome(passed=error)
    except BaseException as error:  # noqa: BLE001 - SystemExit of a plugin is the plugin's
        return Outcome(fault=describe(error))


async def _await(function: Callable[..., Awaitable[T]], args: tuple[Any, ...], passes: Passes) -> Outcome[T]:
    """Await foreign code and make a value of what it raises: SystemExit out of a task ends the whole loop."""
    try:
        return Outcome(await function(*args))
    except passes as error:
        return Outcome(passed=error)
    except (asyncio.CancelledError, KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as error:  # noqa: BLE001 - as above
        return Outcome(fault=describe(error))


async def _in_task(call: Coroutine[Any, Any, Outcome[T]], deadline: float, note: CallUnderWay) -> Outcome[T]:
    task = asyncio.create_task(call)
    task.add_done_callback(lambda _: note.end())
    try:
        await asyncio.wait((task,), timeout=deadline)
        late = not task.done()
    finally:  # also when the caller is cancelled
        if not task.done():
            await _cancel(task, note)
    if late:
        return Outcome(fault=_overrun(deadline))
    if task.cancelled():
        return Outcome(fault=Fault("CancelledError: it cancelled itself"))
    return task.result()


async def _cancel(task: "asyncio.Task[Outcome[T]]", note: CallUnderWay) -> None:
    task.cancel()
    try:
        await asyncio.wait((task,), timeout=CANCEL_GRACE)
    finally:
        if not task.done():
            note.leave()
            leave_behind(task)


def leave_behind(task: "asyncio.Task[Any]") -> None:
    """Let go of a task that holds on to its cancellation. `asyncio.run` would wait for it for ever."""
    _left_tasks.difference_update([other for other in _left_tasks if other.get_loop().is_closed()])
    _left_tasks.add(task)
    task.add_done_callback(_left_tasks.discard)
    asyncio.tasks._unregister_task(task)  # noqa: SLF001 - documented for those who keep their own tasks
    task._log_destroy_pending = False  # type: ignore[attr-defined]  # noqa: SLF001 - it is an incident


async def _on_thread(
    function: Callable[..., T], args: tuple[Any, ...], passes: Passes, deadline: float, note: CallUnderWay
) -> Outcome[T]:
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Outcome[T]] = loop.create_future()

    def work() -> Callable[[], None]:
        outcome = _run(function, args, passes)
        note.end()
        return partial(_send, loop, future, outcome)

    try:
        run_on_worker(work)
    except RuntimeError as error:
        return Outcome(fault=describe(error))
    try:
        await asyncio.wait((future,), timeout=deadline)
        return future.result() if future.done() else Outcome(fault=_overrun(deadline))
    finally:
        if not future.done():  # late, or the caller is cancelled
            note.leave()
            future.cancel()


def _send(loop: asyncio.AbstractEventLoop, future: "asyncio.Future[Outcome[T]]", outcome: Outcome[T]) -> None:
    try:
        loop.call_soon_threadsafe(_hand_over, future, outcome)
    except RuntimeError:  # the loop is closed: nobody waits any more
        _drop(outcome)


def _hand_over(future: "asyncio.Future[Outcome[T]]", outcome: Outcome[T]) -> None:
    if future.done():
        _drop(outcome)
    else:
        future.set_result(outcome)


def _drop(outcome: Outcome[Any]) -> None:
    """Close a coroutine that came too late, so that nobody is warned of one never awaited."""
    if inspect.iscoroutine(outcome.value):
        outcome.value.close()


def _is_async(function: Callable[..., Any]) -> bool:
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
        getattr(type(function), "__call__", None)  # noqa: B004 - objects can be called with await, too
    )


def _overrun(deadline: float) -> Fault:
    return Fault(f"TimeoutError: not done after {deadline:g} s", overrun=True)


def _busy() -> tuple[str, str]:
    return "TimeoutError: an earlier call that was late still has not come back", ""
