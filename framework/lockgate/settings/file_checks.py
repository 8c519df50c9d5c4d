"""Checks of single values of a settings file. Each returns the value or says what arrived and what is valid."""

import datetime as dt
import difflib
import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from types import MappingProxyType
from typing import TypeVar

from lockgate.addresses import AddressError, WebAddress
from lockgate.policy import ConfidenceLevel

T = TypeVar("T")

LEVEL_NAMES = tuple(level.name for level in ConfidenceLevel if level is not ConfidenceLevel.UNKNOWN)
"""Levels that can be demanded or given; UNKNOWN says that nobody knows."""

NAMES_EXAMPLE = 'a list of names, such as ["a", "b"]'
"""How a list of names is described to a person."""

_SHOWN = 40
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class WrongValueError(ValueError):
    """A value that cannot be used. The message goes on behind the key: *has the value ..., valid are ...*."""


def shown(value: object) -> str:
    """Return a value for a message: cut to 40 characters, tables and lists by their kind only."""
    if isinstance(value, Mapping):
        return "of a table"
    if isinstance(value, list):
        return "of a list"
    if isinstance(value, dt.date | dt.time):
        return "of a date or time"
    text = str(value).lower() if isinstance(value, bool) else str(value)
    text = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
    return repr(text) if isinstance(value, str) else text


def flag(value: object) -> bool:
    """Take true or false; nothing that only looks like it."""
    if not isinstance(value, bool):
        raise WrongValueError(f"has the value {shown(value)}; valid are true and false, without quotes")
    return value


def text(value: object) -> str:
    """Take a text that is not blank."""
    if not isinstance(value, str) or not value.strip():
        raise WrongValueError(f"has the value {shown(value)}; it has to be a text that is not blank")
    return value.strip()


def any_text(value: object) -> str:
    """Take any text, as it stands there; it may be empty."""
    if not isinstance(value, str):
        raise WrongValueError(f"has the value {shown(value)}; it has to be a text")
    return value


def names(value: object) -> tuple[str, ...]:
    """Take a list of names, each once, in their order. One item that is no name spoils the list."""
    if not isinstance(value, list):
        raise WrongValueError(f"has the value {shown(value)}; it has to be {NAMES_EXAMPLE}")
    for item in value:
        if not isinstance(item, str) or not item.strip():
            raise WrongValueError(f"holds the item {shown(item)}, which is no name; it has to be {NAMES_EXAMPLE}")
    return tuple(dict.fromkeys(item.strip() for item in value))


def texts_in(value: object) -> Iterator[str]:
    """Yield every text in a value of any shape: a text itself, items of lists, keys of tables and what lies in them."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, Mapping):
            waiting.extend(reversed([part for pair in item.items() for part in pair]))
        elif isinstance(item, list):
            waiting.extend(reversed(item))


def names_in(value: object) -> tuple[str, ...]:
    """Return all that can be read as names in a value of any shape, each once; commas in a text part names."""
    parts = (part.strip() for written in texts_in(value) for part in written.split(","))
    return tuple(dict.fromkeys(part for part in parts if part))


def misspelt(table: Collection[str], known: Collection[str], *, alike: float = 0.6) -> dict[str, str]:
    """Return known key that is missing in a table → the key there that nobody knows and that is nearest to it.

    Args:
        table: The keys that are there.
        known: The keys that may be there.
        alike: How much both have to have in common, 0 to 1; the default is that of suggestions.
    """
    found: dict[str, str] = {}
    for name in table:
        near = difflib.get_close_matches(name.lower(), known, 1, alike) if name not in known else []
        if near and near[0] not in table:
            found.setdefault(near[0], name)
    return found


def whole(least: int, most: int) -> Callable[[object], int]:
    """Return a check for whole numbers of a range."""

    def check(value: object) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            raise WrongValueError(f"has the value {shown(value)}; valid are whole numbers from {least} to {most}")
        return value

    return check


def member(members: Mapping[str, T]) -> Callable[[object], T]:
    """Return a check for names of members; case makes no difference, the nearest name is suggested."""

    def check(value: object) -> T:
        name = value.strip().upper() if isinstance(value, str) else ""
        if name in members:
            return members[name]
        raise WrongValueError(f"has the value {shown(value)}; valid are {', '.join(members)}.{nearest(name, members)}")

    return check


level = member({name: ConfidenceLevel[name] for name in LEVEL_NAMES})
"""Take the name of a confidence level."""


def nearest(name: str, known: Collection[str]) -> str:
    """Return *Did you mean ...?* with a blank before it, or an empty text when no known name is near."""
    near = difflib.get_close_matches(name, known, n=1)
    return f" Did you mean {near[0]!r}?" if near else ""


def base_address(value: object) -> str:
    """Take a web address to put paths behind: no query, no fragment, no slash at the end."""
    if not isinstance(value, str):
        raise WrongValueError(f"has the value {shown(value)}; it has to be a text with a web address")
    try:
        address = WebAddress.parse(value.strip())
    except AddressError as error:
        raise WrongValueError(f"is no web address: {error.reason}") from None
    if address.query is not None or address.fragment:
        raise WrongValueError("has to be a web address without ? and #")
    return address.text.rstrip("/")


def variable_name(value: object) -> str:
    """Take the name of an environment variable. A wrong value is not shown: it may be the key itself."""
    if not isinstance(value, str) or not _VARIABLE.fullmatch(value.strip()):
        raise WrongValueError(
            "has to be the name of an environment variable, such as OFFICE_KEY; the key itself does not belong here"
        )
    return value.strip()


def json_table(value: object) -> Mapping[str, object]:
    """Take a table that can be sent as JSON."""
    if not isinstance(value, Mapping):
        raise WrongValueError(f"has the value {shown(value)}; it has to be a table")
    waiting: list[object] = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, Mapping):
            waiting += item.values()
        elif isinstance(item, list):
            waiting += item
        elif not isinstance(item, str | int | float) or (isinstance(item, float) and not math.isfinite(item)):
            raise WrongValueError(f"holds the value {shown(item)}, which JSON does not know")
    return MappingProxyType(dict(value))
