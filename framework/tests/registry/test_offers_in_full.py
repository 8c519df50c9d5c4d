"""Offers where nobody looks twice: unknown tools under a ceiling, the policy of tools nobody asked, noted fallbacks."""

from typing import Any, cast

from registry_kit import owner, registry, simple

from lockgate.chat import ChatThread
from lockgate.policy import (
    ConfidenceLevel,
    OutboundDataRestriction,
    OutboundMinimum,
    ProviderStanding,
    SetBy,
    SetByKind,
)
from lockgate.registry import Block, Ceilings, Preparation, Registry, Rules, ToolOfferBlockReason
from lockgate.tools import Components, RequestContext, ToolFunction, ToolServices

HIGH = ProviderStanding("p", "T", ConfidenceLevel.HIGH)


def _preparation(made: Registry) -> Preparation:
    return Preparation(made, cast("ToolServices", None))


async def test_a_tool_nobody_brings_is_left_out_under_a_ceiling_too() -> None:
    """What the organization demands of every chat makes no difference to it."""
    bound = OutboundMinimum(OutboundDataRestriction.ONLY_LINKS_FROM_CHAT, SetBy(SetByKind.ORGANIZATION, "Acme"))
    made = registry(rules=Rules(ceilings=Ceilings(outbound=bound)))
    offer = await _preparation(made).prepare(ChatThread(), HIGH, Components.CHAT, ["gone"])
    block = offer.left_out["gone"]
    assert isinstance(block, Block)
    assert (offer.tools, block.reason) == ((), ToolOfferBlockReason.NOT_AVAILABLE_HERE)


async def test_the_policy_of_tools_nobody_asked_is_that_of_an_offer() -> None:
    """By display name, whatever the order they are named in; a name nobody brings adds nothing."""
    made = registry(*(
        ("a", "tools", simple(name, name=shown, instructions=f"Use {name}."))
        for name, shown in (("one", "Zed"), ("two", "alpha"), ("three", "Beta"))
    ))  # fmt: skip
    preparation = _preparation(made)
    policy = preparation.registered_policy(["one", "gone", "three", "two"])
    positions = [policy.index(f"Use {name}.") for name in ("two", "three", "one")]
    assert positions == sorted(positions)
    offer = await preparation.prepare(ChatThread(), HIGH, Components.CHAT, ["one", "two", "three"])
    assert policy == offer.instructions
    assert "Use one." not in preparation.registered_policy(["two"])
    assert preparation.registered_policy([]) == ""


async def test_parameters_that_do_not_fit_are_noted_with_whose_they_are() -> None:
    """The tool is offered with the registered ones."""
    item = simple("t")

    class Answering(type(item)):  # type: ignore[misc] # a subclass made for one test
        async def resolve_function(self, context: RequestContext) -> Any:
            del context
            return ToolFunction("New.", cast("Any", ["x"]))

    item.__class__ = Answering
    made = registry(("a", "tools", item))
    offer = await _preparation(made).prepare(ChatThread(), HIGH, Components.CHAT, ["t"])
    assert [tool.function.description for tool in offer.tools] == ["New."]
    (incident,) = made.incidents.incidents
    assert (incident.owner, incident.what) == (owner("a"), "resolve_function of t")
    assert "the registered ones are used" in incident.error


async def test_instructions_that_fail_cost_the_tool_and_say_which_question_failed() -> None:
    """In words for a person, with where more is told."""
    item = simple("t")

    class Answering(type(item)):  # type: ignore[misc] # a subclass made for one test
        async def resolve_instructions(self, context: RequestContext) -> Any:
            del context
            raise ValueError("broken")

    item.__class__ = Answering
    offer = await _preparation(registry(("a", "tools", item))).prepare(ChatThread(), HIGH, Components.CHAT, ["t"])
    why = offer.left_out["t"].why
    assert why.startswith("Its resolve_instructions failed (it raised")
    assert why.endswith(f"see {owner('a')} in plugins doctor.")


async def test_a_function_as_registered_is_one_object_in_every_offer() -> None:
    """So that what was encoded for it can be kept."""
    preparation = _preparation(registry(("a", "tools", simple("t"))))
    offers = [await preparation.prepare(ChatThread(), HIGH, Components.CHAT, ["t"]) for _ in range(2)]
    assert offers[0].tools[0].function is offers[1].tools[0].function
