"""One SQLite file: opened on first use, worked on by one thread, shared with other processes.

Every transaction is written through to the disk before it counts as done (``synchronous=FULL``): a requirement that was
acknowledged survives a power cut. https://www.sqlite.org/pragma.html#pragma_synchronous
"""

import asyncio
import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

from lockgate.errors import StorageError

SCHEMA_VERSION = 3
"""The version of the tables this program writes."""

BUSY_SECONDS = 15.0
"""How long a write waits for another process."""

_APPLICATION_ID = 0x4C6B4774  # "LkGt", so that a file of another program is told from ours
_VERSION_1 = """
CREATE TABLE chats (
    id TEXT PRIMARY KEY, title TEXT NOT NULL, system_prompt TEXT NOT NULL, created TEXT NOT NULL, updated TEXT NOT NULL,
    selected_tools TEXT, data_sources TEXT NOT NULL, prompt_addresses TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX chats_by_time ON chats (updated);
CREATE TABLE messages (
    chat_id TEXT NOT NULL REFERENCES chats (id), position INTEGER NOT NULL, body TEXT NOT NULL,
    PRIMARY KEY (chat_id, position)
);
CREATE TABLE requirements (
    chat_id TEXT PRIMARY KEY, confidence TEXT NOT NULL, data_security TEXT NOT NULL, outbound TEXT NOT NULL,
    confidence_by TEXT NOT NULL, data_security_by TEXT NOT NULL, outbound_by TEXT NOT NULL
) WITHOUT ROWID;
"""
_VERSION_2 = """
ALTER TABLE chats ADD COLUMN include_date INTEGER NOT NULL DEFAULT 0;
ALTER TABLE chats ADD COLUMN assistant TEXT NOT NULL DEFAULT '';
ALTER TABLE chats ADD COLUMN prefix TEXT;
"""
# The tables are those of version 2, but messages have IDs. A program that knows none would write over the turns of
# others, so it is not to open the file. Messages get their IDs when their chat is saved.
_VERSION_3 = ""
_STEPS = (_VERSION_1, _VERSION_2, _VERSION_3)
"""What brings a file from each version to the next. A new one takes all the steps, so that old and new are alike."""

T = TypeVar("T")


class Database:
    """The file and its one connection.

    Args:
        path: The file. It and its folder are made, for the user alone, by the first write.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._connection: sqlite3.Connection | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="lockgate-chats")
        self._closed = False

    async def read(self, work: Callable[[sqlite3.Connection], T], empty: T) -> T:
        """Run `work` in a read transaction; return `empty` when there is no file yet.

        Raises:
            StorageError: The file cannot be read.
        """

        def reading() -> T:
            if self._connection is None and not self._is_there():
                return empty
            with self._transaction("BEGIN") as connection:
                return work(connection)

        return await self._in_thread(reading)

    async def write(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run `work` in a transaction that no other writer can come between. Once begun, it is not cancelled.

        Raises:
            StorageError: The file cannot be written.
        """

        def writing() -> T:
            with self._transaction("BEGIN IMMEDIATE") as connection:
                return work(connection)

        return await self._in_thread(writing)

    async def erase(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run `work` as :meth:`write` does, then empty the log of writes, which still holds what was removed.

        Raises:
            StorageError: The file cannot be written.
        """

        def erasing() -> T:
            with self._transaction("BEGIN IMMEDIATE") as connection:
                result = work(connection)
            with suppress(sqlite3.Error):  # it is removed already; whoever closes the file last empties the log
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            return result

        return await self._in_thread(erasing)

    async def close(self) -> None:
        """Close the file; what is under way is finished first. Closing twice does nothing."""
        if self._closed:
            return
        self._closed = True
        thread = self._thread
        await _awaited(thread.submit(self._disconnect))
        thread.shutdown(wait=False)

    async def _in_thread(self, work: Callable[[], T]) -> T:
        """Run `work` in the file's thread. A caller that is cancelled leaves; the work is done all the same."""
        if self._closed:
            raise StorageError("The chat store is closed.")
        return await _awaited(self._thread.submit(work))

    def _is_there(self) -> bool:
        try:
            return self._path.exists()
        except OSError as error:
            raise self._cannot_open(error) from error

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[sqlite3.Connection]:
        try:
            connection = self._connect()
            connection.execute(begin)
            try:
                yield connection
                connection.execute("COMMIT")
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
        except sqlite3.Error as error:
            raise self._failure(error) from error
        except UnicodeEncodeError as error:
            raise StorageError("A chat's ID holds characters that cannot be stored.") from error

    def _connect(self) -> sqlite3.Connection:
        if self._connection is not None:
            return self._connection
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            os.close(os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600))
            _look_first(self._path)
        except OSError as error:
            raise self._cannot_open(error) from error
        connection = sqlite3.connect(self._path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        try:
            _set_up(connection, self._path)
        except BaseException:
            connection.close()
            raise
        self._connection = connection
        return connection

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _cannot_open(self, error: OSError) -> StorageError:
        return StorageError(
            f"The chat store {self._path} cannot be opened: {error.strerror or error}. Its folder has to be writable "
            "for you."
        )

    def _failure(self, error: sqlite3.Error) -> StorageError:
        name = getattr(error, "sqlite_errorname", "")
        if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
            return StorageError(
                f"The chat store {self._path} has been in use by another program for {BUSY_SECONDS:.0f} seconds. "
                "Try again once it is done."
            )
        if name.startswith(("SQLITE_FULL", "SQLITE_IOERR", "SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM")):
            return StorageError(
                f"The chat store {self._path} cannot be written: {error}. Look at the disk's free space and the file's "
                "permissions."
            )
        return damaged(self._path, str(error))


async def _awaited(work: Future[T]) -> T:
    """Wait for work in a thread. Unlike `asyncio.wrap_future` this neither cancels it nor minds a loop that is gone."""
    loop = asyncio.get_running_loop()
    arrived = loop.create_future()

    def hand_over() -> None:
        if not arrived.done():
            arrived.set_result(None)

    def done(_: Future[T]) -> None:
        with suppress(RuntimeError):  # the loop was closed meanwhile: nobody waits any more
            loop.call_soon_threadsafe(hand_over)

    work.add_done_callback(done)
    await arrived
    return work.result()


def damaged(path: Path, reason: str) -> StorageError:
    """Return the error for a file whose content is not what was written."""
    return StorageError(
        f"The chat store {path} is damaged ({reason}). It is left as it is: restore it from a copy, or move it away to "
        "begin with an empty one."
    )


def _look_first(path: Path) -> None:
    """Look whose a file is without a way to write to it: switching the log and closing a log both change a file.

    What has to be written before it can be read (a transaction that broke off) is left to the next look, which has to
    come before anything is changed on purpose.

    Raises:
        StorageError: The file is not one this program can use.
    """
    if path.stat().st_size == 0:
        return  # a new one
    query = "mode=ro"
    if not any(path.with_name(path.name + ending).exists() for ending in ("-wal", "-journal")):
        query += "&immutable=1"  # all there is stands in the file itself: not even a lock or a log is made beside it
    try:
        uri = f"{path.absolute().as_uri()}?{query}"
        connection = sqlite3.connect(uri, uri=True, timeout=BUSY_SECONDS, isolation_level=None)
        try:
            _version(connection, path)
        finally:
            connection.close()
    except sqlite3.OperationalError as error:
        if not error.sqlite_errorname.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN")):
            raise


def _set_up(connection: sqlite3.Connection, path: Path) -> None:
    _version(connection, path)  # before anything is changed
    _use_wal(connection)
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA secure_delete = ON")  # what is removed is overwritten, not only given free
    if _version(connection, path) == SCHEMA_VERSION:
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        version = _version(connection, path)  # again: another process may have come first
        for step in _STEPS[version:]:
            for statement in step.strip().split(";\n"):
                connection.execute(statement)
        if version == 0:
            connection.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
        if version < SCHEMA_VERSION:
            connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _use_wal(connection: sqlite3.Connection) -> None:
    """Switch to a write-ahead log. SQLite does not wait by itself for other openers of a new file here."""
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if not error.sqlite_errorname.startswith("SQLITE_BUSY") or time.monotonic() > deadline:
                raise
            time.sleep(0.02)


def _version(connection: sqlite3.Connection, path: Path) -> int:
    """Return the schema version of the file, 0 for a new one.

    Raises:
        StorageError: The file belongs to another program, to a newer version, or to none there ever was.
    """
    owner = int(connection.execute("PRAGMA application_id").fetchone()[0])
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    has_tables = connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone() is not None
    if owner != _APPLICATION_ID and (owner or version or has_tables):
        raise StorageError(f"The file {path} is no chat store: another program made it. Nothing was changed in it.")
    if version > SCHEMA_VERSION:
        raise StorageError(
            f"The chat store {path} was written by a newer version (its tables have version {version}, this program "
            f"knows {SCHEMA_VERSION}). Update this program; nothing was changed in the file."
        )
    if owner == _APPLICATION_ID and version < 1:
        raise damaged(path, f"its tables have version {version}, and 1 is the first there was")
    if version and not has_tables:
        raise damaged(path, "its tables are gone")
    return version
