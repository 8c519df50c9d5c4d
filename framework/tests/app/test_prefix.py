"""Consecutive requests of a chat share their beginning byte for byte, and what moves in it is told."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from scripted_kit import SCRIPTED, ScriptedModel, saying

from lockgate.app import Lockgate
from lockgate.calling import Event, PromptPrefixChanged, RequestPrepared, Run
from lockgate.chat import ChatThread, Moved, PrefixChange, PromptPrefix
from lockgate.chat.prefix import SYSTEM, TOOLS
from lockgate.policy import ToolOutboundData
from lockgate.storage import SqliteChatStore
from lockgate.testing import Call, FakeProvider, FakeRequest, PluginOf, answer_calls, answer_text, lockgate_for
from lockgate.tools import (
    RequestContext,
    Tool,
    ToolActivation,
    ToolCollection,
    ToolContext,
    ToolDefinition,
    ToolFunction,
    ToolResult,
    ToolTexts,
)

NO_ARGUMENTS: dict[str, Any] = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
ONE_ARGUMENT: dict[str, Any] = {
    "type": "object", "properties": {"place": {"type": "string", "description": "Where."}}, "required": ["place"],
    "additionalProperties": False,
}  # fmt: skip
PROMPT = 'You are "brief".\nStraßen heißen hier Wege.'


class Made(Tool):
    """A tool whose words a test chooses."""

    def __init__(self, tool_id: str, description: str = "Does it.", *, shown: str = "", **facts: Any) -> None:
        facts.setdefault("outbound_data", ToolOutboundData.NONE)
        self.definition = ToolDefinition(tool_id, facts.pop("parameters", NO_ARGUMENTS), description, **facts)
        self._shown = shown or tool_id

    def texts(self, locale: str) -> ToolTexts:
        return ToolTexts(self._shown)

    def parse(self, arguments: str) -> Any:
        return arguments

    async def execute(self, arguments: Any, context: ToolContext) -> ToolResult:
        return ToolResult(f"done {arguments}")


class Choosing(Made):
    """A tool that shows choices of its own."""

    def __init__(self, tool_id: str, *choices: str) -> None:
        super().__init__(tool_id, parameters=ONE_ARGUMENT)
        self._choices = choices

    async def resolve_function(self, context: RequestContext) -> ToolFunction:
        return ToolFunction(self.definition.description, self.definition.parameters, {"place": self._choices})


def done(request: FakeRequest) -> Any:
    """Answer in words."""
    return answer_text("Done.")


async def ended(run: Run) -> list[Event]:
    """Return the events of a run."""
    async with run:
        return [event async for event in run]


async def turn(gate: Lockgate, chat: ChatThread, **how: Any) -> ChatThread:
    """Ask one more question; return the chat with the answer."""
    run = gate.ask(chat, "And now?", **how)
    await ended(run)
    assert run.stopped == "answered", run.error
    return run.chat


def tool_block(request: FakeRequest) -> bytes:
    """Return the bytes of the tools as they were sent."""
    return request.arrived_bytes.partition(b',"tools":')[2].partition(b',"parallel_tool_calls"')[0]


def head(request: FakeRequest) -> bytes:
    """Return everything before the first turn of the chat: parameters, tools, system prompt."""
    found, user, _ = request.arrived_bytes.partition(b'{"role":"user"')
    assert user
    return found


def up_to_its_last_message(request: FakeRequest) -> bytes:
    """Return a request without the brackets that close it."""
    assert request.arrived_bytes.endswith(b"]}")
    return request.arrived_bytes[:-2]


def changes_in(events: Sequence[Event]) -> tuple[PrefixChange, ...]:
    """Return what moved; nothing when nobody said so."""
    told = [event.changes for event in events if isinstance(event, PromptPrefixChanged)]
    assert len(told) <= 1
    return told[0] if told else ()


def fingerprint_in(events: Sequence[Event]) -> str:
    """Return the fingerprint that was told."""
    return next(event.fingerprint for event in events if isinstance(event, RequestPrepared))


SOME = (
    Choosing("find_way", "north", "south"), Made("count", instructions="Count with this."),
    Made("now", activation=ToolActivation.CONTEXT), Made("read", companions=("count",)),
)  # fmt: skip


# --- nothing moves ---------------------------------------------------------------------------------------------------


async def test_the_rounds_of_a_run_only_grow() -> None:
    """Each request begins with all of the one before, its brackets aside."""
    script = [answer_calls(Call("count", {})), answer_calls(Call("read", {})), answer_text("Done.")]
    async with FakeProvider(script) as fake, lockgate_for(fake, tools=SOME) as gate:
        await turn(gate, ChatThread(system_prompt=PROMPT, include_date=True), selected=("read", "find_way"))
        first, second, third = map(up_to_its_last_message, fake.requests)
    assert second.startswith(first)
    assert third.startswith(second)


async def test_the_turns_of_a_chat_only_grow() -> None:
    """The next question is put behind the turns before, whose tool conversation is gone."""
    script = [answer_calls(Call("count", {})), answer_text("1."), answer_text("2."), answer_text("3.")]
    async with FakeProvider(script) as fake, lockgate_for(fake, tools=SOME) as gate:
        chat = gate.new_chat()
        for _ in range(3):
            chat = await turn(gate, chat, selected=("read", "find_way"))
        first, _, second, third = map(up_to_its_last_message, fake.requests)
        assert fake.requests[0].tool_names == ["count", "find_way", "now", "read"]
    assert second.startswith(first)
    assert third.startswith(second)


async def test_a_chat_that_was_reloaded_begins_as_before(tmp_path: Path) -> None:
    """In another process, as it were: a new store, a new gate, new tools of the same words."""
    async with FakeProvider(done) as fake:
        async with lockgate_for(fake, tools=SOME, store=SqliteChatStore(tmp_path / "chats.db")) as gate:
            kept = await turn(gate, ChatThread(system_prompt=PROMPT), selected=("read", "find_way"))
        again = (Choosing("find_way", "north", "south"), *SOME[1:])
        async with lockgate_for(fake, tools=again, store=SqliteChatStore(tmp_path / "chats.db")) as gate:
            loaded = await gate.store.load(kept.id)
            assert loaded is not None
            assert loaded.prefix == kept.prefix
            run = gate.ask(loaded, "And now?")
            events = await ended(run)
        first, second = map(up_to_its_last_message, fake.requests)
    assert second.startswith(first)
    assert changes_in(events) == ()
    assert kept.prefix is not None
    assert fingerprint_in(events) == kept.prefix.fingerprint


@pytest.mark.parametrize("turned", [False, True], ids=["same order", "turned round"])
async def test_the_order_of_plugins_tools_and_selections_makes_no_difference(turned: bool) -> None:
    """The block is ordered by what people call the tools."""
    plugins: list[object] = [PluginOf(f"plugin-{number}", tools=[made]) for number, made in enumerate(SOME)]
    plugins.append(PluginOf("pair", tools=[Made("b_two"), Made("a_one")], collections=[
        ToolCollection("pair", ("b_two", "a_one") if turned else ("a_one", "b_two"))
    ]))  # fmt: skip
    selected = ["find_way", "pair", "read"]
    async with FakeProvider(done) as fake:
        async with lockgate_for(fake, plugins=plugins) as gate:
            chat = await turn(gate, ChatThread(system_prompt=PROMPT), selected=selected)
        order = list(reversed(plugins)) if turned else plugins
        async with lockgate_for(fake, plugins=order) as gate:
            run = gate.ask(chat, "And now?", selected=list(reversed(selected)) if turned else selected)
            events = await ended(run)
        before, now = fake.requests
    assert before.tool_names == ["a_one", "b_two", "count", "find_way", "now", "read"]
    assert tool_block(now) == tool_block(before)
    assert now.arrived_bytes.startswith(up_to_its_last_message(before))
    assert changes_in(events) == ()


async def test_the_fingerprint_covers_tools_and_system_prompt_and_nothing_else() -> None:
    """Another chat of the same beginning has the same one; other turns and another order of questions do not count."""
    async with FakeProvider(done) as fake, lockgate_for(fake, tools=SOME) as gate:

        async def fingerprint(prompt: str, *selected: str) -> str:
            events = await ended(gate.ask(ChatThread(system_prompt=prompt), f"About {prompt}?", selected=selected))
            return fingerprint_in(events)

        same = await fingerprint("A", "count")
        assert await fingerprint("A", "count") == same
        others = {await fingerprint("B", "count"), await fingerprint("A"), await fingerprint("A", "read")}
    assert len(others) == 3
    assert same not in others


async def test_a_run_keeps_the_beginning_with_its_chat() -> None:
    """Also that of a chat which was forked: the host has computed it already."""
    async with FakeProvider(done) as fake, lockgate_for(fake, tools=SOME) as gate:
        run = gate.ask(ChatThread(system_prompt=PROMPT), "Hello?", selected=("count",))
        events = await ended(run)
        kept = await gate.store.load(run.chat.id)
        assert kept is not None
        assert run.chat.prefix is not None
        assert run.chat.prefix.fingerprint == fingerprint_in(events)
        assert [part.name for part in run.chat.prefix.tools] == ["count", "now"]
        assert kept.prefix == run.chat.prefix
        forked = await gate.fork(run.chat.id)
        assert changes_in(await ended(gate.ask(forked, "And now?"))) == ()


async def test_the_first_request_of_a_chat_moves_nothing() -> None:
    """There is nothing it could differ from."""
    async with FakeProvider(done) as fake, lockgate_for(fake, tools=SOME) as gate:
        assert changes_in(await ended(gate.ask(None, "Hello?", selected=("count",)))) == ()


# --- something moves -------------------------------------------------------------------------------------------------

A, B, C = Made("a", shown="1"), Made("b", shown="2"), Made("c", shown="3")
PLACES = Choosing("a", "north", "south")


@pytest.mark.parametrize(
    ("before", "after", "moved"),
    [
        ((A, B), (A, B, C), {"c": Moved.ADDED}),
        ((A, B, C), (A, C), {"b": Moved.REMOVED}),
        ((A, B), (A, C), {"b": Moved.REMOVED, "c": Moved.ADDED}),
        ((A, B), (Made("a", 'Does it "well", größer.', shown="1"), B), {"a": Moved.CHANGED}),
        ((B, PLACES), (B, Choosing("a", "north", "south", "südwest")), {"a": Moved.CHANGED}),
        ((B, PLACES), (B, Choosing("a", "south", "north")), {"a": Moved.CHANGED}),
        ((A, B), (A, Made("b", shown="2", parameters=ONE_ARGUMENT)), {"b": Moved.CHANGED}),
        ((A, B), (A, Made("b", shown="2", strict=False)), {"b": Moved.CHANGED}),
        ((A, B), (A, Made("b", shown="2", instructions="First b.\n\nThen rest.")), {SYSTEM: Moved.CHANGED}),
        ((A, Made("b", shown="2", instructions="First b.")), (A,), {"b": Moved.REMOVED, SYSTEM: Moved.CHANGED}),
    ],
    ids=["added", "removed", "one for another", "description", "choices", "order of choices", "parameters",
         "strictness", "instructions", "removed with its instructions"],
)  # fmt: skip
async def test_what_moved_is_told_by_name_and_to_the_byte(
    before: Sequence[Tool], after: Sequence[Tool], moved: dict[str, Moved]
) -> None:
    """The numbers add up to the difference of what the host got before the first turn."""
    async with FakeProvider(done) as fake:
        async with lockgate_for(fake, tools=before) as gate:
            selected = [item.definition.id for item in (*before, *after)]
            chat = await turn(gate, ChatThread(system_prompt=PROMPT), selected=selected)
        async with lockgate_for(fake, tools=after) as gate:
            changes = changes_in(await ended(gate.ask(chat, "And now?")))
        first, second = fake.requests
    assert {change.name: change.moved for change in changes} == moved
    assert sum(change.bytes for change in changes) == len(head(second)) - len(head(first))
    of_tools = sum(change.bytes for change in changes if change.name != SYSTEM)
    assert of_tools == len(tool_block(second)) - len(tool_block(first))


async def test_a_tool_that_changed_places_is_told_alone() -> None:
    """People call it otherwise now, so it stands elsewhere; its words are the same."""
    async with FakeProvider(done) as fake:
        async with lockgate_for(fake, tools=(A, B, C)) as gate:
            chat = await turn(gate, ChatThread(system_prompt=PROMPT), selected=("a", "b", "c"))
        async with lockgate_for(fake, tools=(Made("a", shown="9"), B, C)) as gate:
            changes = changes_in(await ended(gate.ask(chat, "And now?")))
        first, second = fake.requests
    assert second.tool_names == ["b", "c", "a"]
    assert [(change.name, change.moved) for change in changes] == [("a", Moved.REORDERED)]
    start = [tool_block(request).index(b'{"type":"function","function":{"name":"a"') for request in (first, second)]
    assert changes[0].bytes == start[1] - start[0]


async def test_another_system_prompt_is_told_to_the_byte() -> None:
    """The bytes of its JSON, not its characters."""
    async with FakeProvider(done) as fake, lockgate_for(fake, tools=(A,)) as gate:
        chat = await turn(gate, ChatThread(system_prompt=PROMPT), selected=("a",))
        other = replace(chat, system_prompt=PROMPT + '\n\n"Größe"\t☃ \\')
        changes = changes_in(await ended(gate.ask(other, "And now?")))
        first, second = fake.requests
    assert changes == (PrefixChange(SYSTEM, Moved.CHANGED, len(head(second)) - len(head(first))),)


async def test_the_first_tool_of_a_chat_is_told_by_its_own_bytes() -> None:
    """The members around the tools as a whole are no tool's."""
    async with FakeProvider(done) as fake, lockgate_for(fake, tools=(A,)) as gate:
        chat = await turn(gate, ChatThread(system_prompt=PROMPT), selected=())
        added = changes_in(await ended(gate.ask(chat, "And now?", selected=("a",))))
        sent = tool_block(fake.requests[1])
    assert added == (PrefixChange("a", Moved.ADDED, len(sent) - 1),)


async def test_a_change_is_told_once() -> None:
    """The next request is held against the one that was sent last."""
    async with FakeProvider(done) as fake, lockgate_for(fake, tools=(A, B)) as gate:
        chat = await turn(gate, ChatThread(), selected=("a",))
        run = gate.ask(chat, "And now?", selected=("a", "b"))
        assert [change.name for change in changes_in(await ended(run))] == ["b"]
        assert changes_in(await ended(gate.ask(run.chat, "And now?"))) == ()


async def test_an_adapter_that_tells_no_tool_from_the_other_is_told_of_as_a_whole() -> None:
    """Nothing changes in silence: the tools together are named, by how many bytes they grew."""
    model = ScriptedModel(lambda _: saying("Done."))
    async with model.gate(tools=(A, B)) as gate:
        chat = await turn(gate, ChatThread(system_prompt=PROMPT), provider=SCRIPTED, selected=("a",))
        events = await ended(gate.ask(chat, "And now?", provider=SCRIPTED, selected=("a", "b")))
    first, second = (len(made.request.tools.encoded) for made in model.conversations)
    assert changes_in(events) == (PrefixChange(TOOLS, Moved.CHANGED, second - first),)
    assert chat.prefix is not None
    assert fingerprint_in(events) != chat.prefix.fingerprint


async def test_an_odd_beginning_that_was_stored_costs_nothing_but_words() -> None:
    """A chat can come from another program; what its beginning was only tells what moved."""
    async with FakeProvider(done) as fake, lockgate_for(fake, tools=(A,)) as gate:
        chat = await turn(gate, ChatThread(system_prompt=PROMPT), selected=("a",))
        assert chat.prefix is not None
        odd = replace(chat, prefix=PromptPrefix("nonsense", chat.prefix.tools, chat.prefix.system))
        assert [change.name for change in changes_in(await ended(gate.ask(odd, "And now?")))] == [TOOLS]


# --- the day ---------------------------------------------------------------------------------------------------------

OnDay = Callable[[date], None]


@pytest.fixture(name="on_day")
def fixture_on_day(monkeypatch: pytest.MonkeyPatch) -> OnDay:
    """Let it be another day."""

    def set_to(day: date) -> None:
        monkeypatch.setattr("lockgate.app.requests.today", lambda: day)

    return set_to


def system_of(request: FakeRequest) -> str:
    """Return the system prompt as the model reads it."""
    text: str = request.messages[0]["content"]
    return text


async def test_the_day_stands_last_in_the_system_prompt_and_only_it_moves_over_night(on_day: OnDay) -> None:
    """Behind the rules of the tools; within a day the requests begin alike, and on the next all but the day does."""
    async with FakeProvider(done) as fake, lockgate_for(fake, tools=SOME) as gate:
        chat = ChatThread(system_prompt=PROMPT, include_date=True)
        events = []
        for day in (date(2026, 9, 30), date(2026, 9, 30), date(2026, 10, 1)):
            on_day(day)
            run = gate.ask(chat, "And now?", selected=("count",))
            events.append(await ended(run))
            chat = run.chat
        first, second, third = fake.requests
    line = "Today is Wednesday, 30 September 2026 (2026-09-30)."
    next_line = "Today is Thursday, 1 October 2026 (2026-10-01)."
    assert system_of(first).endswith("Count with this.\n\n" + line)
    assert second.arrived_bytes.startswith(up_to_its_last_message(first))
    assert changes_in(events[1]) == ()
    assert system_of(third) == system_of(first).removesuffix(line) + next_line
    before_the_day = first.arrived_bytes[:first.arrived_bytes.index(line.encode())]
    assert third.arrived_bytes.startswith(before_the_day)
    assert changes_in(events[2]) == (PrefixChange(SYSTEM, Moved.CHANGED, len(next_line) - len(line)),)


async def test_a_chat_that_is_not_to_tell_the_day_does_not() -> None:
    """Nor does one without any prompt have a system message."""
    async with FakeProvider(done) as fake, lockgate_for(fake) as gate:
        await turn(gate, ChatThread(system_prompt=PROMPT))
        await turn(gate, ChatThread())
        assert system_of(fake.requests[0]) == PROMPT
        assert [message["role"] for message in fake.requests[1].messages] == ["user"]


async def test_a_new_chat_tells_the_day(on_day: OnDay) -> None:
    """Alone, where there is nothing else to say."""
    on_day(date(2026, 2, 28))
    async with FakeProvider(done) as fake, lockgate_for(fake) as gate:
        await turn(gate, gate.new_chat())
        assert system_of(fake.requests[0]) == "Today is Saturday, 28 February 2026 (2026-02-28)."


async def test_the_days_of_tools_do_not_get_into_the_addresses_of_a_chat(on_day: OnDay) -> None:
    """The addresses in the system prompt count as given, whatever the day."""
    on_day(date(2026, 2, 28))
    async with FakeProvider(done) as fake, lockgate_for(fake) as gate:
        chat = await turn(gate, ChatThread(system_prompt="See https://example.org/a.", include_date=True))
    assert len(chat.prompt_addresses) == 1
