"""The filter as one action uses it: batches in, one report out."""

import asyncio
import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING, Final

from lockgate.guard.findings import GuardReport, Sanitized, SourceReport
from lockgate.guard.sources import GuardSource, GuardText

if TYPE_CHECKING:
    from lockgate.guard.guard import Guard

THREAD_FROM: Final = 20_000
"""Characters in a batch from which it is filtered in a thread, so that other chats go on."""

_log = logging.getLogger(__name__)


class GuardScope:
    """What one action, such as one tool call, filters and has to tell.

    Texts of one source are reported together, and the whole action once. Safe to use from several threads.
    """

    def __init__(self, guard: "Guard", on_report: Callable[[GuardReport], None] | None = None) -> None:
        """Open a scope; ``Guard.scope`` is the usual way.

        Args:
            guard: The filter.
            on_report: Told of what was found, once when the outermost action closes.
        """
        self._guard = guard
        self._on_report = on_report
        self._reports: dict[GuardSource, SourceReport] = {}
        self._depth = 0
        self._lock = Lock()

    async def clean(self, texts: Sequence[GuardText]) -> tuple[str, ...]:
        """Filter the texts of a call in one batch.

        Long batches run in a thread. A filter that fails leaves a text unchanged and marks its source; nothing is
        raised but cancellation.

        Args:
            texts: What the model will read, already cut to that; fields of one page share one source.

        Returns:
            The filtered texts, as many and in the same order; blank ones as they were.
        """
        texts = tuple(texts)
        if sum(len(item.text) for item in texts) > THREAD_FROM:
            outcomes = await asyncio.to_thread(self._filter, texts)
        else:
            outcomes = self._filter(texts)
        return self._record(texts, outcomes)

    def clean_now(self, texts: Sequence[GuardText]) -> tuple[str, ...]:
        """Filter short texts at once, as ``clean`` does, for callers that cannot wait."""
        texts = tuple(texts)
        return self._record(texts, self._filter(texts))

    @contextmanager
    def begin_action(self) -> Iterator[None]:
        """Group everything filtered inside into one report, told when the outermost action closes."""
        with self._lock:
            self._depth += 1
        try:
            yield
        finally:
            with self._lock:
                self._depth -= 1
            self._tell()

    def report(self) -> GuardReport:
        """Everything so far, grouped by source in the order of arrival."""
        with self._lock:
            return GuardReport.of(self._reports.values())

    def take_report(self) -> GuardReport:
        """Everything so far, which is thereby told and not reported again."""
        with self._lock:
            report = GuardReport.of(self._reports.values())
            self._reports.clear()
            return report

    def _filter(self, texts: tuple[GuardText, ...]) -> list[Sanitized | None]:
        return [self._filter_one(item.text) for item in texts]

    def _filter_one(self, text: str) -> Sanitized | None:
        """The outcome for one text; None when the filter failed on it."""
        try:
            return self._guard.sanitize(text)
        except Exception as error:  # noqa: BLE001 (a best-effort check must not cost the user the work)
            # The message of an error may quote the text, which belongs to the user; its type does not.
            _log.error("The content filter failed (%s); a text was passed on unchanged.", type(error).__name__)
            return None

    def _record(self, texts: tuple[GuardText, ...], outcomes: list[Sanitized | None]) -> tuple[str, ...]:
        with self._lock:
            for item, outcome in zip(texts, outcomes, strict=True):
                report = self._reports.get(item.source) or SourceReport(item.source)
                self._reports[item.source] = report.mark_failed() if outcome is None else report.join(outcome)
        self._tell()
        return tuple(
            item.text if outcome is None else outcome.text for item, outcome in zip(texts, outcomes, strict=True)
        )

    def _tell(self) -> None:
        """Hand the report to the listener, unless an action is still open."""
        if self._on_report is None or self._depth:
            return
        report = self.take_report()
        if not report:
            return
        try:
            self._on_report(report)
        except Exception as error:  # noqa: BLE001 (telling the user must not cost the call its result)
            _log.error("Telling of the content filter's findings failed (%s).", type(error).__name__)
