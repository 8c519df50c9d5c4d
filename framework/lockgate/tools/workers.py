"""Daemon threads that are used again and may be left behind.

A function that hangs must neither hold up its caller nor keep the process alive. Python waits at exit for the
threads of `concurrent.futures`, so a stranger's code never runs on them.
"""

import contextvars
import os
import threading
from collections.abc import Callable
from queue import SimpleQueue

MAX_IDLE = 8
"""How many threads are kept for the next call; more than that end when their work is done."""

Work = Callable[[], Callable[[], None]]

_idle: "list[_Worker]" = []


class _Worker(threading.Thread):
    """One thread and the calls handed to it, one after the other."""

    def __init__(self) -> None:
        super().__init__(name="lockgate-worker", daemon=True)
        self.inbox: SimpleQueue[tuple[contextvars.Context, Work]] = SimpleQueue()

    def run(self) -> None:
        kept = True
        while kept:
            context, work = self.inbox.get()
            deliver = context.run(work)
            kept = len(_idle) < MAX_IDLE
            if kept:
                _idle.append(self)  # before the result is known, so that the next call finds this thread
            deliver()
            del context, work, deliver  # an idle thread holds nothing of the last call


def run_on_worker(work: Work) -> None:
    """Start `work` on a daemon thread, in a copy of the caller's context variables, and return at once.

    Args:
        work: Does the work and returns what hands its result on, a function that is quick. Neither may raise.

    Raises:
        RuntimeError: No thread can be started, because the interpreter is shutting down for example.
    """
    try:
        worker = _idle.pop()
    except IndexError:
        worker = _Worker()
        worker.start()
    worker.inbox.put((contextvars.copy_context(), work))


if hasattr(os, "register_at_fork"):  # there is no fork on Windows
    os.register_at_fork(after_in_child=_idle.clear)  # the threads of the parent do not exist in the child
