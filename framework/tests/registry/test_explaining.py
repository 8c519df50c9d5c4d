"""The answer to "why is this tool not there?": who set a rule, what would change it, and what no check looks at."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, cast

import pytest
from registry_kit import registry, simple

from lockgate.chat import ChatThread
from lockgate.errors import ToolBlocked
from lockgate.policy import (
    BUILT_IN,
    BY_USER,
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
from lockgate.registry import (
    BeyondKind,
    Ceilings,
    ChangeKind,
    Explanation,
    Preparation,
    PreviewSwitch,
    Registry,
    Rules,
    Selection,
    SelectionOrigin,
    ToolOfferBlockReason,
    explain,
)
from lockgate.settings import Layers, ToolSettings
from lockgate.tools import (
    Components,
    RequestContext,
    Tool,
    ToolActivation,
    ToolCollection,
    ToolServices,
    Visibility,
)

ORGANIZATION = SetBy(SetByKind.ORGANIZATION, "Example Inc.", "plugin.lua", 12)
INBOX = SetBy(SetByKind.DATA_SOURCE, "Inbox")
MEDIUM = ProviderStanding("cloud", "OPEN_AI", ConfidenceLevel.MEDIUM)
HIGH = ProviderStanding("office", "SELF_HOSTED", ConfidenceLevel.HIGH, self_hosted=True)
R = ToolOfferBlockReason


async def explained(
    made: Registry,
    tool_id: str = "t",
    *,
    selected: Iterable[str] | Selection = ("t",),
    standing: ProviderStanding = MEDIUM,
    chat: ChatThread | None = None,
    component: Components = Components.CHAT,
    others: Iterable[ProviderStanding] = (),
) -> Explanation:
    """Explain a tool."""
    preparation = Preparation(made, cast("ToolServices", None))
    return await explain(made, preparation, tool_id, chat or ChatThread(), standing, component, selected, others)


class Base(ToolSettings):
    """A required setting."""

    base: int


def with_setting() -> Tool:
    """Make a tool with a required setting."""
    made = simple("t", outbound_data=ToolOutboundData.NONE)
    made.settings_model = Base  # type: ignore[misc] # one instance of a test
    return made


class Resolving:
    """Makes tools that answer a resolution in a way of their own."""

    @staticmethod
    def to(answer: Any) -> Tool:
        """Return a tool that answers so, or raises it."""
        made = simple("t", outbound_data=ToolOutboundData.NONE)

        class Answering(type(made)):  # type: ignore[misc] # a subclass made for one test
            async def resolve_function(self, context: RequestContext) -> Any:
                del context
                if isinstance(answer, BaseException):
                    raise answer
                return answer

        made.__class__ = Answering
        return made


NONE = ToolOutboundData.NONE
RAISED = ChatThread(requirements=ChatRequirements(
    outbound=OutboundDataRestriction.ONLY_CONFIGURED_SERVICES, outbound_by=INBOX
))  # fmt: skip


@pytest.mark.parametrize(
    ("item", "rules", "how", "reason", "set_by", "change"),
    [
        (simple("t"), Rules(tools_enabled=False, tools_enabled_by=ORGANIZATION), {}, R.TOOLS_SWITCHED_OFF, ORGANIZATION,
         "set DataTools.EnableTools to true"),
        (simple("t"), Rules(),
         {"standing": replace(HIGH, can_call_tools=False, capability_by=BY_USER, capability_ground="stated")},
         R.MODEL_CANNOT_USE_TOOLS, BY_USER, "choose a provider or model that calls tools"),
        (simple("t", visible_in=Visibility(chat=False)), Rules(), {}, R.NOT_AVAILABLE_HERE, BUILT_IN,
         "choose the component GRAMMAR_SPELLING_ASSISTANT"),
        (simple("other"), Rules(), {}, R.NOT_AVAILABLE_HERE, BUILT_IN, "install the pack that brings it"),
        (simple("t"), Rules(disabled={"t": ORGANIZATION}), {}, R.TOOL_SWITCHED_OFF, ORGANIZATION,
         "take 't' out of DataTools.DisabledToolIds"),
        (simple("t", preview="PRE_MAILBOXES_2026"),
         Rules(previews={"PRE_RAG_2024": PreviewSwitch(False, ORGANIZATION)}), {}, R.NOT_AVAILABLE_HERE, ORGANIZATION,
         "set EnabledPreviewFeatures['PRE_RAG_2024'] to true"),
        (with_setting(), Rules(), {}, R.NOT_CONFIGURED, BUILT_IN, "set tools.t['base'] to values that are valid"),
        (with_setting(), Rules(layers=Layers(locked={"t.base": "x"}, locked_by={"t.base": ORGANIZATION})), {},
         R.NOT_CONFIGURED, ORGANIZATION, "set tools.t['base'] to values that are valid"),
        (simple("t"), Rules(minimums={"t": Minimum(ConfidenceLevel.HIGH, ORGANIZATION)}), {},
         R.PROVIDER_CONFIDENCE_TOO_LOW, ORGANIZATION, "choose a provider with confidence HIGH or higher"),
        (simple("t"), Rules(ceilings=Ceilings(minimums={"t": Minimum(ConfidenceLevel.HIGH, ORGANIZATION)}),
                            minimums={"t": Minimum(ConfidenceLevel.LOW, BY_USER)}), {},
         R.PROVIDER_CONFIDENCE_TOO_LOW, ORGANIZATION, "choose a provider with confidence HIGH or higher"),
        (simple("t"), Rules(), {"chat": RAISED}, R.OUTBOUND_DATA_RESTRICTED, INBOX, "choose a new chat"),
        (simple("t"), Rules(ceilings=Ceilings(outbound=OutboundMinimum(
            OutboundDataRestriction.ONLY_LINKS_FROM_CHAT, ORGANIZATION))), {}, R.OUTBOUND_DATA_RESTRICTED, ORGANIZATION,
         "None"),
    ],
)  # fmt: skip
async def test_a_block_names_who_set_the_rule_and_the_smallest_change(  # noqa: PLR0917 - a row of a table
    item: Tool, rules: Rules, how: dict[str, Any], reason: R, set_by: SetBy, change: str
) -> None:
    """Built in, the user, the organization with file and line, a data source by its name."""
    answer = await explained(registry(("a", "tools", item), rules=rules), **how)
    assert not answer.offered
    assert [(block.reason, block.set_by, str(block.change)) for block in answer.blocks] == [(reason, set_by, change)]


@pytest.mark.parametrize("level", [ConfidenceLevel.UNKNOWN, ConfidenceLevel.LOW, ConfidenceLevel.MEDIUM])
async def test_the_change_of_a_minimum_would_pass(level: ConfidenceLevel) -> None:
    """What is proposed for a minimum that the user may lower is tried: it passes, and one step above does not."""
    low = replace(MEDIUM, confidence=level)
    item = ("a", "tools", simple("t", outbound_data=NONE, minimum_confidence=ConfidenceLevel.HIGH))
    block = (await explained(registry(item), standing=low)).blocks[0]
    (lower,) = block.or_else
    proposed = ConfidenceLevel[lower.value]
    assert (lower.setting, lower.item) == ("DataTools.MinimumProviderConfidenceByToolId", "t")
    passing = Rules(minimums={"t": Minimum(proposed, BY_USER)})
    assert (await explained(registry(item, rules=passing), standing=low)).offered
    levels = [step for step in ConfidenceLevel if step > proposed and step is not ConfidenceLevel.UNKNOWN]
    above = Rules(minimums={"t": Minimum(levels[0], BY_USER)})
    assert not (await explained(registry(item, rules=above), standing=low)).offered


async def test_an_organization_cannot_be_told_to_lower_its_minimum() -> None:
    """What the organization set is not the user's to change."""
    rules = Rules(minimums={"t": Minimum(ConfidenceLevel.HIGH, ORGANIZATION)})
    (block,) = (await explained(registry(("a", "tools", simple("t", outbound_data=NONE)), rules=rules))).blocks
    assert block.or_else == ()


async def test_every_name_that_switches_a_collection_off_has_to_go() -> None:
    """Taking out only one of two would change nothing."""
    rules = Rules(disabled={"both": BY_USER, "u": ORGANIZATION})
    made = registry(
        ("a", "tools", simple("t")), ("a", "tools", simple("u")),
        ("a", "collections", ToolCollection("both", ("t", "u"))),
        rules=rules,
    )  # fmt: skip
    (block,) = (await explained(made)).blocks
    assert block.change is not None
    assert (block.change.kind, block.change.value) == (ChangeKind.REMOVE, "'both' and 'u'")


async def test_providers_with_which_it_would_be_offered_are_named() -> None:
    """The nearest way out of a confidence that is too low is another provider that is there already."""
    item = ("a", "tools", simple("t", outbound_data=NONE, minimum_confidence=ConfidenceLevel.HIGH))
    others = [HIGH, replace(HIGH, id="mute", can_call_tools=False), replace(MEDIUM, id="second")]
    answer = await explained(registry(item), others=others)
    assert answer.also_with == ("office",)
    assert (await explained(registry(item), standing=HIGH, others=[MEDIUM])).also_with == ()


async def test_what_lies_beyond_the_table_is_told_beside_it() -> None:
    """Not selected, nothing to offer, a resolution that failed: no check, and still in the way."""
    plain = registry(("a", "tools", simple("t", outbound_data=NONE)))
    unselected = await explained(plain, selected=())
    assert [item.kind for item in unselected.beyond] == [BeyondKind.NOT_SELECTED]
    assert (unselected.selected, unselected.offered, unselected.blocks) == (False, False, ())
    nothing = await explained(registry(("a", "tools", Resolving.to(None))))
    assert [item.kind for item in nothing.beyond] == [BeyondKind.NOTHING_TO_OFFER]
    says_why = await explained(registry(("a", "tools", Resolving.to(ToolBlocked("'Contracts' needs HIGH.")))))
    assert [(item.kind, item.why) for item in says_why.beyond] == [
        (BeyondKind.NOTHING_TO_OFFER, "'Contracts' needs HIGH.")
    ]
    failed = await explained(registry(("bad", "tools", Resolving.to(ValueError("broken")))))
    assert [item.kind for item in failed.beyond] == [BeyondKind.RESOLUTION_FAILED]
    assert "bad" in failed.beyond[0].why
    offered = await explained(plain)
    assert (offered.offered, offered.beyond, offered.why) == (True, (), "")


async def test_a_tool_that_was_not_asked_is_said_not_to_have_been() -> None:
    """Whether it has something to offer, only a request can tell, unless every check passed and it was asked."""
    made = registry(("a", "tools", Resolving.to(None)), rules=Rules(disabled={"t": BY_USER}))
    assert "only a request can tell" in (await explained(made)).ending
    assert "only a request" not in (await explained(registry(("a", "tools", Resolving.to(None))))).ending


async def test_a_provider_that_may_not_have_the_chat_is_told_first() -> None:
    """No tool matters for a request that is not made."""
    chat = ChatThread(requirements=ChatRequirements(ConfidenceLevel.HIGH, confidence_by=INBOX))
    answer = await explained(registry(("a", "tools", simple("t", outbound_data=NONE))), chat=chat, others=[HIGH])
    assert [(item.kind, item.set_by) for item in answer.beyond] == [(BeyondKind.PROVIDER_DENIED, INBOX)]
    assert answer.also_with == ("office",)
    enforced = Rules(global_minimum=Minimum(ConfidenceLevel.HIGH, ORGANIZATION))
    answer = await explained(registry(("a", "tools", simple("t", outbound_data=NONE)), rules=enforced))
    assert [(item.kind, item.set_by) for item in answer.beyond] == [(BeyondKind.PROVIDER_DENIED, ORGANIZATION)]


async def test_a_companion_is_shown_with_who_brought_it() -> None:
    """Nobody selected it, so the pack that declared it is named."""
    made = registry(("wiki", "tools", simple("search", companions=("t",))), ("web", "tools", simple("t")))
    answer = await explained(made, selected=("search",))
    assert answer.selected
    assert answer.selected_by == "whoever asks, along with 'search' of wiki 1.0 (entry point 'wiki')"


async def test_who_selects_is_told() -> None:
    """The chat, the defaults of a component, an assistant, or whoever asks."""
    made = registry(("a", "tools", simple("t")), ("a", "tools", simple("c", activation=ToolActivation.CONTEXT)))
    defaults = Selection(("t",), SelectionOrigin.DEFAULTS, BY_USER, "CHAT")
    assert (await explained(made, selected=defaults)).selected_by == "the defaults of CHAT (set by user)"
    minutes = Selection(("t",), SelectionOrigin.ASSISTANT, BY_USER, "minutes")
    assert (await explained(made, selected=minutes)).selected_by == "the assistant 'minutes'"
    assert (await explained(made, "c", selected=())).selected_by == "it offers itself"
    assert (await explained(made, "c", selected=())).selected is None


async def test_a_hidden_selection_is_beyond_the_table() -> None:
    """In a component that shows no selection nothing runs that no assistant's rule names, context tools included."""
    made = registry(
        ("a", "tools", simple("t", outbound_data=NONE)),
        ("a", "tools", simple("c", outbound_data=NONE, activation=ToolActivation.CONTEXT)),
    )
    chat = ChatThread(selected_tools=("t",))
    hidden = made.selection_of(chat, Components.EMAIL_ASSISTANT)
    for tool_id in ("t", "c"):
        answer = await explained(made, tool_id, selected=hidden, component=Components.EMAIL_ASSISTANT)
        assert [item.kind for item in answer.beyond] == [BeyondKind.SELECTION_HIDDEN]
    offer = await Preparation(made, cast("ToolServices", None)).prepare(
        chat, MEDIUM, Components.EMAIL_ASSISTANT, hidden
    )
    assert offer.tools == ()
    shown = registry(
        ("a", "tools", simple("t", outbound_data=NONE)),
        rules=Rules(visible_selection_components=frozenset({"EMAIL_ASSISTANT"})),
    ).selection_of(chat, Components.EMAIL_ASSISTANT)
    assert not shown.hidden
