"""The contract of a passage store: an index of passages, kept together with what is known of their documents.

All of it is derived from documents that lie elsewhere: a store may throw an index away and say so.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from lockgate.errors import Failure


class StoreRebuilt(Failure):
    """The store was damaged and began anew, empty: bring the index up to date, then ask again."""


@dataclass(frozen=True, slots=True)
class StoredPassage:
    """A passage as stored: the chunk's text, the heading it stands under, where it begins in the document."""

    text: str
    heading: str = ""
    start: int = 0


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """A document as stored, which is also the state of its synchronization.

    Attributes:
        path: Unique within its data source, with ``/`` between its parts.
        size: Bytes, when it was read.
        mtime_ns: When it had last been changed then, in nanoseconds since 1970.
        sha256: Of its bytes or text, in hex; empty for one that could not be read.
        problem: Why it has no passages; empty when it was read.
        passages: Its passages in order; empty in what :meth:`PassageStore.documents` returns.
    """

    path: str
    size: int
    mtime_ns: int
    sha256: str = ""
    problem: str = ""
    passages: tuple[StoredPassage, ...] = ()


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage that was found: its document's path, its position in it from 0, and the passage."""

    path: str
    index: int
    passage: StoredPassage


@dataclass(frozen=True, slots=True)
class IndexCounts:
    """How much of a data source is in the store; documents that could not be read do not count."""

    documents: int
    passages: int


class PassageStore(Protocol):
    """Keeps the passages of data sources and finds them by their words.

    Every method blocks: call it in a thread. A store may be used from several threads, and several processes may have
    one open at the same place. Each raises :class:`StoreRebuilt` when it found the store damaged, and
    ``StorageError`` when the store cannot be used at all.
    """

    def prepare(self, source_id: str, signature: str) -> None:
        """Make room for a data source; drop all of it when it was written under another signature.

        Args:
            source_id: The data source.
            signature: All that the stored form depends on beside the documents, such as how they are cut.
        """

    def documents(self, source_id: str) -> Mapping[str, StoredDocument]:
        """Return what is known of a source's documents by path, without their passages."""

    def write(self, source_id: str, documents: Sequence[StoredDocument], removed: Sequence[str] = ()) -> None:
        """Replace documents with their passages and state, and remove others: all of it or nothing."""

    def touch(self, source_id: str, documents: Sequence[StoredDocument]) -> None:
        """Note new sizes and times of documents whose content stayed the same; their passages stay."""

    def search(self, source_id: str, query: str, limit: int) -> Sequence[Hit]:
        """Return the best passages for a query, best first, the same ones every time; empty when it has no words."""

    def counts(self, source_id: str) -> IndexCounts:
        """Return how much is there of a data source."""

    def remove(self, source_id: str) -> None:
        """Forget a data source."""

    def close(self) -> None:
        """Release the store; it opens again when it is used again."""


@dataclass(frozen=True, slots=True)
class PassageStoreFactory:
    """A kind of passage store, contributed by the hook ``lockgate_passage_stores``.

    Attributes:
        id: Its name in settings.
        open: Makes the store in a data folder. Cheap: nothing is opened before it is used.
    """

    id: str
    open: Callable[[Path], PassageStore]
