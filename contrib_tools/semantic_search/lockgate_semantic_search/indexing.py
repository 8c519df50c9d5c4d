"""Keeps the index of a folder or file equal to what lies on disk. What did not change is not read again."""

import asyncio
import hashlib
import logging
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from lockgate import DocumentError
from lockgate.documents import (
    DEFAULT_MAX_CHARACTERS,
    DEFAULT_OVERLAP,
    FolderListing,
    ListedFile,
    NotTextError,
    chunk,
    list_folder,
    read_document,
)
from lockgate.retrieval import Hit, IndexReport, PassageStore, Progress, StoredDocument, StoredPassage, StoreRebuilt

BATCH_FILES: Final = 32
"""The most files that are read and stored in one step: an update can be stopped between two steps."""

BATCH_BYTES: Final = 2 * 1024 * 1024
"""Bytes of files after which a step ends."""

SIGNATURE: Final = f"text 1; chunks of {DEFAULT_MAX_CHARACTERS} characters, overlap {DEFAULT_OVERLAP}"
"""All that the stored passages depend on; change its number when reading or cutting changes."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Place:
    """What is indexed: a folder, or one file in it when `file` names one."""

    folder: Path
    file: str = ""

    def listing(self) -> FolderListing:
        """List what there is.

        Raises:
            DocumentError: The folder or file cannot be found.
        """
        if not self.file:
            return list_folder(self.folder)
        try:
            status = (self.folder / self.file).stat()
        except OSError:
            raise DocumentError(f"{self.file!r} does not exist or may not be read.") from None
        return FolderListing((ListedFile(self.file, status.st_size, status.st_mtime_ns),))

    @property
    def root(self) -> Path | None:
        """Where links may lead: inside the folder, or anywhere for a file that was named itself."""
        return None if self.file else self.folder


class LocalIndex:
    """The index of one data source."""

    def __init__(self, source_id: str, place: Place, store: PassageStore) -> None:
        self._id = source_id
        self._place = place
        self._store = store
        self._lock = asyncio.Lock()

    @property
    def place(self) -> Place:
        """What is indexed."""
        return self._place

    async def search(self, query: str, limit: int) -> Sequence[Hit]:
        """Return the best passages.

        Raises:
            StoreRebuilt: The index was damaged; update, then ask again.
            StorageError: The index cannot be used.
        """
        return await asyncio.to_thread(self._store.search, self._id, query, limit)

    async def update(self, progress: Progress | None = None, *, seconds: float | None = None) -> IndexReport:
        """Bring the index up to date. See ``lockgate.retrieval.Indexable``."""
        until = None if seconds is None else time.monotonic() + seconds
        async with self._lock:
            try:
                return await self._update(progress, until)
            except StoreRebuilt as error:
                _log.warning("%s", error)
                report = await self._update(progress, until)
                return replace(report, notices=(str(error), *report.notices))

    def close(self) -> None:
        """Release the store."""
        self._store.close()

    async def _update(self, progress: Progress | None, until: float | None) -> IndexReport:
        listing = await asyncio.to_thread(self._place.listing)
        known = await asyncio.to_thread(self._known)
        present = {file.path for file in listing.files}
        gone = [path for path in known if path not in present and not _is_below(path, listing.unknown)]
        if gone:
            await asyncio.to_thread(self._store.write, self._id, (), gone)
        waiting = [file for file in listing.files if not _is_unchanged(file, known.get(file.path))]
        skipped = dict(listing.skipped)
        changed = {file.path for file in waiting}
        for path, document in known.items():
            if document.problem and path in present and path not in changed:
                skipped[path] = document.problem
        done = 0
        for batch in _batches(waiting):
            if until is not None and time.monotonic() >= until:
                break
            skipped.update(await asyncio.to_thread(self._read, batch, known))
            for file in batch:
                done += 1
                if progress is not None:
                    progress(done, len(waiting), file.path)
        counts = await asyncio.to_thread(self._store.counts, self._id)
        return IndexReport(
            counts.documents,
            counts.passages,
            tuple(sorted(skipped.items())),
            removed=len(gone),
            unchanged=len(present) - len(waiting),
            complete=done == len(waiting),
        )

    def _known(self) -> Mapping[str, StoredDocument]:
        self._store.prepare(self._id, SIGNATURE)
        return self._store.documents(self._id)

    def _read(self, batch: Sequence[ListedFile], known: Mapping[str, StoredDocument]) -> dict[str, str]:
        """Read and store some files; return those that could not be read, with the reason."""
        read: list[StoredDocument] = []
        same: list[StoredDocument] = []
        lost: list[str] = []
        problems: dict[str, str] = {}
        for file in batch:
            try:
                document = read_document(self._place.folder / file.path, root=self._place.root)
            except NotTextError as error:
                problems[file.path] = str(error)
                read.append(StoredDocument(file.path, file.size, file.mtime_ns, problem=str(error)))
                continue
            except DocumentError as error:
                # It may be readable the next time without having changed, so nothing is noted of it.
                problems[file.path] = str(error)
                lost.append(file.path)
                continue
            digest = hashlib.sha256(document.text.encode("utf-8", "surrogatepass")).hexdigest()
            state = StoredDocument(file.path, file.size, file.mtime_ns, digest)
            before = known.get(file.path)
            if before is not None and before.sha256 == digest:
                same.append(state)
            else:
                passages = (StoredPassage(item.text, item.heading, item.start) for item in chunk(document))
                read.append(replace(state, passages=tuple(passages)))
        if read or lost:
            self._store.write(self._id, read, lost)
        if same:
            self._store.touch(self._id, same)
        return problems


def _is_unchanged(file: ListedFile, known: StoredDocument | None) -> bool:
    return known is not None and (known.size, known.mtime_ns) == (file.size, file.mtime_ns)


def _is_below(path: str, folders: Iterable[str]) -> bool:
    return any(path == folder or path.startswith(f"{folder}/") for folder in folders)


def _batches(files: Iterable[ListedFile]) -> Iterator[list[ListedFile]]:
    batch: list[ListedFile] = []
    size = 0
    for file in files:
        batch.append(file)
        size += file.size
        if len(batch) >= BATCH_FILES or size >= BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
