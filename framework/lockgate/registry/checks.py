"""The ordered checks: one table, used by the request, by the question "why not?", and before each call.

Each check is a pure function of a situation. Comparing costs about a microsecond, so checks are simply repeated.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from lockgate.policy import (
    BUILT_IN,
    ChatRequirements,
    ConfidenceLevel,
    OutboundDataRestriction,
    ProviderStanding,
    SetBy,
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


@dataclass(frozen=True, slots=True)
class Change:
    """The smallest change that would pass a check, as data; a surface words it.

    Attributes:
        setting: What to change: a setting's name, or `provider`, `chat`, `component`.
        value: What it would have to be.
    """

    setting: str
    value: str

    def __str__(self) -> str:
        """Words for a person."""
        plain = {"provider": "choose", "chat": "use", "component": "ask from"}
        verb = plain.get(self.setting)
        return f"{verb} {self.value}" if verb else f"set {self.setting} to {self.value}"


@dataclass(frozen=True, slots=True)
class Block:
    """Why a tool is not offered: the reason, words for a person, who set the rule, what would change it."""

    reason: ToolOfferBlockReason
    why: str
    set_by: SetBy = BUILT_IN
    change: Change | None = None


@dataclass(frozen=True, slots=True)
class ToolState:
    """What the rules and the tool itself say right now, gathered before the checks run.

    Attributes:
        tools_enabled, tools_enabled_by: The global switch and who set it.
        switched_off_by: Who switched the collection off; None while it is on.
        available: What the tool says of itself.
        unavailable_why: Why not, where that is known.
        configuration_problem: What is wrong with its settings; empty when it is configured.
        configuration_by: Who set the value that is wrong.
        minimum, minimum_by: The minimum in force for the collection and who set it.
    """

    tools_enabled: bool
    tools_enabled_by: SetBy
    switched_off_by: SetBy | None
    available: bool
    unavailable_why: str
    configuration_problem: str
    configuration_by: SetBy
    minimum: ConfidenceLevel
    minimum_by: SetBy


@dataclass(frozen=True, slots=True)
class Situation:
    """Everything a check may look at."""

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
    return Block(R.TOOLS_SWITCHED_OFF, "Tools are switched off.", s.state.tools_enabled_by,
                 Change("DataTools.EnableTools", "true"))


def model_takes_tools(s: Situation) -> Block | None:
    """Whether the model can call tools at all."""
    if s.standing.can_call_tools:
        return None
    why = f"The model of {s.standing.id!r} cannot call tools ({s.standing.capability_ground})."
    return Block(R.MODEL_CANNOT_USE_TOOLS, why, BUILT_IN, Change("provider", "one whose model calls tools"))


def visible_here(s: Situation) -> Block | None:
    """Whether the tool exists and may appear in the component."""
    if s.registered is None:
        return Block(R.NOT_AVAILABLE_HERE, f"No installed plugin brings the tool {s.tool_id!r}.")
    if s.registered.definition.visible_in.includes(s.component):
        return None
    why = f"The tool is not meant for the component {s.component.value}."
    return Block(R.NOT_AVAILABLE_HERE, why, BUILT_IN, Change("component", "a component the tool is meant for"))


def switched_on(s: Situation) -> Block | None:
    """Whether the tool's collection is switched on."""
    if s.state.switched_off_by is None:
        return None
    why = f"{s.collection_id!r} is switched off."
    change = Change("DataTools.DisabledToolIds", f"a list without {s.collection_id!r}")
    return Block(R.TOOL_SWITCHED_OFF, why, s.state.switched_off_by, change)


def available(s: Situation) -> Block | None:
    """What the tool says of itself."""
    return None if s.state.available else Block(R.NOT_AVAILABLE_HERE, s.state.unavailable_why)


def configured(s: Situation) -> Block | None:
    """Whether its settings can be used."""
    if not s.state.configuration_problem:
        return None
    why = f"Its settings cannot be used: {s.state.configuration_problem}."
    return Block(R.NOT_CONFIGURED, why, s.state.configuration_by, Change(f"tools.{s.tool_id}", "valid values"))


def confidence_reached(s: Situation) -> Block | None:
    """Whether the provider has the confidence the tool asks for."""
    if meets_minimum(s.standing.confidence, s.state.minimum):
        return None
    why = (f"It needs a provider with confidence {s.state.minimum.name} or higher; {s.standing.id!r} has "
           f"{s.standing.confidence.name}.")
    change = Change("provider", f"one with confidence {s.state.minimum.name}")
    return Block(R.PROVIDER_CONFIDENCE_TOO_LOW, why, s.state.minimum_by, change)


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
    return Block(R.OUTBOUND_DATA_RESTRICTED, why, by, Change("chat", "a new chat"))


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
