"""Removing chats: all of one or nothing, nothing of another, and what a run still holds is demanded again."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from lockgate.chat import ChatStore, ChatThread, MemoryChatStore, Message, Role
from lockgate.policy import (
    NOTHING,
    ChatRequirements,
    ConfidenceLevel,
    DataSourceSecurity,
    OutboundDataRestriction,
)
from lockgate.storage import SqliteChatStore

HIGH = ChatRequirements(ConfidenceLevel.HIGH)
SELF_HOSTED = ChatRequirements(data_security=DataSourceSecurity.SELF_HOSTED)
CLOSED = ChatRequirements(outbound=OutboundDataRestriction.ONLY_CONFIGURED_SERVICES)


@pytest.fixture(params=["memory", "sqlite"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[ChatStore]:
    """Each kind of store."""
    made: ChatStore = MemoryChatStore() if request.param == "memory" else SqliteChatStore(tmp_path / "chats.sqlite3")
    yield made
    await made.close()


def chat(chat_id: str, requirements: ChatRequirements = NOTHING, text: str = "x") -> ChatThread:
    """Return a chat of one message."""
    return ChatThread(id=chat_id, requirements=requirements, messages=(Message(Role.USER, text),))


def contents(folder: Path) -> dict[str, bytes]:
    """Return the files of a folder with what they hold."""
    return {file.name: file.read_bytes() for file in folder.iterdir()}


async def test_a_removed_chat_is_gone_with_what_it_demanded(store: ChatStore) -> None:
    """Nothing of it is loaded or listed, and its ID demands nothing any more; others stay whole."""
    await store.save(chat("a", HIGH))
    await store.save(chat("b", SELF_HOSTED))
    assert await store.delete("a") is True
    assert await store.load("a") is None
    assert [row.id for row in await store.list_chats()] == ["b"]
    assert await store.raise_requirements("a", NOTHING) == NOTHING
    assert await store.load("b") == chat("b", SELF_HOSTED)
    assert await store.delete("a") is False


async def test_removing_nothing_makes_nothing(store: ChatStore, tmp_path: Path) -> None:
    """An unknown ID is told by False, and no file comes of it."""
    assert await store.delete("unknown") is False
    assert contents(tmp_path) == {}


async def test_a_run_that_still_answers_saves_the_chat_with_what_it_holds(store: ChatStore) -> None:
    """Its own value carries what it has read, so the chat that comes back demands that, and not everything."""
    held = chat("a", HIGH)
    await store.save(held)
    await store.delete("a")
    assert await store.raise_requirements("a", held.requirements.join(CLOSED)) == HIGH.join(CLOSED)
    await store.save(held)
    loaded = await store.load("a")
    assert loaded is not None
    assert loaded.messages == held.messages
    assert loaded.requirements == HIGH.join(CLOSED)


async def test_requirements_of_a_chat_that_was_never_saved_stay(store: ChatStore) -> None:
    """There are no messages they could go together with: a first run is still under way."""
    await store.raise_requirements("new", HIGH)
    assert await store.delete("new") is False
    assert await store.raise_requirements("new", NOTHING) == HIGH


async def test_what_a_removed_chat_held_is_not_in_the_files(tmp_path: Path) -> None:
    """While the store is open, and after it is closed, no file holds a word of it; another chat's are there."""
    store = SqliteChatStore(tmp_path / "chats.sqlite3")
    await store.save(chat("kept", text="STAYS"))
    for size in (10, 3_000, 90_000):  # in a row, on a page, on pages of its own
        await store.save(chat(f"c{size}", text="CANARY-" * size))
    for size in (10, 3_000, 90_000):
        assert await store.delete(f"c{size}") is True
    assert [name for name, content in contents(tmp_path).items() if b"CANARY" in content] == []
    await store.close()
    (content,) = contents(tmp_path).values()
    assert b"CANARY" not in content
    assert b"STAYS" in content


async def test_one_store_removes_what_another_has_open(tmp_path: Path) -> None:
    """The other one sees it gone at its next look, and can go on writing."""
    first, second = SqliteChatStore(tmp_path / "chats.sqlite3"), SqliteChatStore(tmp_path / "chats.sqlite3")
    await first.save(chat("a", HIGH))
    assert await second.load("a") == chat("a", HIGH)
    assert await first.delete("a") is True
    assert await second.load("a") is None
    assert await second.delete("a") is False
    await second.save(chat("a", SELF_HOSTED))
    assert await first.load("a") == chat("a", SELF_HOSTED)
    await first.close()
    await second.close()


async def test_the_latest_chat_of_a_store_in_memory_is_listed_first() -> None:
    """A chat saved again moves to the top there, too."""
    store = MemoryChatStore()
    for name in ("a", "b", "a"):
        await store.save(chat(name))
    assert [row.id for row in await store.list_chats()] == ["a", "b"]
    assert await store.list_chats(-1) == []
