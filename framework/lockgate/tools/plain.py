"""Copying somebody else's values into plain ones of our own: an exact ``str``, a tuple, a ``dict`` of JSON.

A stranger's object may answer differently each time it is read, change later, never end, or raise. So each part is
read once, checked and rebuilt. Reading still runs the stranger's code: where the value does not come from a JSON
reader, call these functions under a deadline and with everything raised caught.
"""

import itertools
import math
from collections.abc import Mapping
from typing import Any

MAX_NAMES = 10_000
"""How many names one list may hold; a list without an end is told by it."""
MAX_LEVELS = 60
"""Levels of a value of JSON; one that refers to itself is told by it."""
MAX_NODES = 200_000
"""Values in one value of JSON, all levels together."""
MAX_CHARACTERS = 10_000_000
"""Characters in the names and texts of one value of JSON, all levels together."""
MAX_INTEGER = 2**1023
"""Whole numbers beyond it are refused: other readers of JSON make infinities of them, and Python cannot write some."""


class Unfit(ValueError):
    """A value does not fit. The message says what arrived and what would be right."""


def is_a(value: object, *kinds: type) -> bool:
    """Tell whether a value is of a kind, whatever its ``__class__`` claims."""
    return issubclass(type(value), kinds)


def is_table(value: object) -> bool:
    """Tell whether a value is a mapping."""
    return is_a(value, dict) or is_a(value, Mapping)


def shown(value: object) -> str:
    """Name a value in a message without running its code."""
    if is_a(value, str):
        plain = str.__str__(value)
        return f"the text {plain if len(plain) <= 60 else plain[:57] + '...'!r}"
    if type(value) is int and abs(value) > MAX_INTEGER:
        return "a whole number of more than 300 digits"
    if value is None or type(value) in (int, float, bool):
        return repr(value)
    return f"an object of type {type(value).__name__}"


def text(value: object, what: str) -> str:
    """Return a text as an exact ``str``.

    Raises:
        Unfit: It is no text, or one that UTF-8 cannot write.
    """
    if not is_a(value, str):
        raise Unfit(f"its {what} is {shown(value)}; right is a text (str)")
    plain: str = str.__str__(value)
    try:
        plain.encode()
    except UnicodeEncodeError:
        raise Unfit(f"its {what} holds a lone surrogate; right is a text that UTF-8 can write") from None
    return plain


def names(value: object, what: str) -> tuple[str, ...]:
    """Return a tuple of exact texts, made of a tuple or list.

    Raises:
        Unfit: It is a single text, of which Python would make letters, or something else.
    """
    if is_a(value, str):
        single = text(value, what)
        raise Unfit(f"its {what} is the text {single!r}; right is a tuple, written ({single!r},) with a comma")
    return tuple(text(item, f"{what}: one item") for item in items(value, what))


def items(value: object, what: str) -> tuple[Any, ...]:
    """Return the items of a tuple or list.

    Raises:
        Unfit: It is neither, or has more than `MAX_NAMES` items.
    """
    if not is_a(value, tuple, list):
        raise Unfit(f"its {what} is {shown(value)}; right is a tuple")
    given: Any = value
    found = tuple(itertools.islice(iter(given), MAX_NAMES + 1))
    if len(found) > MAX_NAMES:
        raise Unfit(f"its {what} has more than {MAX_NAMES:,} items")
    return found


def flag(value: object, what: str) -> bool:
    """Return a boolean.

    Raises:
        Unfit: It is none.
    """
    if value is True or value is False:
        return value is True
    raise Unfit(f"its {what} is {shown(value)}; right is True or False")


class _Json:
    """Copies one JSON value; counts what it meets."""

    def __init__(self, what: str, levels: int, characters: int) -> None:
        self._what, self._levels, self._left = what, levels, characters
        self._nodes = 0

    def copy(self, value: Any, levels: int) -> Any:
        self._nodes += 1
        if not levels or self._nodes > MAX_NODES:
            raise Unfit(f"its {self._what} are deeper than {self._levels} levels, larger than {MAX_NODES:,} values, "
                        "or refer to themselves")  # fmt: skip
        if value is None or value is True or value is False:
            return value
        if is_a(value, str):
            return self._text(value, self._what)
        if is_a(value, int) and abs(int.__index__(value)) <= MAX_INTEGER:
            return int.__index__(value)
        if is_a(value, float) and math.isfinite(value):
            return float.__pos__(value)
        if is_a(value, list, tuple):
            return [self.copy(item, levels - 1) for item in itertools.islice(iter(value), MAX_NODES)]
        if is_table(value):
            pairs = itertools.islice(iter(value.items()), MAX_NODES)
            return {self._text(key, f"{self._what}: one name"): self.copy(item, levels - 1) for key, item in pairs}
        raise Unfit(f"its {self._what} hold {shown(value)}, which JSON cannot write; right are texts, numbers, "
                    "True, False, None, lists and dicts")  # fmt: skip

    def _text(self, value: object, what: str) -> str:
        if is_a(value, str):
            self._left -= str.__len__(value)  # type: ignore[arg-type]  # is_a does not narrow
            if self._left < 0:
                raise Unfit(f"its {self._what} hold more characters than are accepted")
        return text(value, what)


def json_copy(value: object, what: str, *, levels: int = MAX_LEVELS, characters: int = MAX_CHARACTERS) -> Any:
    """Return a deep copy of a value of JSON, so that a later change of the original has no effect.

    Args:
        value: Texts, numbers, booleans, None, lists and mappings of them.
        what: What it is, in the plural, for a message.
        levels: The deepest that is accepted.
        characters: How many characters all names and texts may have together.

    Raises:
        Unfit: It is no JSON, too deep, too large, or refers to itself.
    """
    return _Json(what, levels, characters).copy(value, levels)
