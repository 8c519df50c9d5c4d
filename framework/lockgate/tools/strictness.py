"""How a definition is read whose author states a rule in words that nobody here knows: as the strictest.

A definition may come from a later version, another program or a forger. A kind of sink, a level or an obligation that
is no member of the list it belongs to is never taken for the convenient one.
"""

from collections.abc import Mapping
from enum import Enum
from types import MappingProxyType
from typing import Any

from lockgate.policy import ConfidenceLevel, ToolOutboundData
from lockgate.tools.definition import ToolActivation

STRICTEST: Mapping[str, Any] = MappingProxyType({
    "outbound_data": ToolOutboundData.MODEL_CHOSEN_ADDRESSES,
    "minimum_confidence": ConfidenceLevel.HIGH,
    "activation": ToolActivation.SELECTION,
    "enforces_outbound_restriction": False,
    "returns_untrusted_content": True,
    "repeatable": False,
})
"""Field of a `ToolDefinition` → what it is read as where its value is not one of its kind."""


def is_member(value: object, kind: type[Enum]) -> bool:
    """Tell whether a value is one of the members of an enum: the object itself, not one that equals it.

    A member of another enum can equal it, and an object made around the enum can even have its type.
    """
    return any(value is member for member in kind)


def or_strictest(field: str, value: object) -> Any:
    """Return the value stated for a field of a definition, or the strictest where it is none of its kind."""
    strictest = STRICTEST[field]
    if isinstance(strictest, bool):
        return value if value is True or value is False else strictest
    return value if is_member(value, type(strictest)) else strictest
