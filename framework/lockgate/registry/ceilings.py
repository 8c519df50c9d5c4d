"""Ceilings: how far an organization lets its users loosen a rule. A user may tighten, never loosen.

A ceiling is no value of its own. It bounds what the user, or nobody, chose: of both the stricter counts.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from lockgate.policy import Minimum, OutboundMinimum, SetBy
from lockgate.settings.typed import Fields


@dataclass(frozen=True, slots=True)
class Cap:
    """The most a number may be, and who says so."""

    value: int
    set_by: SetBy

    def __post_init__(self) -> None:
        check = Fields(self)
        check.counts("value")
        check.set_by("set_by")


@dataclass(frozen=True, slots=True)
class Ceilings:
    """The bounds an organization sets.

    Attributes:
        minimums: ID of a tool or collection → the least confidence that may be demanded for it.
        global_minimum: The least confidence that may be demanded of every provider.
        outbound: The least outbound restriction of every chat.
        max_tool_calls: The most calls an answer may make.
        max_tool_result_characters: The most characters of results an answer may take.
        max_restricted_calls: The most calls an answer may make beyond configured services while the chat restricts
            where its data goes.
    """

    minimums: Mapping[str, Minimum] = field(default_factory=dict)
    global_minimum: Minimum | None = None
    outbound: OutboundMinimum | None = None
    max_tool_calls: Cap | None = None
    max_tool_result_characters: Cap | None = None
    max_restricted_calls: Cap | None = None

    def __post_init__(self) -> None:
        check = Fields(self)
        check.table("minimums", Minimum)
        check.values(Minimum, "global_minimum", optional=True)
        check.values(OutboundMinimum, "outbound", optional=True)
        check.values(Cap, "max_tool_calls", "max_tool_result_characters", "max_restricted_calls", optional=True)


NO_CEILINGS = Ceilings()
