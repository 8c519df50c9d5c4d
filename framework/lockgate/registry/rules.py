"""The rules in force, as one frozen snapshot. A change of settings makes a new one, swapped in whole."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from lockgate.policy import BUILT_IN, ConfidenceLevel, ConfidenceScheme, SetBy
from lockgate.settings.effective import Layers

MAX_TOOL_CALLS = 15
"""Calls per run, all rounds together, unless a setting says otherwise."""

MAX_TOOL_RESULT_CHARACTERS = 300_000
"""Characters of results per run, unless a setting says otherwise."""


@dataclass(frozen=True, slots=True)
class Minimum:
    """A minimum of provider confidence that somebody set."""

    level: ConfidenceLevel
    set_by: SetBy


@dataclass(frozen=True, slots=True)
class Rules:
    """Everything settings and organization say about tools.

    Attributes:
        revision: Grows with each change.
        tools_enabled: The global switch.
        tools_enabled_by: Who set it.
        disabled: ID of a tool or collection → who switched it off.
        minimums: ID of a tool or collection → the minimum somebody set.
        previews_off: Preview features that are switched off → who did.
        layers: Stored settings of tools.
        scheme, custom_scheme: How provider types are rated.
        trusted_provider_ids: Lower-cased IDs of providers that satisfy data-source security.
        default_tools: Component name → IDs of collections selected by default.
        max_tool_calls, max_tool_result_characters: Limits of a run.
        pins: Name of a tool or collection that two plugins claim → the distribution that has it.
    """

    revision: int = 0
    tools_enabled: bool = True
    tools_enabled_by: SetBy = BUILT_IN
    disabled: Mapping[str, SetBy] = field(default_factory=dict)
    minimums: Mapping[str, Minimum] = field(default_factory=dict)
    previews_off: Mapping[str, SetBy] = field(default_factory=dict)
    layers: Layers = field(default_factory=Layers)
    scheme: ConfidenceScheme = ConfidenceScheme.TRUST_ALL
    custom_scheme: Mapping[str, ConfidenceLevel] = field(default_factory=dict)
    trusted_provider_ids: frozenset[str] = frozenset()
    default_tools: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    max_tool_calls: int = MAX_TOOL_CALLS
    max_tool_result_characters: int = MAX_TOOL_RESULT_CHARACTERS
    pins: Mapping[str, str] = field(default_factory=dict)
