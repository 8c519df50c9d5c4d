"""The rules in force, as one frozen snapshot. A change of settings makes a new one, swapped in whole."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from lockgate.policy import (
    BUILT_IN,
    ChatRequirements,
    ConfidenceLevel,
    ConfidenceScheme,
    Denial,
    Minimum,
    ProviderStanding,
    SetBy,
    admission,
)
from lockgate.registry.ceilings import NO_CEILINGS, Cap, Ceilings
from lockgate.registry.previews import PreviewSwitch
from lockgate.settings.effective import Layers
from lockgate.settings.typed import Fields
from lockgate.tools.definition import Components

MAX_TOOL_CALLS = 15
"""Calls per run, all rounds together, unless a setting says otherwise."""

MAX_TOOL_RESULT_CHARACTERS = 300_000
"""Characters of results per run, unless a setting says otherwise."""

MAX_RESTRICTED_CALLS = 10
"""Calls per run that may leave the configured services while the chat restricts where its data goes.

Each such call may choose among the addresses given to the model, and a choice among N carries log2 N bits.
"""


@dataclass(frozen=True, slots=True)
class Rules:
    """Everything settings and organization say about tools.

    Attributes:
        revision: Grows with each change.
        tools_enabled: The global switch.
        tools_enabled_by: Who set it.
        disabled: ID of a tool or collection → who switched it off.
        minimums: ID of a tool or collection → the minimum somebody set.
        previews: Name of a preview feature → its switch; one that nobody touched is on.
        layers: Stored settings of tools.
        scheme, custom_scheme: How provider types are rated.
        scheme_by: Who chose the scheme.
        global_minimum: What every provider needs (``EnforceGlobalMinimumConfidence``); None when it is not enforced.
        trusted_provider_ids: Lower-cased IDs of providers that satisfy data-source security.
        default_tools: Component name → IDs of collections selected by default.
        default_tools_by: Who set the defaults.
        visible_selection_components: Components whose selection counts although it is hidden by default.
        max_tool_calls, max_tool_result_characters, max_restricted_calls: Limits of a run.
        pins: Name of a tool or collection that two plugins claim → the distribution that has it.
        ceilings: How far the organization lets a user loosen all this.

    Raises:
        ConfigurationError: A value has a wrong type; the message names the field and what is right. A list or a set
            of IDs is taken for a tuple, any of them for a frozenset, and a member of Components for its name. Tables
            are copied.
    """

    revision: int = 0
    tools_enabled: bool = True
    tools_enabled_by: SetBy = BUILT_IN
    disabled: Mapping[str, SetBy] = field(default_factory=dict)
    minimums: Mapping[str, Minimum] = field(default_factory=dict)
    previews: Mapping[str, PreviewSwitch] = field(default_factory=dict)
    layers: Layers = field(default_factory=Layers)
    scheme: ConfidenceScheme = ConfidenceScheme.TRUST_ALL
    custom_scheme: Mapping[str, ConfidenceLevel] = field(default_factory=dict)
    scheme_by: SetBy = BUILT_IN
    global_minimum: Minimum | None = None
    trusted_provider_ids: frozenset[str] = frozenset()
    default_tools: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    default_tools_by: SetBy = BUILT_IN
    visible_selection_components: frozenset[str] = frozenset()
    max_tool_calls: int = MAX_TOOL_CALLS
    max_tool_result_characters: int = MAX_TOOL_RESULT_CHARACTERS
    max_restricted_calls: int = MAX_RESTRICTED_CALLS
    pins: Mapping[str, str] = field(default_factory=dict)
    ceilings: Ceilings = NO_CEILINGS

    def __post_init__(self) -> None:
        check = Fields(self)
        check.counts("revision", "max_tool_calls", "max_tool_result_characters", "max_restricted_calls")
        check.flags("tools_enabled")
        check.set_by("tools_enabled_by", "scheme_by", "default_tools_by")
        check.table("disabled", SetBy)
        check.table("minimums", Minimum)
        check.table("previews", PreviewSwitch)
        check.values(Layers, "layers")
        check.member("scheme", ConfidenceScheme)
        check.table("custom_scheme", ConfidenceLevel)
        check.values(Minimum, "global_minimum", optional=True)
        check.set_of_texts("trusted_provider_ids", change=str.lower)
        check.table_of_tuples("default_tools", enum=Components)
        check.set_of_texts("visible_selection_components", "WRITER", enum=Components)
        check.table("pins", str)
        check.values(Ceilings, "ceilings")

    @property
    def least_of_all(self) -> Minimum | None:
        """What every provider needs: the stricter of what the user and the organization say; None for nothing."""
        own, bound = self.global_minimum, self.ceilings.global_minimum
        if own is None or (bound is not None and bound.level > own.level):
            return bound
        return own

    def demanded(self, requirements: ChatRequirements) -> ChatRequirements:
        """Return what counts for a chat now: what its content demands, and the organization of every chat."""
        bound = self.ceilings.outbound
        if bound is None:
            return requirements
        return requirements.join(ChatRequirements(outbound=bound.level, outbound_by=bound.set_by))

    def admission(self, requirements: ChatRequirements, standing: ProviderStanding) -> Denial | None:
        """Say why a provider may not have the content of a chat, or None; see `lockgate.policy.admission`."""
        return admission(requirements, standing, self.least_of_all)

    def limit(self, name: str) -> int:
        """Return a limit of a run, by its name in this class; the ceiling where that is lower."""
        own: int = getattr(self, name)
        bound: Cap | None = getattr(self.ceilings, name)
        return own if bound is None else min(own, bound.value)
