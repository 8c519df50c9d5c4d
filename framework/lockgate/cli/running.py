"""Running a coroutine from a command: Ctrl-C cancels it once, and ends the process the second time."""

import asyncio
import logging
import os
import signal
import sys
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any, TypeVar

T = TypeVar("T")

PATIENCE = 1.0
"""Seconds after which a person who pressed Ctrl-C is told that pressing it again leaves at once."""

CLEAN_UP_DEADLINE = 1.0
"""Seconds that is waited for tasks which are still there in the end."""


class Interrupted(Exception):
    """Ctrl-C was pressed, and what ran was ended."""


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run to the end, or until Ctrl-C. Threads that were left behind are not waited for.

    Raises:
        Interrupted: Ctrl-C was pressed; the work was cancelled and has cleaned up.
    """
    # Without any handler, Python writes warnings to standard error by itself, tracebacks included.
    logging.getLogger().addHandler(logging.NullHandler())
    loop = asyncio.new_event_loop()
    task = loop.create_task(work)
    pressed = False

    def cancel() -> None:
        task.cancel()
        loop.call_later(PATIENCE, _tell_patience)

    def interrupt(*_: object) -> None:
        nonlocal pressed
        if pressed:
            leave_at_once()
        pressed = True
        loop.call_soon_threadsafe(cancel)

    before = signal.signal(signal.SIGINT, interrupt)
    try:
        return loop.run_until_complete(task)
    except asyncio.CancelledError:
        raise Interrupted from None
    finally:
        try:
            _clean_up(loop)
        finally:
            signal.signal(signal.SIGINT, before)
            loop.close()


def _clean_up(loop: asyncio.AbstractEventLoop) -> None:
    left = asyncio.all_tasks(loop)
    for task in left:
        task.cancel()
    if left:
        loop.run_until_complete(asyncio.wait(left, timeout=CLEAN_UP_DEADLINE))
    loop.run_until_complete(loop.shutdown_asyncgens())


def _tell_patience() -> None:
    with suppress(OSError, ValueError):
        sys.stderr.write("Ending what runs. Press Ctrl-C again to leave at once.\n")
        sys.stderr.flush()


def leave_at_once() -> None:
    """End the process now, the cursor shown again: nothing is saved any more."""
    with suppress(OSError, ValueError):
        if os.name == "posix" and sys.stderr.isatty():
            os.write(sys.stderr.fileno(), b"\x1b[?25h\n")
    os._exit(130)
