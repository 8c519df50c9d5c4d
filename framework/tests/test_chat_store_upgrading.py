"""Chat stores of version 1: read as what they hold, upgraded whole or not at all, by whoever comes first."""

import asyncio
import json
import signal
import sqlite3
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from lockgate.chat import ChatThread, Message, PrefixPart, PromptPrefix, Role
from lockgate.errors import StorageError
from lockgate.policy import ConfidenceLevel
from lockgate.storage import SqliteChatStore
from lockgate.storage import database as database_module
from lockgate.storage.database import SCHEMA_VERSION

# The statements of the version that knew no dates, assistants and prefixes, word for word.
VERSION_1 = """
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
PRAGMA application_id = 1282099060;
PRAGMA user_version = 1;
"""
SAVED_BY_VERSION_1 = (
    "INSERT INTO chats (id, title, system_prompt, created, updated, selected_tools, data_sources, prompt_addresses) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
)
BODY = '{"role":"user","text":"hello","partial":false,"attachments":[],"sources":[],"traces":[]}'
DATA_SOURCES = '{"disabled":true,"automatic":false,"selected":[],"retrieval_mode":"SEMANTIC_SEARCH"}'
BUILT_IN = '{"kind":"BUILT_IN","name":"","file":"","line":null}'
HELLO = Message(Role.USER, "hello")
NEW = PromptPrefix("ffff", (), PrefixPart("system prompt", 1, "aa"))


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A file of version 1 with three chats: tools never chosen, all off, and one chosen."""
    path = tmp_path / "chats.sqlite3"
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.executescript(VERSION_1)
    for name, selected in (("never", None), ("off", "[]"), ("one", '["web"]')):
        row = (name, name.upper(), "Be kind.", "2026-02-03", "2026-02-03T00:00:00+00:00", selected, DATA_SOURCES, "[]")
        connection.execute(SAVED_BY_VERSION_1, row)
        connection.execute("INSERT INTO messages VALUES (?, 0, ?)", (name, BODY))
        levels = (name, "HIGH", "ALLOW_ANY", "UNRESTRICTED", BUILT_IN, BUILT_IN, BUILT_IN)
        connection.execute("INSERT INTO requirements VALUES (?, ?, ?, ?, ?, ?, ?)", levels)
    connection.commit()
    connection.close()
    return path


def version_of(path: Path) -> int:
    """Return the version a file says it has."""
    connection = sqlite3.connect(path)
    try:
        return int(connection.execute("PRAGMA user_version").fetchone()[0])
    finally:
        connection.close()


def columns_of(path: Path) -> dict[str, list[tuple[object, ...]]]:
    """Return the columns of every table of a file."""
    connection = sqlite3.connect(path)
    try:
        tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").fetchall()
        return {name: connection.execute(f"PRAGMA table_info({name})").fetchall() for (name,) in tables}
    finally:
        connection.close()


async def test_old_chats_are_read_as_what_they_are(old: Path) -> None:
    """Messages, requirements and selections are there; what the old version did not know has its default."""
    store = SqliteChatStore(old)
    found = {name: await store.load(name) for name in ("never", "off", "one")}
    await store.close()
    selections = {name: chat.selected_tools for name, chat in found.items() if chat is not None}
    assert selections == {"never": None, "off": (), "one": ("web",)}
    chat = found["one"]
    assert chat is not None
    assert chat.messages == (Message(Role.USER, "hello"),)
    assert chat.requirements.confidence is ConfidenceLevel.HIGH
    assert (chat.include_date, chat.assistant, chat.prefix) == (False, "", None)
    assert version_of(old) == SCHEMA_VERSION == len(database_module._STEPS)


async def test_an_upgraded_file_is_like_a_new_one(old: Path, tmp_path: Path) -> None:
    """The same tables with the same columns, which hold what is new."""
    store, new = SqliteChatStore(old), SqliteChatStore(tmp_path / "new.sqlite3")
    chat = ChatThread(id="one", include_date=True, assistant="reviewer", prefix=NEW, messages=(HELLO,))
    for each in (store, new):
        await each.save(chat)
    loaded = await store.load("one")
    assert loaded is not None
    assert loaded == replace(chat, requirements=loaded.requirements)
    assert await new.load("one") == chat
    await store.close()
    await new.close()
    assert columns_of(old) == columns_of(tmp_path / "new.sqlite3")


async def test_messages_without_ids_are_the_same_ones_later(old: Path) -> None:
    """Two processes that load an old chat know its messages by the same IDs, also once one of them has saved."""
    one, other = SqliteChatStore(old), SqliteChatStore(old)
    here, there = await one.load("one"), await other.load("one")
    assert here is not None
    assert there is not None
    assert [message.id for message in here.messages] == [message.id for message in there.messages] != [""]
    for store, chat, word in ((one, here, "here"), (other, there, "there"), (one, here, "again")):
        asked = chat.with_message(Message(Role.USER, f"{word}?")).with_message(Message(Role.ASSISTANT, f"{word}."))
        await store.save(asked)
    loaded = await one.load("one")
    await one.close()
    await other.close()
    assert loaded is not None
    assert [m.text for m in loaded.messages] == ["hello", "here?", "here.", "there?", "there.", "again?", "again."]
    assert loaded.messages[0].id == here.messages[0].id


async def test_old_messages_keep_their_ids_when_others_come_before_them(old: Path) -> None:
    """An answer that goes between old messages moves those behind it; whoever holds them finds them again."""
    with sqlite3.connect(old) as connection:
        connection.execute("INSERT INTO messages VALUES ('one', 1, ?)", (BODY.replace("hello", "second"),))
    connection.close()
    store = SqliteChatStore(old)
    held = await store.load("one")
    assert held is not None
    first, second = held.messages
    await store.save(replace(held, messages=(first, Message(Role.ASSISTANT, "between", id="b"), second)))
    await store.save(held.with_message(Message(Role.USER, "third", id="c")))
    loaded = await store.load("one")
    await store.close()
    assert loaded is not None
    assert [message.text for message in loaded.messages] == ["hello", "between", "second", "third"]
    assert [message.id for message in loaded.messages] == [first.id, "b", second.id, "c"]


async def test_what_a_newer_program_wrote_in_an_old_message_stays(old: Path) -> None:
    """Giving a message its ID changes nothing else that stands in it, known here or not."""
    body = BODY.replace('"partial"', '"mood":"\\ud800","partial"')
    with sqlite3.connect(old) as connection:
        connection.execute("UPDATE messages SET body = ? WHERE chat_id = 'one'", (body,))
    connection.close()
    store = SqliteChatStore(old)
    await store.save(ChatThread(id="one"))
    loaded = await store.load("one")
    await store.close()
    assert loaded is not None
    with sqlite3.connect(old) as connection:
        (written,) = connection.execute("SELECT body FROM messages WHERE chat_id = 'one'").fetchone()
    connection.close()
    assert json.loads(written) == {**json.loads(body), "id": loaded.messages[0].id}


async def test_a_newer_version_is_refused_in_words(old: Path) -> None:
    """The next version's file is left as it is."""
    connection = sqlite3.connect(old)
    connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    connection.close()
    store = SqliteChatStore(old)
    with pytest.raises(StorageError, match=f"version {SCHEMA_VERSION + 1}, this program knows {SCHEMA_VERSION}"):
        await store.load("one")
    await store.close()
    assert version_of(old) == SCHEMA_VERSION + 1


async def test_a_program_of_the_old_version_goes_on_with_the_file(old: Path) -> None:
    """One that had the file open before it was upgraded can still save; nothing is lost to either."""
    before = sqlite3.connect(old, isolation_level=None)
    before.execute("SELECT 1 FROM chats").fetchall()
    store = SqliteChatStore(old)
    assert await store.load("one") is not None
    row = ("late", "Late", "", "2026-02-04", "2026-02-04T00:00:00+00:00", None, DATA_SOURCES, "[]")
    before.execute(SAVED_BY_VERSION_1, row)
    before.close()
    loaded = await store.load("late")
    await store.close()
    assert loaded is not None
    assert loaded.include_date is False


DYING = """
import asyncio, os, signal, sqlite3, sys
from pathlib import Path
from lockgate.storage import SqliteChatStore, database

class Dying(sqlite3.Connection):
    def execute(self, statement, *values):
        if statement.startswith(sys.argv[2]) and self.in_transaction:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().execute(statement, *values)

connect = sqlite3.connect
sqlite3.connect = lambda *values, **named: connect(*values, factory=Dying, **named)
asyncio.run(SqliteChatStore(Path(sys.argv[1])).load("one"))
"""


@pytest.mark.parametrize("statement", ["ALTER TABLE chats ADD COLUMN prefix", "PRAGMA user_version =", "COMMIT"])
async def test_a_crash_in_between_leaves_the_old_file(old: Path, statement: str) -> None:
    """Killed in front of a statement of the upgrade, the file is of version 1, and the next opener upgrades it."""
    dying = await asyncio.create_subprocess_exec(sys.executable, "-c", DYING, str(old), statement)
    assert await dying.wait() == -signal.SIGKILL
    assert version_of(old) == 1
    store = SqliteChatStore(old)
    chat = await store.load("one")
    await store.close()
    assert chat is not None
    assert chat.messages == (Message(Role.USER, "hello"),)
    assert version_of(old) == SCHEMA_VERSION


OPENING = """
import asyncio, sys
from pathlib import Path
from lockgate.storage import SqliteChatStore

async def main(path):
    store = SqliteChatStore(Path(path))
    sys.stdin.readline()
    chat = await store.load("one")
    await store.save(chat)
    await store.close()

print("ready", flush=True)
asyncio.run(main(sys.argv[1]))
"""


def start_opener(path: Path) -> "subprocess.Popen[str]":
    """Start a process that opens the file once it is told to."""
    return subprocess.Popen(
        [sys.executable, "-c", OPENING, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_processes_that_upgrade_together_upgrade_once(old: Path) -> None:
    """Three openers at the same moment: one upgrades, all read and save."""
    openers = [start_opener(old) for _ in range(3)]
    for opener in openers:
        assert opener.stdout is not None
        assert opener.stdout.readline() == "ready\n"
    for opener in openers:
        assert opener.stdin is not None
        opener.stdin.write("go\n")
        opener.stdin.flush()
    for opener in openers:
        _, errors = opener.communicate(timeout=60)
        assert opener.returncode == 0, errors
    assert version_of(old) == SCHEMA_VERSION
    assert len(columns_of(old)["chats"]) == 11
