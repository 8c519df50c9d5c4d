"""Tables of a settings file and their values, read so that what is wrong leaves the strict choice behind and is told.

A key that is misspelt counts as a wrong value of the key that was meant, wherever its absence would be looser.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeVar
from unicodedata import category

from lockgate.settings import file_checks as checks
from lockgate.settings.file_checks import WrongValueError, shown
from lockgate.settings.file_values import FileProblem

Table = Mapping[str, object]
T = TypeVar("T")
NOTHING: Table = MappingProxyType({})
MINIMUMS = "minimum_provider_confidence_by_tool_id"

ALL_HIGH = "every provider needs the confidence HIGH"
_READABLE = "what can be read of it is off"
OFF = "all tools are off"
NO_PLUGIN = "no plugin is allowed"
_STRICTEST: Mapping[str, Table] = MappingProxyType({
    # A table that is none: nobody knows what was meant, so the strictest of what can be meant counts.
    "plugins": {"allowed": []},
    "confidence": {"scheme": "CUSTOM", "enforce_global_minimum": True, "global_minimum": "HIGH"},
    "limits": {"max_restricted_calls": 0},
})
MEANWHILE: Mapping[str, str] = MappingProxyType({
    "enable_tools": OFF,
    "disabled_tool_ids": _READABLE,
    "default_provider": "a provider is asked only when it is named",
    "confidence": "every provider needs a level of HIGH that it was given by itself",
    MINIMUMS: ALL_HIGH,
    "previews": "all previews of the framework are off",
    "limits": "no call leaves the configured services of a restricted chat, and the other limits are the built-in ones",
    "plugins": NO_PLUGIN,
    "tools": OFF,
    "providers": "no provider that it, default_provider or an assistant names is asked",
    "data_sources": "a folder or file in it needs a provider with confidence HIGH",
    "confidence.scheme": "a provider has only the level that it was given by itself",
    "confidence.custom": "the types of the schemes count as NONE with the scheme CUSTOM",
    "confidence.enforce_global_minimum": ALL_HIGH,
    "confidence.global_minimum": ALL_HIGH,
    "limits.max_tool_calls": "the built-in limit counts",
    "limits.max_tool_result_characters": "the built-in limit counts",
    "limits.max_restricted_calls": "no call leaves the configured services of a restricted chat",
    "plugins.disabled": _READABLE,
    "plugins.allowed": "only names in a list are allowed",
})
"""What counts while a value is wrong, by key; also while the key is missing and misspelt."""

_SWITCHING_OFF = ("disabled", "disabled_tool_ids")
_ITEMS_TOLD = 3
_JOINERS = "\u200c\u200d"
_SECRET_WORDS = ("key", "token", "password", "secret")
_LISTING = f"it has to be {checks.NAMES_EXAMPLE}"


@dataclass(frozen=True, slots=True)
class Misspelt:
    """The value of a key that was probably meant for another one, which is missing. The person was told."""

    written: str
    value: object


class Tables:
    """Reads tables and values, and collects what is wrong with them.

    Attributes:
        problems: What could not be used so far.
    """

    def __init__(self) -> None:
        self.problems: list[FileProblem] = []

    def problem(self, place: str, name: str, text: str) -> None:
        """Tell what is wrong with a key."""
        self.problems.append(FileProblem(key_of(place, name), text))

    def given(self, place: str, table: Table, known: Collection[str]) -> Table:
        """Return a table in which misspelt keys stand for the ones they were meant for. Unknown keys are told."""
        meant = {
            key: written for key, written in checks.misspelt(table, known).items()
            if (f"{place}.{key}" if place else key) in MEANWHILE
        }  # fmt: skip
        for key, written in meant.items():
            meanwhile = _meanwhile(f"{place}.{key}" if place else key, table[written])
            if key in {"scheme", "custom"}:
                meanwhile = f"{meanwhile}, and {ALL_HIGH}"
            text = f"is a key nobody knows. Did you mean {key!r}? Until it is right, {meanwhile}"
            self.problem(place, written, text)
        rest = [name for name in table if name not in meant.values()]
        self.unknown_keys(place, rest, known)
        return {**table, **{key: Misspelt(written, table[written]) for key, written in meant.items()}}

    def unknown_keys(self, place: str, names: Iterable[str], known: Collection[str]) -> None:
        """Tell which keys nobody knows."""
        for name in names:
            if name in known:
                continue
            hint = checks.nearest(name.lower(), known) or f" Known are {', '.join(known)}."
            if place and any(word in name.lower() for word in _SECRET_WORDS):
                hint = " Secrets do not belong in this file; they are kept in the keyring or in secrets.toml."
            self.problem(place, name, f"is a key nobody knows and is passed over.{hint}")

    @staticmethod
    def is_wrong(table: Table, name: str) -> bool:
        """Tell whether a table is none, or stands under a misspelt name."""
        return not isinstance(table.get(name, NOTHING), Mapping)

    def table(self, parent: Table, name: str, known: Collection[str] = ()) -> Table:
        """Return a table inside another one; the strictest that can be meant where it is none."""
        value = parent.get(name, NOTHING)
        if isinstance(value, Mapping):
            return self.given(name, value, known) if known else value
        if not isinstance(value, Misspelt):
            text = f"has the value {shown(value)}; it has to be a table, written as [{name}]"
            meanwhile = MEANWHILE.get(name, "nothing of it counts")
            self.problem("", name, f"{text}; until it is right, {meanwhile}")
        return _STRICTEST.get(name, NOTHING)

    def value(
        self, table: Table, place: str, name: str, read: Callable[[object], T], *, absent: T, wrong: T,
        meanwhile: str = "",
    ) -> T:  # fmt: skip
        """Read a value; `wrong` counts in place of one that cannot be used, and the person is told."""
        value = table.get(name)
        if name not in table or isinstance(value, Misspelt):
            return wrong if name in table else absent
        try:
            return read(value)
        except WrongValueError as error:
            meanwhile = meanwhile or MEANWHILE[f"{place}.{name}" if place else name]
            self.problem(place, name, until_right(str(error), meanwhile))
            return wrong

    def names(self, table: Table, place: str, name: str, meanwhile: str) -> frozenset[str]:
        """Read a list of names that loosens a rule: the texts in a list count, nothing else does."""
        value = table.get(name, [])
        if isinstance(value, Misspelt):
            return frozenset(item.strip() for item in listed(value.value) if isinstance(item, str) and item.strip())
        if not isinstance(value, list):
            self.problem(place, name, f"has the value {shown(value)}; {_LISTING}; until it is right, {meanwhile}")
        self._tell_items(place, name, value)
        return frozenset(item.strip() for item in listed(value) if isinstance(item, str) and item.strip())

    def switched_off(self, table: Table, place: str, name: str, nothing_read: str) -> tuple[frozenset[str], bool]:
        """Read a list of names that are switched off: whatever can be read of it is.

        Returns:
            The names, and whether the strictest has to count because there is something of which nothing can be read.
        """
        value = table.get(name, [])
        found = checks.names_in(value.value if isinstance(value, Misspelt) else value)
        is_lost = value != [] and not found
        meanwhile = nothing_read if is_lost else _READABLE
        if isinstance(value, list):
            self._tell_items(place, name, value)
            if is_lost:
                self.problem(place, name, f"holds no name; {_LISTING}; until it is right, {meanwhile}")
        elif not isinstance(value, Misspelt):
            self.problem(place, name, f"has the value {shown(value)}; {_LISTING}; until it is right, {meanwhile}")
        return frozenset(found), is_lost

    def _tell_items(self, place: str, name: str, value: object) -> None:
        wrong = [item for item in listed(value) if not isinstance(item, str) or not item.strip()]
        for item in wrong[:_ITEMS_TOLD]:
            is_read = name in _SWITCHING_OFF and bool(checks.names_in(item))
            what = f"; until it is right, {_READABLE}" if is_read else " and is passed over"
            self.problem(place, name, f"holds the item {shown(item)}, which is no name{what}")
        if len(wrong) > _ITEMS_TOLD:
            self.problem(place, name, f"holds {len(wrong) - _ITEMS_TOLD} more items like that")


def until_right(text: str, meanwhile: str) -> str:
    """Return what is wrong and what counts meanwhile, in one sentence; in two where a suggestion ends the first."""
    if text.endswith("?"):
        return f"{text} Until it is right, {meanwhile}"
    return f"{text.rstrip('.')}; until it is right, {meanwhile}"


def _meanwhile(key: str, value: object) -> str:
    """Return what counts while a key is misspelt."""
    if checks.names_in(value):
        return MEANWHILE[key]
    return {"disabled_tool_ids": OFF, "plugins.disabled": NO_PLUGIN}.get(key, MEANWHILE[key])


def place_of(table: Table, name: str) -> tuple[str, ...]:
    """Return the key under which a value stands in the file, the misspelt one where it is that."""
    value = table.get(name)
    return (value.written,) if isinstance(value, Misspelt) else (name,)


def listed(value: object) -> list[object]:
    """Return a list as it is, and an empty one for anything else."""
    return value if isinstance(value, list) else []


def key_of(place: str, name: str) -> str:
    """Return the key of a value as it is written in the file, quoted and escaped where TOML asks for it."""
    plain = name.isascii() and name.replace("-", "").replace("_", "").isalnum()
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    escaped = "".join(f"\\U{ord(letter):08X}" if is_unprintable(letter) else letter for letter in escaped)
    shown_name = name if plain else f'"{escaped}"'
    return f"{place}.{shown_name}" if place else shown_name


def written(path: tuple[str, ...]) -> str:
    """Return a key of several names as it is written in the file."""
    place = ""
    for name in path:
        place = key_of(place, name)
    return place


def is_unprintable(name: str) -> bool:
    """Tell whether a name holds controls, line ends or what turns the direction of writing. Joiners belong to words."""
    return any(category(letter) in ("Cc", "Cf", "Cs", "Zl", "Zp") for letter in name if letter not in _JOINERS)
