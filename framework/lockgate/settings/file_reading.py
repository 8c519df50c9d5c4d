"""From the tables of a TOML file to values. One wrong entry costs itself, and leaves the safe choice behind."""

import difflib
from collections.abc import Callable, Collection, Iterator, Mapping
from types import MappingProxyType
from typing import TypeVar

from lockgate.addresses import AddressError, WebAddress
from lockgate.policy import PROVIDER_TYPES, ConfidenceLevel, ConfidenceScheme
from lockgate.settings.file_values import DataSourceEntry, FileProblem, ProviderEntry, SettingsFile

MAX_TOOL_CALLS_RANGE = (1, 1_000)
"""What `max_tool_calls` may be."""

MAX_TOOL_RESULT_CHARACTERS_RANGE = (1_000, 100_000_000)
"""What `max_tool_result_characters` may be."""

TOP_KEYS = (
    "enable_tools", "disabled_tool_ids", "trusted_provider_ids", "default_provider", "confidence",
    "minimum_provider_confidence_by_tool_id", "default_tool_ids_by_component", "limits", "plugins", "tools", "providers",
    "data_sources",
)  # fmt: skip
"""The keys a settings file may have at the top."""

PROVIDER_KEYS = (
    "profile", "name", "base_url", "model", "api_key_variable", "self_hosted", "can_call_tools", "confidence",
    "parameters",
)  # fmt: skip
"""The keys of a provider."""

_LEVELS = tuple(
    level.name for level in ConfidenceLevel if level is not ConfidenceLevel.UNKNOWN
)  # UNKNOWN says that nobody knows; it is nothing to demand or to give
_SHOWN = 40
Table = Mapping[str, object]
T = TypeVar("T")


def settings_from_table(table: Table) -> SettingsFile:
    """Read the content of a settings file.

    Args:
        table: What a TOML parser makes of the file.
    """
    return _Reader().read(table)


class _Wrong(Exception):  # noqa: N818 (never leaves this module)
    """A value that cannot be used, told in words."""


class _Reader:
    """Collects problems while the parts are read."""

    def __init__(self) -> None:
        self._problems: list[FileProblem] = []

    def read(self, table: Table) -> SettingsFile:
        self._unknown_keys("", table, TOP_KEYS)
        confidence = self._table(table, "confidence", ("scheme", "custom"))
        limits = self._table(table, "limits", ("max_tool_calls", "max_tool_result_characters"))
        plugins = self._table(table, "plugins", ("disabled", "allowed"))
        scheme, custom = self._confidence(confidence)
        allowed = self._names(plugins, "plugins.allowed", "nothing but the names that can be read is allowed")
        return SettingsFile(
            enable_tools=self._value(table, "enable_tools", _flag, True, False, "all tools are off"),
            disabled_tool_ids=self._names(table, "disabled_tool_ids", "the names that can be read are off"),
            trusted_provider_ids=self._names(table, "trusted_provider_ids", "the others are trusted"),
            default_provider=self._value(table, "default_provider", _text, "", "", "there is no default"),
            confidence_scheme=scheme,
            custom_confidence=custom,
            minimum_provider_confidence_by_tool_id=self._levels(
                self._table(table, "minimum_provider_confidence_by_tool_id"),
                "minimum_provider_confidence_by_tool_id",
                ConfidenceLevel.HIGH,
                "HIGH is demanded",
            ),
            default_tool_ids_by_component=self._defaults(self._table(table, "default_tool_ids_by_component")),
            max_tool_calls=self._value(
                limits, "limits.max_tool_calls", _whole(*MAX_TOOL_CALLS_RANGE), None, None, "the built-in limit counts"
            ),
            max_tool_result_characters=self._value(
                limits,
                "limits.max_tool_result_characters",
                _whole(*MAX_TOOL_RESULT_CHARACTERS_RANGE),
                None,
                None,
                "the built-in limit counts",
            ),
            disabled_plugins=self._names(plugins, "plugins.disabled", "the names that can be read are disabled"),
            allowed_plugins=allowed if "allowed" in plugins else None,
            tool_settings=MappingProxyType(dict(self._tool_settings(self._table(table, "tools")))),
            providers=self._entries(table, "providers", self._provider),
            data_sources=self._entries(table, "data_sources", self._data_source),
            problems=tuple(self._problems),
        )

    def _problem(self, key: str, text: str) -> None:
        self._problems.append(FileProblem(key, text))

    def _unknown_keys(self, place: str, table: Table, known: Collection[str]) -> None:
        for name in table:
            if name not in known:
                near = difflib.get_close_matches(name, known, n=1)
                hint = f"Did you mean {near[0]!r}?" if near else f"Known are {', '.join(known)}."
                self._problem(_key(place, name), f"is a key nobody knows and is passed over. {hint}")

    def _table(self, parent: Table, name: str, known: Collection[str] = ()) -> Table:
        value = parent.get(name, {})
        if not isinstance(value, Mapping):
            self._problem(name, f"has the value {_shown(value)}; it has to be a table, written as [{name}]")
            return {name: None for name in known} if name == "plugins" else {}
        if known:
            self._unknown_keys(name, value, known)
        return value

    def _value(
        self, table: Table, key: str, read: Callable[[object], T], absent: T, wrong: T, meanwhile: str
    ) -> T:
        name = key.rpartition(".")[2]
        if name not in table:
            return absent
        try:
            return read(table[name])
        except _Wrong as error:
            self._problem(key, f"{error}; until it is right, {meanwhile}")
            return wrong

    def _names(self, table: Table, key: str, meanwhile: str) -> frozenset[str]:
        """Read a list of names; those that can be read count, whatever stands beside them."""
        value = table.get(key.rpartition(".")[2], [])
        if isinstance(value, list) and all(isinstance(item, str) and item.strip() for item in value):
            return frozenset(item.strip() for item in value)
        self._problem(
            key, f'has the value {_shown(value)}; it has to be a list of names, such as ["a", "b"]; until it is right, {meanwhile}'
        )
        items = value if isinstance(value, list) else [value]
        return frozenset(item.strip() for item in items if isinstance(item, str) and item.strip())

    def _confidence(self, table: Table) -> tuple[ConfidenceScheme, Mapping[str, ConfidenceLevel]]:
        scheme = self._value(
            table,
            "confidence.scheme",
            _member(ConfidenceScheme.__members__),
            ConfidenceScheme.TRUST_ALL,
            ConfidenceScheme.CUSTOM,
            "a provider has only the level that custom gives its type",
        )
        custom = table.get("custom", {})
        if not isinstance(custom, Mapping):
            self._problem("confidence.custom", f"has the value {_shown(custom)}; it has to be a table of levels")
            custom = {}
        for name in custom:
            near = difflib.get_close_matches(name.upper(), PROVIDER_TYPES, n=1)
            if near and name not in PROVIDER_TYPES:
                self._problem(_key("confidence.custom", name), f"is no provider type known here. Did you mean {near[0]!r}?")
        return scheme, self._levels(custom, "confidence.custom", ConfidenceLevel.UNKNOWN, "the type counts as UNKNOWN")

    def _levels(
        self, table: Table, place: str, wrong: ConfidenceLevel, meanwhile: str
    ) -> Mapping[str, ConfidenceLevel]:
        return MappingProxyType({
            name: self._value({"level": value}, "level", _level, wrong, wrong, meanwhile)
            if _is_level(value)
            else self._wrong_level(_key(place, name), value, wrong, meanwhile)
            for name, value in table.items()
        })

    def _wrong_level(self, key: str, value: object, wrong: ConfidenceLevel, meanwhile: str) -> ConfidenceLevel:
        try:
            return _level(value)
        except _Wrong as error:
            self._problem(key, f"{error}; until it is right, {meanwhile}")
            return wrong
