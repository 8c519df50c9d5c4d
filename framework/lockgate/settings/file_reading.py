"""From the tables of a TOML file to values. One wrong entry costs itself, and leaves the safe choice behind."""

from collections.abc import Callable, Collection, Iterator, Mapping
from types import MappingProxyType
from typing import TypeVar

from lockgate.policy import PROVIDER_TYPES, ConfidenceLevel, ConfidenceScheme
from lockgate.settings import file_checks as checks
from lockgate.settings.file_checks import WrongValueError, shown
from lockgate.settings.file_lines import key_lines
from lockgate.settings.file_tables import (
    ALL_HIGH,
    MEANWHILE,
    MINIMUMS,
    NO_PLUGIN,
    NOTHING,
    OFF,
    Misspelt,
    Table,
    Tables,
    is_unprintable,
    key_of,
    listed,
    place_of,
    until_right,
)
from lockgate.settings.file_values import (
    AssistantEntry,
    ChatTemplateEntry,
    DataSourceEntry,
    FileProblem,
    ProviderEntry,
    SettingsFile,
)

T = TypeVar("T")

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
_PLUGIN_KEYS = ("disabled", "allowed")
_DEFAULTS = "default_tool_ids_by_component"
_NO_LEVELS: Mapping[str, ConfidenceLevel] = MappingProxyType({})
_ENTRY_MEANWHILE = {
    "providers": "no provider of that name is asked, and no profile instead of it",
    "data_sources": "a folder or file in it needs a provider with confidence HIGH",
}
_ALIKE = 0.75  # further keys of a data source belong to its kind, and some words are a little like "confidence"


def settings_from_table(table: Table, text: str = "") -> SettingsFile:
    """Read the content of a settings file.

    Args:
        table: What a TOML parser makes of the file.
        text: The file itself, where lines are wanted.
    """
    return _Reader().read(table, key_lines(text, table))


class _Reader(Tables):
    """Reads the parts of the file."""

    def __init__(self) -> None:
        super().__init__()
        self._tools_off_by: tuple[str, ...] = ()
        self._least_by: tuple[str, ...] = ()
        self._unusable_tools: set[str] = set()
        self._default_problem = ""
        self._broken_providers: dict[str, str] = {}
        self._broken_sources: dict[str, tuple[str, ...]] = {}

    def read(self, table: Table, lines: Mapping[tuple[str, ...], int | None]) -> SettingsFile:
        """Read everything."""
        table = self.given("", table, TOP_KEYS)
        limits = self.table(table, "limits", _LIMIT_KEYS)
        plugins = self.table(table, "plugins", _PLUGIN_KEYS)
        confidence = self.table(table, "confidence", _CONFIDENCE_KEYS)
        scheme, custom = self._confidence(confidence)
        lost = place_of(table, MINIMUMS) if self.is_wrong(table, MINIMUMS) else self._another_minimum(table)
        least = self._global_minimum(confidence, lost)
        enabled = self.value(table, "", "enable_tools", checks.flag, absent=True, wrong=False)
        if not enabled:
            self._tools_off_by = place_of(table, "enable_tools")
        disabled_tools = self._disabled_tools(table)
        disabled_plugins, allowed_plugins = self._plugins(plugins)
        return SettingsFile(
            disabled_tool_ids=disabled_tools,
            trusted_provider_ids=self.names(table, "", "trusted_provider_ids", "nobody is trusted through it"),
            default_provider=self._default_provider(table),
            confidence_scheme=scheme,
            custom_confidence=custom,
            minimum_provider_confidence_by_tool_id=self._levels(
                self.table(table, MINIMUMS), MINIMUMS, ConfidenceLevel.HIGH, "HIGH is demanded"
            ),
            default_tool_ids_by_component=self._defaults(self.table(table, _DEFAULTS)),
            max_tool_calls=self._limit(limits, "max_tool_calls", MAX_TOOL_CALLS_RANGE),
            max_tool_result_characters=self._limit(
                limits, "max_tool_result_characters", MAX_TOOL_RESULT_CHARACTERS_RANGE
            ),
            disabled_plugins=disabled_plugins,
            allowed_plugins=allowed_plugins,
            tool_settings=self._tool_settings(table),
            providers=self._entries(table, "providers", self._provider),
            data_sources=self._entries(table, "data_sources", self._data_source),
            enforce_global_minimum=least is not None,
            global_minimum=least or ConfidenceLevel.NONE,
            previews=self._previews(self.table(table, "previews")),
            all_previews_off=self.is_wrong(table, "previews"),
            visible_selection_components=self.names(
                table, "", "visible_tool_selection_components", "no component shows it through this key"
            ),
            max_restricted_calls=self._limit(limits, "max_restricted_calls", MAX_RESTRICTED_CALLS_RANGE, wrong=0),
            chat_templates=self._entries(table, "chat_templates", self._template),
            assistants=self._entries(table, "assistants", self._assistant),
            enable_tools=not self._tools_off_by,
            tools_off_by=self._tools_off_by or ("enable_tools",),
            global_minimum_by=self._least_by or ("confidence", "global_minimum"),
            unusable_tools=frozenset(self._unusable_tools),
            default_provider_problem=self._default_problem,
            broken_providers=MappingProxyType(self._broken_providers),
            broken_data_sources=MappingProxyType(self._broken_sources),
            lines=lines,
            problems=tuple(self.problems),
        )

    # Single rules

    def _another_minimum(self, table: Table) -> tuple[str, ...] | None:
        """Return a key nobody knows that speaks of a minimum; nobody can tell what it was to demand of whom."""
        known = (*TOP_KEYS, *(value.written for value in table.values() if isinstance(value, Misspelt)))
        name = next((key for key in table if key not in known and "minimum" in key.lower()), None)
        if name is None:
            return None
        self.problem("", name, f"speaks of a minimum, and nobody knows of what; until it is right, {ALL_HIGH}")
        return (name,)

    def _disabled_tools(self, table: Table) -> frozenset[str]:
        names, is_lost = self.switched_off(table, "", "disabled_tool_ids", OFF)
        if is_lost:
            self._tools_off_by = self._tools_off_by or place_of(table, "disabled_tool_ids")
        return names

    def _plugins(self, table: Table) -> tuple[frozenset[str], frozenset[str] | None]:
        disabled, is_lost = self.switched_off(table, "plugins", "disabled", NO_PLUGIN)
        allowed = None
        if "allowed" in table:
            allowed = self.names(table, "plugins", "allowed", NO_PLUGIN)
        return disabled, frozenset() if is_lost else allowed

    def _default_provider(self, table: Table) -> str:
        name = self.value(table, "", "default_provider", checks.text, absent="", wrong="")
        if "default_provider" in table and not name:
            self._default_problem = next(
                str(problem) for problem in self.problems
                if problem.key == key_of("", place_of(table, "default_provider")[0])
            )  # fmt: skip
        return name

    def _limit(self, limits: Table, name: str, bounds: tuple[int, int], wrong: int | None = None) -> int | None:
        read: Callable[[object], int | None] = checks.whole(*bounds)
        return self.value(limits, "limits", name, read, absent=None, wrong=wrong)

    def _confidence(self, table: Table) -> tuple[ConfidenceScheme, Mapping[str, ConfidenceLevel]]:
        read: Callable[[object], ConfidenceScheme | None] = checks.member(ConfidenceScheme.__members__)
        scheme = self.value(table, "confidence", "scheme", read, absent=ConfidenceScheme.TRUST_ALL, wrong=None)
        none = ConfidenceLevel.NONE
        custom = table.get("custom", NOTHING)
        if not isinstance(custom, Mapping):
            if not isinstance(custom, Misspelt):
                text = f"has the value {shown(custom)}; it has to be a table of levels; until it is right"
                self.problem("confidence", "custom", f"{text}, {MEANWHILE['confidence.custom']}")
            levels: Mapping[str, ConfidenceLevel] = dict.fromkeys(PROVIDER_TYPES, none)
        else:
            for name in custom:  # types of plugins are not in the list: only what looks misspelt is told
                if name not in PROVIDER_TYPES and (hint := checks.nearest(name.upper(), PROVIDER_TYPES)):
                    self.problem("confidence.custom", name, f"is no provider type of the schemes.{hint}")
            levels = self._levels(custom, "confidence.custom", none, "the type counts as NONE with CUSTOM")
            is_told = any(problem.key.startswith("confidence.custom") for problem in self.problems)
            if custom and not is_told and scheme not in (None, ConfidenceScheme.CUSTOM):
                self.problem("confidence", "custom", 'has no effect until scheme = "CUSTOM" stands beside it')
        return (ConfidenceScheme.CUSTOM, _NO_LEVELS) if scheme is None else (scheme, levels)

    def _global_minimum(self, table: Table, lost: tuple[str, ...] | None) -> ConfidenceLevel | None:
        """Return what every provider needs, or None while nothing is enforced. What is not certain is HIGH.

        Args:
            table: The table of confidence.
            lost: The key of the minimums of single tools, where nobody can tell which tools are meant.
        """
        place, switch, name, high = "confidence", "enforce_global_minimum", "global_minimum", ConfidenceLevel.HIGH
        read: Callable[[object], bool | None] = checks.flag
        enforced = self.value(table, place, switch, read, absent=False, wrong=None)
        nothing: Callable[[object], ConfidenceLevel | None] = checks.level
        level = self.value(
            table, place, name, nothing, absent=ConfidenceLevel.NONE, wrong=None,
            meanwhile=ALL_HIGH if enforced is not False or self._doubts(table) else "it counts as HIGH when enforced",
        )  # fmt: skip
        if enforced and name not in table:
            text = f"is true, and there is no {name}; it has to be a level; until there is one, {ALL_HIGH}"
            self.problem(place, switch, text)
            level = None
        if lost is not None:
            self._least_by = lost
            return high
        if enforced is None or self._doubts(table):
            self._least_by = (place, switch)
            return high
        if not enforced:
            if switch not in table and level is not ConfidenceLevel.NONE:
                self.problem(place, name, f"is not enforced until {switch} = true stands beside it")
            return None
        self._least_by = (place, name if name in table else switch)
        return high if level is None else level

    @staticmethod
    def _doubts(table: Table) -> bool:
        """Tell whether a key about confidence is misspelt: nobody knows what it was to demand."""
        return any(isinstance(value, Misspelt) for value in table.values())

    def _previews(self, table: Table) -> Mapping[str, bool]:
        found = {
            name: self.value(
                table, "previews", name, checks.flag, absent=False, wrong=False, meanwhile="the preview is off"
            )
            for name in table
        }
        for name, is_on in list(found.items()):  # names of previews are written in capitals
            if not is_on:
                found.setdefault(name.upper(), is_on)
        return MappingProxyType(found)

    def _levels(
        self, table: Table, place: str, wrong: ConfidenceLevel, meanwhile: str
    ) -> Mapping[str, ConfidenceLevel]:
        return MappingProxyType(
            {
                name: self.value(table, place, name, checks.level, absent=wrong, wrong=wrong, meanwhile=meanwhile)
                for name in table
            }
        )

    def _defaults(self, table: Table) -> Mapping[str, tuple[str, ...]]:
        defaults: dict[str, tuple[str, ...]] = {}
        for component, value in table.items():
            names = self.names(table, _DEFAULTS, component, "nothing is selected by default")
            defaults[component] = tuple(
                dict.fromkeys(item.strip() for item in listed(value) if isinstance(item, str) and item.strip() in names)
            )
        return MappingProxyType(defaults)

    # Settings of tools

    def _tool_settings(self, table: Table) -> Mapping[str, object]:
        """Return the settings of tools. A tool of which one cannot be read is off: it may be the one that binds it."""
        found: dict[str, object] = {}
        if self.is_wrong(table, "tools"):
            self._tools_off_by = self._tools_off_by or place_of(table, "tools")
        for tool_id, fields in self.table(table, "tools").items():
            if not isinstance(fields, Mapping):
                text = "has to be a table with the settings of a tool; until it is right, the tool is off"
                self._unusable_tools.add(tool_id)
                self.problem("tools", tool_id, text)
            elif "." in tool_id:
                self.problem("tools", tool_id, "has a dot in the tool's ID, which no tool has; it is passed over")
            else:
                for name, value in self._flat(tool_id, fields):
                    if f"{tool_id}.{name}" in found:
                        self._unusable_tools.add(tool_id)
                        text = "stands there twice, with and without quotes; until it is right, the tool is off"
                        self.problem(key_of("tools", tool_id), name, text)
                    found.setdefault(f"{tool_id}.{name}", value)
        return MappingProxyType(found)

    def _flat(self, tool_id: str, table: Table) -> Iterator[tuple[str, object]]:
        """Yield field and value. A field with dots that was written without quotes is a table in TOML."""
        waiting = [(name, value) for name, value in table.items()]
        while waiting:
            name, value = waiting.pop(0)
            if isinstance(value, Mapping):
                waiting = [(f"{name}.{inside}", item) for inside, item in value.items()] + waiting
            elif isinstance(value, str | int | float):
                yield name, value
            else:
                self._unusable_tools.add(tool_id)
                text = f"has the value {shown(value)}; valid are texts, numbers, true and false; until it is right, "
                self.problem(key_of("tools", tool_id), name, f"{text}the tool is off")

    # Entries

    def _entries(self, table: Table, place: str, read: Callable[[str, Table], T]) -> Mapping[str, T]:
        entries: dict[str, T] = {}
        if self.is_wrong(table, place):
            value = table[place]
            self.table(table, place)
            self._broken_whole(table, place, value.value if isinstance(value, Misspelt) else value)
            return MappingProxyType(entries)
        for name, value in self.table(table, place).items():
            text = ""
            if not name.strip() or not isinstance(value, Mapping):
                text = f"is left out: it has to be a table, written as [{place}.NAME]"
            elif is_unprintable(name):
                text = "is left out: its name holds a character that cannot be shown"
            else:
                try:
                    entries[name] = read(name, value)
                except WrongValueError as error:
                    text = f"is left out: {error}"
            if text:
                if place in _ENTRY_MEANWHILE:
                    text = until_right(text, _ENTRY_MEANWHILE[place])
                problem = FileProblem(key_of(place, name), text)
                self.problems.append(problem)
                self._broken(place, name, value, str(problem))
        return MappingProxyType(entries)

    def _broken(self, place: str, name: str, value: object, why: str) -> None:
        """Remember an entry that cannot be used: it must not be taken for one that is not there."""
        if place == "providers":
            self._broken_providers[name] = why
        elif place == "data_sources":
            self._broken_sources[name] = tuple(checks.texts_in(value))

    def _broken_whole(self, table: Table, place: str, value: object) -> None:
        """Remember all entries of a table that cannot be used."""
        if place == "providers":
            assistants = table.get("assistants")
            entries = assistants.values() if isinstance(assistants, Mapping) else ()
            used = [entry.get("provider") for entry in entries if isinstance(entry, Mapping)]
            names = checks.names_in([value, table.get("default_provider"), used])
            why = "providers cannot be used: it has to be a table, written as [providers.NAME]"
            self._broken_providers |= dict.fromkeys(names, why)
        elif place == "data_sources":
            for name, entry in value.items() if isinstance(value, Mapping) else [(place, value)]:
                self._broken(place, name, entry, "")

    @staticmethod
    def _refuse_misspelt(table: Table, known: Collection[str], binding: Collection[str]) -> None:
        """Refuse an entry in which a key is missing and misspelt that would have bound it.

        Raises:
            WrongValueError: There is one; names both.
        """
        for key, written in checks.misspelt(table, known).items():
            if key in binding:
                raise WrongValueError(f"{key_of('', written)} is a key nobody knows. Did you mean {key!r}?")

    def _provider(self, name: str, table: Table) -> ProviderEntry:
        self._refuse_misspelt(table, PROVIDER_KEYS, ("profile", "base_url", "confidence", "can_call_tools"))
        self.unknown_keys(key_of("providers", name), table, PROVIDER_KEYS)
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
            parameters=_optional(table, "parameters", checks.json_table, NOTHING),
        )

    def _data_source(self, name: str, table: Table) -> DataSourceEntry:
        written = checks.misspelt(table, ("confidence",), alike=_ALIKE).get("confidence")
        if "confidence" not in table:
            written = written or next((key for key in table if "confidence" in key.lower()), None)
        if written:
            raise WrongValueError(f"{key_of('', written)} is probably meant for 'confidence', which is missing")
        rest = checks.json_table({key: value for key, value in table.items() if key not in ("kind", "name")})
        return DataSourceEntry(name, _required(table, "kind"), _optional(table, "name", checks.text, name), rest)

    def _template(self, name: str, table: Table) -> ChatTemplateEntry:
        self._refuse_misspelt(table, TEMPLATE_KEYS, ("tool_ids",))
        self.unknown_keys(key_of("chat_templates", name), table, TEMPLATE_KEYS)
        return ChatTemplateEntry(
            id=name,
            name=_optional(table, "name", checks.text, name),
            system_prompt=_optional(table, "system_prompt", checks.any_text, ""),
            tool_ids=_optional(table, "tool_ids", checks.names, None),
        )

    def _assistant(self, name: str, table: Table) -> AssistantEntry:
        self._refuse_misspelt(table, ASSISTANT_KEYS, ("component", "tool_ids", "provider"))
        self.unknown_keys(key_of("assistants", name), table, ASSISTANT_KEYS)
        return AssistantEntry(
            id=name,
            name=_optional(table, "name", checks.text, name),
            system_prompt=_optional(table, "system_prompt", checks.any_text, ""),
            component=_optional(table, "component", checks.text, "META_ASSISTANT").upper(),
            tool_ids=_optional(table, "tool_ids", checks.names, None),
            provider=_optional(table, "provider", checks.text, ""),
            description=_optional(table, "description", checks.any_text, ""),
        )


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
