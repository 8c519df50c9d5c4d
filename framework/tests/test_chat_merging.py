"""Two runs in one chat lose no turn: saves merge by message ID, in memory and on disk alike."""

import asyncio
import tempfile
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lockgate.chat import ChatStore, ChatThread, MemoryChatStore, Message, Role, ToolTrace, TraceStatus
from lockgate.chat.merging import goes_further, identified, identities, merged
from lockgate.policy import ToolOutboundData
from lockgate.storage import SqliteChatStore
from lockgate.testing import Call, FakeProvider, answer_calls, answer_text, lockgate_for
from lockgate.tools import tool

ONE = ChatThread(id="c").with_message(Message(Role.USER, "one")).with_message(Message(Role.ASSISTANT, "first"))


def user(text: str) -> Message:
    """Return a question whose ID is its text."""
    return Message(Role.USER, text, id=text)


def answer(text: str, message_id: str = "", *, partial: bool = False) -> Message:
    """Return an answer whose ID is its text, or another."""
    return Message(Role.ASSISTANT, text, partial=partial, id=message_id or text)


def texts(chat: ChatThread | None) -> list[str]:
    """Return what is written in a chat."""
    assert chat is not None
    return [message.text for message in chat.messages]


@pytest.fixture(params=["memory", "sqlite"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[ChatStore]:
    """Each kind of store."""
    made: ChatStore = MemoryChatStore() if request.param == "memory" else SqliteChatStore(tmp_path / "chats.sqlite3")
    yield made
    await made.close()


# --- the store -------------------------------------------------------------------------------------------------------


async def test_turns_of_two_copies_stand_beside_each_other(store: ChatStore) -> None:
    """Whoever saves last keeps what the other has stored; each answer stands right behind its question."""
    await store.save(ONE)
    a, b = (ONE.with_message(user(f"{name} question")) for name in "AB")
    await store.save(a)
    await store.save(b)
    assert texts(await store.load("c")) == ["one", "first", "A question", "B question"]
    await store.save(b.with_message(answer("B answer")))
    await store.save(a.with_message(answer("A answer")))
    expected = ["one", "first", "A question", "A answer", "B question", "B answer"]
    assert texts(await store.load("c")) == expected
    assert [row.messages for row in await store.list_chats()] == [6]


async def test_whoever_goes_on_sends_only_what_it_knows_and_stores_with_the_others(store: ChatStore) -> None:
    """A copy that never saw the other's turns is gone on with; its later turns come at the end."""
    await store.save(ONE)
    a = ONE.with_message(user("A1")).with_message(answer("a1"))
    b = ONE.with_message(user("B1")).with_message(answer("b1"))
    for chat in (a, b, a.with_message(user("A2")), a.with_message(user("A2")).with_message(answer("a2"))):
        await store.save(chat)
    assert texts(await store.load("c")) == ["one", "first", "A1", "a1", "B1", "b1", "A2", "a2"]


async def test_an_answer_grows_and_never_shrinks(store: ChatStore) -> None:
    """A part is replaced by a longer one and by the whole, never the other way round; a whole one by a whole one."""
    asked = ONE.with_message(user("Q"))
    for text, partial, expected in (
        ("An", True, "An"),
        ("An answer", True, "An answer"),
        ("An", True, "An answer"),
        ("An answer.", False, "An answer."),
        ("An answer, longer", True, "An answer."),
        ("Another.", False, "Another."),
    ):
        await store.save(asked.with_message(answer(text, "a", partial=partial)))
        assert texts(await store.load("c")) == ["one", "first", "Q", expected]


async def test_saving_again_changes_nothing(store: ChatStore) -> None:
    """What was loaded is saved as it is, also by somebody whose copy is old."""
    a, b = (ONE.with_message(user(name)).with_message(answer(name.lower())) for name in "AB")
    await store.save(a)
    await store.save(b)
    loaded = await store.load("c")
    assert loaded is not None
    for chat in (loaded, a, b, ONE, ChatThread(id="c")):
        await store.save(chat)
        again = await store.load("c")
        assert again is not None
        assert [(m.id, m.text) for m in again.messages] == [(m.id, m.text) for m in loaded.messages]


async def test_messages_without_ids_are_known_by_their_place(store: ChatStore) -> None:
    """A chat made by hand can be saved again and again, gone on with, and be changed in its messages."""
    made = ChatThread(id="c", messages=(Message(Role.USER, "one"),) * 2)
    await store.save(made)
    await store.save(made)
    loaded = await store.load("c")
    assert loaded is not None
    assert texts(loaded) == ["one", "one"]
    assert len({message.id for message in loaded.messages} - {""}) == 2
    await store.save(loaded.with_message(user("there")))
    await store.save(made.with_message(user("here")))
    await store.save(replace(made, messages=(Message(Role.USER, "changed"),)))
    assert texts(await store.load("c")) == ["changed", "one", "there", "here"]


async def test_a_removed_chat_comes_back_with_what_each_holds(store: ChatStore) -> None:
    """After a removal nothing of others comes back; two that still hold it merge again."""
    a, b = (ONE.with_message(user(name)).with_message(answer(name.lower())) for name in "AB")
    await store.save(a)
    assert await store.delete("c") is True
    await store.save(b)
    assert texts(await store.load("c")) == ["one", "first", "B", "b"]
    await store.save(a)
    assert texts(await store.load("c")) == ["one", "first", "B", "b", "A", "a"]


async def test_a_fork_is_a_chat_of_its_own(store: ChatStore) -> None:
    """Equal IDs of messages in two chats do no harm: what is cut off in a fork stays in the first."""
    await store.save(ONE)
    fork = ONE.forked(1)
    await store.save(fork.with_message(user("other")))
    assert texts(await store.load(fork.id)) == ["one", "other"]
    assert texts(await store.load("c")) == ["one", "first"]


async def test_one_chat_is_saved_from_many_tasks_at_once(store: ChatStore) -> None:
    """Saves under way at the same time wait for each other."""
    await store.save(ONE)
    chats = [ONE.with_message(user(f"q{n}")).with_message(answer(f"a{n}")) for n in range(12)]
    await asyncio.gather(*(store.save(chat) for chat in chats))
    found = texts(await store.load("c"))[2:]
    assert sorted(found[::2]) == sorted(f"q{n}" for n in range(12))
    assert [text[1:] for text in found[::2]] == [text[1:] for text in found[1::2]]


# --- IDs and the merge itself ----------------------------------------------------------------------------------------


def test_a_message_of_a_chat_has_an_id_and_keeps_it() -> None:
    """A new turn is given one; one that has an ID keeps it; equality does not ask for it."""
    first, second = ONE.messages
    assert len({first.id, second.id} - {""}) == 2
    assert len(first.id) == 16
    assert int(first.id, 16) >= 0
    assert ChatThread().with_message(first).messages[0].id == first.id
    assert first == replace(first, id="another")
    assert hash(first) == hash(replace(first, id="another"))


@given(st.lists(st.sampled_from(["", "x", "y", *identities("c", [""] * 3)]), max_size=8))
def test_every_message_has_one_identity(ids: list[str]) -> None:
    """Whatever IDs a chat made by hand has, they become different ones; those that are, stay."""
    found = identities("c", ids)
    assert found == identities("c", ids)
    assert len(set(found)) == len(ids)
    assert "" not in found
    assert identities("c", found) == found
    for place, own in enumerate(ids):
        if own and own not in ids[:place]:
            assert found[place] == own


@pytest.mark.parametrize(
    ("stored", "arriving", "further"),
    [
        (answer("ab", partial=True), answer("a", partial=True), True),
        (answer("a", partial=True), answer("ab", partial=True), False),
        (answer("xy", partial=True), answer("a", partial=True), False),
        (answer("a"), answer("ab", partial=True), True),
        (answer("a"), answer("b"), False),
        (answer("ab", partial=True), answer("a"), False),
        (
            answer("ab", partial=True),
            replace(answer("a", partial=True), traces=(ToolTrace(1, "t", "T", "c", TraceStatus.SUCCESS),)), False,
        ),
    ],
)  # fmt: skip
def test_which_version_of_an_answer_goes_further(stored: Message, arriving: Message, *, further: bool) -> None:
    """A whole one before a part; of parts the one that has all of the other."""
    assert goes_further(stored, arriving) is further


def test_what_was_left_out_in_the_middle_goes_back_there() -> None:
    """A turn that only the saved chat has stands before the stored turn that follows it there."""
    whole = [user("Q1"), answer("a1"), user("Q2"), answer("a2")]
    stored = [whole[0], user("X"), answer("x"), whole[3]]
    assert [m.text for m in merged("c", stored, whole)] == ["Q1", "a1", "X", "x", "Q2", "a2"]


@given(st.data())
def test_a_merge_keeps_both_orders(data: st.DataObject) -> None:
    """Any two parts of one history give all their turns, each part in its own order, and nothing twice."""
    roles = data.draw(st.lists(st.sampled_from(Role), max_size=8))
    history = [Message(role, str(n), id=str(n)) for n, role in enumerate(roles)]

    def part() -> list[Message]:
        return [message for message in history if data.draw(st.booleans())]

    stored, arriving = part(), part()
    found = merged("c", stored, arriving)
    assert sorted(m.id for m in found) == sorted({m.id for m in (*stored, *arriving)})
    assert [m for m in found if m in stored] == stored
    assert [m for m in found if m in arriving] == arriving
    assert merged("c", found, arriving) == merged("c", found, stored) == found


# --- interleavings of runs -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Step:
    """A run saves once more: its question, a part of its answer, or the whole, or it begins the next question."""

    run: int
    forward: bool
    """It has come further since its last save; else it saves the same once more."""
    reload: bool
    """Before its next question it takes the chat as it is stored; else it goes on with its own view."""


STEPS = st.lists(st.builds(Step, st.integers(0, 2), st.sampled_from((True, True, False)), st.booleans()), max_size=30)
STAGES = 3  # the question, a part of the answer, the whole answer


def view(before: ChatThread, name: str, stage: int) -> ChatThread:
    """Return what a run holds at a stage of answering."""
    chat = before.with_message(user(f"{name}?"))
    if stage == 0:
        return chat
    text = f"{name}: so" if stage == 1 else f"{name}: so it is."
    return chat.with_message(answer(text, f"{name}.", partial=stage == 1))


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS)
def test_no_interleaving_loses_a_turn(kind: str, steps: list[Step]) -> None:
    """Runs that save in any order leave all turns, each run's in its order, each answer behind its question."""
    with tempfile.TemporaryDirectory(prefix="lockgate-merging-") as folder:
        made: ChatStore = MemoryChatStore() if kind == "memory" else SqliteChatStore(Path(folder, "chats.sqlite3"))
        asyncio.run(interleave(made, steps))


async def interleave(store: ChatStore, steps: list[Step]) -> None:
    """Let three runs save as told and look at the store after each save."""
    await store.save(ONE)
    begun, stages, turns = [ONE] * 3, [-1] * 3, [0] * 3
    last: dict[str, str] = {message.id: message.text for message in ONE.messages}
    views: dict[int, ChatThread] = {}
    for step in steps:
        run = step.run
        if step.forward or stages[run] < 0:
            stages[run] += 1
        if stages[run] == STAGES:
            loaded = await store.load("c")
            assert loaded is not None
            begun[run] = loaded if step.reload else views[run]
            stages[run], turns[run] = 0, turns[run] + 1
        views[run] = view(begun[run], f"{run}-{turns[run]}", stages[run])
        await store.save(views[run])
        last.update((message.id, message.text) for message in views[run].messages[len(begun[run].messages):])
        await look(store, last, views)
    before = await store.load("c")
    for chat in views.values():
        await store.save(chat)  # once more, in another order
    assert await store.load("c") == before
    await store.close()


async def look(store: ChatStore, last: dict[str, str], views: dict[int, ChatThread]) -> None:
    """Assert that the stored chat holds the latest version of every turn, in an order that all runs know."""
    loaded = await store.load("c")
    assert loaded is not None
    ids = [message.id for message in loaded.messages]
    assert {message.id: message.text for message in loaded.messages} == last
    assert len(ids) == len(last)
    for chat in views.values():
        own = [message.id for message in chat.messages]
        assert [message_id for message_id in ids if message_id in own] == own
    for before, message in zip(ids, loaded.messages[1:], strict=False):
        if message.role is Role.ASSISTANT and message.id.endswith("."):
            assert before == f"{message.id[:-1]}?"
    assert loaded.messages == identified("c", loaded.messages)


# --- runs ------------------------------------------------------------------------------------------------------------


async def test_two_runs_in_one_chat_keep_both_turns(store: ChatStore) -> None:
    """A run that waits for a tool while another one asks and answers in its chat: all is stored, and both go on."""
    started, released = asyncio.Event(), asyncio.Event()

    @tool(outbound_data=ToolOutboundData.NONE)
    async def hold() -> str:
        """Wait until it is told to end."""
        started.set()
        await released.wait()
        return "held"

    script = [answer_text("first"), answer_calls(Call("hold")), answer_text("B answer"), answer_text("A answer"),
              answer_text("A more")]  # fmt: skip
    with FakeProvider(script) as fake:
        async with lockgate_for(fake, tools=[hold], store=store) as gate:
            async with gate.ask(None, "one") as run:
                await run.wait()
            chat = run.chat
            async with gate.ask(chat, "A question", selected=["hold"]) as a:
                await started.wait()
                assert not a.text
                async with gate.ask(chat, "B question", selected=[]) as b:
                    await b.wait()
                released.set()
                await a.wait()
            expected = ["one", "first", "A question", "A answer", "B question", "B answer"]
            kept = await store.load(chat.id)
            assert kept is not None
            assert texts(kept) == expected
            assert a.chat.messages[-1].id == a.chat.messages[-1].id == kept.messages[3].id
            assert texts(a.chat) == expected[:4]
            assert texts(b.chat) == expected[:2] + expected[4:]
            async with gate.ask(a.chat, "Go on", selected=[]) as later:
                await later.wait()
            assert texts(await store.load(chat.id)) == [*expected, "Go on", "A more"]


async def test_a_cancelled_run_is_stored_beside_another(store: ChatStore) -> None:
    """The question of a cancelled run stays when the next one begins with an early copy of the chat."""
    with FakeProvider([answer_text("first"), answer_text("second")]) as fake:
        async with lockgate_for(fake, store=store) as gate:
            async with gate.ask(None, "one") as run:
                await run.wait()
                early = run.chat
            async with gate.ask(early, "two") as run:
                await run.cancel()
            async with gate.ask(early, "three") as other:
                await other.wait()
            assert texts(await store.load(early.id)) == ["one", "first", "two", "three", "second"]
