"""Refusing values of a wrong type in rules and configuration, where they are made and not where they are first used.

Python takes any value for any field. ``"false"`` would switch something on, a text instead of a set would match each of
its parts, and a level's name instead of the level would fail in the middle of an answer. Each check here names the
field, what arrived and what is right. What has one meaning only, such as a list where a tuple is kept, is converted.
Reading does not run the code of a stranger's value beyond iterating a collection once.
"""

from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from types import MappingProxyType
from typing import Any

from lockgate.errors import ConfigurationError
from lockgate.policy import SetBy, SetByKind, is_member

_SHOWN = 60
_BITS = 64
_COLLECTIONS = (tuple, list, set, frozenset)


class WrongValue(ConfigurationError, ValueError):
    """A field of rules or configuration was given a value of a wrong type or range."""


def shown(value: object, *, is_private: bool = False) -> str:
    """Name a value in a message.

    Args:
        value: What arrived.
        is_private: The field may hold a secret, so that only the type is told.
    """
    kind: type = type(value)
    if value is None or kind is bool:
        return repr(value)
    if kind is float and not is_private:
        return repr(value)
    if isinstance(value, int) and kind is int and not is_private:
        return repr(value) if value.bit_length() < _BITS else "a very large whole number"
    if kind is str and not is_private:
        text = str(value)
        return f"the text {text if len(text) <= _SHOWN else text[:_SHOWN - 3] + '...'!r}"
    if kind is str:
        return "a text"
    if isinstance(value, Enum) and issubclass(kind, Enum) and is_member(kind, value):
        return f"{kind.__name__}.{value.name}"
    if issubclass(kind, type):
        return "a class, not a value of it"
    return f"an object of type {kind.__name__}"


def is_a(value: object, kind: type) -> bool:
    """Tell whether a value is of a kind, whatever its ``__class__`` claims."""
    return issubclass(type(value), kind)


def member_words(kind: type[Enum], value: object) -> str:
    """Return what would be right instead of a value: the member it seems to mean, or any."""
    names = kind.__members__
    meant = ""
    if type(value) is str:
        meant = next((name for name in names if name == value.strip().upper()), "")
    elif type(value) is int:
        meant = next((name for name, item in names.items() if item.value == value), "")
    return f"a member of {kind.__name__}, such as {kind.__name__}.{meant or list(names)[-1]}"


def _is_set_by(value: object) -> bool:
    """Tell whether a value says who set something; ``SetBy("user")`` does not, its kind is a text."""
    return is_a(value, SetBy) and type(getattr(value, "kind", None)) is SetByKind


_SET_BY = "a SetBy of a SetByKind, such as BY_USER"


class Fields:
    """Checks the fields of one frozen dataclass, from its ``__post_init__``.

    Args:
        owner: The value that is being made.
    """

    def __init__(self, owner: object) -> None:
        self._owner = owner
        self._class = type(owner).__name__

    def _value(self, name: str) -> Any:
        return getattr(self._owner, name)

    def _keep(self, name: str, value: object) -> None:
        object.__setattr__(self._owner, name, value)

    def wrong(self, name: str, right: str, *, is_private: bool = False) -> WrongValue:
        """Return the error for a field as a whole."""
        return WrongValue(
            f"{self._class}.{name} is {shown(self._value(name), is_private=is_private)}; right is {right}."
        )

    def _holds(self, name: str, item: object, right: str, at: str | None = None) -> WrongValue:
        place = f"{self._class}.{name}" if at is None else f"{self._class}.{name}[{at!r}]"
        return WrongValue(f"{place} {'holds' if at is None else 'is'} {shown(item)}; right is {right}.")

    def texts(self, *names: str, is_private: bool = False) -> None:
        """Check fields that hold a text, which may be empty."""
        for name in names:
            if not is_a(self._value(name), str):
                raise self.wrong(name, "a text (str)", is_private=is_private)

    def ids(self, *names: str) -> None:
        """Check fields that hold a text which names something, so that it is not blank."""
        for name in names:
            value = self._value(name)
            if not is_a(value, str) or not value.strip():
                raise self.wrong(name, "a text (str) that is not blank")

    def flags(self, *names: str, optional: bool = False) -> None:
        """Check fields that are True or False, or None where that is `optional`."""
        for name in names:
            value = self._value(name)
            if value is not True and value is not False and not (optional and value is None):
                raise self.wrong(name, "True, False or None" if optional else "True or False")

    def counts(self, *names: str) -> None:
        """Check fields that hold a whole number from 0."""
        for name in names:
            value = self._value(name)
            if type(value) is not int or value < 0:
                raise self.wrong(name, "a whole number (int) from 0")

    def member(self, name: str, kind: type[Enum], *, optional: bool = False) -> None:
        """Check a field that holds a member of an enumeration itself, not its name, its number or something like it."""
        value = self._value(name)
        if not is_member(kind, value) and not (optional and value is None):
            raise self.wrong(name, member_words(kind, value) + (", or None" if optional else ""))

    def values(self, kind: type, *names: str, optional: bool = False) -> None:
        """Check fields that hold a value of one of our own classes, or None where that is `optional`."""
        for name in names:
            value = self._value(name)
            if not is_a(value, kind) and not (optional and value is None):
                raise self.wrong(name, _one(kind) + (" or None" if optional else ""))

    def set_by(self, *names: str) -> None:
        """Check fields that say who set something."""
        for name in names:
            if not _is_set_by(self._value(name)):
                raise self.wrong(name, _SET_BY)

    def _texts_in(self, name: str, right: str, *, enum: type[Enum] | None = None) -> list[str]:
        """Return the texts in a collection; a set in sorted order, members of an enumeration by their value."""
        value = self._value(name)
        if not issubclass(type(value), _COLLECTIONS):
            raise self.wrong(name, right)
        found = [item.value if enum is not None and is_member(enum, item) else item for item in value]
        for item in found:
            if not is_a(item, str):
                raise self._holds(name, item, right)
        return sorted(found) if issubclass(type(value), set | frozenset) else found

    def tuple_of_texts(self, name: str, what: str = "IDs", *, optional: bool = False) -> None:
        """Check a field that holds a tuple of texts; a list or a set is made one."""
        value = self._value(name)
        if value is None and optional:
            return
        right = f"a tuple of {what}, such as ('office',)" + (", or None" if optional else "")
        found = self._texts_in(name, right)
        if type(value) is not tuple:
            self._keep(name, tuple(found))

    def set_of_texts(
        self,
        name: str,
        example: str = "office",
        *,
        optional: bool = False,
        enum: type[Enum] | None = None,
        change: Callable[[str], str] = str,
    ) -> None:
        """Check a field that holds a frozenset of texts; another collection of them is made one.

        Args:
            name: The field.
            example: A text that could be in it.
            optional: It may be None.
            enum: Members of it stand for their value.
            change: What is kept instead of each text.
        """
        if self._value(name) is None and optional:
            return
        right = f"a set of IDs, such as frozenset({{{example!r}}})" + (", or None" if optional else "")
        self._keep(name, frozenset(map(change, self._texts_in(name, right, enum=enum))))

    def tuple_of(self, name: str, kind: type) -> None:
        """Check a field that holds a tuple of values of one of our own classes; a list is made one."""
        value, right = self._value(name), f"a tuple of {kind.__name__}"
        if not issubclass(type(value), tuple | list):
            raise self.wrong(name, right)
        for item in value:
            if not is_a(item, kind):
                raise self._holds(name, item, right)
        self._keep(name, tuple(value))

    def _table(self, name: str, right: str, *, is_private: bool = False) -> dict[str, Any]:
        """Return a copy of a table with texts as names."""
        value = self._value(name)
        if not is_a(value, Mapping) and not is_a(value, dict):
            raise self.wrong(name, right, is_private=is_private)
        found = dict(value)
        for key in found:
            if not is_a(key, str):
                raise WrongValue(f"{self._class}.{name} has the name {shown(key)}; right is {right}.")
        return found

    def table(self, name: str, kind: type, *, words: str = "") -> None:
        """Check a field that holds a table from a text to one type, and keep a copy that nobody can change.

        Args:
            name: The field.
            kind: What each entry is; an enumeration stands for its members, SetBy for one of a real kind.
            words: What is right, where the type's name does not tell it.
        """
        example = _SET_BY if kind is SetBy else _one(kind)
        found = self._table(name, words or f"a table (dict) from a text to {example}")
        fits = _fitting(kind)
        for key, item in found.items():
            if not fits(item):
                enum = issubclass(kind, Enum)
                raise self._holds(name, item, member_words(kind, item) if enum else example, key)
        self._keep(name, MappingProxyType(found))

    def named(self, name: str, kind: type) -> None:
        """Check a table from the ID of each value to the value; an entry under another ID would be found by neither."""
        self.table(name, kind)
        for key, item in self._value(name).items():
            if item.id != key:
                raise WrongValue(f"{self._class}.{name}[{key!r}] has the ID {item.id!r}; right is one ID for both.")

    def table_of_tuples(self, name: str, *, enum: type[Enum] | None = None) -> None:
        """Check a table from a text, or a member of `enum`, to texts; lists and sets of them are made tuples."""
        right = "a table (dict) from a text to a tuple of texts, such as ('clock',)"
        value = self._value(name)
        if enum is not None and (is_a(value, Mapping) or is_a(value, dict)):
            self._keep(name, {key.value if is_member(enum, key) else key: item for key, item in value.items()})
        found = self._table(name, right)
        for key, item in found.items():
            if not issubclass(type(item), _COLLECTIONS):
                raise self._holds(name, item, "a tuple of texts, such as ('clock',)", key)
            for text in item:
                if not is_a(text, str):
                    raise self._holds(name, text, "a text (str) in each place", key)
            found[key] = tuple(sorted(item) if issubclass(type(item), set | frozenset) else item)
        self._keep(name, MappingProxyType(found))

    def open_tables(self, *names: str, plain: bool = False) -> None:
        """Check tables from a text to anything, whose entries may be secret, and keep copies.

        Args:
            names: The fields.
            plain: The copy is a plain dict, for what goes on to a writer of JSON.
        """
        for name in names:
            found = self._table(name, "a table (dict) with texts as names", is_private=True)
            self._keep(name, found if plain else MappingProxyType(found))

    def lazy_tables(self, *names: str) -> None:
        """Check that fields hold a table, without reading any of it: reading could ask a keyring."""
        for name in names:
            if not is_a(self._value(name), Mapping) and not is_a(self._value(name), dict):
                raise self.wrong(name, "a table (dict) with texts as names", is_private=True)


def _one(kind: type) -> str:
    """Return words for a value of a type."""
    if kind is str:
        return "a text (str)"
    if kind is int:
        return "a whole number (int)"
    return f"a member of {kind.__name__}" if issubclass(kind, Enum) else f"a value of the class {kind.__name__}"


def _fitting(kind: type) -> Callable[[object], bool]:
    """Return the test of one entry."""
    if kind is SetBy:
        return _is_set_by
    if issubclass(kind, Enum):
        return lambda item: is_member(kind, item)
    if kind is int:
        return lambda item: type(item) is int
    return lambda item: is_a(item, kind)


def checked_texts(given: object, what: str) -> tuple[str, ...]:
    """Return the texts of any iterable that is no text itself, such as the IDs somebody selects.

    Raises:
        WrongValue: It is a text, which would be taken apart into its letters, or holds something else than texts.
    """
    if is_a(given, str) or not is_a(given, Iterable):
        example = given if is_a(given, str) and len(str(given)) <= _SHOWN else "clock"
        raise WrongValue(f"{what} is {shown(given)}; right is a list of IDs, such as [{example!r}].")
    found: tuple[Any, ...] = tuple(given)  # type: ignore[arg-type]  # is_a said it is iterable
    for item in found:
        if not is_a(item, str):
            raise WrongValue(f"{what} holds {shown(item)}; right are IDs, which are texts (str).")
    return found
