"""From the tables of a TOML file to values. One wrong entry costs itself, and leaves the safe choice behind."""

from collections.abc import Callable, Collection, Iterator, Mapping
from types import MappingProxyType
from typing import TypeVar
from unicodedata import category

from lockgate.policy import PROVIDER_TYPES, ConfidenceLevel, ConfidenceScheme
from lockgate.settings import file_checks as checks
from lockgate.settings.file_checks import WrongValueError, shown
from lockgate.settings.file_lines import key_lines
from lockgate.settings.file_values import (
    AssistantEntry,
    ChatTemplateEntry,
    DataSourceEntry,
    FileProblem,
    ProviderEntry,
    SettingsFile,
)

MAX_TOOL_CALLS_RANGE = (1, 1_000)
"""What `max_tool_calls` may be."""

MAX_TOOL_RESULT_CHARACTERS_RANGE = (1_000, 100_000_000)
"""What `max_tool_result_characters` may be."""

MAX_RESTRICTED_CALLS_RANGE = (0, 1_000)
"""What `max_restricted_calls` may be."""

TOP_KEYS = (
    "enable_tools", "disabled_tool_ids", "trusted_provider_ids", "default_provider",
    "visible_tool_selection_components", "confidence", "minimum_provider_confidence_by_tool_id",
    "default_tool_ids_by_component", "previews", "limits", "plugins", "tools", "providers", "data_sources",
    "chat_templates", "assistants",
)  # fmt: skip
"""The keys a settings file may have at the top."""

PROVIDER_KEYS = (
    "profile", "name", "base_url", "model", "api_key_variable", "self_hosted", "can_call_tools", "confidence",
    "parameters",
)  # fmt: skip
"""The keys of a provider."""

TEMPLATE_KEYS = ("name", "system_prompt", "tool_ids")
"""The keys of a chat template."""

ASSISTANT_KEYS = ("name", "description", "system_prompt", "component", "tool_ids", "provider")
"""The keys of an assistant."""

_CONFIDENCE_KEYS = ("scheme", "custom", "enforce_global_minimum", "global_minimum")
_LIMIT_KEYS = ("max_tool_calls", "max_tool_result_characters", "max_restricted_calls")
_STRICTEST: Mapping[str, tuple[Mapping[str, object], str]] = MappingProxyType({
    # A table that is none: nobody knows what was meant, so the strictest of what can be meant counts.
    "plugins": ({"allowed": []}, "no plugin is allowed"),
    "confidence": (
        {"scheme": "CUSTOM", "enforce_global_minimum": True, "global_minimum": "HIGH"},
        "every provider needs a level of HIGH that it was given by itself",
    ),
})
_ITEMS_TOLD = 3
_JOINERS = "\u200c\u200d"
_SECRET_WORDS = ("key", "token", "password", "secret")
_LISTING = f"it has to be {checks.NAMES_EXAMPLE}"
Table = Mapping[str, object]
T = TypeVar("T")
_NOTHING: Table = MappingProxyType({})


def settings_from_table(table: Table, text: str = "") -> SettingsFile:
    """Read the content of a settings file.

    Args:
        table: What a TOML parser makes of the file.
        text: The file itself, where lines are wanted.
    """
    return _Reader().read(table, key_lines(text, table))


class _Reader:
    """Collects problems while the parts are read."""

    def __init__(self) -> None:
        self._problems: list[FileProblem] = []

    def read(self, table: Table, lines: Mapping[tuple[str, ...], int | None]) -> SettingsFile:
        """Read everything."""
        self._unknown_keys("", table, TOP_KEYS)
        limits = self._table(table, "limits", _LIMIT_KEYS)
        plugins = self._table(table, "plugins", ("disabled", "allowed"))
        confidence = self._table(table, "confidence", _CONFIDENCE_KEYS)
        scheme, custom = self._confidence(confidence)
        enforced, least = self._global_minimum(confidence)
        minimums = "minimum_provider_confidence_by_tool_id"
        visible = "only components in a list show it"
        return SettingsFile(
            enable_tools=self._value(
                table, "", "enable_tools", checks.flag, absent=True, wrong=False, meanwhile="all tools are off"
            ),
            disabled_tool_ids=self._names(table, "", "disabled_tool_ids", "what can be read of it is off"),
            trusted_provider_ids=self._names(table, "", "trusted_provider_ids", "only names in a list are trusted"),
            default_provider=self._value(
                table, "", "default_provider", checks.text, absent="", wrong="", meanwhile="there is none"
            ),
            confidence_scheme=scheme,
            custom_confidence=custom,
            minimum_provider_confidence_by_tool_id=self._levels(
                self._table(table, minimums), minimums, ConfidenceLevel.HIGH, "HIGH is demanded"
            ),
            default_tool_ids_by_component=self._defaults(self._table(table, "default_tool_ids_by_component")),
            max_tool_calls=self._limit(limits, "max_tool_calls", MAX_TOOL_CALLS_RANGE),
            max_tool_result_characters=self._limit(
                limits, "max_tool_result_characters", MAX_TOOL_RESULT_CHARACTERS_RANGE
            ),
            disabled_plugins=self._names(plugins, "plugins", "disabled", "what can be read of it is disabled"),
            allowed_plugins=self._names(plugins, "plugins", "allowed", "only names in a list are allowed")
            if "allowed" in plugins
            else None,
            tool_settings=self._tool_settings(self._table(table, "tools")),
            providers=self._entries(table, "providers", self._provider),
            data_sources=self._entries(table, "data_sources", self._data_source),
            enforce_global_minimum=enforced,
            global_minimum=least,
            previews=self._previews(self._table(table, "previews")),
            all_previews_off=not isinstance(table.get("previews", {}), Mapping),
            visible_selection_components=self._names(table, "", "visible_tool_selection_components", visible),
            max_restricted_calls=self._limit(limits, "max_restricted_calls", MAX_RESTRICTED_CALLS_RANGE),
            chat_templates=self._entries(table, "chat_templates", self._template),
            assistants=self._entries(table, "assistants", self._assistant),
            lines=lines,
            problems=tuple(self._problems),
        )

    def _problem(self, place: str, name: str, text: str) -> None:
        self._problems.append(FileProblem(key_of(place, name), text))

    def _unknown_keys(self, place: str, table: Table, known: Collection[str]) -> None:
        for name in table:
            if name in known:
                continue
            hint = checks.nearest(name, known) or f" Known are {', '.join(known)}."
            if place and any(word in name.lower() for word in _SECRET_WORDS):
                hint = " Secrets do not belong in this file; they are kept in the keyring or in secrets.toml."
            self._problem(place, name, f"is a key nobody knows and is passed over.{hint}")

    def _table(self, parent: Table, name: str, known: Collection[str] = ()) -> Table:
        value = parent.get(name, {})
        if not isinstance(value, Mapping):
            instead, meanwhile = _STRICTEST.get(name, (_NOTHING, ""))
            if name == "previews":
                meanwhile = "all previews of the framework are off"
            text = f"has the value {shown(value)}; it has to be a table, written as [{name}]"
            self._problem("", name, f"{text}; until it is right, {meanwhile}" if meanwhile else text)
            return instead
        if known:
            self._unknown_keys(name, value, known)
        return value

    def _value(
        self, table: Table, place: str, name: str, read: Callable[[object], T], *, absent: T, wrong: T, meanwhile: str
    ) -> T:
        """Read a value; `wrong` counts in place of one that cannot be used, and the person is told."""
        if name not in table:
            return absent
        try:
            return read(table[name])
        except WrongValueError as error:
            self._problem(place, name, f"{str(error).rstrip('.')}; until it is right, {meanwhile}")
            return wrong

    def _names(self, table: Table, place: str, name: str, meanwhile: str) -> frozenset[str]:
        """Read a list of names; those that can be read count, whatever stands beside them."""
        value = table.get(name, [])
        items = value if isinstance(value, list) else []
        names = frozenset(item.strip() for item in items if isinstance(item, str) and item.strip())
        if not isinstance(value, list):
            self._problem(place, name, f"has the value {shown(value)}; {_LISTING}; until it is right, {meanwhile}")
            off = isinstance(value, str) and value.strip() and name in ("disabled", "disabled_tool_ids")
            return frozenset({str(value).strip()}) if off else names
        wrong = [item for item in items if not isinstance(item, str) or not item.strip()]
        for item in wrong[:_ITEMS_TOLD]:
            self._problem(place, name, f"holds the item {shown(item)}, which is no name and is passed over")
        if len(wrong) > _ITEMS_TOLD:
            self._problem(place, name, f"holds {len(wrong) - _ITEMS_TOLD} more items like that")
        return names

    def _limit(self, limits: Table, name: str, bounds: tuple[int, int]) -> int | None:
        read: Callable[[object], int] = checks.whole(*bounds)
        return self._value(
            limits, "limits", name, read, absent=None, wrong=None, meanwhile="the built-in limit counts"
        )

    def _confidence(self, table: Table) -> tuple[ConfidenceScheme, Mapping[str, ConfidenceLevel]]:
        scheme = self._value(
            table,
            "confidence",
            "scheme",
            checks.member(ConfidenceScheme.__members__),
            absent=ConfidenceScheme.TRUST_ALL,
            wrong=ConfidenceScheme.CUSTOM,
            meanwhile="a provider has only the level that custom gives to its type",
        )
        custom = table.get("custom", {})
        if not isinstance(custom, Mapping):
            self._problem("confidence", "custom", f"has the value {shown(custom)}; it has to be a table of levels")
            custom = {}
        for name in custom:  # types of plugins are not in the list: only what looks misspelt is told
            if name not in PROVIDER_TYPES and (hint := checks.nearest(name.upper(), PROVIDER_TYPES)):
                self._problem("confidence.custom", name, f"is no provider type of the schemes.{hint}")
        unknown = ConfidenceLevel.UNKNOWN
        return scheme, self._levels(custom, "confidence.custom", unknown, "the type counts as UNKNOWN")

    def _global_minimum(self, table: Table) -> tuple[bool, ConfidenceLevel]:
        place, name = "confidence", "enforce_global_minimum"
        enforced = self._value(
            table, place, name, checks.flag, absent=False, wrong=True, meanwhile="the minimum is enforced"
        )
        least = self._value(
            table, place, "global_minimum", checks.level, absent=ConfidenceLevel.NONE, wrong=ConfidenceLevel.HIGH,
            meanwhile="it counts as HIGH",
        )  # fmt: skip
        return enforced, least

    def _previews(self, table: Table) -> Mapping[str, bool]:
        return MappingProxyType({
            name: self._value(
                table, "previews", name, checks.flag, absent=False, wrong=False, meanwhile="the preview is off"
            )
            for name in table
        })  # fmt: skip

    def _levels(
        self, table: Table, place: str, wrong: ConfidenceLevel, meanwhile: str
    ) -> Mapping[str, ConfidenceLevel]:
        return MappingProxyType(
            {
                name: self._value(table, place, name, checks.level, absent=wrong, wrong=wrong, meanwhile=meanwhile)
                for name in table
            }
        )

    def _defaults(self, table: Table) -> Mapping[str, tuple[str, ...]]:
        place = "default_tool_ids_by_component"
        defaults: dict[str, tuple[str, ...]] = {}
        for component in table:
            names = self._names(table, place, component, "nothing is selected by default")
            value = table[component]
            order = value if isinstance(value, list) else []
            defaults[component] = tuple(
                dict.fromkeys(item.strip() for item in order if isinstance(item, str) and item.strip() in names)
            )
        return MappingProxyType(defaults)

    def _tool_settings(self, table: Table) -> Mapping[str, object]:
        found: dict[str, object] = {}
        for tool_id, fields in table.items():
            if not isinstance(fields, Mapping):
                self._problem("tools", tool_id, "has to be a table with the settings of a tool")
            elif "." in tool_id:
                self._problem("tools", tool_id, "has a dot in the tool's ID, which no tool has")
            else:
                for name, value in self._flat(key_of("tools", tool_id), fields):
                    if f"{tool_id}.{name}" in found:
                        self._problem(f"tools.{tool_id}", name, "stands there twice, with and without quotes")
                    found.setdefault(f"{tool_id}.{name}", value)
        return MappingProxyType(found)

    def _flat(self, place: str, table: Table) -> Iterator[tuple[str, object]]:
        """Yield field and value. A field with dots that was written without quotes is a table in TOML."""
        waiting = [(name, value) for name, value in table.items()]
        while waiting:
            name, value = waiting.pop(0)
            if isinstance(value, Mapping):
                waiting = [(f"{name}.{inside}", item) for inside, item in value.items()] + waiting
            elif isinstance(value, str | int | float):
                yield name, value
            else:
                self._problem(place, name, f"has the value {shown(value)}; valid are texts, numbers, true and false")

    def _entries(self, table: Table, place: str, read: Callable[[str, Table], T]) -> Mapping[str, T]:
        entries: dict[str, T] = {}
        for name, value in self._table(table, place).items():
            if not name.strip() or not isinstance(value, Mapping):
                self._problem(place, name, f"has to be a table, written as [{place}.NAME]")
                continue
            if _unprintable(name):
                self._problem(place, name, "is left out: its name holds a character that cannot be shown")
                continue
            try:
                entries[name] = read(name, value)
            except WrongValueError as error:
                self._problems.append(FileProblem(key_of(place, name), f"is left out: {error}"))
        return MappingProxyType(entries)

    def _provider(self, name: str, table: Table) -> ProviderEntry:
        place = key_of("providers", name)
        self._unknown_keys(place, table, PROVIDER_KEYS)
        return ProviderEntry(
            id=name,
            profile=_required(table, "profile"),
            name=_optional(table, "name", checks.text, name),
            base_url=_optional(table, "base_url", checks.base_address, ""),
            model=_optional(table, "model", checks.text, ""),
            api_key_variable=_optional(table, "api_key_variable", checks.variable_name, ""),
            self_hosted=_optional(table, "self_hosted", checks.flag, False),
            can_call_tools=_optional(table, "can_call_tools", checks.flag, None),
            confidence=_optional(table, "confidence", checks.level, None),
            parameters=_optional(table, "parameters", checks.json_table, _NOTHING),
        )

    def _data_source(self, name: str, table: Table) -> DataSourceEntry:
        rest = checks.json_table({key: value for key, value in table.items() if key not in ("kind", "name")})
        return DataSourceEntry(name, _required(table, "kind"), _optional(table, "name", checks.text, name), rest)


    def _template(self, name: str, table: Table) -> ChatTemplateEntry:
        self._unknown_keys(key_of("chat_templates", name), table, TEMPLATE_KEYS)
        return ChatTemplateEntry(
            id=name,
            name=_optional(table, "name", checks.text, name),
            system_prompt=_optional(table, "system_prompt", checks.any_text, ""),
            tool_ids=_optional(table, "tool_ids", checks.names, None),
        )

    def _assistant(self, name: str, table: Table) -> AssistantEntry:
        self._unknown_keys(key_of("assistants", name), table, ASSISTANT_KEYS)
        return AssistantEntry(
            id=name,
            name=_optional(table, "name", checks.text, name),
            system_prompt=_optional(table, "system_prompt", checks.any_text, ""),
            component=_optional(table, "component", checks.text, "META_ASSISTANT").upper(),
            tool_ids=_optional(table, "tool_ids", checks.names, None),
            provider=_optional(table, "provider", checks.text, ""),
            description=_optional(table, "description", checks.any_text, ""),
        )


def key_of(place: str, name: str) -> str:
    """Return the key of a value as it is written in the file, quoted and escaped where TOML asks for it."""
    plain = name.isascii() and name.replace("-", "").replace("_", "").isalnum()
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    escaped = "".join(f"\\U{ord(letter):08X}" if _unprintable(letter) else letter for letter in escaped)
    shown_name = name if plain else f'"{escaped}"'
    return f"{place}.{shown_name}" if place else shown_name


def _unprintable(name: str) -> bool:
    """Tell whether a name holds controls, line ends or what turns the direction of writing. Joiners belong to words."""
    return any(category(letter) in ("Cc", "Cf", "Cs", "Zl", "Zp") for letter in name if letter not in _JOINERS)


def _required(table: Table, name: str) -> str:
    if name not in table:
        raise WrongValueError(f"its {name} is missing")
    return _optional(table, name, checks.text, "")


def _optional(table: Table, name: str, read: Callable[[object], T], absent: T) -> T:
    if name not in table:
        return absent
    try:
        return read(table[name])
    except WrongValueError as error:
        raise WrongValueError(f"{name} {error}") from None
