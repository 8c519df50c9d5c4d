"""Explanations as whole values: what is beyond the table, in which order things stand in the way, who else could."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, cast

import pytest
from registry_kit import registry, simple

from lockgate.chat import ChatThread
from lockgate.policy import (
    BUILT_IN,
    BY_USER,
    ChatRequirements,
    ConfidenceLevel,
    DataSourceSecurity,
    Minimum,
    OutboundDataRestriction,
    OutboundMinimum,
    ProviderStanding,
    SetBy,
    SetByKind,
    ToolOutboundData,
)
from lockgate.registry import (
    Beyond,
    BeyondKind,
    Ceilings,
    Explanation,
    Preparation,
    Registry,
    Rules,
    Selection,
    SelectionOrigin,
    explain,
)
from lockgate.registry.beyond import NOTHING_TO_OFFER
from lockgate.registry.checks import CHECKS, Change, choose
from lockgate.registry.explain import ASKED_NOW, ONLY_A_REQUEST
from lockgate.tools import Components, RequestContext, ToolActivation, ToolServices

ORGANIZATION = SetBy(SetByKind.ORGANIZATION, "Acme")
INBOX = SetBy(SetByKind.DATA_SOURCE, "Inbox")
CLOUD = ProviderStanding("cloud", "OPEN_AI", ConfidenceLevel.MEDIUM)
OFFICE = ProviderStanding("office", "SELF_HOSTED", ConfidenceLevel.HIGH, self_hosted=True)
OTHERS = (CLOUD, OFFICE, replace(OFFICE, id="mute", can_call_tools=False))
CHAT = Components.CHAT
AT_HOME = ChatThread(requirements=ChatRequirements(
    data_security=DataSourceSecurity.SELF_HOSTED, data_security_by=INBOX
))  # fmt: skip
TOOLS = (
    ("a", "tools", simple("t", outbound_data=ToolOutboundData.NONE, companions=("along",))),
    ("b", "tools", simple("along", outbound_data=ToolOutboundData.NONE)),
    ("a", "tools", simple("ctx", outbound_data=ToolOutboundData.NONE, activation=ToolActivation.CONTEXT)),
)


async def explained(made: Registry, tool_id: str, selected: Iterable[str] | Selection = ("t",), *,
                    chat: ChatThread | None = None, standing: ProviderStanding = CLOUD) -> Explanation:
    """Explain a tool to whoever asks in a chat; the other providers are always there."""
    preparation = Preparation(made, cast("ToolServices", None))
    return await explain(made, preparation, tool_id, chat or ChatThread(), standing, CHAT, selected, OTHERS)


async def test_a_tool_that_is_offered_has_nothing_in_the_way() -> None:
    """Every check passed, and it was asked."""
    made = registry(*TOOLS)
    found = await explained(made, "t")
    assert [(verdict.check, verdict.block) for verdict in found.verdicts] == [(name, None) for name, _ in CHECKS]
    assert (found.tool_id, found.standing, found.component) == ("t", CLOUD, CHAT)
    assert (found.selected, found.selected_by, found.beyond, found.blocks) == (True, "whoever asks", (), ())
    assert (found.offered, found.also_with, found.why, found.ending) == (True, (), "", ASKED_NOW)


async def test_a_provider_that_may_not_have_the_chat_is_beyond_everything() -> None:
    """The tool is not asked; who demanded it is named, and who could have the chat and the tool."""
    made = registry(*TOOLS)
    found = await explained(made, "t", chat=AT_HOME)
    denial = made.rules.admission(AT_HOME.requirements, CLOUD)
    assert denial is not None
    beyond = Beyond(
        BeyondKind.PROVIDER_DENIED, f"The provider may not have this chat at all. {denial.why}", INBOX,
        choose("provider", "a provider that may have it"),
    )
    assert (found.beyond, found.blocks, found.offered, found.ending) == ((beyond,), (), False, ONLY_A_REQUEST)
    assert found.also_with == ("office",)
    assert found.why == f"{beyond.why} (set by data source 'Inbox')"
    office = await explained(made, "t", chat=AT_HOME, standing=OFFICE)
    assert (office.offered, office.also_with) == (True, ())


async def test_a_tool_that_is_not_selected_names_who_selects() -> None:
    """Its checks pass, it is asked, and no other provider would help."""
    made = registry(*TOOLS)
    found = await explained(made, "t", Selection(("along",), SelectionOrigin.DEFAULTS, ORGANIZATION, "CHAT"))
    assert found.beyond == (Beyond(
        BeyondKind.NOT_SELECTED, "It is not selected by the defaults of CHAT (set by organization 'Acme').",
        ORGANIZATION, choose("selection", "a selection that names 't'"),
    ),)  # fmt: skip
    assert (found.selected, found.selected_by, found.offered, found.also_with) == (False, "", False, ())
    assert found.ending == ASKED_NOW


@pytest.mark.parametrize("tool_id", ["t", "ctx"])
async def test_a_hidden_selection_stands_in_front_of_every_tool(tool_id: str) -> None:
    """Whether selected or offering itself; with the setting that would show it."""
    hidden = Selection(("t",), SelectionOrigin.CHAT, name="EMAIL_ASSISTANT", hidden=True)
    found = await explained(registry(*TOOLS), tool_id, hidden)
    assert found.beyond == (Beyond(
        BeyondKind.SELECTION_HIDDEN,
        "The component EMAIL_ASSISTANT shows no selection, and no rule of an assistant names the tools.", BUILT_IN,
        Change("VisibleToolSelectionComponents", "a list with 'EMAIL_ASSISTANT'"),
    ),)  # fmt: skip
    assert not found.offered


async def test_a_tool_that_offers_itself_is_selected_by_nobody() -> None:
    """Nobody can select it, and that it is not in the selection is in nobody's way."""
    found = await explained(registry(*TOOLS), "ctx", ())
    assert (found.selected, found.selected_by, found.beyond, found.offered) == (None, "it offers itself", (), True)


async def test_a_companion_names_the_tool_that_brought_it_and_its_pack() -> None:
    """What was selected itself does not."""
    made = registry(*TOOLS)
    assert (await explained(made, "along")).selected_by == "whoever asks, along with 't' of a 1.0 (entry point 'a')"
    assert (await explained(made, "along", ("t", "along"))).selected_by == "whoever asks"


async def test_a_companion_that_a_chat_keeps_by_name_still_names_who_brings_it() -> None:
    """A chat stores what came along, too; that nothing else brings along was chosen."""
    made = registry(*TOOLS)
    kept = Selection(("along", "t"), SelectionOrigin.CHAT)
    assert (await explained(made, "along", kept)).selected_by == "the chat, along with 't' of a 1.0 (entry point 'a')"
    assert (await explained(made, "t", kept)).selected_by == "the chat"
    assert (await explained(made, "along", replace(kept, identifiers=("along",)))).selected_by == "the chat"


async def test_of_a_tool_nobody_brings_only_that_and_the_provider_are_told() -> None:
    """Whether it is selected is no matter then, nor whether the selection is shown; it is still said."""
    found = await explained(registry(*TOOLS), "gone", Selection(("t",), hidden=True))
    assert (found.beyond, found.selected, found.selected_by) == ((), False, "")
    assert found.why == "No installed plugin brings the tool 'gone'. (built in)"
    found = await explained(registry(*TOOLS), "gone", ("gone",), chat=AT_HOME)
    assert [item.kind for item in found.beyond] == [BeyondKind.PROVIDER_DENIED]
    assert (found.selected, found.selected_by) == (True, "whoever asks")
    assert found.why.startswith("No installed plugin")


async def test_what_stands_in_the_way_first_is_the_first_check() -> None:
    """All of them are shown, in order, and before anything beyond."""
    rules = Rules(
        disabled={"t": BY_USER}, minimums={"t": Minimum(ConfidenceLevel.HIGH, ORGANIZATION)}, tools_enabled=False
    )
    found = await explained(registry(*TOOLS, rules=rules), "t", ())
    assert [block.reason.value for block in found.blocks] == [
        "TOOLS_SWITCHED_OFF", "TOOL_SWITCHED_OFF", "PROVIDER_CONFIDENCE_TOO_LOW"
    ]  # fmt: skip
    assert [item.kind for item in found.beyond] == [BeyondKind.NOT_SELECTED]
    assert found.why == "Tools are switched off. (built in)"
    assert (found.offered, found.ending, found.also_with) == (False, ONLY_A_REQUEST, ())


async def test_providers_are_named_only_where_one_of_them_would_do() -> None:
    """One that may not have the chat, or takes no tools, would not; nor would any, where it is not the provider."""
    high = Rules(minimums={"t": Minimum(ConfidenceLevel.HIGH, BY_USER)})
    assert (await explained(registry(*TOOLS, rules=high), "t")).also_with == ("office",)
    demanding = replace(high, global_minimum=Minimum(ConfidenceLevel.HIGH, BY_USER))
    assert (await explained(registry(*TOOLS, rules=demanding), "t")).also_with == ("office",)
    low = replace(CLOUD, confidence=ConfidenceLevel.LOW)
    barred = Rules(
        minimums={"t": Minimum(ConfidenceLevel.MEDIUM, BY_USER)},
        global_minimum=Minimum(ConfidenceLevel.HIGH, BY_USER),
    )
    assert (await explained(registry(*TOOLS, rules=barred), "t", standing=low)).also_with == ("office",)
    off = Rules(disabled={"t": BY_USER})
    assert (await explained(registry(*TOOLS, rules=off), "t")).also_with == ()


async def test_what_is_demanded_of_every_chat_is_in_the_table() -> None:
    """The checks see what counts, not only what the chat demands itself."""
    bound = Ceilings(outbound=OutboundMinimum(OutboundDataRestriction.ONLY_LINKS_FROM_CHAT, ORGANIZATION))
    made = registry(("a", "tools", simple("t")), rules=Rules(ceilings=bound))
    found = await explained(made, "t")
    assert [(block.reason.value, block.set_by) for block in found.blocks] == [
        ("OUTBOUND_DATA_RESTRICTED", ORGANIZATION)
    ]


async def test_what_a_tool_answers_now_is_beyond_the_table() -> None:
    """Nothing to offer is the last thing in the way, and the only one."""
    item = simple("t", outbound_data=ToolOutboundData.NONE)

    class Nothing(type(item)):  # type: ignore[misc] # a subclass made for one test
        async def resolve_function(self, context: RequestContext) -> Any:
            del context

    item.__class__ = Nothing
    found = await explained(registry(("a", "tools", item)), "t")
    assert (found.beyond, found.offered, found.ending) == ((NOTHING_TO_OFFER,), False, ASKED_NOW)
    assert found.why == "It passed every check, but has nothing to offer in this chat. (built in)"
    assert found.also_with == ()
