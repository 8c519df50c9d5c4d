"""Chats on disk: nothing lost, nothing lowered, nothing destroyed."""

import asyncio
import sqlite3
import stat
import threading
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from chat_store_kit import FULL, MAIL, STRICT, path_of, reloaded
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lockgate.chat import (
    ChatThread,
    Message,
    Role,
    ToolTrace,
    TraceStatus,
)
from lockgate.errors import StorageError
from lockgate.policy import (
    NOTHING,
    ChatRequirements,
    ConfidenceLevel,
    DataSourceSecurity,
    OutboundDataRestriction,
    SetBy,
    SetByKind,
)
from lockgate.storage import SqliteChatStore

STRICTEST = ChatRequirements(
    ConfidenceLevel.HIGH, DataSourceSecurity.SELF_HOSTED, OutboundDataRestriction.ONLY_CONFIGURED_SERVICES
)
REQUIREMENTS = st.builds(
    ChatRequirements,
    st.sampled_from(ConfidenceLevel),
    st.sampled_from(DataSourceSecurity),
    st.sampled_from(OutboundDataRestriction),
)


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqliteChatStore]:
    """A store in a folder that does not exist yet."""
    store = SqliteChatStore(tmp_path / "data" / "chats.sqlite3")
    yield store
    await store.close()


async def test_a_chat_comes_back_equal(store: SqliteChatStore, tmp_path: Path) -> None:
    """Everything of a chat survives, who set each requirement included."""
    await store.save(FULL)
    assert await store.load("full") == FULL
    assert await reloaded(path_of(tmp_path), "full") == FULL


@pytest.mark.parametrize("selected", [None, (), ("a",), ("nobody-knows", "a")])
async def test_never_chosen_differs_from_all_off(store: SqliteChatStore, selected: tuple[str, ...] | None) -> None:
    """A selection that was never made and an empty one come back as what they were."""
    await store.save(ChatThread(id="c", selected_tools=selected))
    loaded = await store.load("c")
    assert loaded is not None
    assert loaded.selected_tools == selected


@pytest.mark.parametrize(
    "stored",
    [
        "{", "[]", "null", "{}", '{"fingerprint":"x","tools":[]}', '{"fingerprint":1,"tools":[],"system":{}}',
        '{"fingerprint":"x","tools":[{"name":"t","size":-1,"digest":""}],"system":{"name":"","size":0,"digest":""}}',
        '{"fingerprint":"x","tools":[],"system":{"name":"","size":true,"digest":""}}',
        "[" * 100_000,
    ],
    ids=lambda text: text[:60],
)  # fmt: skip
async def test_a_prefix_that_cannot_be_read_is_none(store: SqliteChatStore, tmp_path: Path, stored: str) -> None:
    """It only tells what moved in a request, so the chat loads without it."""
    await store.save(FULL)
    await store.close()
    with sqlite3.connect(path_of(tmp_path)) as connection:
        connection.execute("UPDATE chats SET prefix = ?", (stored,))
    connection.close()
    assert await reloaded(path_of(tmp_path), "full") == replace(FULL, prefix=None)


async def test_results_and_addresses_of_tools_are_never_on_disk(store: SqliteChatStore, tmp_path: Path) -> None:
    """No file of the store holds what a tool returned."""
    trace = ToolTrace(1, "t", "T", "c", TraceStatus.SUCCESS, True, "", {}, "CANARY-result", '{"a":"CANARY-json"}')
    chat = ChatThread(id="c", messages=(Message(Role.ASSISTANT, "x", traces=(trace,)),))
    await store.save(chat.with_tool_addresses({"https://CANARY.example/"}))
    loaded = await store.load("c")
    assert loaded is not None
    assert loaded.messages[0].traces == (replace(trace, result="", json_result=""),)
    assert loaded.tool_addresses == frozenset()
    files = list(path_of(tmp_path).parent.iterdir())
    assert files
    assert not any(b"CANARY" in file.read_bytes() for file in files)


async def test_a_shorter_chat_removes_nothing(store: SqliteChatStore) -> None:
    """Messages that the chat does not have stay in the store; changed ones are changed."""
    await store.save(ChatThread(id="c", messages=tuple(Message(Role.USER, str(n)) for n in range(5))))
    await store.save(ChatThread(id="c", messages=(Message(Role.USER, "0"), Message(Role.USER, "changed"))))
    loaded = await store.load("c")
    assert loaded is not None
    assert [message.text for message in loaded.messages] == ["0", "changed", "2", "3", "4"]


async def test_saving_never_lowers(store: SqliteChatStore) -> None:
    """A copy of the chat that knows less is saved without lowering what is stored."""
    await store.raise_requirements("c", STRICT)
    await store.save(ChatThread(id="c", title="t"))
    loaded = await store.load("c")
    assert loaded is not None
    assert loaded.requirements == STRICT
    assert loaded.title == "t"


async def test_requirements_are_kept_before_the_chat_is(store: SqliteChatStore, tmp_path: Path) -> None:
    """A chat that was never saved has its requirements under its ID; loading it still finds no chat."""
    assert await store.raise_requirements("new", STRICT) == STRICT
    assert await store.load("new") is None
    await store.save(ChatThread(id="new"))
    loaded = await reloaded(path_of(tmp_path), "new")
    assert loaded is not None
    assert loaded.requirements == STRICT


async def test_the_first_who_demanded_a_level_stays_named(store: SqliteChatStore) -> None:
    """On a tie the stored name stays; an axis that rises takes the new name."""
    first = ChatRequirements(outbound=OutboundDataRestriction.ONLY_LINKS_FROM_CHAT, outbound_by=MAIL)
    await store.raise_requirements("c", first)
    second = replace(first, confidence=ConfidenceLevel.LOW, confidence_by=MAIL, outbound_by=SetBy(SetByKind.USER))
    joined = await store.raise_requirements("c", second)
    assert joined.outbound_by == MAIL
    assert joined.confidence_by == MAIL
    assert await store.raise_requirements("c", NOTHING) == joined


async def test_nothing_is_written_when_nothing_rises(store: SqliteChatStore, tmp_path: Path) -> None:
    """Asking an absent store, or raising by nothing, makes no file and no folder."""
    assert await store.raise_requirements("c", NOTHING) == NOTHING
    assert await store.load("c") is None
    assert await store.list_chats() == []
    assert not path_of(tmp_path).parent.exists()


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(REQUIREMENTS, min_size=1, max_size=8), st.lists(st.booleans(), min_size=8, max_size=8))
def test_requirements_never_fall(
    tmp_path_factory: pytest.TempPathFactory, raises: list[ChatRequirements], saves: list[bool]
) -> None:
    """Whatever is joined or saved, in whatever order, what is stored is the join of all of it."""

    async def run(path: Path) -> None:
        store = SqliteChatStore(path)
        expected = NOTHING
        for requirements, by_saving in zip(raises, saves, strict=False):
            expected = expected.join(requirements)
            if by_saving:
                await store.save(ChatThread(id="c", requirements=requirements))
            else:
                assert await store.raise_requirements("c", requirements) == expected
        await store.save(ChatThread(id="c"))
        loaded = await store.load("c")
        assert loaded is not None
        assert loaded.requirements == expected
        await store.close()

    asyncio.run(run(tmp_path_factory.mktemp("property") / "chats.sqlite3"))


async def test_event_loops_share_a_store(store: SqliteChatStore) -> None:
    """Loops in several threads use one store object at once."""
    failures: list[BaseException] = []

    def in_thread(number: int) -> None:
        async def work() -> None:
            for turn in range(5):
                await store.save(ChatThread(id=f"{number}-{turn}"))
                assert await store.load(f"{number}-{turn}") is not None

        try:
            asyncio.run(work())
        except BaseException as error:  # noqa: BLE001 (told by the test)
            failures.append(error)

    threads = [threading.Thread(target=in_thread, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        await asyncio.to_thread(thread.join)
    assert failures == []
    assert len(await store.list_chats()) == 20


async def test_a_cancelled_raise_is_still_stored(store: SqliteChatStore, tmp_path: Path) -> None:
    """Who waits for a raise can be cancelled; the raise itself is carried out."""
    await store.save(ChatThread(id="c"))
    task = asyncio.create_task(store.save(ChatThread(id="c", requirements=STRICT)))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await store.close()
    loaded = await reloaded(path_of(tmp_path), "c")
    assert loaded is not None
    assert loaded.requirements == STRICT


async def test_unknown_names_are_read_as_the_strictest_and_kept(store: SqliteChatStore, tmp_path: Path) -> None:
    """A name of a newer version counts as the strictest here and still stands in the file afterwards."""
    await store.save(FULL)
    await store.close()
    with sqlite3.connect(path_of(tmp_path)) as connection:
        connection.execute("UPDATE requirements SET confidence = 'UTMOST', data_security = '', outbound = 'x'")
    connection.close()
    loaded = await reloaded(path_of(tmp_path), "full")
    assert loaded is not None
    assert loaded.requirements.join(STRICTEST) is loaded.requirements
    other = SqliteChatStore(path_of(tmp_path))
    await other.raise_requirements("full", STRICT)
    await other.save(FULL)
    await other.close()
    with sqlite3.connect(path_of(tmp_path)) as connection:
        assert connection.execute("SELECT confidence, outbound FROM requirements").fetchall() == [("UTMOST", "x")]
    connection.close()


async def test_lost_requirements_count_as_the_strictest(store: SqliteChatStore, tmp_path: Path) -> None:
    """A saved chat without its row of requirements demands everything, also after being raised and saved."""
    await store.save(ChatThread(id="c"))
    await store.close()
    with sqlite3.connect(path_of(tmp_path)) as connection:
        connection.execute("DELETE FROM requirements")
    connection.close()
    other = SqliteChatStore(path_of(tmp_path))
    await other.raise_requirements("c", ChatRequirements(ConfidenceLevel.LOW))
    await other.save(ChatThread(id="c"))
    loaded = await other.load("c")
    await other.close()
    assert loaded is not None
    assert loaded.requirements.join(STRICTEST) is loaded.requirements


async def test_the_list_is_newest_first(store: SqliteChatStore) -> None:
    """A chat saved again moves to the top; the limit cuts the oldest."""
    for name in ("a", "b", "c"):
        await store.save(ChatThread(id=name, title=name.upper(), messages=(Message(Role.USER, "x"),)))
    await store.save(ChatThread(id="a", title="A"))
    rows = await store.list_chats()
    assert [(row.id, row.title, row.messages) for row in rows] == [("a", "A", 1), ("c", "C", 1), ("b", "B", 1)]
    assert [row.id for row in await store.list_chats(1)] == ["a"]


async def test_the_files_are_the_users_alone(store: SqliteChatStore, tmp_path: Path) -> None:
    """Folder 0700, every file 0600."""
    await store.save(FULL)
    folder = path_of(tmp_path).parent
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir()} == {0o600}


async def test_a_busy_file_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A writer that never ends makes a sentence, no traceback of SQLite."""
    monkeypatch.setattr("lockgate.storage.database.BUSY_SECONDS", 0.05)
    path = tmp_path / "chats.sqlite3"
    store = SqliteChatStore(path)
    await store.save(FULL)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StorageError, match="in use by another program"):
        await store.save(FULL)
    other.execute("ROLLBACK")
    other.close()
    await store.save(FULL)
    await store.close()


async def test_an_impossible_place_is_told(tmp_path: Path) -> None:
    """A folder that is a file, and a file that is a folder, each give one sentence."""
    (tmp_path / "file").write_text("")
    store = SqliteChatStore(tmp_path / "file" / "chats.sqlite3")
    with pytest.raises(StorageError, match="cannot be opened"):
        await store.save(FULL)
    await store.close()
    (tmp_path / "folder").mkdir()
    store = SqliteChatStore(tmp_path / "folder")
    with pytest.raises(StorageError, match="cannot be opened"):
        await store.load("c")
    await store.close()


async def test_odd_characters_of_a_model_do_no_harm(store: SqliteChatStore) -> None:
    """Lone surrogates in a title are replaced; in an ID they are refused in words."""
    await store.save(ChatThread(id="c", title="a\ud800b", system_prompt="\udfff"))
    loaded = await store.load("c")
    assert loaded is not None
    assert loaded.title == "a\ufffdb"
    with pytest.raises(StorageError, match="ID"):
        await store.load("\ud800")


async def test_a_closed_store_says_so(store: SqliteChatStore) -> None:
    """Closing twice is fine; working afterwards is told."""
    await store.save(FULL)
    await store.close()
    await store.close()
    with pytest.raises(StorageError, match="closed"):
        await store.load("full")


def test_every_commit_is_written_through(tmp_path: Path) -> None:
    """The connection uses a write-ahead log and syncs each commit."""

    async def run() -> None:
        store = SqliteChatStore(tmp_path / "chats.sqlite3")
        pragmas = await store._database.write(
            lambda connection: [
                connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("journal_mode", "synchronous")
            ]
        )
        assert pragmas == ["wal", 2]
        await store.close()

    asyncio.run(run())
    assert [file.name for file in tmp_path.iterdir()] == ["chats.sqlite3"]
