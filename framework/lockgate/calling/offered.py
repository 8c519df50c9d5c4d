"""What is held against the request that was prepared: the tool, its selection, and the choices that were shown."""

import json
from collections.abc import Mapping
from typing import Any

from lockgate.registry.beyond import LeftOut
from lockgate.registry.checks import Block, ToolOfferBlockReason
from lockgate.registry.preparation import Offered, hidden_by, not_selected
from lockgate.registry.registry import Registry
from lockgate.registry.selection import Selection
from lockgate.tools.wording import Refusals

_BLANKS = " \t\n\r"
"""What is cut around a choice."""


def changed_meanwhile(registry: Registry, offered: Offered, selection: Selection) -> LeftOut | None:
    """Say that this is no longer the tool that was offered, or that it is no longer selected; None when it is."""
    now, then = registry.get(offered.id), offered.registered
    if now is not None and now is not then and (now.owner, now.definition) != (then.owner, then.definition):
        why = f"Another tool of that name, of {now.owner}, has taken its place since it was offered."
        return Block(ToolOfferBlockReason.NOT_AVAILABLE_HERE, why)
    return hidden_by(selection) or not_selected(registry, then, selection)


def held_against_choices(written: str, arguments: Mapping[str, Any], offered: Offered) -> str:
    """Refuse a value outside the choices of this request: what is shown is enforced.

    Returns:
        The arguments for the tool. Blanks around a choice are cut here, so that the tool gets the very choice.
    """
    if not offered.choices:
        return written
    refusals = Refusals(
        offered.function.parameters, arguments, offered.registered.definition.sensitive_arguments
    )
    trimmed: dict[str, Any] = {}
    for name, valid in offered.choices.items():
        value = arguments.get(name)
        if isinstance(value, str):
            trimmed[name] = value.strip(_BLANKS)
            if trimmed[name] not in valid:
                refusals.wrong((name,))
        elif isinstance(value, list):
            trimmed[name] = [item.strip(_BLANKS) if isinstance(item, str) else item for item in value]
            for index, item in enumerate(trimmed[name]):
                if isinstance(item, str) and item not in valid:
                    refusals.wrong((name, index))
    refusals.raise_first()
    if all(arguments[name] == value for name, value in trimmed.items()):
        return written
    return json.dumps({**arguments, **trimmed})
