"""Each check on its own: what it says, who set the rule, and the smallest change that would pass it."""

from dataclasses import replace
from itertools import product
from typing import Any

import pytest
from registry_kit import registry, simple

from lockgate.policy import (
    BUILT_IN,
    BY_USER,
    NOTHING,
    ChatRequirements,
    ConfidenceLevel,
    Minimum,
    OutboundDataRestriction,
    ProviderStanding,
    SetBy,
    SetByKind,
    ToolOutboundData,
)
from lockgate.registry import Rules
from lockgate.registry.ceilings import Ceilings
from lockgate.registry.checks import (
    CHECKS,
    Block,
    Change,
    ChangeKind,
    Situation,
    ToolOfferBlockReason,
    ToolState,
    Unavailable,
    choose,
    first_block,
)
from lockgate.tools.definition import Components, Visibility

R = ToolOfferBlockReason
L = ConfidenceLevel
ORGANIZATION = SetBy(SetByKind.ORGANIZATION, "Acme", "plugin.lua", 7)
WIKI = SetBy(SetByKind.DATA_SOURCE, "Wiki")
LINKS = OutboundDataRestriction.ONLY_LINKS_FROM_CHAT

FREE = ToolState(True, BUILT_IN, {}, None, "", BUILT_IN, L.NONE, BUILT_IN)
HOST = ProviderStanding("host", "T", L.LOW, capability_ground="the profile says so", capability_by=ORGANIZATION)


def situation(state: dict[str, Any] | None = None, tool: dict[str, Any] | None = None, **changes: Any) -> Situation:
    """Return a situation in which nothing is in the way, but for what a test changes."""
    registered = registry(("pack", "tools", simple("t", **(tool or {})))).get("t")
    made = Situation(registered, "t", "set", HOST, Components.CHAT, NOTHING, replace(FREE, **(state or {})))
    return replace(made, **changes)


def test_where_nothing_is_in_the_way_every_check_passes() -> None:
    """The base of all tests here."""
    assert [check(situation()) for _, check in CHECKS] == [None] * 8
    assert first_block(situation()) is None


def test_tools_that_are_switched_off_name_who_did_it() -> None:
    """And the switch."""
    assert first_block(situation({"tools_enabled": False, "tools_enabled_by": ORGANIZATION})) == Block(
        R.TOOLS_SWITCHED_OFF, "Tools are switched off.", ORGANIZATION, Change("DataTools.EnableTools", "true")
    )


def test_a_model_without_tools_names_the_ground_and_two_ways_out() -> None:
    """Another model; or saying of this provider that it does."""
    assert first_block(situation(standing=replace(HOST, can_call_tools=False))) == Block(
        R.MODEL_CANNOT_USE_TOOLS, "The model of 'host' cannot call tools (the profile says so).", ORGANIZATION,
        Change("provider", "a provider or model that calls tools", ChangeKind.CHOOSE),
        (Change("can_call_tools", "true", ChangeKind.SET, "host"),),
    )


def test_a_tool_nobody_brings_has_to_be_installed() -> None:
    """Nobody set a rule about it."""
    assert first_block(situation(registered=None)) == Block(
        R.NOT_AVAILABLE_HERE, "No installed plugin brings the tool 't'.", BUILT_IN,
        Change("pack", "the pack that brings it", ChangeKind.INSTALL),
    )


@pytest.mark.parametrize(
    ("visible", "asked", "nearest"),
    [
        (Visibility(assistants=False), Components.WRITER, "CHAT"),
        (Visibility(chat=False), Components.CHAT, "GRAMMAR_SPELLING_ASSISTANT"),
        (Visibility(allowed_components=(Components.WRITER, Components.AGENDA_ASSISTANT)), Components.CHAT,
         "AGENDA_ASSISTANT"),
        (Visibility(allowed_components=(Components.AGENDA_ASSISTANT, Components.CHAT)), Components.WRITER,
         "CHAT"),
        (Visibility(chat=False, assistants=False), Components.CHAT, None),
    ],
)  # fmt: skip
def test_a_tool_of_other_components_names_the_nearest(
    visible: Visibility, asked: Components, nearest: str | None
) -> None:
    """Chat where it may, else the first of the documented order; nothing to change for one that is nowhere."""
    block = first_block(situation(tool={"visible_in": visible}, component=asked))
    assert block == Block(
        R.NOT_AVAILABLE_HERE, f"The tool is not meant for the component {asked.value}.", BUILT_IN,
        None if nearest is None else choose("component", f"the component {nearest}"),
    )
    if nearest is not None:
        assert first_block(situation(tool={"visible_in": visible}, component=Components[nearest])) is None


@pytest.mark.parametrize(
    ("off", "why", "taken_out", "by"),
    [
        ({"set": BY_USER}, "'set' is switched off.", "'set'", BY_USER),
        ({"t": BY_USER}, "'set' is switched off: 't' stands for it.", "'t'", BY_USER),
        ({"u": ORGANIZATION, "t": BY_USER}, "'set' is switched off: 't' and 'u' stand for it.", "'t' and 'u'", BY_USER),
        ({"t": BY_USER, "set": ORGANIZATION}, "'set' is switched off: 'set' and 't' stand for it.", "'set' and 't'",
         ORGANIZATION),
    ],
)  # fmt: skip
def test_a_collection_that_is_switched_off_names_every_id_that_does_it(
    off: dict[str, SetBy], why: str, taken_out: str, by: SetBy
) -> None:
    """Taking out one of two would not do; the first in order names who did it."""
    assert first_block(situation({"switched_off": off})) == Block(
        R.TOOL_SWITCHED_OFF, why, by, Change("DataTools.DisabledToolIds", taken_out, ChangeKind.REMOVE)
    )


def test_what_a_tool_says_of_itself_is_passed_on_whole() -> None:
    """Whose doing it is, and what would change it."""
    change = Change("EnabledPreviewFeatures", "true", item="PRE")
    block = first_block(situation({"unavailable": Unavailable("It rests.", ORGANIZATION, change)}))
    assert block == Block(R.NOT_AVAILABLE_HERE, "It rests.", ORGANIZATION, change)
    assert first_block(situation({"unavailable": Unavailable("It rests.")})) == Block(R.NOT_AVAILABLE_HERE, "It rests.")


def test_settings_that_cannot_be_used_name_the_field_of_the_tool() -> None:
    """And who set the value."""
    state = {"configuration_problem": "base is no address", "configuration_by": BY_USER, "configuration_field": "base"}
    assert first_block(situation(state)) == Block(
        R.NOT_CONFIGURED, "Its settings cannot be used: base is no address.", BY_USER,
        Change("tools.t", "values that are valid", ChangeKind.SET, "base"),
    )


@pytest.mark.parametrize("has", list(L), ids=lambda level: level.name)
def test_a_minimum_that_is_not_reached_can_be_lowered_by_whom_it_belongs_to(has: ConfidenceLevel) -> None:
    """Over all pairs: another provider is a way out; a lower minimum is one, too, unless the organization set it."""
    standing = replace(HOST, confidence=has)
    for minimum, by in product(L, (BUILT_IN, BY_USER, ORGANIZATION)):
        block = first_block(situation({"minimum": minimum, "minimum_by": by}, standing=standing))
        if has >= minimum:
            assert block is None
            continue
        reachable = L.UNTRUSTED if has is L.UNKNOWN else has
        lower = Change("DataTools.MinimumProviderConfidenceByToolId", reachable.name, ChangeKind.SET, "set")
        assert block == Block(
            R.PROVIDER_CONFIDENCE_TOO_LOW,
            f"It needs a provider with confidence {minimum.name} or higher; 'host' has {has.name}.", by,
            choose("provider", f"a provider with confidence {minimum.name} or higher"),
            () if by is ORGANIZATION else (lower,),
        )
        assert first_block(situation({"minimum": reachable}, standing=standing)) is None


@pytest.mark.parametrize(("by", "change"), [(WIKI, choose("chat", "a new chat")), (ORGANIZATION, None)])
def test_a_restriction_is_left_by_a_new_chat_unless_it_holds_for_all(by: SetBy, change: Change | None) -> None:
    """The tool that sends too far, how far it sends, and who demanded that it may not."""
    demanded = ChatRequirements(outbound=LINKS, outbound_by=by)
    data = ToolOutboundData.THIRD_PARTY_QUERIES
    assert first_block(situation(tool={"outbound_data": data}, requirements=demanded)) == Block(
        R.OUTBOUND_DATA_RESTRICTED,
        f"This chat may send data no further than ONLY_LINKS_FROM_CHAT, demanded by {by}; the tool 't' sends "
        "THIRD_PARTY_QUERIES.", by, change,
    )


def test_every_check_has_an_answer_for_a_tool_nobody_brings() -> None:
    """In a restricted chat, too: where its data would go nobody knows, and nothing but its absence is in the way."""
    demanded = ChatRequirements(outbound=LINKS, outbound_by=WIKI)
    blocks = [check(situation(registered=None, requirements=demanded)) for _, check in CHECKS]
    assert [block.reason for block in blocks if block is not None] == [R.NOT_AVAILABLE_HERE]


def test_changes_are_worded_for_people() -> None:
    """One sentence each kind."""
    assert str(Change("a", "5")) == "set a to 5"
    assert str(Change("a", "5", item="x")) == "set a['x'] to 5"
    assert str(Change("a", "'x'", ChangeKind.REMOVE)) == "take 'x' out of a"
    assert str(Change("a", "'x'", ChangeKind.REMOVE, "y")) == "take 'x' out of a['y']"
    assert str(choose("chat", "a new chat")) == "choose a new chat"
    assert str(Change("pack", "the pack", ChangeKind.INSTALL)) == "install the pack"


def test_rules_nobody_touched_change_nothing() -> None:
    """Revision 0: tools are on, nothing is off, and the limits are the documented ones."""
    rules = Rules()
    assert (rules.revision, rules.tools_enabled, rules.global_minimum) == (0, True, None)
    assert (rules.max_tool_calls, rules.max_tool_result_characters, rules.max_restricted_calls) == (15, 300_000, 10)
    assert rules.least_of_all is None


def test_a_minimum_is_said_by_whoever_set_the_highest() -> None:
    """Of equal levels the user's own stays named; a ceiling is named only where it lifts."""
    for own, bound in product(L, L):
        rules = Rules(
            minimums={"t": Minimum(own, BY_USER)}, ceilings=Ceilings(minimums={"t": Minimum(bound, ORGANIZATION)})
        )
        made = registry(("pack", "tools", simple("t")), rules=rules)
        assert made.minimum_confidence("t") == (max(own, bound), ORGANIZATION if bound > own else BY_USER)
