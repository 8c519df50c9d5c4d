"""What rules and tools say right now, and what of a selection may be preselected or counted."""

import asyncio
from itertools import product
from typing import Any

import pytest
from registry_kit import owner, registry, simple

from lockgate.policy import (
    BUILT_IN,
    BY_USER,
    NOTHING,
    ChatRequirements,
    ConfidenceLevel,
    Minimum,
    OutboundDataRestriction,
    OutboundMinimum,
    ProviderStanding,
    SetBy,
    SetByKind,
    ToolOutboundData,
)
from lockgate.registry import Ceilings, PreviewSwitch, Registry, Rules
from lockgate.registry.catalog import filter_selectable
from lockgate.registry.checks import Change, ToolOfferBlockReason, ToolState, Unavailable
from lockgate.settings import Layers, ToolSettings
from lockgate.tools import Components, Tool, ToolActivation, ToolCollection, Visibility

L = ConfidenceLevel
R = ToolOfferBlockReason
ORGANIZATION = SetBy(SetByKind.ORGANIZATION, "Acme")
MEDIUM = ProviderStanding("p", "T", L.MEDIUM)
LINKS = ChatRequirements(outbound=OutboundDataRestriction.ONLY_LINKS_FROM_CHAT)
HOME = ToolOutboundData.NONE


class Base(ToolSettings):
    """A required setting."""

    base: int


def with_setting(tool_id: str = "t", **facts: Any) -> Tool:
    """Make a tool with a required setting."""
    made = simple(tool_id, **facts)
    made.settings_model = Base  # type: ignore[misc] # one instance of a test
    return made


def saying(answer: object, made: Tool | None = None) -> Tool:
    """Make a tool that answers so when it is asked whether it is available, or raises it."""
    made = made or simple("t")

    class Answering(type(made)):  # type: ignore[misc] # a subclass made for one test
        def is_available(self) -> Any:
            if isinstance(answer, BaseException):
                raise answer
            return answer

    made.__class__ = Answering
    return made


async def test_the_state_of_a_tool_holds_what_every_rule_says() -> None:
    """The switch, what switches it off, its minimum, each with who set it."""
    rules = Rules(
        tools_enabled=False, tools_enabled_by=ORGANIZATION, disabled={"t": BY_USER, "other": BY_USER},
        minimums={"set": Minimum(L.LOW, BY_USER)},
    )
    made = registry(("a", "tools", simple("t")), ("a", "collections", ToolCollection("set", ("t",))), rules=rules)
    state = await made.state("t")
    assert state == ToolState(False, ORGANIZATION, {"t": BY_USER}, None, "", BUILT_IN, L.LOW, BY_USER)
    assert await made.state("unknown") == ToolState(
        False, ORGANIZATION, {}, None, "", BUILT_IN, L.NONE, BUILT_IN
    )
    assert await made.state("t") == state


async def test_settings_are_looked_at_only_of_a_tool_that_is_there() -> None:
    """A tool that is not available has no second problem; its settings may be nobody's concern."""
    there = await registry(("a", "tools", with_setting())).state("t")
    assert (there.unavailable, there.configuration_problem) == (None, "base is required and not set")
    assert (there.configuration_field, there.configuration_by) == ("base", BUILT_IN)
    gone = await registry(("a", "tools", saying(False, with_setting()))).state("t")
    assert gone.unavailable == Unavailable("The tool says it is not available right now.")
    assert (gone.configuration_problem, gone.configuration_field) == ("", "")


async def test_a_wrong_setting_names_who_set_it() -> None:
    """The person whose value is wrong, and the field."""
    layers = Layers(locked={"t.base": "x"}, locked_by={"t.base": ORGANIZATION})
    state = await registry(("a", "tools", with_setting()), rules=Rules(layers=layers)).state("t")
    assert (state.configuration_field, state.configuration_by) == ("base", ORGANIZATION)
    assert "base" in state.configuration_problem


async def test_a_preview_that_is_off_makes_its_tools_unavailable() -> None:
    """Before the tool is asked anything; with the switch that would change it."""
    item = saying(AssertionError("it was asked"), simple("t", preview="PRE_MAILBOXES_2026"))
    off = Rules(previews={"PRE_RAG_2024": PreviewSwitch(False, ORGANIZATION)})
    made = registry(("a", "tools", item), rules=off)
    assert (await made.state("t")).unavailable == Unavailable(
        "It belongs to the preview PRE_MAILBOXES_2026, which stands on PRE_RAG_2024, which is switched off.",
        ORGANIZATION, Change("EnabledPreviewFeatures", "true", item="PRE_RAG_2024"),
    )
    assert made.incidents.incidents == ()
    failing = (await registry(("a", "tools", item)).state("t")).unavailable
    assert failing is not None
    assert "whether it is available failed" in failing.why


@pytest.mark.parametrize("answer", [True, 1, False, 0, "", None])
async def test_what_a_tool_says_of_itself_counts_as_true_or_false(answer: object) -> None:
    """Whatever it answers with."""
    state = await registry(("a", "tools", saying(answer))).state("t")
    assert (state.unavailable is None) == bool(answer)


async def test_what_can_change_is_asked_each_time_and_what_follows_from_the_rules_once() -> None:
    """A tool that answers for itself, and a check of settings, may say something else in a moment."""
    item, checked = simple("t"), with_setting("c")
    answers: dict[str, Any] = {"available": True, "problem": None}

    class Changing(type(item)):  # type: ignore[misc] # a subclass made for one test
        def is_available(self) -> bool:
            return bool(answers["available"])

    class Checking(type(checked)):  # type: ignore[misc] # as above
        async def validate_settings(self, settings: ToolSettings) -> str | None:
            del settings
            problem: str | None = answers["problem"]
            return problem

    item.__class__, checked.__class__ = Changing, Checking
    made = registry(
        ("a", "tools", item), ("a", "tools", checked), ("a", "tools", simple("plain")),
        rules=Rules(layers=Layers(user={"c.base": 5})),
    )
    assert (await made.state("t")).unavailable is None
    assert (await made.state("c")).configuration_problem == ""
    answers.update(available=False, problem="five is too much")
    assert (await made.state("t")).unavailable is not None
    assert (await made.state("c")).configuration_problem == "five is too much"
    assert await made.state("plain") is await made.state("plain")


async def test_a_failure_of_the_framework_while_it_looks_at_a_tool_costs_that_tool_alone(
    monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is noted with the tool's owner; what ends a program or a task passes."""
    made = registry(("a", "tools", simple("t")), ("b", "tools", simple("u")))
    usual = Registry._unavailable
    raised: list[BaseException] = [RuntimeError("broken")]

    async def unavailable(self: Registry, registered: Any) -> Unavailable | None:
        if registered.id == "t":
            raise raised[0]
        return await usual(self, registered)

    monkeypatch.setattr(Registry, "_unavailable", unavailable)
    assert (await made.state("u")).unavailable is None
    found = (await made.state("t")).unavailable
    assert found == Unavailable(f"Looking at the tool failed; see {owner('a')} in plugins doctor.")
    (incident,) = made.incidents.incidents
    assert (incident.owner, incident.what) == (owner("a"), "looking at t")
    for passing in (KeyboardInterrupt(), asyncio.CancelledError()):
        raised[0] = passing
        with pytest.raises(type(passing)):
            await made.state("t")


ITEMS = (
    ("a", "tools", simple("home", outbound_data=HOME)), ("a", "tools", simple("out")),
    ("a", "tools", simple("strict", outbound_data=HOME, minimum_confidence=L.HIGH)),
    ("a", "tools", with_setting("unset", outbound_data=HOME)),
    ("a", "tools", saying(False, simple("resting", outbound_data=HOME))),
    ("a", "tools", simple("elsewhere", outbound_data=HOME, visible_in=Visibility(chat=False))),
    ("a", "tools", simple("off", outbound_data=HOME)),
    ("a", "tools", simple("ctx", outbound_data=HOME, activation=ToolActivation.CONTEXT)),
)  # fmt: skip
OFF = {"off": BY_USER, "unknown_off": BY_USER}
EVERYTHING = ("home", "out", "strict", "unset", "resting", "elsewhere", "off", "ctx", "unknown", "unknown_off")


async def test_what_a_provider_could_be_offered_of_a_selection() -> None:
    """Settings and components are not looked at, an ID nobody registered stays unless it is switched off."""
    made = registry(*ITEMS, rules=Rules(disabled=OFF))
    restricted_too = {"home", "unset", "elsewhere", "unknown"}
    assert await made.filter_for_provider(MEDIUM, EVERYTHING, NOTHING) == restricted_too | {"out"}
    assert await made.filter_for_provider(MEDIUM, EVERYTHING, LINKS) == restricted_too
    high = ProviderStanding("p", "T", L.HIGH)
    assert await made.filter_for_provider(high, EVERYTHING, LINKS) == restricted_too | {"strict"}
    assert await made.filter_for_provider(high, (), NOTHING) == frozenset()
    bound = Ceilings(outbound=OutboundMinimum(LINKS.outbound, ORGANIZATION))
    restricted = registry(*ITEMS, rules=Rules(disabled=OFF, ceilings=bound))
    assert "out" not in await restricted.filter_for_provider(high, EVERYTHING, NOTHING)


@pytest.mark.parametrize(("enabled", "can_call"), list(product((True, False), repeat=2)))
async def test_without_tools_or_a_model_that_takes_them_nothing_is_counted(*, enabled: bool, can_call: bool) -> None:
    """Neither known nor unknown."""
    made = registry(*ITEMS, rules=Rules(tools_enabled=enabled))
    standing = ProviderStanding("p", "T", L.HIGH, can_call_tools=can_call)
    counted = await made.filter_for_provider(standing, ("home", "unknown"), NOTHING)
    assert counted == ({"home", "unknown"} if enabled and can_call else frozenset())


async def test_what_can_be_preselected_in_a_component() -> None:
    """Switched on, there, visible and configured; whichever provider it will be."""
    made = registry(*ITEMS, rules=Rules(disabled=OFF))
    assert await filter_selectable(made, Components.CHAT, EVERYTHING) == {"home", "out", "strict"}
    assert await filter_selectable(made, Components.WRITER, EVERYTHING) >= {"home", "elsewhere"}
    assert await filter_selectable(made, Components.CHAT, ()) == frozenset()
    off = registry(*ITEMS, rules=Rules(tools_enabled=False))
    assert await filter_selectable(off, Components.CHAT, EVERYTHING) == frozenset()


async def test_a_collection_can_be_preselected_while_one_of_its_tools_is_configured() -> None:
    """One is enough to bring something; where none is, it is not."""
    for names, selectable in ((("unset", "home"), True), (("unset",), False)):
        made = registry(*ITEMS, ("a", "collections", ToolCollection("set", names)))
        assert await filter_selectable(made, Components.CHAT, ["unset"]) == ({"set"} if selectable else frozenset())
