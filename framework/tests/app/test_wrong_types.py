"""What callers mix up in calls of a Lockgate is named at once."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from lockgate.app import Lockgate
from lockgate.chat import ChatThread
from lockgate.errors import UsageError
from lockgate.testing import FakeProvider, lockgate_for

CHAT = ChatThread()

ASKED: list[tuple[Callable[[Any], object], str]] = [
    (lambda gate: gate.ask("id", "Hello"), "The chat is the text 'id'; right is a ChatThread"),
    (lambda gate: gate.ask(CHAT, 5), "The question is 5; right is a text"),
    (lambda gate: gate.ask(CHAT, None), "The question is None"),
    (lambda gate: gate.ask(CHAT, "Hello", provider=5), "The provider is 5; right is an ID"),
    (lambda gate: gate.ask(CHAT, "Hello", model=None), "The model is None; right is its name"),
    (lambda gate: gate.ask(CHAT, "Hello", assistant=[]), "The assistant is an object of type list"),
    (lambda gate: gate.ask(CHAT, "Hello", attachments="a.txt"), "attachments is the text 'a.txt'"),
    (lambda gate: gate.ask(CHAT, "Hello", attachments=["a.txt"]), "attachments holds the text 'a.txt'"),
    (lambda gate: gate.ask(CHAT, "Hello", observers=[print]), "observers holds an object"),
    (lambda gate: gate.ask(CHAT, "Hello", selected="clock"), "The selection is the text 'clock'"),
    (lambda gate: gate.ask(CHAT, "Hello", selected=5), "The selection is 5"),
    (lambda gate: gate.ask(CHAT, "Hello", component="CHAT"), "right is a member of Components"),
    (lambda gate: gate.new_chat([]), "The chat template is an object of type list"),
    (lambda gate: gate.ask(CHAT, "Hello", provider=gate.provider(), model="other"), "cannot ask 'other'; right is"),
]

AWAITED: list[tuple[Callable[[Any], Any], str]] = [
    (lambda gate: gate.fork(CHAT), r"The ID of the chat is a ChatThread; .*its ID is chat\.id"),
    (lambda gate: gate.fork(CHAT.id, "2"), "The number of messages is the text '2'"),
    (lambda gate: gate.fork(CHAT.id, True), "The number of messages is True"),
    (lambda gate: gate.export_chat(CHAT), "The ID of the chat is a ChatThread"),
    (lambda gate: gate.import_chat(None), "The exported chat is None; right is the text"),
    (lambda gate: gate.explain(5), "The tool is 5; right is its ID"),
    (lambda gate: gate.explain("clock", chat="id"), "The chat is the text 'id'"),
    (lambda gate: gate.explain("clock", provider=gate.provider(), model="other"), "cannot ask 'other'; right is"),
]


@asynccontextmanager
async def gate() -> AsyncIterator[Lockgate]:
    """Enter a gate with a provider."""
    async with FakeProvider() as fake, lockgate_for(fake) as made:
        yield made


@pytest.mark.parametrize(("call", "told"), ASKED)
async def test_a_wrong_argument_is_named_when_it_is_given(call: Callable[[Any], object], told: str) -> None:
    """Before a run is there, and in words that say what is right."""
    async with gate() as made:
        with pytest.raises(UsageError, match=told):
            call(made)


@pytest.mark.parametrize(("call", "told"), AWAITED)
async def test_a_wrong_argument_is_named_when_it_is_awaited(call: Callable[[Any], Any], told: str) -> None:
    """Of a chat, of a text, of a tool."""
    async with gate() as made:
        with pytest.raises(UsageError, match=told):
            await call(made)


async def test_the_model_a_provider_is_ready_to_ask_may_be_named() -> None:
    """It says nothing else."""
    async with gate() as made:
        ready = made.provider()
        explanation = await made.explain("clock", provider=ready, model=ready.model)
        assert explanation == await made.explain("clock", provider=ready)
