"""The synchronous door."""

import threading

import pytest

from lockgate.app.blocking import BlockingLockgate
from lockgate.calling import TextDelta, ToolFinished
from lockgate.errors import ProviderError
from lockgate.testing import Call, FakeProvider, answer_calls, answer_error, answer_text, lockgate_for
from lockgate.tools import tool


@tool(id="add")
def add(a: int, b: int) -> int:
    """Add two numbers.

    Args:
        a: one
        b: another
    """
    return a + b


def test_a_question_is_answered_without_an_event_loop() -> None:
    """The run comes back ended, and the same gate answers again from another thread."""
    script = [answer_calls(Call("add", {"a": 1, "b": 2})), answer_text("Three."), answer_text("Still three.")]
    texts: list[str] = []
    with FakeProvider(script) as fake, BlockingLockgate(lockgate_for(fake, tools=[add])) as gate:
        run = gate.ask(None, "1 + 2?", selected=["add"])
        texts.append(run.text)
        thread = threading.Thread(target=lambda: texts.append(gate.ask(run.chat, "Sure?").text))
        thread.start()
        thread.join()
        fake.assert_no_problems()
    assert texts == ["Three.", "Still three."]


def test_events_can_be_iterated() -> None:
    """The same events as in an event loop."""
    script = [answer_calls(Call("add", {"a": 1, "b": 2})), answer_text("Three.")]
    with FakeProvider(script) as fake, BlockingLockgate(lockgate_for(fake, tools=[add])) as gate:
        events = list(gate.events(None, "1 + 2?", selected=["add"]))
    assert "".join(event.text for event in events if isinstance(event, TextDelta)) == "Three."
    assert [event.trace.result for event in events if isinstance(event, ToolFinished)] == ["3"]


def test_an_error_is_raised_to_the_caller() -> None:
    """The caller sees the provider's failure, not a hanging queue."""
    with FakeProvider([answer_error(401)] * 2) as fake, BlockingLockgate(lockgate_for(fake)) as gate:
        with pytest.raises(ProviderError):
            gate.ask(None, "Hello?")
        with pytest.raises(ProviderError):
            list(gate.events(None, "Hello?"))
