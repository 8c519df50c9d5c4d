"""Passages: what a search of data sources brings, how it is shown and paged, and who brings it."""

from lockgate.retrieval.budget import Turns, take_turns
from lockgate.retrieval.contracts import (
    DataSource,
    Embedder,
    Gap,
    Indexable,
    IndexReport,
    Progress,
    RetrievalPage,
)
from lockgate.retrieval.paging import MAX_RESULT_WINDOW, PageOutOfRange, check_page, has_more, last_page, window
from lockgate.retrieval.passages import Passage, PassageCategory, PassageType, as_markdown, passage_type_of, to_sources
from lockgate.retrieval.stores import (
    Hit,
    IndexCounts,
    PassageStore,
    PassageStoreFactory,
    StoredDocument,
    StoredPassage,
    StoreRebuilt,
)

__all__ = [
    "MAX_RESULT_WINDOW",
    "DataSource",
    "Embedder",
    "Gap",
    "Hit",
    "IndexCounts",
    "IndexReport",
    "Indexable",
    "PageOutOfRange",
    "Passage",
    "PassageCategory",
    "PassageStore",
    "PassageStoreFactory",
    "PassageType",
    "Progress",
    "RetrievalPage",
    "StoreRebuilt",
    "StoredDocument",
    "StoredPassage",
    "Turns",
    "as_markdown",
    "check_page",
    "has_more",
    "last_page",
    "passage_type_of",
    "take_turns",
    "to_sources",
    "window",
]
