"""What is kept and counted of calls while the chat restricts where its data goes."""

from typing import Any, cast

import pytest
from calling_kit import DONE, AnyTool, asked, returning
from registry_kit import owner

from lockgate.calling.restricted import MAX_WRITTEN, RestrictedCalls
from lockgate.chat import ChatThread
from lockgate.policy import (
    NOTHING,
    ChatRequirements,
    OutboundDataRestriction,
    OutboundMinimum,
    SetBy,
    SetByKind,
    ToolOutboundData,
)
from lockgate.providers.contract import OfferedFunction
from lockgate.registry import Offered, Registered
from lockgate.registry.ceilings import Ceilings
from lockgate.registry.rules import Rules
from lockgate.settings import NoSettings
from lockgate.testing import Call, answer_calls
from lockgate.tools import ToolContext, ToolResult

INBOX = SetBy(SetByKind.DATA_SOURCE, "Inbox")
LINKS = ChatRequirements(outbound=OutboundDataRestriction.ONLY_LINKS_FROM_CHAT, outbound_by=INBOX)


def offered(kind: ToolOutboundData) -> Offered:
    """Return a tool of that kind as it is offered."""
    tool = returning("x", outbound_data=kind, enforces_outbound_restriction=True)
    registered = Registered(tool, tool.definition, owner("a"))
    function = OfferedFunction("probe", "Does something.", tool.definition.parameters)
    return Offered(registered, function, {}, "", NoSettings.EMPTY)


def calls(most: int = 2, demanded: ChatRequirements = LINKS) -> RestrictedCalls:
    """Return the calls of a run."""
    return RestrictedCalls(lambda: most, lambda: demanded)


@pytest.mark.parametrize("kind", ToolOutboundData)
def test_only_calls_that_leave_the_configured_services_are_counted(kind: ToolOutboundData) -> None:
    """So many may be made; the next one is blocked in words that name the limit and who demanded it."""
    made, tool = calls(), offered(kind)
    leaves = kind in (ToolOutboundData.THIRD_PARTY_QUERIES, ToolOutboundData.MODEL_CHOSEN_ADDRESSES)
    for _ in range(2):
        assert made.too_many(tool) is None
        made.begins(tool, {}, ())
    told = made.too_many(tool)
    assert (told is not None) == leaves
    if told is not None:
        assert "2 calls" in told
        assert "data source 'Inbox'" in told
    assert made.too_many(offered(ToolOutboundData.CONFIGURED_SERVICE)) is None


def test_nothing_is_counted_or_kept_while_the_chat_is_free() -> None:
    """The documented rule looks at the arguments of one call alone."""
    made, tool = calls(0, NOTHING), offered(ToolOutboundData.MODEL_CHOSEN_ADDRESSES)
    made.begins(tool, {"text": "words"}, ())
    assert (made.is_restricted, made.too_many(tool), made.written) == (False, None, ())


def test_what_the_model_wrote_is_kept_once_and_given_addresses_are_not() -> None:
    """An address that was given says nothing, unless something stands behind its fragment."""
    made, tool = calls(), offered(ToolOutboundData.NONE)
    given = "https://given.example/a"
    made.begins(tool, {"a": "words", "b": [given, f" {given} ", f"{given}#more"]}, {given, f"{given}#more"})
    made.begins(tool, {"a": "words", "c": "others"}, {given})
    assert made.written == ("words", f"{given}#more", "others")


def test_after_too_much_nothing_can_be_told_any_more() -> None:
    """The bound is exact, and what lies behind it is not kept."""
    tool = offered(ToolOutboundData.NONE)
    made = calls()
    made.begins(tool, {"a": "x" * MAX_WRITTEN}, ())
    assert (made.has_written_too_much, len(made.written)) == (False, 1)
    made.begins(tool, {"a": "y"}, ())
    assert (made.has_written_too_much, made.written) == (True, ())
    made.begins(tool, {"a": "z"}, ())
    assert made.written == ()


def test_addresses_of_earlier_turns_are_worked_out_once() -> None:
    """They do not change during a run."""
    made = calls()
    first = made.made_up(ChatThread())
    assert made.made_up(cast("Any", None)) is first


async def test_a_model_that_wrote_too_much_is_given_no_address_by_a_tool() -> None:
    """Fewer, never more; those that people gave stay."""
    found = "https://found.example/page"

    async def execute(arguments: dict[str, Any], context: ToolContext) -> ToolResult:
        if "ask" in arguments:
            return ToolResult(f"{arguments['ask'] in context.addresses}")
        return ToolResult(found)

    everywhere = Rules(ceilings=Ceilings(outbound=OutboundMinimum(OutboundDataRestriction.ONLY_LINKS_FROM_CHAT, INBOX)))
    for written, counts in (("a few words", True), ("word " * MAX_WRITTEN, False)):
        script = [
            answer_calls(Call("probe", {"text": written})), answer_calls(Call("probe", {"n": 1})),
            answer_calls(Call("probe", {"ask": found})), DONE,
        ]  # fmt: skip
        done = await asked(script, AnyTool(execute), rules=everywhere)
        assert done.results[-1] == str(counts)
