"""The ordered checks: one table, used by the request, by the question "why not?", and before each call.

Each check is a pure function of a situation. Comparing costs about a microsecond, so checks are simply repeated.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from lockgate.policy import (
    BUILT_IN,
    ChatRequirements,
    ConfidenceLevel,
    OutboundDataRestriction,
    ProviderStanding,
    SetBy,
    SetByKind,
    is_outbound_data_allowed,
    meets_minimum,
)
from lockgate.registry.registration import Registered
from lockgate.tools.definition import Components


class ToolOfferBlockReason(Enum):
    """Why a tool cannot be offered; the documents' members."""

    NONE = "NONE"
    TOOLS_SWITCHED_OFF = "TOOLS_SWITCHED_OFF"
    MODEL_CANNOT_USE_TOOLS = "MODEL_CANNOT_USE_TOOLS"
    NOT_AVAILABLE_HERE = "NOT_AVAILABLE_HERE"
    TOOL_SWITCHED_OFF = "TOOL_SWITCHED_OFF"
    NOT_CONFIGURED = "NOT_CONFIGURED"
    PROVIDER_CONFIDENCE_TOO_LOW = "PROVIDER_CONFIDENCE_TOO_LOW"
    OUTBOUND_DATA_RESTRICTED = "OUTBOUND_DATA_RESTRICTED"


class ChangeKind(Enum):
    """What has to be done about a rule."""

    SET = "set"
    REMOVE = "remove"
    CHOOSE = "choose"
    INSTALL = "install"


@dataclass(frozen=True, slots=True)
class Change:
    """The smallest change that would pass a check, as data; a surface words it.

    Attributes:
        setting: What to change: a setting by its documented name, or `provider`, `chat`, `component`, `pack`.
        value: What it would have to be, or what has to be taken out.
        kind: What has to be done.
        item: The entry of a table that is meant, such as a tool's ID.
    """

    setting: str
    value: str
    kind: ChangeKind = ChangeKind.SET
    item: str = ""

    def __str__(self) -> str:
        """Words for a person."""
        if self.kind is ChangeKind.CHOOSE:
            return f"choose {self.value}"
        if self.kind is ChangeKind.INSTALL:
            return f"install {self.value}"
        name = f"{self.setting}[{self.item!r}]" if self.item else self.setting
        return f"take {self.value} out of {name}" if self.kind is ChangeKind.REMOVE else f"set {name} to {self.value}"


def choose(what: str, value: str) -> Change:
    """Return the change that somebody chooses another provider, chat or component."""
    return Change(what, value, ChangeKind.CHOOSE)


@dataclass(frozen=True, slots=True)
class Block:
    """Why a tool is not offered: the reason, words for a person, who set the rule, what would change it.

    Attributes:
        reason: The documented member.
        why: What is in the way, in a sentence.
        set_by: Who set the rule.
        change: The smallest change that would pass the check; None where nobody here can make one.
        or_else: Further changes, each of which would do, too.
    """

    reason: ToolOfferBlockReason
    why: str
    set_by: SetBy = BUILT_IN
    change: Change | None = None
    or_else: tuple[Change, ...] = ()


@dataclass(frozen=True, slots=True)
class Unavailable:
    """Why a tool is not there right now, whose doing that is, and what would change it."""

    why: str
    set_by: SetBy = BUILT_IN
    change: Change | None = None


@dataclass(frozen=True, slots=True)
class ToolState:
    """What the rules and the tool itself say right now, gathered before the checks run.

    Attributes:
        tools_enabled, tools_enabled_by: The global switch and who set it.
        switched_off: The IDs that stand for the collection and are switched off → who did; empty while it is on.
        unavailable: Why it is not there; None while it is.
        configuration_problem: What is wrong with its settings; empty when it is configured.
        configuration_by: Who set the value that is wrong.
        minimum, minimum_by: The minimum in force for the collection and who set it.
        configuration_field: Outside name of the first setting that is wrong, where one is.
    """

    tools_enabled: bool
    tools_enabled_by: SetBy
    switched_off: Mapping[str, SetBy]
    unavailable: Unavailable | None
    configuration_problem: str
    configuration_by: SetBy
    minimum: ConfidenceLevel
    minimum_by: SetBy
    configuration_field: str = ""


@dataclass(frozen=True, slots=True)
class Situation:
    """Everything a check may look at.

    Attributes:
        registered: The tool; None for an ID nobody registered.
        tool_id, collection_id: Its ID and that of its collection.
        standing: The provider.
        component: Where the question comes from.
        requirements: What counts for the chat: its own requirements, and what the organization demands of every chat.
        state: What rules and tool say.
    """

    registered: Registered | None
    tool_id: str
    collection_id: str
    standing: ProviderStanding
    component: Components
    requirements: ChatRequirements
    state: ToolState


Check = Callable[[Situation], Block | None]
R = ToolOfferBlockReason


def tools_switched_on(s: Situation) -> Block | None:
    """The global switch."""
    if s.state.tools_enabled:
        return None
    change = Change("DataTools.EnableTools", "true")
    return Block(R.TOOLS_SWITCHED_OFF, "Tools are switched off.", s.state.tools_enabled_by, change)


def model_takes_tools(s: Situation) -> Block | None:
    """Whether the model can call tools at all."""
    if s.standing.can_call_tools:
        return None
    why = f"The model of {s.standing.id!r} cannot call tools ({s.standing.capability_ground})."
    change = choose("provider", "a provider or model that calls tools")
    stated = Change("can_call_tools", "true", item=s.standing.id)
    return Block(R.MODEL_CANNOT_USE_TOOLS, why, s.standing.capability_by, change, (stated,))


def visible_here(s: Situation) -> Block | None:
    """Whether the tool exists and may appear in the component."""
    if s.registered is None:
        change = Change("pack", "the pack that brings it", ChangeKind.INSTALL)
        return Block(R.NOT_AVAILABLE_HERE, f"No installed plugin brings the tool {s.tool_id!r}.", BUILT_IN, change)
    visible = s.registered.definition.visible_in
    if visible.includes(s.component):
        return None
    why = f"The tool is not meant for the component {s.component.value}."
    places = [component.value for component in list(Components)[1:] if visible.includes(component)]
    nearest = Components.CHAT.value if Components.CHAT.value in places else next(iter(places), "")
    elsewhere = choose("component", f"the component {nearest}") if nearest else None
    return Block(R.NOT_AVAILABLE_HERE, why, BUILT_IN, elsewhere)


def switched_on(s: Situation) -> Block | None:
    """Whether the tool's collection is switched on, under its own ID and those of its tools."""
    if not s.state.switched_off:
        return None
    names = sorted(s.state.switched_off)
    why = f"{s.collection_id!r} is switched off."
    if names != [s.collection_id]:
        stands = "stands" if len(names) == 1 else "stand"
        why = f"{s.collection_id!r} is switched off: {_listed(names)} {stands} for it."
    change = Change("DataTools.DisabledToolIds", _listed(names), ChangeKind.REMOVE)
    return Block(R.TOOL_SWITCHED_OFF, why, s.state.switched_off[names[0]], change)


def available(s: Situation) -> Block | None:
    """What the tool says of itself, and whether its preview is on."""
    off = s.state.unavailable
    return None if off is None else Block(R.NOT_AVAILABLE_HERE, off.why, off.set_by, off.change)


def configured(s: Situation) -> Block | None:
    """Whether its settings can be used."""
    if not s.state.configuration_problem:
        return None
    why = f"Its settings cannot be used: {s.state.configuration_problem}."
    field = s.state.configuration_field
    change = Change(f"tools.{s.tool_id}", "values that are valid", item=field)
    return Block(R.NOT_CONFIGURED, why, s.state.configuration_by, change)


def confidence_reached(s: Situation) -> Block | None:
    """Whether the provider has the confidence the tool asks for."""
    minimum, has = s.state.minimum, s.standing.confidence
    if meets_minimum(has, minimum):
        return None
    why = (f"It needs a provider with confidence {minimum.name} or higher; {s.standing.id!r} has "
           f"{has.name}.")
    lower = Change("DataTools.MinimumProviderConfidenceByToolId", _settable(has).name, item=s.collection_id)
    own = s.state.minimum_by.kind is not SetByKind.ORGANIZATION
    change = choose("provider", f"a provider with confidence {minimum.name} or higher")
    return Block(R.PROVIDER_CONFIDENCE_TOO_LOW, why, s.state.minimum_by, change, (lower,) if own else ())


def outbound_allowed(s: Situation) -> Block | None:
    """Whether the chat still lets data go where the tool sends it."""
    restriction = s.requirements.outbound
    if s.registered is None or restriction is OutboundDataRestriction.UNRESTRICTED:
        return None
    definition = s.registered.definition
    if is_outbound_data_allowed(
        restriction, definition.outbound_data, enforces_itself=definition.enforces_outbound_restriction
    ):
        return None
    by = s.requirements.outbound_by
    why = (f"This chat may send data no further than {restriction.name}, demanded by {by}; the tool "
           f"{s.tool_id!r} sends {definition.outbound_data.name}.")
    new_chat = None if by.kind is SetByKind.ORGANIZATION else choose("chat", "a new chat")
    return Block(R.OUTBOUND_DATA_RESTRICTED, why, by, new_chat)


def _listed(names: Sequence[str]) -> str:
    return " and ".join(repr(name) for name in names)


def _settable(level: ConfidenceLevel) -> ConfidenceLevel:
    """Return the highest minimum that a provider of this level reaches; UNKNOWN can be no minimum."""
    return ConfidenceLevel.UNTRUSTED if level is ConfidenceLevel.UNKNOWN else level


CHECKS: tuple[tuple[str, Check], ...] = (
    ("tools are switched on", tools_switched_on),
    ("the model can call tools", model_takes_tools),
    ("the tool exists in this component", visible_here),
    ("the tool is switched on", switched_on),
    ("the tool is available", available),
    ("the tool is configured", configured),
    ("the provider is trusted enough", confidence_reached),
    ("the chat allows where its data goes", outbound_allowed),
)


def first_block(situation: Situation) -> Block | None:
    """Run the checks in order; return the first that does not pass, or None."""
    for _, check in CHECKS:
        if (block := check(situation)) is not None:
            return block
    return None
