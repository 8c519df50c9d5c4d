"""What somebody chose for a chat while a run answers stays: the end of a run writes only what the run changed."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from lockgate.chat import (
    ChatStore,
    ChatThread,
    DataSourceOptions,
    MemoryChatStore,
    Message,
    PrefixPart,
    PromptPrefix,
    Role,
)
from lockgate.errors import ProviderDenied
from lockgate.policy import ChatRequirements, ConfidenceLevel, ToolOutboundData
from lockgate.storage import SqliteChatStore
from lockgate.testing import Call, FakeProvider, answer_calls, answer_text, lockgate_for
from lockgate.tools import tool

BEGUN = ChatThread(
    id="c", title="Old", system_prompt="Be kind.", selected_tools=("t",), created=date(2026, 2, 3),
    data_sources=DataSourceOptions(disabled=False, automatic=True), include_date=True, assistant="reviewer",
).with_message(Message(Role.USER, "go", id="q"))  # fmt: skip
ANSWERED = replace(
    BEGUN, prefix=PromptPrefix("0123456789abcdef", (), PrefixPart("system prompt", 8, "bb")),
    prompt_addresses=frozenset({"https://a.example/"}), requirements=ChatRequirements(ConfidenceLevel.LOW),
).with_message(Message(Role.ASSISTANT, "done", id="a"))  # fmt: skip
CHANGES: dict[str, object] = {
    "title": "New", "system_prompt": "Be short.", "selected_tools": (), "created": date(2026, 2, 4),
    "data_sources": DataSourceOptions(), "include_date": False, "assistant": "",
}  # fmt: skip


@pytest.fixture(params=["memory", "sqlite"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[ChatStore]:
    """Each kind of store."""
    made: ChatStore = MemoryChatStore() if request.param == "memory" else SqliteChatStore(tmp_path / "chats.sqlite3")
    yield made
    await made.close()


@pytest.mark.parametrize("name", CHANGES)
async def test_what_was_chosen_meanwhile_stays(store: ChatStore, name: str) -> None:
    """Each of the fields a run does not change itself; its answer, prefix, addresses and demands are stored."""
    await store.save(BEGUN)
    changed = replace(BEGUN, **{name: CHANGES[name]})  # type: ignore[arg-type]  # the name decides the type
    await store.save(changed)
    await store.save_answer(ANSWERED)
    assert await store.load("c") == replace(ANSWERED, **{name: CHANGES[name]})  # type: ignore[arg-type]  # the same


async def test_a_chat_nobody_changed_is_what_the_run_made_of_it(store: ChatStore) -> None:
    """The end of a run alone stores all that there is of the chat."""
    await store.save(BEGUN)
    await store.save_answer(ANSWERED)
    await store.save_answer(ANSWERED)
    assert await store.load("c") == ANSWERED


@pytest.mark.parametrize("stored", [None, replace(BEGUN, messages=(), title="Before", selected_tools=None)])
async def test_a_run_that_has_stored_nothing_is_stored_whole(store: ChatStore, stored: ChatThread | None) -> None:
    """It never came to its beginning, or the chat was removed: what was asked for counts."""
    if stored is not None:
        await store.save(stored)
    await store.save_answer(ANSWERED)
    assert await store.load("c") == ANSWERED


async def test_a_saved_copy_is_written_as_it_is(store: ChatStore) -> None:
    """Who saves a chat on purpose changes everything of it but its turns and demands."""
    await store.save(BEGUN)
    changed = replace(BEGUN, **CHANGES)  # type: ignore[arg-type]  # the names decide the types
    await store.save(changed)
    assert await store.load("c") == changed


async def test_all_off_on_purpose_stays_off(store: ChatStore) -> None:
    """One run answers with a tool, the next one is asked with none: that is the selection once both are over."""
    runs, go_on = asyncio.Event(), asyncio.Event()

    @tool(id="t", outbound_data=ToolOutboundData.NONE)
    async def slow() -> str:
        """Wait."""
        runs.set()
        await go_on.wait()
        return "ok"

    replies = [answer_calls(Call("t", {})), answer_text("second"), answer_text("first")]
    with FakeProvider(replies) as fake:
        async with lockgate_for(fake, tools=[slow], store=store) as gate:
            first = gate.ask(None, "go", selected=["t"])
            async with first:
                await asyncio.wait_for(runs.wait(), 30)
                second = gate.ask(await gate.store.load(first.chat.id), "again", selected=[])
                async with second:
                    await second.wait()
                go_on.set()
                await first.wait()
            loaded = await gate.store.load(first.chat.id)
    assert loaded is not None
    assert loaded.selected_tools == ()
    assert [message.text for message in loaded.messages] == ["go", "first", "again", "second"]


async def test_a_selection_that_was_asked_for_is_kept_where_the_provider_is_denied(store: ChatStore) -> None:
    """The question is kept with what was selected for it, so that it can be asked of another provider."""

    @tool(id="t", outbound_data=ToolOutboundData.NONE)
    def quick() -> str:
        """Answer."""
        return "ok"

    held = ChatThread(id="held", requirements=ChatRequirements(ConfidenceLevel.HIGH))
    with FakeProvider([]) as fake:
        async with lockgate_for(fake, tools=[quick], store=store) as gate:
            await gate.store.save(held)
            run = gate.ask(held, "go", selected=["t"])
            with pytest.raises(ProviderDenied):
                async with run:
                    await run.wait()
            loaded = await gate.store.load("held")
    assert loaded is not None
    assert loaded.selected_tools == ("t",)
    assert [message.text for message in loaded.messages] == ["go"]
