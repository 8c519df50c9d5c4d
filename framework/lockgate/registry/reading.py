"""The one way in which contributed values are read: off the event loop, with a deadline, and whatever is raised."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from lockgate.registry.calls import attempt
from lockgate.registry.contribution import Contribution, Owner
from lockgate.registry.copies import Unfit, text

READING_DEADLINE = 2.0
"""Seconds that reading one contributed value may take."""


@dataclass(slots=True)
class Named:
    """Filled while a value is read, so that its name is known even where the rest cannot be read.

    Attributes:
        name: Its ID.
        doubts: What was read as the strictest, since it is none of its kind; for a person.
    """

    name: str = ""
    doubts: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Reading:
    """What came of reading a contributed value.

    Attributes:
        item: The contribution.
        name: Its ID where that could be read; else empty.
        copy: What was made of it; None where it does not fit.
        problem: Why not, for a person; empty when it fits.
        doubts: What in it was read as the strictest, for a person.
    """

    item: Contribution
    name: str
    copy: Any
    problem: str
    doubts: tuple[str, ...] = ()


class Reader:
    """Reads contributed values. An owner that lets one reading pass its deadline is not waited for again."""

    def __init__(self) -> None:
        self._late: set[Owner] = set()

    def read(self, item: Contribution, copying: Callable[[Any, Named], Any]) -> Reading:
        """Read one value.

        Args:
            item: The contribution.
            copying: Makes a plain copy of the value, notes its name, and raises `Unfit` where it does not fit.

        Raises:
            KeyboardInterrupt: From the keyboard.
        """
        if item.owner in self._late:
            return Reading(item, "", None, "reading an earlier one of the same plugin was late")
        named = Named()
        outcome = attempt(_tried, copying, item.value, named, deadline=READING_DEADLINE)
        if outcome.fault is not None:
            if outcome.fault.overrun:
                self._late.add(item.owner)
            return Reading(item, named.name, None, f"reading it failed: {outcome.fault.error}")
        if isinstance(outcome.value, Unfit):
            return Reading(item, named.name, None, str(outcome.value))
        return Reading(item, named.name, outcome.value, "", tuple(named.doubts))


def _tried(copying: Callable[[Any, Named], Any], value: Any, named: Named) -> Any:
    try:
        return copying(value, named)
    except Unfit as unfit:
        return unfit


def identified(value: Any, named: Named) -> str:
    """Read the ID of a value and note it.

    Raises:
        Unfit: It has none.
    """
    found = text(getattr(value, "id", None), "id")
    named.name = found
    if not found.strip():
        raise Unfit("it needs a non-blank id")
    return found
