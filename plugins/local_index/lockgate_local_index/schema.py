"""The file: its tables, and opening it."""

import os
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

import apsw

FILE_NAME: Final = "passages-1.sqlite3"
"""The number is the version of the tables: another version is another file, so that two releases can share a home."""

APPLICATION_ID: Final = 0x4C6B4964
"""Marks the file as ours (SQLite's ``application_id``)."""

BUSY_MILLISECONDS: Final = 15_000
"""How long one process waits for another that is writing."""

# remove_diacritics 2: ü and u are one letter, whichever way ü is encoded. The column `name` finds files by their names.
_TABLES = f"""
PRAGMA application_id = {APPLICATION_ID};
CREATE TABLE IF NOT EXISTS data_sources (
    key INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, signature TEXT NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS documents (
    key INTEGER PRIMARY KEY,
    source INTEGER NOT NULL REFERENCES data_sources(key),
    path TEXT NOT NULL, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, sha256 TEXT NOT NULL, problem TEXT NOT NULL,
    UNIQUE (source, path)
) STRICT;
CREATE TABLE IF NOT EXISTS passages (
    key INTEGER PRIMARY KEY,
    source INTEGER NOT NULL,
    document INTEGER NOT NULL REFERENCES documents(key),
    number INTEGER NOT NULL, start INTEGER NOT NULL, heading TEXT NOT NULL, text TEXT NOT NULL,
    UNIQUE (document, number)
) STRICT;
CREATE INDEX IF NOT EXISTS passages_by_source ON passages(source);
CREATE VIRTUAL TABLE IF NOT EXISTS passages_fts USING fts5(
    name, heading, text, content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 2'
);
"""


class Foreign(Exception):
    """The file is a database that was not made here."""


def connect(path: Path) -> apsw.Connection:
    """Open the file, making it (readable by its owner only) where it does not exist.

    Raises:
        apsw.Error: It is damaged or cannot be opened.
        Foreign: It is a database of something else.
    """
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    connection = apsw.Connection(str(path))
    try:
        connection.set_busy_timeout(BUSY_MILLISECONDS)
        mark = connection.pragma("application_id")
        if mark not in (0, APPLICATION_ID):
            raise Foreign
        _use_write_ahead_log(connection)
        # After a power cut the last documents may have to be read again; the file stays whole.
        connection.pragma("synchronous", "normal")
        if mark != APPLICATION_ID:  # it is written together with the tables
            with writing(connection):
                connection.execute(_TABLES)
    except BaseException:
        connection.close()
        raise
    return connection


def _use_write_ahead_log(connection: apsw.Connection) -> None:
    """Switch the file over. SQLite does not wait here for others that open it at the same time, so it is asked again.

    Raises:
        apsw.BusyError: The file was in use all the time.
    """
    ends = time.monotonic() + BUSY_MILLISECONDS / 1000
    while True:
        try:
            connection.pragma("journal_mode", "wal")
        except apsw.BusyError:
            if time.monotonic() > ends:
                raise
            time.sleep(0.005)
        else:
            return


class writing:  # noqa: N801 -- reads as a verb where it is used
    """A transaction that takes the right to write at its begin, so that it never has to give up in its middle."""

    def __init__(self, connection: apsw.Connection) -> None:
        self.connection = connection

    def __enter__(self) -> apsw.Connection:
        self.connection.execute("BEGIN IMMEDIATE")
        return self.connection

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if kind is None:
            try:
                self.connection.execute("COMMIT")
            except apsw.Error:
                self._roll_back()
                raise
        else:
            self._roll_back()

    def _roll_back(self) -> None:
        with suppress(apsw.Error):
            if self.connection.in_transaction:
                self.connection.execute("ROLLBACK")


def delete_files(path: Path) -> None:
    """Delete the file and what SQLite keeps beside it."""
    for suffix in ("", "-wal", "-shm", "-journal"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
