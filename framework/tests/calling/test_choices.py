"""What a request shows is what a call is held against: the choices of this request."""

from typing import Any

import pytest
from calling_kit import ANY_OBJECT, DONE, AnyTool, asked

from lockgate.testing import Call, answer_calls
from lockgate.tools import RequestContext, ToolContext, ToolFunction, ToolResult

PARAMETERS: dict[str, Any] = {
    **ANY_OBJECT,
    "properties": {"space": {"type": "string"}, "kinds": {"type": "array", "items": {"type": "string"}}},
}


class Choosing(AnyTool):
    """A tool that offers two spaces and two kinds in this request."""

    async def resolve_function(self, context: RequestContext) -> ToolFunction:
        return ToolFunction("Search.", PARAMETERS, {"space": ("HR", "IT"), "kinds": ("page", "blog")})


async def _found(arguments: dict[str, Any], context: ToolContext) -> ToolResult:
    return ToolResult("found")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"space": "HR"}, ""), ({"space": " IT "}, ""), ({"kinds": ["page", "blog"]}, ""), ({}, ""),
        ({"space": "BOARD"}, '"space" must be one of "HR", "IT", but "BOARD" arrived'),
        ({"space": "hr"}, '"space" must be'), ({"space": ""}, '"space" must be'),
        ({"kinds": ["page", "secret"]}, '"kinds[1]" must be one of "page", "blog"'),
    ],
)  # fmt: skip
async def test_choices_of_the_request_are_enforced(arguments: dict[str, Any], words: str) -> None:
    """They stand in the schema that is sent, and a value outside never reaches the tool."""
    done = await asked([answer_calls(Call("probe", arguments)), DONE], Choosing(_found))
    sent = done.fake.requests[0].body["tools"][0]["function"]["parameters"]["properties"]
    assert (sent["space"]["enum"], sent["kinds"]["items"]["enum"]) == (["HR", "IT"], ["page", "blog"])
    (trace,) = done.run.traces
    assert trace.was_executed == (not words)
    assert words in done.results[0]


@pytest.mark.parametrize("blank", ["\x1f", "\u00a0", "\u2003", "\x85"])
async def test_an_odd_blank_is_part_of_the_value(blank: str) -> None:
    """What one reader trims and another does not would reach the tool unchecked."""
    done = await asked([answer_calls(Call("probe", {"space": f"HR{blank}", "kinds": [f"page{blank}"]})), DONE],
                       Choosing(_found))  # fmt: skip
    assert not done.run.traces[0].was_executed


async def test_the_tool_gets_the_very_choice() -> None:
    """Blanks around a choice are cut before the tool reads it."""
    seen: list[dict[str, Any]] = []

    async def note(arguments: dict[str, Any], context: ToolContext) -> ToolResult:
        seen.append(arguments)
        return ToolResult("found")

    await asked([answer_calls(Call("probe", {"space": " IT\n", "kinds": ["blog "], "n": 1})), DONE], Choosing(note))
    assert seen == [{"space": "IT", "kinds": ["blog"], "n": 1}]


@pytest.mark.parametrize("text", ['{"space":"HR","space":"BOARD"}', '{"space":"BOARD","space":"HR"}'])
async def test_a_key_given_twice_is_no_way_round(text: str) -> None:
    """The value that is checked is the value that runs: the last one."""
    done = await asked([answer_calls(Call("probe", text)), DONE], Choosing(_found))
    assert done.run.traces[0].was_executed == text.endswith('"HR"}')
