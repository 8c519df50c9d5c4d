"""What a tool does when its author says nothing."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from lockgate.settings import NoSettings, ToolSettings
from lockgate.tools import DEFAULT_TIMEOUT, Tool, ToolCollection, ToolDefinition, ToolTexts
from lockgate.tools.threads import run_in_thread


class Plain(Tool):
    """Says nothing but its definition."""

    definition = ToolDefinition("read_web_page", {"type": "object"}, "Read a page.", "Read before you answer.")


class Configured(Plain):
    """Has settings."""

    class Settings(ToolSettings):
        """Two settings."""

        one: str = ""
        two: str = ""

    settings_model = Settings


async def test_everything_but_execute_and_parse_has_a_default() -> None:
    """Names are made of the ID, the function and the instructions are the registered ones."""
    tool, context = Plain(), cast("Any", SimpleNamespace())
    assert tool.texts("de").name == "Read Web Page"
    assert tool.is_available()
    assert tool.timeout(NoSettings.EMPTY) == DEFAULT_TIMEOUT
    assert await tool.validate_settings(NoSettings.EMPTY) is None
    assert await tool.resolve_instructions(context) == "Read before you answer."
    function = await tool.resolve_function(context)
    assert function is not None
    assert function.description == "Read a page."
    assert tool.exportable_areas() == []
    assert Configured().exportable_areas() == [("settings", "Settings", ["one", "two"])]
    with pytest.raises(TypeError, match="arguments_model"):
        tool.parse("{}")
    with pytest.raises(TypeError, match="does not implement execute"):
        await tool.execute(None, context)


def test_a_collection_speaks_the_persons_language() -> None:
    """The first language stands in for one that is missing."""
    labels = (("en", ToolTexts("Mailboxes")), ("de", ToolTexts("Postfächer")))
    collection = ToolCollection("mailboxes", ("read_mail",), labels=labels)
    assert collection.texts("de-AT").name == "Postfächer"
    assert collection.texts("fr").name == "Mailboxes"
    assert ToolCollection("my_mails", ()).texts("en").name == "My Mails"


@pytest.mark.parametrize("error", [ValueError("x"), SystemExit(2), KeyboardInterrupt()])
async def test_what_a_thread_raises_reaches_the_caller(error: BaseException) -> None:
    """Whatever it is."""

    def raises() -> None:
        raise error

    with pytest.raises(type(error)):
        await run_in_thread(raises)


async def test_a_stop_iteration_of_a_thread_is_told_as_such() -> None:
    """No task can carry one."""

    def stops() -> None:
        raise StopIteration(5)

    with pytest.raises(RuntimeError, match="StopIteration left a function: 5"):
        await run_in_thread(stops)
