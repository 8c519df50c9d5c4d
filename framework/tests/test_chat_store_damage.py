"""Files that are not ours to use, and damaged ones: told in words, and not a byte of them changed."""

import json
import sqlite3
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from chat_store_kit import FULL, STRICT, path_of, reloaded

from lockgate.chat import ChatThread, Message, Role
from lockgate.errors import StorageError
from lockgate.policy import BUILT_IN
from lockgate.storage import SqliteChatStore


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqliteChatStore]:
    """A store in a folder that does not exist yet."""
    store = SqliteChatStore(path_of(tmp_path))
    yield store
    await store.close()


def contents(folder: Path) -> dict[str, bytes]:
    """Return the files of a folder with what they hold."""
    return {file.name: file.read_bytes() for file in folder.iterdir()}


@pytest.mark.parametrize("content", [b"no database, but long enough to be looked at" * 50, b"SQLite format 3\0" * 99])
async def test_a_damaged_file_is_named_and_left(tmp_path: Path, content: bytes) -> None:
    """Every operation says which file is damaged and what to do; not a byte of it changes."""
    path = tmp_path / "chats.sqlite3"
    path.write_bytes(content)
    store = SqliteChatStore(path)
    for operation in (store.load("c"), store.save(FULL), store.raise_requirements("c", STRICT), store.list_chats()):
        with pytest.raises(StorageError, match=r"is damaged.*left as it is.*move it away") as caught:
            await operation
        assert str(path) in str(caught.value)
    await store.close()
    assert path.read_bytes() == content


async def test_pages_destroyed_in_the_middle_are_told(tmp_path: Path) -> None:
    """A file that opens and breaks later is told the same way."""
    path = tmp_path / "chats.sqlite3"
    store = SqliteChatStore(path)
    await store.save(ChatThread(id="c", messages=(Message(Role.USER, "x" * 50_000),) * 5))
    await store.close()
    content = path.read_bytes()
    path.write_bytes(content[:4096] + b"\xff" * (len(content) - 4096))
    store = SqliteChatStore(path)
    with pytest.raises(StorageError, match="is damaged"):
        await store.load("c")
    await store.close()


def body_of(**values: object) -> str:
    """Return a stored message with some members of it replaced."""
    right = {"id": "m", "role": "user", "text": "", "partial": False, "attachments": [], "sources": [], "traces": []}
    return json.dumps({**right, **values})


BODIES = [
    "{", "[]", "{}", '{"role":"robot","text":""}', body_of(text=5), body_of(text=["x"]), body_of(partial=0),
    body_of(id=7), body_of(attachments={}), body_of(attachments=[{"name": 1, "text": "", "addresses": []}]),
    body_of(attachments=[{"name": "", "text": "", "addresses": "https"}]),
    body_of(sources=[{"title": None, "url": "", "origin": "tool"}]), body_of(traces="x"),
    body_of(traces=[{"order": "1", "tool_id": "", "tool_name": "", "call_id": "", "status": "ERROR",
                     "was_executed": True, "status_message": "", "arguments": {}}]),
]  # fmt: skip


@pytest.mark.parametrize("body", BODIES)
async def test_a_damaged_message_costs_its_chat(store: SqliteChatStore, tmp_path: Path, body: str) -> None:
    """A message that cannot be read makes its chat an error; other chats load."""
    await store.save(FULL)
    await store.save(ChatThread(id="other"))
    await store.close()
    with sqlite3.connect(path_of(tmp_path)) as connection:
        connection.execute("UPDATE messages SET body = ? WHERE position = 0", (body,))
    connection.close()
    with pytest.raises(StorageError, match="chat 'full'"):
        await reloaded(path_of(tmp_path), "full")
    assert await reloaded(path_of(tmp_path), "other") is not None


@pytest.mark.parametrize("body", ["{", "[]", '{"id":7}', "[" * 100_000], ids=["cut", "list", "number", "deep"])
async def test_a_damaged_message_is_not_written_over(store: SqliteChatStore, tmp_path: Path, body: str) -> None:
    """Saving a chat with a message that cannot be read is refused in words, and changes nothing of it."""
    await store.save(FULL)
    await store.close()
    with sqlite3.connect(path_of(tmp_path)) as connection:
        connection.execute("UPDATE messages SET body = ? WHERE position = 1", (body,))
    connection.close()
    other = SqliteChatStore(path_of(tmp_path))
    with pytest.raises(StorageError, match="chat 'full'"):
        await other.save(replace(FULL, title="Another"))
    await other.close()
    with sqlite3.connect(path_of(tmp_path)) as connection:
        assert connection.execute("SELECT body FROM messages WHERE position = 1").fetchall() == [(body,)]
        assert connection.execute("SELECT title FROM chats").fetchall() == [("A title",)]
    connection.close()


OURS = "PRAGMA application_id = 1282099060; CREATE TABLE x (y);"


@pytest.mark.parametrize("log", ["DELETE", "WAL"])
@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("CREATE TABLE x (y)", "is no chat store"),
        ("PRAGMA application_id = 7", "is no chat store"),
        ("PRAGMA user_version = 2", "is no chat store"),
        (f"{OURS} PRAGMA user_version = 99", "version 99"),
        (f"{OURS} PRAGMA user_version = -1", "version -1"),
        (OURS, "version 0"),
        ("PRAGMA application_id = 1282099060; PRAGMA user_version = 2", "tables are gone"),
    ],
    ids=["tables", "owner", "version", "newer", "negative", "zero", "empty"],
)
async def test_files_that_are_not_ours_to_use_are_not_touched(
    tmp_path: Path, script: str, words: str, log: str
) -> None:
    """One of another program, or of a version nobody knows: no byte changes, and nothing is left beside it."""
    path = tmp_path / "a file?.sqlite3"
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA journal_mode = {log}")
    connection.executescript(script)
    connection.close()
    before = path.read_bytes()
    store = SqliteChatStore(path)
    for operation in (store.load("full"), store.save(FULL)):
        with pytest.raises(StorageError, match=words):
            await operation
    await store.close()
    assert contents(tmp_path) == {path.name: before}


async def test_a_foreign_file_in_use_is_not_touched(tmp_path: Path) -> None:
    """Its program has it open, with a log that nobody has taken over into the file: that stays for its program."""
    path = tmp_path / "foreign.sqlite3"
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.executescript("CREATE TABLE x (y); INSERT INTO x VALUES (1)")
    before = {name: (tmp_path / name).read_bytes() for name in (path.name, f"{path.name}-wal")}
    store = SqliteChatStore(path)
    with pytest.raises(StorageError, match="is no chat store"):
        await store.save(FULL)
    await store.close()
    assert {name: (tmp_path / name).read_bytes() for name in before} == before
    connection.close()


async def test_a_creation_that_broke_off_is_gone_on_with(tmp_path: Path) -> None:
    """A file with nothing in it but the way its log is kept is a new store, whatever log lies beside it."""
    path = tmp_path / "chats.sqlite3"
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.close()
    (tmp_path / "chats.sqlite3-journal").write_bytes(b"")
    store = SqliteChatStore(path)
    await store.save(FULL)
    assert await store.load("full") == FULL
    await store.close()


DAMAGED_COLUMNS = [
    ("title", b"x"), ("system_prompt", b"\xff"), ("created", "x"), ("created", b"2026-02-03"), ("created", 5),
    ("selected_tools", '[["t"]]'), ("selected_tools", '"abc"'), ("selected_tools", '{"t":1}'),
    ("selected_tools", "[null]"), ("selected_tools", "null"), ("selected_tools", b"\xff"),
    ("data_sources", "{}"), ("data_sources", "[]"), ("data_sources", b"\xff"),
    ("data_sources", '{"disabled":0,"automatic":false,"selected":[],"retrieval_mode":"SEMANTIC_SEARCH"}'),
    ("data_sources", '{"disabled":false,"automatic":false,"selected":[[]],"retrieval_mode":"SEMANTIC_SEARCH"}'),
    ("prompt_addresses", '"https"'), ("prompt_addresses", "[1]"), ("prompt_addresses", "[[]]"),
    ("include_date", "abc"), ("include_date", b"1"), ("assistant", b"x"),
]  # fmt: skip


@pytest.mark.parametrize(("column", "value"), DAMAGED_COLUMNS)
async def test_a_damaged_column_costs_its_chat(
    store: SqliteChatStore, tmp_path: Path, column: str, value: object
) -> None:
    """A value nobody writes makes its chat an error that names the chat; other chats load."""
    await store.save(FULL)
    await store.save(ChatThread(id="other"))
    await store.close()
    with sqlite3.connect(path_of(tmp_path)) as connection:
        connection.execute(f"UPDATE chats SET {column} = ? WHERE id = 'full'", (value,))  # noqa: S608 (own names)
    connection.close()
    with pytest.raises(StorageError, match=r"is damaged \(chat 'full'"):
        await reloaded(path_of(tmp_path), "full")
    assert await reloaded(path_of(tmp_path), "other") is not None


@pytest.mark.parametrize("column", ["title", "updated"])
async def test_a_damaged_row_is_named_by_the_list(store: SqliteChatStore, tmp_path: Path, column: str) -> None:
    """The list does not hand on what is no text, and says of which chat it is; that chat can be removed."""
    await store.save(FULL)
    await store.save(ChatThread(id="other"))
    await store.close()
    with sqlite3.connect(path_of(tmp_path)) as connection:
        connection.execute(f"UPDATE chats SET {column} = ? WHERE id = 'full'", (b"x",))  # noqa: S608 (own names)
    connection.close()
    other = SqliteChatStore(path_of(tmp_path))
    with pytest.raises(StorageError, match=r"is damaged \(chat 'full'"):
        await other.list_chats()
    assert await other.delete("full")
    assert [row.id for row in await other.list_chats()] == ["other"]
    await other.close()


@pytest.mark.parametrize(
    "by", ["null", "5", '{"kind":"USER","name":5,"file":"","line":1}', '{"kind":["USER"]}', "[" * 100_000, b"\xff",
           '{"kind":"USER","name":"","file":"","line":"x"}'], ids=lambda by: str(by)[:40],
)  # fmt: skip
async def test_who_demanded_is_built_in_where_it_cannot_be_read(
    store: SqliteChatStore, tmp_path: Path, by: object
) -> None:
    """It is a name for people; what is demanded stays."""
    await store.save(FULL)
    await store.close()
    with sqlite3.connect(path_of(tmp_path)) as connection:
        connection.execute("UPDATE requirements SET confidence_by = ?", (by,))
    connection.close()
    loaded = await reloaded(path_of(tmp_path), "full")
    assert loaded is not None
    assert loaded.requirements == replace(STRICT, confidence_by=BUILT_IN)
