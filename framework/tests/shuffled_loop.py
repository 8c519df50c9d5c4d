"""An event loop that runs what is ready in a random order, by a clock of its own: every interleaving, at no wait.

asyncio runs what is ready first come, first served, and code that relies on it by accident passes every test. Here
the order is drawn anew at each turn. It is the same for the same seed, as long as no thread takes part: a test that
uses this loop calls `no_threads`.
"""

import asyncio
import contextvars
import os
import random
import selectors
from collections import deque
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

import pytest

T = TypeVar("T")

SEED_VARIABLE = "LOCKGATE_SEED"
"""Environment variable that picks another seed."""


def seed_of_this_run() -> int:
    """Return the seed: a fixed one, unless the environment names another."""
    return int(os.environ.get(SEED_VARIABLE, "20260301"))


TURN = 0.001
"""Seconds by which the clock moves at each turn, so that somebody who is always busy does not stop it."""


class _NoWait(selectors.BaseSelector):
    """Never sleeps: where the loop would wait for a timer, the loop's own clock is moved instead."""

    def __init__(self, moved: Callable[[float], None]) -> None:
        self._real = selectors.DefaultSelector()
        self._moved = moved

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        found = self._real.select(0 if timeout is not None else None)
        if timeout and not found:
            self._moved(timeout)
        return found

    def register(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        return self._real.register(fileobj, events, data)

    def unregister(self, fileobj: Any) -> selectors.SelectorKey:
        return self._real.unregister(fileobj)

    def get_map(self) -> Any:
        return self._real.get_map()

    def close(self) -> None:
        self._real.close()


class ShuffledLoop(asyncio.SelectorEventLoop):
    """An event loop whose ready queue is shuffled at each turn.

    Args:
        seed: Decides every order.

    Attributes:
        turns: How often the queue was shuffled.
        widest: The most that was ready at once.
    """

    def __init__(self, seed: int) -> None:
        self._now = 0.0
        super().__init__(_NoWait(self._move))
        self._random = random.Random(seed)  # noqa: S311 - an order, no secret
        self.turns = self.widest = 0

    def time(self) -> float:
        """Return the loop's own time, in seconds since it was made."""
        return self._now

    def _move(self, seconds: float) -> None:
        self._now += seconds

    def _run_once(self) -> None:
        self._now += TURN
        ready: deque[asyncio.Handle] = self._ready  # type: ignore[attr-defined] # an inner name of asyncio
        if len(ready) > 1:
            order = list(ready)
            self._random.shuffle(order)
            ready.clear()
            ready.extend(order)
            self.turns += 1
            self.widest = max(self.widest, len(order))
        super()._run_once()  # type: ignore[misc] # also a private method


def run_shuffled(main: Coroutine[Any, Any, T], seed: int) -> tuple[T, ShuffledLoop]:
    """Run a coroutine on a shuffled loop; return its result, and the loop for what it counted."""
    loops: list[ShuffledLoop] = []

    def new_loop() -> ShuffledLoop:
        loops.append(ShuffledLoop(seed))
        return loops[-1]

    with asyncio.Runner(loop_factory=new_loop) as runner:
        return runner.run(main), loops[0]


def no_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the framework's blocking work run in place, so that the order depends on the seed alone."""

    def in_place(work: Callable[[], Callable[[], None]]) -> None:
        contextvars.copy_context().run(work)()

    for module in ("lockgate.tools.threads", "lockgate.registry.calls"):
        monkeypatch.setattr(f"{module}.run_on_worker", in_place)
