"""A tool out of a plain function."""

import threading
from types import SimpleNamespace
from typing import Annotated, Any, cast

import pytest
from pydantic import BaseModel, Field

from lockgate.policy import ToolOutboundData
from lockgate.tools import FunctionTool, ToolContext, ToolResult, tool

CONTEXT = cast("ToolContext", SimpleNamespace(call_id="c1"))


async def _call(made: FunctionTool, arguments: str) -> ToolResult:
    return await made.execute(made.parse(arguments), CONTEXT)


def test_signature_and_docstring_make_the_definition() -> None:
    """Types, bounds and descriptions reach the schema; the docstring before `Args:` is the description."""

    @tool
    def look_up(word: str, limit: Annotated[int, Field(ge=1, le=9, description="how many")] = 3) -> str:
        """Look a word up.

        It searches a dictionary.

        Args:
            word: the word, in
                its basic form
            limit: not read, because the annotation describes it
        """
        return word * limit

    definition = look_up.definition
    assert definition.id == "look_up"
    assert definition.description == "Look a word up.\n\nIt searches a dictionary."
    assert definition.parameters["properties"] == {
        "word": {"type": "string", "description": "the word, in its basic form"},
        "limit": {"type": "integer", "minimum": 1, "maximum": 9, "description": "how many"},
    }
    assert definition.parameters["required"] == ["word"]
    assert look_up("a", 2) == "aa"


def test_a_tool_that_says_nothing_counts_as_the_most_open() -> None:
    """Silence about where data goes is read as the most open kind."""

    @tool
    def quiet() -> str:
        """Say nothing."""
        return ""

    assert quiet.definition.outbound_data is ToolOutboundData.MODEL_CHOSEN_ADDRESSES


async def test_the_context_is_handed_over_and_hidden() -> None:
    """A parameter of type ToolContext is not in the schema, and a value sent under its name is refused."""

    @tool
    async def who(context: ToolContext) -> str:
        """Say which call this is."""
        return context.call_id

    assert who.definition.parameters["properties"] == {}
    assert (await _call(who, "{}")).content == "c1"
    with pytest.raises(Exception, match='There is no argument "context"'):
        who.parse('{"context": {}}')


async def test_a_synchronous_function_runs_in_a_daemon_thread() -> None:
    """It neither holds up the event loop nor keeps the process alive."""
    seen: list[threading.Thread] = []

    @tool
    def where() -> str:
        """Note the thread."""
        seen.append(threading.current_thread())
        return "done"

    assert (await _call(where, "")).content == "done"
    assert seen[0] is not threading.main_thread()
    assert seen[0].daemon


async def test_a_function_said_not_to_block_runs_in_the_loop() -> None:
    """`blocking=False` saves the thread."""
    seen: list[threading.Thread] = []

    @tool(blocking=False)
    def where() -> None:
        """Note the thread."""
        seen.append(threading.current_thread())

    await _call(where, "{}")
    assert seen == [threading.main_thread()]


class Row(BaseModel):
    """A returned model."""

    name: str


@pytest.mark.parametrize(
    ("returned", "content"),
    [
        ("text", "text"), (None, ""), (3, "3"), (True, "true"), ({"a": "ü"}, '{"a":"ü"}'), ([1, "<"], '[1,"<"]'),
        ((1, 2), "[1,2]"), (Row(name="x"), '{"name":"x"}'), (ToolResult("whole"), "whole"),
    ],
)  # fmt: skip
async def test_what_a_function_returns_becomes_a_result(returned: Any, content: str) -> None:
    """Texts stay texts; all else is JSON, compact and unescaped."""

    @tool(blocking=False)
    def give() -> Any:
        """Give something."""
        return returned

    assert (await _call(give, "{}")).model_content() == content


def _undescribed(word: str) -> str:
    """Do something."""
    return word


def _untyped(word) -> str:  # type: ignore[no-untyped-def] # this is the mistake under test
    """Do something.

    Args:
        word: a word
    """
    return str(word)


def _undocumented() -> str:
    return ""


def _collecting(*words: str) -> str:
    """Do something.

    Args:
        words: words
    """
    return "".join(words)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (_undescribed, "'word' of the tool '_undescribed' needs a description"),
        (_untyped, "'word' of the tool '_untyped' needs a type"),
        (_undocumented, "needs a docstring"),
        (_collecting, "must be an ordinary named parameter"),
    ],
)
def test_what_is_missing_is_told_when_the_tool_is_made(function: Any, message: str) -> None:
    """A mistake of the author is an error at once, with the parameter named."""
    with pytest.raises(TypeError, match=message):
        tool(function)


def test_an_id_has_to_be_a_function_name() -> None:
    """Every provider has to take the name."""
    with pytest.raises(TypeError, match="cannot be a tool's ID"):
        tool(_undocumented, id="no spaces")
