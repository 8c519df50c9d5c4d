"""Keeps indexes fresh while they are searched: a full update at first, afterwards a look now and then."""

import time
from collections.abc import Callable
from typing import Final

from lockgate.retrieval import Indexable, IndexReport, Progress

LEAST_PAUSE: Final = 5.0
"""Seconds between two looks at the same data source."""

PAUSE_FACTOR: Final = 20.0
"""A look that took long is repeated the later: at most a twentieth of the time goes into looking."""


class Freshness:
    """Remembers when each data source was last brought up to date.

    Args:
        clock: Seconds, for tests.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._next: dict[str, tuple[Indexable, float]] = {}

    async def ensure(
        self, source_id: str, source: Indexable, progress: Progress | None, seconds: float
    ) -> IndexReport | None:
        """Update a data source unless that was done a moment ago.

        Args:
            source_id: Its ID; another object under the same ID counts as another data source.
            source: The data source.
            progress: Told of each document that is read.
            seconds: How long this may take.

        Returns:
            The report, or None when nothing had to be done.

        Raises:
            Failure: It could not be brought up to date.
        """
        begun = self._clock()
        known = self._next.get(source_id)
        if known is not None and known[0] is source and begun < known[1]:
            return None
        report = await source.update(progress, seconds=seconds)
        if report.complete:
            ended = self._clock()
            self._next[source_id] = (source, ended + max(LEAST_PAUSE, PAUSE_FACTOR * (ended - begun)))
        return report
