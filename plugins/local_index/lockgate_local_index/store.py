"""The passage store on SQLite and FTS5."""

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

import apsw

from lockgate import StorageError
from lockgate.retrieval import Hit, IndexCounts, StoredDocument, StoredPassage, StoreRebuilt
from lockgate_local_index.ranking import CANDIDATES, Scored, by_coverage
from lockgate_local_index.schema import FILE_NAME, Foreign, connect, delete_files, writing
from lockgate_local_index.words import queries_for

R = TypeVar("R")

# How much a word counts in a file's name, a heading and the text. CROSS JOIN keeps the order of the tables: the words
# are looked up first. The texts are fetched for the best alone.
_SEARCH = """
SELECT p.key, best.score, d.path, p.number, p.text, p.heading, p.start
FROM (
    SELECT p.key AS key, bm25(passages_fts, 2.0, 2.0, 1.0) AS score
    FROM passages_fts CROSS JOIN passages AS p ON p.key = passages_fts.rowid
    WHERE passages_fts MATCH ? AND p.source = ?
    ORDER BY score, key LIMIT ?
) AS best
CROSS JOIN passages AS p ON p.key = best.key
CROSS JOIN documents AS d ON d.key = p.document
ORDER BY best.score, best.key
"""

_DAMAGED = (apsw.CorruptError, apsw.NotADBError)
_MISSING = ("no such table", "no such column")


def open_store(folder: Path) -> "LocalPassageStore":
    """Return the store in a data folder; its file is opened when it is first used."""
    return LocalPassageStore(folder / FILE_NAME)


class LocalPassageStore:
    """Passages in one SQLite file. See ``lockgate.retrieval.PassageStore``.

    One connection writes and one reads, each used by one thread at a time; with SQLite's write-ahead log neither
    waits for the other, nor do other processes that have the file open.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._writer = _Line(path)
        self._reader = _Line(path)
        self._rebuilding = threading.Lock()

    def prepare(self, source_id: str, signature: str) -> None:
        def work(db: apsw.Connection) -> None:
            row = db.execute("SELECT key, signature FROM data_sources WHERE id = ?", (source_id,)).fetchone()
            if row is not None and row[1] == signature:
                return
            with writing(db):
                _remove_source(db, source_id)
                db.execute("INSERT INTO data_sources (id, signature) VALUES (?, ?)", (source_id, signature))

        self._run(self._writer, work)

    def documents(self, source_id: str) -> Mapping[str, StoredDocument]:
        def work(db: apsw.Connection) -> dict[str, StoredDocument]:
            rows = db.execute(
                "SELECT d.path, d.size, d.mtime_ns, d.sha256, d.problem FROM documents AS d "
                "JOIN data_sources AS s ON s.key = d.source WHERE s.id = ?",
                (source_id,),
            )
            return {str(row[0]): StoredDocument(*row) for row in rows}

        return self._run(self._reader, work)

    def write(self, source_id: str, documents: Sequence[StoredDocument], removed: Sequence[str] = ()) -> None:
        def work(db: apsw.Connection) -> None:
            with writing(db):
                source = _source_key(db, source_id)
                for path in (*removed, *(document.path for document in documents)):
                    _remove_document(db, source, path)
                for document in documents:
                    _insert_document(db, source, document)

        self._run(self._writer, work)

    def touch(self, source_id: str, documents: Sequence[StoredDocument]) -> None:
        def work(db: apsw.Connection) -> None:
            with writing(db):
                source = _source_key(db, source_id)
                db.executemany(
                    "UPDATE documents SET size = ?, mtime_ns = ? WHERE source = ? AND path = ? AND sha256 = ?",
                    ((item.size, item.mtime_ns, source, item.path, item.sha256) for item in documents),
                )

        self._run(self._writer, work)

    def search(self, source_id: str, query: str, limit: int) -> Sequence[Hit]:
        queries = queries_for(query)

        def work(db: apsw.Connection) -> list[Hit]:
            row = db.execute("SELECT key FROM data_sources WHERE id = ?", (source_id,)).fetchone()
            if row is None:
                return []
            found: dict[int, Hit] = {}
            for step in queries.strict:
                # The wider query finds all that the stricter one did, so it has to bring as many again.
                found = _merged(found, _find(db, step, row[0], limit))
                if len(found) >= limit:
                    break
            if len(found) < limit and queries.loose:
                loose = _find(db, queries.loose, row[0], max(limit, CANDIDATES))
                found = _merged(found, by_coverage(loose, queries.terms))
            return list(found.values())[:limit]

        return self._run(self._reader, work)

    def counts(self, source_id: str) -> IndexCounts:
        def work(db: apsw.Connection) -> IndexCounts:
            row = db.execute(
                "SELECT (SELECT count(*) FROM documents WHERE source = s.key AND problem = ''), "
                "(SELECT count(*) FROM passages WHERE source = s.key) FROM data_sources AS s WHERE s.id = ?",
                (source_id,),
            ).fetchone()
            return IndexCounts(0, 0) if row is None else IndexCounts(*row)

        return self._run(self._reader, work)

    def remove(self, source_id: str) -> None:
        def work(db: apsw.Connection) -> None:
            with writing(db):
                _remove_source(db, source_id)

        self._run(self._writer, work)

    def close(self) -> None:
        self._writer.close()
        self._reader.close()

    def _run(self, line: "_Line", work: Callable[[apsw.Connection], R]) -> R:
        """Do some work; throw the file away when it is damaged, and say so."""
        number = line.file_number()
        try:
            with line.connection() as db:
                number = line.file_number()
                return work(db)
        except (*_DAMAGED, Foreign, apsw.SQLError) as error:
            if isinstance(error, apsw.SQLError) and not str(error).startswith(_MISSING):
                raise StorageError(f"The index {self._path.name} cannot be used: {error}") from error
            self._rebuild(number)
            reason = "is no index of this program" if isinstance(error, Foreign) else "was damaged"
            raise StoreRebuilt(f"The index {self._path.name} {reason} and was begun anew.") from error
        except apsw.BusyError as error:
            raise StorageError(f"The index {self._path.name} is in use by another process for too long.") from error
        except (apsw.Error, OSError) as error:
            raise StorageError(f"The index {self._path.name} cannot be used: {error}") from error

    def _rebuild(self, seen: int) -> None:
        """Replace the damaged file, unless another thread or process has done so since it was seen."""
        with self._rebuilding:
            self.close()
            if seen in (0, _number(self._path)):
                try:
                    delete_files(self._path)
                except OSError as error:
                    raise StorageError(f"The damaged index {self._path.name} cannot be deleted: {error}") from error


class _Line:
    """One connection, used by one thread at a time, opened anew when the file was replaced by another process."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.RLock()
        self._connection: apsw.Connection | None = None
        self._number = 0

    @contextmanager
    def connection(self) -> Iterator[apsw.Connection]:
        with self._lock:
            if self._connection is not None and self._number != _number(self._path):
                self.close()
            if self._connection is None:
                self._connection = connect(self._path)
                self._number = _number(self._path)
            yield self._connection

    def file_number(self) -> int:
        """Which file this is, as the file system counts them; 0 for none."""
        return self._number if self._connection is not None else _number(self._path)

    def close(self) -> None:
        with self._lock:
            if self._connection is not None:
                with suppress(apsw.Error):
                    self._connection.close()
                self._connection = None


def _number(path: Path) -> int:
    try:
        return path.stat().st_ino
    except OSError:
        return 0


def _find(db: apsw.Connection, query: str, source: int, limit: int) -> list[Scored]:
    return [
        Scored(key, score, Hit(path, number, StoredPassage(text, heading, start)))
        for key, score, path, number, text, heading, start in db.execute(_SEARCH, (query, source, limit))
    ]


def _merged(found: dict[int, Hit], more: Sequence[Scored]) -> dict[int, Hit]:
    return found | {item.key: item.hit for item in more if item.key not in found}


def _source_key(db: apsw.Connection, source_id: str) -> int:
    row = db.execute("SELECT key FROM data_sources WHERE id = ?", (source_id,)).fetchone()
    if row is None:
        # Another process threw the index away between two steps of an update: begin again.
        raise StoreRebuilt(f"The data source {source_id!r} is not in the index any more.")
    return int(row[0])


def _remove_source(db: apsw.Connection, source_id: str) -> None:
    row = db.execute("SELECT key FROM data_sources WHERE id = ?", (source_id,)).fetchone()
    if row is None:
        return
    db.execute("DELETE FROM passages_fts WHERE rowid IN (SELECT key FROM passages WHERE source = ?)", row)
    db.execute("DELETE FROM passages WHERE source = ?", row)
    db.execute("DELETE FROM documents WHERE source = ?", row)
    db.execute("DELETE FROM data_sources WHERE key = ?", row)


def _remove_document(db: apsw.Connection, source: int, path: str) -> None:
    row = db.execute("SELECT key FROM documents WHERE source = ? AND path = ?", (source, path)).fetchone()
    if row is None:
        return
    db.execute("DELETE FROM passages_fts WHERE rowid IN (SELECT key FROM passages WHERE document = ?)", row)
    db.execute("DELETE FROM passages WHERE document = ?", row)
    db.execute("DELETE FROM documents WHERE key = ?", row)


def _insert_document(db: apsw.Connection, source: int, document: StoredDocument) -> None:
    db.execute(
        "INSERT INTO documents (source, path, size, mtime_ns, sha256, problem) VALUES (?, ?, ?, ?, ?, ?)",
        (source, document.path, document.size, document.mtime_ns, document.sha256, document.problem),
    )
    key = db.last_insert_rowid()
    for number, passage in enumerate(document.passages):
        db.execute(
            "INSERT INTO passages (source, document, number, start, heading, text) VALUES (?, ?, ?, ?, ?, ?)",
            (source, key, number, passage.start, passage.heading, passage.text),
        )
        db.execute(
            "INSERT INTO passages_fts (rowid, name, heading, text) VALUES (?, ?, ?, ?)",
            (db.last_insert_rowid(), document.path, passage.heading, passage.text),
        )
