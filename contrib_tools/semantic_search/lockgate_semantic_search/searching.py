"""One search over several data sources: in parallel, each failing on its own."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from lockgate import LockgateError
from lockgate.retrieval import DataSource, Gap, Indexable, Progress, RetrievalPage
from lockgate_semantic_search.freshness import Freshness

UPDATE_SECONDS: Final = 60.0
"""How long a search waits for an index to be brought up to date; what is missing then is said."""

PROGRESS_EVERY: Final = 200
"""Documents between two lines of progress."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of searching one data source."""

    source: DataSource
    page: RetrievalPage


async def search_all(
    sources: Sequence[DataSource], query: str, page: int, freshness: Freshness, emit: Callable[[str], None]
) -> list[Outcome]:
    """Search data sources in parallel. One that fails comes back as not searched.

    Args:
        sources: Where to search.
        query: What for.
        page: Which page, in the range of each source.
        freshness: Whether an index has to be brought up to date first.
        emit: Tells the person.
    """
    searches = (_search(source, query, page, freshness, emit) for source in sources)
    pages = await asyncio.gather(*searches)
    return [Outcome(source, found) for source, found in zip(sources, pages, strict=True)]


async def _search(
    source: DataSource, query: str, page: int, freshness: Freshness, emit: Callable[[str], None]
) -> RetrievalPage:
    gaps: list[Gap] = []
    try:
        if isinstance(source, Indexable):
            report = await freshness.ensure(source.id, source, _progress(source, emit), UPDATE_SECONDS)
            for notice in report.notices if report else ():
                emit(f"{source.name}: {notice}")
            if report is not None and not report.complete:
                gaps.append(Gap.PARTLY_SEARCHED)
                emit(f"{source.name}: not all documents are in the index yet; the next search goes on with it.")
        found = await source.retrieve(query, page)
    except Exception as error:  # noqa: BLE001 -- a data source is somebody's code; the others have to answer
        # The words of a foreign error may hold content; ours were chosen to be shown.
        reason = str(error) if isinstance(error, LockgateError) else type(error).__name__
        _log.warning("The data source %r could not be searched (%s).", source.id, type(error).__name__)
        emit(f"{source.name} could not be searched: {reason}")
        return RetrievalPage((), gaps=(Gap.NOT_SEARCHED,))
    return RetrievalPage(found.passages, found.has_more, tuple(dict.fromkeys((*gaps, *found.gaps))))


def _progress(source: DataSource, emit: Callable[[str], None]) -> Progress:
    def tell(done: int, total: int, _name: str) -> None:
        if done % PROGRESS_EVERY == 0:
            emit(f"{source.name}: {done} of {total} documents read")

    return tell
