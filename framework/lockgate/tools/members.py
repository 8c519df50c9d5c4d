"""Reading the members of an object that arrived as data: null counts as absent, an unknown name is refused."""

import difflib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from lockgate.errors import UsageError
from lockgate.tools.plain import Unfit, is_table, json_copy, shown, text

MAX_DATA_CHARACTERS = 262_144
"""Characters in all names and texts of one definition that arrives as data."""
MAX_DATA_LEVELS = 100
"""Levels of one definition that arrives as data."""
_NAME_SHOWN = 40


class SchemaRefused(UsageError):
    """Something that arrived as data cannot be admitted. The message says where and why."""


def short(name: str) -> str:
    """Return a name as a message shows it: quoted, without control characters, cut to 40 characters."""
    return repr(name if len(name) <= _NAME_SHOWN else name[:_NAME_SHOWN] + "...")


@contextmanager
def refusing(what: str) -> Iterator[None]:
    """Make a refusal of whatever goes wrong while a value from outside is read.

    Args:
        what: What is read, with an article and in the singular, for the message.

    Raises:
        SchemaRefused: Something was raised; reading a value can run somebody else's code.
    """
    try:
        yield
    except SchemaRefused:
        raise
    except Unfit as unfit:
        end = "" if str(unfit).endswith("?") else "."
        raise SchemaRefused(f"{what[:1].upper()}{what[1:]} cannot be used: {unfit}{end}") from None
    except (Exception, SystemExit) as error:
        raise SchemaRefused(f"Reading {what} failed with {type(error).__name__}.") from error


def plain_object(value: object, what: str) -> dict[str, Any]:
    """Return a plain copy of an object.

    Raises:
        SchemaRefused: It is no object, no JSON, too deep or too large, or reading it raised.
    """
    with refusing(what):
        if not is_table(value):
            raise Unfit(f"it is {shown(value)}; right is an object")
        copied: dict[str, Any] = json_copy(
            value, "members", levels=MAX_DATA_LEVELS, characters=MAX_DATA_CHARACTERS
        )
        return copied


def members(value: object, what: str) -> dict[str, Any]:
    """Return the members of a plain object, those that are null left out.

    Raises:
        Unfit: It is no object.
    """
    if not isinstance(value, Mapping):
        raise Unfit(f"{what} is {shown(value)}; right is an object")
    return {name: item for name, item in value.items() if item is not None}


def texts_in(present: Mapping[str, Any], member: str, what: str) -> tuple[str, ...]:
    """Return a list of texts; an empty one where the member is absent.

    Raises:
        Unfit: It is no list, or one of its items is no text.
    """
    given = present.get(member, [])
    if not isinstance(given, list):
        raise Unfit(f"the {member} of {what} is {shown(given)}; right is a list of texts")
    return tuple(text(item, f"{what}: one item of {member}") for item in given)


def flag_in(present: Mapping[str, Any], member: str, what: str, *, default: bool) -> bool:
    """Return a boolean, or the default where the member is absent.

    Raises:
        Unfit: It is none.
    """
    given = present.get(member, default)
    if given is not True and given is not False:
        raise Unfit(f"the {member} of {what} is {shown(given)}; right is true or false")
    return given is True


def text_in(present: Mapping[str, Any], member: str, what: str) -> str:
    """Return a text; an empty one where the member is absent.

    Raises:
        Unfit: It is none.
    """
    given = present.get(member, "")
    if not isinstance(given, str):
        raise Unfit(f"the {member} of {what} is {shown(given)}; right is a text")
    return given


def check_names(found: Iterable[str], known: Iterable[str], what: str) -> None:
    """Refuse a name that is not known.

    Raises:
        Unfit: There is one. The message names the nearest that is known.
    """
    names = sorted(known)
    for name in found:
        if name in names:
            continue
        folded = {"".join(letter for letter in one.casefold() if letter.isalnum()): one for one in names}
        bare = "".join(letter for letter in name[:_NAME_SHOWN].casefold() if letter.isalnum())
        near = difflib.get_close_matches(bare, folded, n=1)
        hint = f"did you mean {folded[near[0]]!r}?" if near else f"there are: {', '.join(names)}"
        raise Unfit(f"{what} has the unknown member {short(name)}; {hint}")
