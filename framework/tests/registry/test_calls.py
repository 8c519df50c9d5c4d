import asyncio
import contextvars
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import lockgate
from lockgate.errors import ArgumentRefused
from lockgate.registry.calls import attempt, describe, guarded_acall, guarded_call
from lockgate.registry.contribution import Owner
from lockgate.registry.incidents import IncidentLog
from lockgate.tools import workers

OWNER = Owner("pack", "1.0", "entry")
_variable: contextvars.ContextVar[str] = contextvars.ContextVar("_variable", default="unset")


@pytest.fixture
def log() -> IncidentLog:
    """An empty log."""
    return IncidentLog()


@pytest.fixture
def never() -> Iterator[threading.Event]:
    """An event nobody sets while the test runs: waiting for it is how a function hangs."""
    event = threading.Event()
    yield event
    event.set()


def _call(log: IncidentLog, function: Any, *args: Any, deadline: float = 5.0, **more: Any) -> Any:
    return guarded_call(OWNER, "it", function, *args, deadline=deadline, fallback="fallback", incidents=log, **more)


async def _acall(log: IncidentLog, function: Any, *args: Any, deadline: float = 5.0, **more: Any) -> Any:
    return await guarded_acall(
        OWNER, "it", function, *args, deadline=deadline, fallback="fallback", incidents=log, **more
    )


def _exits() -> None:
    raise SystemExit(2)


def _refuses() -> None:
    raise ArgumentRefused("no", argument="x")


async def _exits_later() -> None:
    await asyncio.sleep(0)
    raise SystemExit(2)


async def _refuses_later() -> None:
    raise ArgumentRefused("no", argument="x")


class Unspeakable(Exception):
    def __str__(self) -> str:
        raise SystemExit


# --- synchronous ---


def test_a_call_returns_what_the_function_returns(log: IncidentLog) -> None:
    """Value and arguments go through; nothing is written down."""
    assert _call(log, max, 3, 7) == 7
    assert _call(log, lambda: None) is None
    assert log.incidents == ()


def test_a_call_that_raises_returns_the_fallback(log: IncidentLog) -> None:
    """The incident holds owner, what was called, the error and its traceback."""
    assert _call(log, int, "x") == "fallback"
    (incident,) = log.incidents
    assert (incident.owner, incident.what, incident.times) == (OWNER, "it", 1)
    assert incident.error == "ValueError: invalid literal for int() with base 10: 'x'"
    assert "Traceback" in incident.traceback


def test_system_exit_of_a_plugin_is_contained(log: IncidentLog) -> None:
    """A plugin cannot end the program."""
    assert _call(log, _exits) == "fallback"
    assert log.incidents[0].error == "SystemExit: 2"


def test_a_late_call_returns_the_fallback(log: IncidentLog, never: threading.Event) -> None:
    """The deadline is named; the caller goes on."""
    assert _call(log, never.wait, deadline=0.05) == "fallback"
    assert log.incidents[0].error == "TimeoutError: not done after 0.05 s"


def test_a_call_that_is_still_out_is_not_made_again(log: IncidentLog, never: threading.Event) -> None:
    """While one call hangs, the same one costs no further thread; when it came back it is made again."""
    back = threading.Event()
    calls = []

    def hang() -> str:
        calls.append(1)
        never.wait()
        back.set()
        return "done"

    assert _call(log, hang, deadline=0.05) == "fallback"
    assert _call(log, hang, deadline=0.05) == "fallback"
    assert calls == [1]
    assert "still has not come back" in log.incidents[-1].error
    assert guarded_call(OWNER, "another", len, "ab", deadline=5, fallback=0, incidents=log) == 2
    never.set()
    back.wait()
    while log.is_left(OWNER, "it"):  # the thread has a line or two to go
        pass
    assert _call(log, hang) == "done"


def test_errors_of_the_contract_pass(log: IncidentLog) -> None:
    """What a function may raise by its contract reaches the caller and is no incident."""
    with pytest.raises(ArgumentRefused):
        _call(log, _refuses, passes=(ArgumentRefused,))
    assert log.incidents == ()
    assert _call(log, _refuses) == "fallback"


def test_a_keyboard_interrupt_passes(log: IncidentLog) -> None:
    """It is the person's."""

    def interrupted() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        _call(log, interrupted)
    assert log.incidents == ()


def test_the_context_of_the_caller_is_seen_and_not_changed(log: IncidentLog) -> None:
    """Context variables go in, and what the plugin sets stays inside."""
    token = _variable.set("caller")
    try:
        assert _call(log, _variable.get) == "caller"
        _call(log, _variable.set, "plugin")
        assert _variable.get() == "caller"
    finally:
        _variable.reset(token)


def test_threads_are_used_again(log: IncidentLog) -> None:
    """Calls one after the other need one thread, and it is a daemon."""
    threads = {_call(log, threading.current_thread) for _ in range(20)}
    assert len(threads) <= 3  # one as a rule; late ones of other tests may come back meanwhile
    assert all(thread.daemon for thread in threads)


def test_few_idle_threads_are_kept(log: IncidentLog) -> None:
    """A burst of calls leaves no more threads waiting than `MAX_IDLE`."""
    count = workers.MAX_IDLE + 4
    together = threading.Barrier(count)
    callers = [threading.Thread(target=_call, args=(log, together.wait)) for _ in range(count)]
    for thread in callers:
        thread.start()
    for thread in callers:
        thread.join()
    assert log.incidents == ()
    assert len(workers._idle) <= workers.MAX_IDLE


def test_a_function_may_call_through_the_guard_itself(log: IncidentLog) -> None:
    """A guarded call inside a guarded call gets a thread of its own."""
    assert _call(log, lambda: _call(log, lambda: "inner")) == "inner"


def test_no_thread_is_no_crash(log: IncidentLog, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no thread can be started, the fallback is returned and the reason told."""

    def refuse(work: Any) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr("lockgate.registry.calls.run_on_worker", refuse)
    assert _call(log, len, "x") == "fallback"
    assert asyncio.run(_acall(log, len, "x")) == "fallback"
    assert log.incidents[0].error == "RuntimeError: can't start new thread"
    assert log.incidents[0].times == 2


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forking is a matter of POSIX")
def test_a_forked_child_has_its_own_threads(log: IncidentLog) -> None:
    """A child does not wait for idle threads that stayed with its parent."""
    program = (
        "import os\n"
        "from lockgate.registry.calls import attempt\n"
        "assert attempt(len, 'ab', deadline=5).value == 2\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    os._exit(attempt(len, 'abc', deadline=5).value or 99)\n"
        "print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"
    )
    assert _run(program) == "3\n"


def test_an_exception_that_cannot_be_read_is_described() -> None:
    """Hostile messages, long ones and ones with line breaks become one short line."""
    assert describe(Unspeakable()).error == "Unspeakable: (its message cannot be read)"
    assert describe(ValueError("a\nb")).error == "ValueError: a b"
    assert describe(ValueError()).error == "ValueError"
    assert len(describe(ValueError("x" * 9999)).error) == 500


def test_an_attempt_tells_how_it_ended(never: threading.Event) -> None:
    """Value, fault and overrun are told apart."""
    assert attempt(len, "abc", deadline=5).value == 3
    fault = attempt(int, "x", deadline=5).fault
    late = attempt(never.wait, deadline=0.05).fault
    assert fault is not None
    assert not fault.overrun
    assert late is not None
    assert late.overrun


# --- on an event loop ---


async def test_coroutine_functions_are_awaited(log: IncidentLog) -> None:
    """They run on the loop of the caller."""

    async def where(value: int) -> tuple[asyncio.AbstractEventLoop, int]:
        await asyncio.sleep(0)
        return asyncio.get_running_loop(), value

    assert await _acall(log, where, 4) == (asyncio.get_running_loop(), 4)
    assert log.incidents == ()


async def test_objects_with_an_asynchronous_call_run_on_the_loop(log: IncidentLog) -> None:
    """An object whose ``__call__`` is a coroutine function counts as one."""

    class Callable:
        async def __call__(self) -> threading.Thread:
            return threading.current_thread()

    assert await _acall(log, Callable()) is threading.current_thread()


async def test_ordinary_functions_leave_the_loop_free(log: IncidentLog) -> None:
    """They run on a thread while the loop does other work."""
    event = threading.Event()
    waiting = asyncio.create_task(_acall(log, event.wait))
    await asyncio.sleep(0.01)
    assert not waiting.done()
    event.set()
    assert await waiting is True


async def test_what_an_ordinary_function_returns_is_awaited(log: IncidentLog) -> None:
    """A function that returns a coroutine is as good as a coroutine function."""

    async def later() -> str:
        await asyncio.sleep(0)
        return "later"

    assert await _acall(log, lambda *_: later()) == "later"
    assert await _acall(log, lambda *_: _exits_later()) == "fallback"
    assert log.incidents[0].error == "SystemExit: 2"


@pytest.mark.parametrize("function", [_exits, _exits_later])
async def test_system_exit_does_not_end_the_loop(log: IncidentLog, function: Any) -> None:
    """Out of a thread or a task, it is an incident."""
    assert await _acall(log, function) == "fallback"
    assert log.incidents[0].error == "SystemExit: 2"


@pytest.mark.parametrize("function", [_refuses, _refuses_later])
async def test_errors_of_the_contract_pass_on_the_loop(log: IncidentLog, function: Any) -> None:
    """They reach the caller as they were raised."""
    with pytest.raises(ArgumentRefused) as caught:
        await _acall(log, function, passes=(ArgumentRefused,))
    assert caught.value.argument == "x"
    assert log.incidents == ()


async def test_a_late_coroutine_is_cancelled(log: IncidentLog) -> None:
    """One that lets itself be cancelled is over, and may be called again."""
    ended = []

    async def slow() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(1)

    assert await _acall(log, slow, deadline=0.02) == "fallback"
    assert await _acall(log, slow, deadline=0.02) == "fallback"
    assert ended == [1, 1]
    assert [(item.error, item.times) for item in log.incidents] == [("TimeoutError: not done after 0.02 s", 2)]


async def test_the_deadline_covers_both_halves(log: IncidentLog) -> None:
    """A function that returns a coroutine in time and then hangs is late; the whole deadline is named."""
    assert await _acall(log, lambda: asyncio.Event().wait(), deadline=0.05) == "fallback"
    assert log.incidents[0].error == "TimeoutError: not done after 0.05 s"


async def test_a_coroutine_that_swallows_cancellation_is_left_behind(log: IncidentLog) -> None:
    """The caller goes on after the grace, and the same call is answered at once until it ends."""
    release = asyncio.Event()

    async def stubborn() -> str:
        while not release.is_set():
            try:
                await release.wait()
            except asyncio.CancelledError:
                continue
        return "late"

    assert await _acall(log, stubborn, deadline=0.02) == "fallback"
    assert log.is_left(OWNER, "it")
    assert await _acall(log, stubborn, deadline=0.02) == "fallback"
    assert "still has not come back" in log.incidents[-1].error
    release.set()
    while log.is_left(OWNER, "it"):  # noqa: ASYNC110 - the task has no event to wait for
        await asyncio.sleep(0)
    assert await _acall(log, stubborn) == "late"


def test_a_loop_ends_without_what_was_left_behind(log: IncidentLog) -> None:
    """`asyncio.run` waits for no coroutine that never ends, and says nothing of it."""
    program = (
        "import asyncio\n"
        "from lockgate.registry.calls import guarded_acall\n"
        "from lockgate.registry.contribution import Owner\n"
        "from lockgate.registry.incidents import IncidentLog\n"
        "async def stubborn():\n"
        "    while True:\n"
        "        try:\n"
        "            await asyncio.Event().wait()\n"
        "        except asyncio.CancelledError:\n"
        "            pass\n"
        "async def main():\n"
        "    print(await guarded_acall(Owner('p'), 'w', stubborn, deadline=0.05, fallback='fallback',"
        " incidents=IncidentLog()))\n"
        "asyncio.run(main())\n"
        "print('ended')\n"
    )
    assert _run(program) == "fallback\nended\n"


async def test_a_hanging_thread_is_left_behind(log: IncidentLog, never: threading.Event) -> None:
    """The loop goes on after the deadline of a function that never returns."""
    assert await _acall(log, never.wait, deadline=0.05) == "fallback"
    assert log.is_left(OWNER, "it")


async def test_cancelling_the_caller_cancels_the_coroutine(log: IncidentLog) -> None:
    """Cancellation is the caller's: it goes down, comes back up, and is no incident."""
    started, ended = asyncio.Event(), []

    async def slow() -> None:
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(1)

    task = asyncio.create_task(_acall(log, slow))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ended == [1]
    assert log.incidents == ()
    assert not log.is_left(OWNER, "it")


async def test_cancelling_the_caller_leaves_the_thread_behind(log: IncidentLog, never: threading.Event) -> None:
    """A thread cannot be cancelled; the caller does not wait for it."""
    task = asyncio.create_task(_acall(log, never.wait))
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert log.incidents == ()
    assert log.is_left(OWNER, "it")


async def test_a_coroutine_that_comes_too_late_is_closed(log: IncidentLog, never: threading.Event) -> None:
    """A function that returns its coroutine after the deadline leaves nothing that was never awaited."""
    made: list[Any] = []

    def late() -> Any:
        never.wait()
        made.append(_exits_later())
        return made[0]

    assert await _acall(log, late, deadline=0.05) == "fallback"
    never.set()
    while not made or made[0].cr_frame is not None:  # noqa: ASYNC110 - a closed coroutine has no frame
        await asyncio.sleep(0.001)
    assert log.incidents[0].error.startswith("TimeoutError")


async def test_a_coroutine_that_cancels_itself_is_an_incident(log: IncidentLog) -> None:
    """Only the caller's cancellation passes."""

    async def gives_up() -> None:
        raise asyncio.CancelledError

    assert await _acall(log, gives_up) == "fallback"
    assert log.incidents[0].error == "CancelledError: it cancelled itself"


def test_a_loop_that_is_gone_is_not_spoken_to(log: IncidentLog, never: threading.Event) -> None:
    """A function that returns after the loop was closed ends quietly."""
    asyncio.run(_acall(log, never.wait, deadline=0.05))
    assert log.is_left(OWNER, "it")
    never.set()
    while log.is_left(OWNER, "it"):
        pass
    assert _call(log, lambda: "fine") == "fine"


def _run(program: str) -> str:
    """Run a program in a process of its own, which must end by itself and say nothing on its error stream."""
    environment = {**os.environ, "PYTHONPATH": str(Path(lockgate.__file__).parents[1])}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
        env=environment,
    )
    assert done.stderr == ""
    return done.stdout
