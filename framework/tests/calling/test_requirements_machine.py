"""Chats that live for long: asked by many providers, reloaded, forked, exported, raised and removed by others.

Whatever happens in whatever order, and whatever rules come into force meanwhile, no requirement ever falls and none
rises by what was withheld, no secret reaches a provider that may not have it, and the stored chat is the chat.

`LOCKGATE_EXAMPLES=20 pytest framework/tests/calling/test_requirements_machine.py` tries twenty times as many lives,
with other random numbers each time.
"""

import asyncio
import os
import random
import tempfile
from collections import Counter
from collections.abc import Coroutine, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)
from vault_kit import PROVIDERS, TOOLS, Call, Law, Place, World, covers, marks

from lockgate.calling import Event, Run
from lockgate.chat import ChatStore, ChatThread, MemoryChatStore, TraceStatus
from lockgate.chat.transfer import chat_from_json, chat_to_json
from lockgate.errors import ProviderDenied
from lockgate.policy import (
    BY_USER,
    NOTHING,
    ChatRequirements,
    ConfidenceLevel,
    DataSourceSecurity,
    Minimum,
    OutboundDataRestriction,
    OutboundMinimum,
    SetBy,
    SetByKind,
)
from lockgate.registry import Rules
from lockgate.registry.ceilings import Ceilings
from lockgate.storage import SqliteChatStore

TIMES = int(os.environ.get("LOCKGATE_EXAMPLES", "1"))
ORGANIZATION = SetBy(SetByKind.ORGANIZATION, "Acme")

_WIKI, _INBOX = (SetBy(SetByKind.DATA_SOURCE, name) for name in ("Wiki", "Inbox"))
# Mild labels are drawn more often: a chat that is at the top soon has nothing left to happen to it.
_LABELS = [
    *[NOTHING] * 20,
    *(ChatRequirements(*state, by, by, by) for by in (_WIKI, _INBOX) for state in product(
        (ConfidenceLevel.NONE, ConfidenceLevel.LOW, ConfidenceLevel.MEDIUM), DataSourceSecurity, OutboundDataRestriction
    )),
    *(ChatRequirements(*state) for state in product(ConfidenceLevel, DataSourceSecurity, OutboundDataRestriction)),
]  # fmt: skip
LABELS = st.integers(0, len(_LABELS) - 1).map(lambda place: _LABELS[place])
FRIENDLY = Law(Rules(), {
    name: (level, name == "north", False)
    for name, level in zip(PROVIDERS, (ConfidenceLevel.HIGH, *[ConfidenceLevel.MEDIUM] * 3), strict=True)
})  # fmt: skip


def _law(drawn: random.Random) -> Law:
    """Make up rules and standings of providers; some providers may be gone."""
    levels = list(ConfidenceLevel)

    def sometimes(value: Any, chance: float = 0.25) -> Any:
        return value if drawn.random() < chance else None

    def minimums(by: SetBy) -> dict[str, Minimum]:
        return {name: Minimum(drawn.choice(levels), by) for name in TOOLS if sometimes(name, 0.15)}

    standings = {
        name: (drawn.choice((ConfidenceLevel.MEDIUM, *levels)), drawn.random() < 0.4, drawn.random() < 0.3)
        for name in PROVIDERS
        if name == PROVIDERS[0] or not sometimes(name)
    }
    return Law(
        Rules(
            minimums=minimums(BY_USER),
            trusted_provider_ids=frozenset(name for name, (_, _, is_trusted) in standings.items() if is_trusted),
            global_minimum=sometimes(Minimum(drawn.choice(levels), BY_USER)),
            max_tool_calls=drawn.choice((15, 15, 3)),
            ceilings=Ceilings(
                minimums(ORGANIZATION),
                sometimes(Minimum(ConfidenceLevel.LOW, ORGANIZATION)),
                sometimes(OutboundMinimum(OutboundDataRestriction.ONLY_LINKS_FROM_CHAT, ORGANIZATION)),
            ),
        ),
        standings,
    )


_DRAWN = random.Random(72)  # noqa: S311 - laws of a made-up world, no secret
_LAWS = [FRIENDLY, *(_law(_DRAWN) for _ in range(100 * TIMES))]
LAWS = st.integers(0, len(_LAWS) - 1).map(lambda place: _LAWS[place])
"""Laws are drawn from a pool: one choice each leaves room for long lives."""

CALLS = st.builds(
    Call, st.sampled_from(sorted(TOOLS)), LABELS, st.none() | st.none() | st.none() | LAWS,
    st.just(NOTHING) | st.just(NOTHING) | LABELS, st.booleans(), st.integers(0, 9).map(lambda number: number == 9),
)  # fmt: skip
PLANS = st.lists(st.lists(CALLS, min_size=1, max_size=3), max_size=3)
PLACES = st.sampled_from((0, 1))
WHICH = st.integers(0, 3)
MOSTLY_NOT = st.sampled_from((False, False, False, True))


class Lives(RuleBasedStateMachine):
    """Chats in a world of two processes. `threads` are chats as somebody holds them, fresh or stale."""

    threads = Bundle("threads")
    seen: ClassVar[Counter[str]] = Counter()

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.folder = tempfile.TemporaryDirectory(prefix="lockgate-lives-")
        self.world = World()
        self.world.seen = self.seen
        self.memory: MemoryChatStore | None = None
        self.reached: dict[str, ChatRequirements] = {}
        """ID of a chat → the most ever demanded of it, as far as anybody was told; begun anew once it was removed."""
        self.saved: set[str] = set()

    def _store(self) -> ChatStore:
        return self.memory or SqliteChatStore(Path(self.folder.name, "chats.sqlite3"))

    def _await(self, *awaited: Coroutine[Any, Any, None]) -> None:
        """Run coroutines one after the other on the machine's own event loop."""
        for item in awaited:
            self.runner.run(item)

    @initialize(target=threads, in_memory=st.booleans(), other=LAWS)
    def two_processes_begin(self, *, in_memory: bool, other: Law) -> ChatThread:
        """One store, two gates with rules of their own, one chat."""
        self.memory = MemoryChatStore() if in_memory else None
        self.seen["in memory" if in_memory else "on disk"] += 1
        self.world.places = [Place(self.world, law, self._store()) for law in (FRIENDLY, other)]
        self._await(*(place.open() for place in self.world.places))
        return ChatThread()

    @rule(target=threads, chat=threads, plan=PLANS, which=WHICH, anybody=MOSTLY_NOT)
    def ask(self, chat: ChatThread, plan: list[list[Call]], which: int, *, anybody: bool) -> ChatThread:
        """A provider is asked, and its model calls tools round by round while the world changes."""
        return self._ask(chat, plan, 0, which, anybody=anybody)

    @rule(target=threads, chat=threads, plan=PLANS, which=WHICH, anybody=MOSTLY_NOT)
    def ask_elsewhere(self, chat: ChatThread, plan: list[list[Call]], which: int, *, anybody: bool) -> ChatThread:
        """The same in the other process, under its own rules."""
        return self._ask(chat, plan, 1, which, anybody=anybody)

    @rule(target=threads, chat=threads, plan=PLANS, here=PLACES, which=WHICH)
    def load_and_ask(self, chat: ChatThread, plan: list[list[Call]], here: int, which: int) -> ChatThread:
        """Somebody opens a chat again and goes on with another provider."""
        return self._ask(self._loaded(chat, here), plan, here, which, anybody=False)

    @rule(target=threads, chat=threads, plan=PLANS, cut=st.integers(0, 3), which=WHICH)
    def fork_and_ask(self, chat: ChatThread, plan: list[list[Call]], cut: int, which: int) -> ChatThread:
        """Somebody goes on from an earlier point with another provider."""
        return self._ask(_forked(chat, cut), plan, 0, which, anybody=False)

    def _ask(
        self, chat: ChatThread, plan: list[list[Call]], here: int, which: int, *, anybody: bool
    ) -> ChatThread:
        place = self.world.places[here]
        demanded = self.reached.get(chat.id, NOTHING).join(chat.requirements)
        admitted = [name for name in place.law.standings if place.law.admits(demanded, name)]
        providers = sorted(place.law.standings if anybody or not admitted else admitted)
        place.plan = list(plan)
        return self.runner.run(self._asked(place, chat, providers[which % len(providers)]))

    async def _asked(self, place: Place, chat: ChatThread, provider: str) -> ChatThread:
        world = self.world
        known = self.reached.get(chat.id, NOTHING).join(chat.requirements)
        may_begin, before = place.law.admits(known, provider), len(world.calls)
        world.forget(chat.id)
        asked_before = len(place.model.conversations)
        run = place.gate.ask(chat, "Go on?", provider=provider, selected=sorted(TOOLS))
        events: list[Event] = []
        async with run:
            with suppress(ProviderDenied):
                async for event in run:
                    events += [event]
        assert run.error is None or isinstance(run.error, ProviderDenied), run.error
        assert bool(place.model.conversations[asked_before:]) == may_begin
        self.seen["answers" if run.error is None else "denials in the middle" if may_begin else "denials"] += 1
        self._settle(run, range(before, len(world.calls)), repr(events))
        if may_begin:
            assert covers(run.chat.requirements, known)
        assert covers(run.chat.requirements, chat.requirements)
        self.reached[chat.id] = self._reached_by(run.chat, known, range(before, len(world.calls)))
        self.saved.add(chat.id)
        await self._stored_is(run.chat, place)
        return run.chat

    def _reached_by(self, chat: ChatThread, known: ChatRequirements, numbers: Sequence[int]) -> ChatRequirements:
        """Say what a chat demands after a run: what it did, what arrived, what others demanded, not what was withheld.

        What others demanded before they removed the chat is gone with it, unless the run had heard of it by then.
        """
        world = self.world
        for number in numbers:
            if world.expected.get(number):
                known = known.join(world.labels[number])
        assert covers(known.join(world.ever_raised.get(chat.id, NOTHING)), chat.requirements)
        return known.join(world.raised.get(chat.id, NOTHING)).join(chat.requirements)

    def _settle(self, run: Run, numbers: Sequence[int], events: str) -> None:
        """Compare what became of each call with what was said beforehand; withheld secrets must be nowhere."""
        world = self.world
        whole = events + repr((run.chat, run.traces, run.sources, run.text))
        arrived = marks(repr([trace for trace in run.traces if trace.status is TraceStatus.SUCCESS]))
        present = marks(whole)
        for number in numbers:
            expected = world.expected.get(number, False)
            assert (number in world.ran) or not expected
            assert (number in arrived) == (number in present) == expected
            if expected:
                world.delivered.add(number)
            self.seen["delivered" if expected else "withheld" if number in world.ran else "not run"] += 1

    async def _stored_is(self, chat: ChatThread, place: Place) -> None:
        """The stored chat is the one in hand, less what is kept for the session only, plus what others demanded."""
        for store in (place.store, self.world.other(place).store):
            loaded = await store.load(chat.id)
            assert loaded is not None
            assert _levels(loaded.requirements) == _levels(self.reached[chat.id])
            own = {message.id for message in chat.messages}
            messages = tuple(message for message in loaded.messages if message.id in own)  # others asked, too
            assert _kept(replace(loaded, requirements=chat.requirements, messages=messages)) == _kept(chat)

    @rule(target=threads)
    def new_chat(self) -> ChatThread:
        """Somebody begins another chat."""
        return ChatThread()

    @rule(target=threads, chat=threads, here=PLACES)
    def load(self, chat: ChatThread, here: int) -> ChatThread:
        """Somebody opens a chat again: all that was ever demanded of it is demanded."""
        return self._loaded(chat, here)

    def _loaded(self, chat: ChatThread, here: int) -> ChatThread:
        loaded = self.runner.run(self.world.places[here].store.load(chat.id))
        if loaded is None:
            assert chat.id not in self.saved
            return chat
        assert covers(loaded.requirements, self.reached[chat.id])
        return loaded

    @rule(target=threads, chat=threads, cut=st.none() | st.integers(0, 6), save=st.booleans())
    def fork(self, chat: ChatThread, cut: int | None, *, save: bool) -> ChatThread:
        """Somebody goes on from an earlier point: the new chat demands what the old one does, however short it is."""
        return self._begun(_forked(chat, cut), save=save)

    @rule(target=threads, chat=threads, save=st.booleans())
    def export_and_import(self, chat: ChatThread, *, save: bool) -> ChatThread:
        """Somebody takes a chat elsewhere as a file: what it demands travels with it."""
        imported = chat_from_json(chat_to_json(chat))
        assert imported.id != chat.id
        assert imported.requirements == chat.requirements
        assert _kept(replace(imported, id=chat.id, prompt_addresses=chat.prompt_addresses)) == _kept(chat)
        return self._begun(imported, save=save)

    @rule(target=threads, chat=threads, cut=st.none() | st.integers(0, 6), here=PLACES)
    def fork_what_is_stored(self, chat: ChatThread, cut: int | None, here: int) -> ChatThread:
        """A stored chat is forked by its ID: what others demanded of it meanwhile holds for the fork, too."""
        if chat.id not in self.saved:
            return chat
        gate = self.world.places[here].gate
        kept = self._loaded(chat, here)
        forked = self.runner.run(gate.fork(chat.id, None if cut is None else min(cut, len(kept.messages))))
        return self._moved(chat.id, forked)

    @rule(target=threads, chat=threads, here=PLACES)
    def take_what_is_stored_elsewhere(self, chat: ChatThread, here: int) -> ChatThread:
        """A stored chat is written to a file by one process and read by the other."""
        if chat.id not in self.saved:
            return chat
        one, other = self.world.places[here].gate, self.world.places[1 - here].gate
        return self._moved(chat.id, self.runner.run(other.import_chat(self.runner.run(one.export_chat(chat.id)))))

    def _moved(self, chat_id: str, descendant: ChatThread) -> ChatThread:
        assert descendant.id not in self.reached
        assert _levels(descendant.requirements) == _levels(self.reached[chat_id])
        self.reached[descendant.id] = descendant.requirements
        self.saved.add(descendant.id)
        return descendant

    def _begun(self, chat: ChatThread, *, save: bool) -> ChatThread:
        if save:
            self._await(self.world.places[0].store.save(chat))
            self.reached[chat.id] = chat.requirements
            self.saved.add(chat.id)
        return chat

    @rule(here=PLACES, law=LAWS)
    def change_rules(self, here: int, law: Law) -> None:
        """Minimums, ceilings, trusted providers and their levels change between two questions."""
        self._await(self.world.places[here].obey(law))

    @rule(here=PLACES)
    def trust_everybody(self, here: int) -> None:
        """Rules are loosened as far as they go; what chats demand stays."""
        self._await(self.world.places[here].obey(FRIENDLY))

    @rule(chat=threads, label=LABELS, here=PLACES)
    def raise_elsewhere(self, chat: ChatThread, label: ChatRequirements, here: int) -> None:
        """Another process demands more of a chat that somebody holds in hand."""
        stored = self.runner.run(self.world.places[here].store.raise_requirements(chat.id, label))
        self.reached[chat.id] = self.reached.get(chat.id, NOTHING).join(label)
        assert _levels(stored) == _levels(self.reached[chat.id])

    @rule(chat=threads, here=PLACES)
    def remove(self, chat: ChatThread, here: int) -> None:
        """A stored chat is removed with what it demands; whoever holds it in hand goes on with what the value says."""
        assert self.runner.run(self.world.places[here].store.delete(chat.id)) == (chat.id in self.saved)
        if chat.id in self.saved:
            self.seen["removed"] += 1
            self.saved.remove(chat.id)
            del self.reached[chat.id]
            self._await(*(self._is_gone(place.store, chat.id) for place in self.world.places))

    async def _is_gone(self, store: ChatStore, chat_id: str) -> None:
        assert await store.load(chat_id) is None
        assert chat_id not in [row.id for row in await store.list_chats(1_000)]
        assert await store.raise_requirements(chat_id, NOTHING) == NOTHING

    @rule()
    def restart(self) -> None:
        """Both processes end and begin again."""
        laws_now = [place.law for place in self.world.places]
        self._await(*(place.close() for place in self.world.places))
        self.world.places = [Place(self.world, law, self._store()) for law in laws_now]
        self._await(*(place.open() for place in self.world.places))

    @invariant()
    def nothing_went_wrong(self) -> None:
        """No secret reached a provider that may not have it; no tool ran that must not; each call had one result."""
        assert self.world.wrong == []

    @invariant()
    def nothing_fell(self) -> None:
        """Every stored chat demands all that was ever demanded of it, and what each secret in it demands."""
        for place in self.world.places:
            self._await(self._nothing_fell(place.store))

    async def _nothing_fell(self, store: ChatStore) -> None:
        for chat_id, reached in self.reached.items():
            stored = await store.raise_requirements(chat_id, NOTHING)
            assert _levels(stored) == _levels(reached)
            for number in marks(repr(await store.load(chat_id))):
                assert number in self.world.delivered
                assert covers(reached, self.world.labels[number])

    def teardown(self) -> None:
        """Close everything that is open."""
        self._await(*(place.close() for place in self.world.places))
        self.runner.close()
        self.folder.cleanup()


def _forked(chat: ChatThread, cut: int | None) -> ChatThread:
    forked = chat.forked(None if cut is None else min(cut, len(chat.messages)))
    assert forked.id != chat.id
    assert forked.requirements == chat.requirements
    return forked


def _levels(requirements: ChatRequirements) -> tuple[int, int, int]:
    return (requirements.confidence, requirements.data_security, requirements.outbound)


def _kept(chat: ChatThread) -> ChatThread:
    """Return a chat without what lasts for the session only: results of tools, and addresses they gave."""
    messages = tuple(
        replace(message, traces=tuple(replace(trace, result="", json_result="") for trace in message.traces))
        for message in chat.messages
    )
    return replace(chat, messages=messages, tool_addresses=frozenset())


def test_no_requirement_ever_falls_whatever_happens_to_a_chat() -> None:
    """Forty lives of up to twenty-five events, and everything that can happen did happen in some of them."""
    Lives.seen.clear()
    run_state_machine_as_test(
        Lives,
        settings=settings(
            max_examples=40 * TIMES, stateful_step_count=25, deadline=None, derandomize=TIMES == 1, database=None,
            suppress_health_check=list(HealthCheck),
        ),
    )  # fmt: skip
    for what in (
        "in memory", "on disk", "answers", "denials", "denials in the middle", "delivered", "withheld", "not run",
        "rounds", "secrets in a request", "removed", "removed while it was answered",
    ):
        if not Lives.seen[what]:
            pytest.fail(f"no life knew {what}: {Lives.seen}")
