"""Running a coroutine from a command: Ctrl-C cancels it once, and ends the process the second time."""

import asyncio
import os
import signal
import sys
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class Interrupted(Exception):
    """Ctrl-C was pressed, and what ran was ended."""


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run to the end, or until Ctrl-C.

    Raises:
        Interrupted: Ctrl-C was pressed; the work was cancelled and has cleaned up.
    """
    loop = asyncio.new_event_loop()
    task = loop.create_task(work)
    pressed = False

    def interrupt(*_: object) -> None:
        nonlocal pressed
        if pressed:
            sys.stdout.flush()
            os._exit(130)
        pressed = True
        loop.call_soon_threadsafe(task.cancel)

    before = signal.signal(signal.SIGINT, interrupt)
    try:
        return loop.run_until_complete(task)
    except asyncio.CancelledError:
        raise Interrupted from None
    finally:
        signal.signal(signal.SIGINT, before)
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()
