"""What data sources and embedders have to offer. Protocols: nobody has to inherit from anything here."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Protocol, runtime_checkable

from lockgate.policy import ConfidenceLevel, DataSourceSecurity, ProviderStanding
from lockgate.retrieval.passages import Passage


class Gap(Enum):
    """What a search could not do. Told to the model, so that silence is not taken for finding nothing."""

    NOT_SEARCHED = "NOT_SEARCHED"
    PARTLY_SEARCHED = "PARTLY_SEARCHED"
    QUERY_NOT_SEARCHABLE = "QUERY_NOT_SEARCHABLE"


@dataclass(frozen=True, slots=True)
class RetrievalPage:
    """One page of a search in one data source.

    Attributes:
        passages: The passages of the page, best first.
        has_more: The next page may be asked for and has something.
        gaps: What could not be searched; empty when all was.
    """

    passages: tuple[Passage, ...]
    has_more: bool = False
    gaps: tuple[Gap, ...] = ()


@runtime_checkable
class DataSource(Protocol):
    """Something a chat can be given to search in.

    Attributes:
        id: Unique among the data sources.
        name: What people call it.
        kind_label: Its kind in a word or two for the model, such as ``local folder``.
        description: What it holds, for the model.
        max_matches: Passages of a page; 0 keeps the source out of searches.
        confidence: The least level a provider needs to see its content.
        security: Whether only self-hosted providers may see it; NOT_SPECIFIED admits none.
    """

    @property
    def id(self) -> str:
        """Unique among the data sources."""

    @property
    def name(self) -> str:
        """What people call it."""

    @property
    def kind_label(self) -> str:
        """Its kind in a word or two for the model."""

    @property
    def description(self) -> str:
        """What it holds, for the model."""

    @property
    def max_matches(self) -> int:
        """Passages of a page; 0 keeps the source out of searches."""

    @property
    def confidence(self) -> ConfidenceLevel:
        """The least level a provider needs to see its content."""

    @property
    def security(self) -> DataSourceSecurity:
        """Whether only self-hosted providers may see it; NOT_SPECIFIED admits none."""

    async def retrieve(self, query: str, page: int) -> RetrievalPage:
        """Search.

        Args:
            query: What to look for, one line.
            page: From 1 to the last page of `max_matches`.

        Raises:
            PageOutOfRange: The page is not in that range.
            Failure: Nothing could be searched.
        """


Progress = Callable[[int, int, str], None]
"""Told of an update: documents done, documents there are to do, the name of the one just done."""


@dataclass(frozen=True, slots=True)
class IndexReport:
    """What an update of an index came to.

    Attributes:
        documents: Documents in the index now.
        passages: Passages in the index now.
        skipped: Name and reason of what is not in the index.
        removed: Documents that are gone since the last update.
        unchanged: Documents that did not have to be read again.
        complete: Everything was looked at; False when the time given was up first.
        notices: What a person should know, such as an index that was damaged and made anew.
    """

    documents: int
    passages: int
    skipped: tuple[tuple[str, str], ...] = ()
    removed: int = 0
    unchanged: int = 0
    complete: bool = True
    notices: tuple[str, ...] = ()


@runtime_checkable
class Indexable(Protocol):
    """A data source that searches an index it keeps itself."""

    async def update(self, progress: Progress | None = None, *, seconds: float | None = None) -> IndexReport:
        """Bring the index up to date. Cheap when nothing changed; may be cancelled, and goes on where it stopped.

        Args:
            progress: Told of each document.
            seconds: Stop after about so many seconds; the next update goes on. None: until done.

        Raises:
            DocumentError: What is to be indexed cannot be found.
        """


class Embedder(Protocol):
    """Turns texts into vectors of one length.

    Attributes:
        id: A name with all that vectors depend on; a change means that stored vectors no longer fit.
        dimensions: The length of a vector.
        max_characters: The longest text it takes whole.
        standing: What the policy may know of it: it reads queries and passages.
    """

    @property
    def id(self) -> str:
        """A name with all that vectors depend on."""

    @property
    def dimensions(self) -> int:
        """The length of a vector."""

    @property
    def max_characters(self) -> int:
        """The longest text it takes whole."""

    @property
    def standing(self) -> ProviderStanding:
        """What the policy may know of it."""

    async def embed_query(self, query: str) -> Sequence[float]:
        """Return the vector of a query."""

    async def embed_passages(self, passages: Sequence[str]) -> Sequence[Sequence[float]]:
        """Return the vectors of passages, in their order."""
