"""Values out of a JSON text nobody vouches for: each is asked for what it has to be, and says where it is not."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import NoReturn, TypeVar

from lockgate.errors import UsageError

E = TypeVar("E", bound=Enum)

_MOST_NUMBER = 2**53  # beyond it, other programs no longer tell neighbouring whole numbers apart
_QUOTED_CHARACTERS = 60


@dataclass(frozen=True, slots=True)
class Arrived:
    """A JSON value and where it stands, such as ``messages[3].role``.

    Every method raises :class:`~lockgate.errors.UsageError`, naming the place, what arrived and what would be right.
    """

    value: object
    place: str = ""

    @classmethod
    def parse(cls, text: str) -> "Arrived":
        """Read a JSON text. Members given twice, numbers that are none and endless nesting are refused."""
        try:
            return cls(json.loads(text, object_pairs_hook=_once, parse_constant=_no_number))
        except RecursionError:
            raise UsageError("The chat file is nested too deeply.") from None
        except ValueError as error:
            raise UsageError(f"The chat file is no JSON: {error}.") from None

    def refuse(self, wanted: str) -> NoReturn:
        """Say that something else had to be here."""
        place = f"at {self.place}" if self.place else "as a whole"
        raise UsageError(f"The chat file is not right {place}: {_described(self.value)} arrived; wanted is {wanted}.")

    def text(self) -> str:
        """Return the value, which has to be a text."""
        if not isinstance(self.value, str):
            self.refuse("a text")
        return self.value

    def flag(self) -> bool:
        """Return the value, which has to be true or false."""
        if not isinstance(self.value, bool):
            self.refuse("true or false")
        return self.value

    def number(self) -> int:
        """Return the value, which has to be a whole number from 0."""
        if isinstance(self.value, bool) or not isinstance(self.value, int) or not 0 <= self.value <= _MOST_NUMBER:
            self.refuse(f"a whole number from 0 to {_MOST_NUMBER}")
        return self.value

    def items(self, most: int) -> "list[Arrived]":
        """Return the items of the value, which has to be a list of at most `most`."""
        if not isinstance(self.value, list) or len(self.value) > most:
            self.refuse(f"a list of at most {most} items")
        return [Arrived(item, f"{self.place}[{index}]") for index, item in enumerate(self.value)]

    def pairs(self, most: int) -> "dict[str, Arrived]":
        """Return the members of the value, which has to be an object with at most `most` members of any name."""
        if not isinstance(self.value, dict) or len(self.value) > most:
            self.refuse(f"an object with at most {most} members")
        return {name: Arrived(value, self._below(name)) for name, value in self.value.items()}

    def members(self, names: Iterable[str], optional: Iterable[str] = ()) -> "dict[str, Arrived]":
        """Return the members of the value, which has to be an object with `names`, and nothing beside `optional`."""
        required = tuple(names)
        known = (*required, *optional)
        if not isinstance(self.value, dict):
            self.refuse("an object")
        for name in required:
            if name not in self.value:
                self.refuse(f"a member {name!r} in it")
        for name, value in self.value.items():
            if name not in known:
                Arrived(value, self._below(name)).refuse(f"no such member, only {', '.join(known)}")
        return self.pairs(len(known))

    def one_of(self, members: type[E]) -> E:
        """Return the member of an enumeration whose value this is."""
        found = next((m for m in members if m.value == self.value and type(m.value) is type(self.value)), None)
        if found is None:
            self.refuse("one of " + ", ".join(repr(member.value) for member in members))
        return found

    def _below(self, name: str) -> str:
        shown = name if name.isidentifier() and len(name) <= _QUOTED_CHARACTERS else f"[{_cut(repr(name))}]"
        return f"{self.place}.{shown}" if self.place else shown


def _described(value: object) -> str:
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return f"a list of {len(value)} items"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return _cut(repr(value[: _QUOTED_CHARACTERS + 1] if isinstance(value, str) else value))


def _cut(text: str) -> str:
    return text if len(text) <= _QUOTED_CHARACTERS else text[:_QUOTED_CHARACTERS] + "…"


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    members: dict[str, object] = {}
    for name, value in pairs:
        if name in members:
            raise ValueError(f"the member {_cut(repr(name))} is given twice in one object")
        members[name] = value
    return members


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")
