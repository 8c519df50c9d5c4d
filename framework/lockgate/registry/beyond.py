"""What lies outside the table of checks: a tool may pass every one of them and still not be offered."""

from dataclasses import dataclass
from enum import Enum

from lockgate.policy import BUILT_IN, SetBy
from lockgate.registry.checks import Block, Change


class BeyondKind(Enum):
    """What else can keep a tool from being offered."""

    PROVIDER_DENIED = "PROVIDER_DENIED"
    NOT_SELECTED = "NOT_SELECTED"
    SELECTION_HIDDEN = "SELECTION_HIDDEN"
    NOTHING_TO_OFFER = "NOTHING_TO_OFFER"
    RESOLUTION_FAILED = "RESOLUTION_FAILED"


@dataclass(frozen=True, slots=True)
class Beyond:
    """One thing in the way that no check looks at: what it is, in words, who is behind it, what would change it."""

    kind: BeyondKind
    why: str
    set_by: SetBy = BUILT_IN
    change: Change | None = None


LeftOut = Block | Beyond
"""Why a candidate is not offered."""

NOTHING_TO_OFFER = Beyond(
    BeyondKind.NOTHING_TO_OFFER, "It passed every check, but has nothing to offer in this chat."
)
