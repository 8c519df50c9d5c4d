"""A ``Lockgate`` with what lies in the user's home: settings, secrets, chats."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from lockgate.app.configuration import Configuration, InstanceConfig, ProviderConfig, told_in
from lockgate.app.lockgate import Lockgate
from lockgate.app.templates import Assistant, ChatTemplate
from lockgate.plugin_host.policy import HostPolicy
from lockgate.policy import BUILT_IN, ConfidenceLevel, ConfidenceScheme, Minimum, SetBy, SetByKind
from lockgate.registry.previews import BUILT_IN_PREVIEWS, PreviewSwitch, switches
from lockgate.registry.rules import MAX_RESTRICTED_CALLS, MAX_TOOL_CALLS, MAX_TOOL_RESULT_CHARACTERS, Rules
from lockgate.settings.effective import Layers
from lockgate.settings.file_checks import nearest
from lockgate.settings.file_tables import key_of, written
from lockgate.settings.file_values import SettingsFile
from lockgate.settings.files import UserSettings
from lockgate.settings.home import Home
from lockgate.settings.secrets import SecretStore, system_keyring
from lockgate.storage import SqliteChatStore
from lockgate.tools.definition import Components

_FAMILY = "data_source"
_COMPONENTS = tuple(component.value for component in Components if component is not Components.NONE)

NO_DEFAULT = "(default_provider)"
"""Stands for the provider that is asked when none is named, while its setting is wrong: it is refused."""


class LazySecrets(Mapping[str, str]):
    """The user's secrets as a mapping that asks the keyring only for what is looked up, and once."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._store: SecretStore | None = None
        self._known: dict[str, str | None] = {}

    @property
    def store(self) -> SecretStore:
        """The store behind it; the keyring is looked for when it is first needed."""
        if self._store is None:
            home = self._home
            self._store = SecretStore(home.secrets_file, service=home.keyring_service, backend=system_keyring())
        return self._store

    def read(self, name: str) -> str | None:
        """Return a secret, or None."""
        if name not in self._known:
            self._known[name] = self.store.get(name)
        return self._known[name]

    def __getitem__(self, name: str) -> str:
        value = self.read(name)
        if value is None:
            raise KeyError(name)
        return value

    def __iter__(self) -> Iterator[str]:
        return iter([name for name, value in self._known.items() if value is not None])

    def __len__(self) -> int:
        return sum(1 for _ in self)


def configuration_from(file: SettingsFile, home: Home, secrets: LazySecrets) -> Configuration:
    """Turn the user's settings into a configuration. What could not be used is in `problems`."""
    return _Configured(file, home).made(secrets)


class _Configured:
    """Turns a settings file into values that say who set them."""

    def __init__(self, file: SettingsFile, home: Home) -> None:
        self._file, self._place = file, str(home.settings_file)
        self._lines = {written(path): line for path, line in file.lines.items() if line is not None}
        self._problems = [self._told(str(problem), problem.key) for problem in file.problems]

    def made(self, secrets: LazySecrets) -> Configuration:
        """Return the configuration."""
        file = self._file
        rules = self._rules(secrets)
        providers = {
            entry.id: ProviderConfig(
                entry.id, entry.profile, name=entry.name, base_url=entry.base_url, model=entry.model,
                api_key_variable=entry.api_key_variable, self_hosted=entry.self_hosted, confidence=entry.confidence,
                can_call_tools=entry.can_call_tools, parameters=entry.parameters,
                set_by=self._by("providers", entry.id),
            )
            for entry in file.providers.values()
        }  # fmt: skip
        instances = tuple(
            InstanceConfig(
                entry.id, entry.kind, _FAMILY, name=entry.name, values=entry.settings,
                set_by=self._by("data_sources", entry.id),
            )
            for entry in file.data_sources.values()
        )  # fmt: skip
        templates = {
            entry.id: ChatTemplate(
                entry.id, entry.name, entry.system_prompt, entry.tool_ids, self._by("chat_templates", entry.id)
            )
            for entry in file.chat_templates.values()
        }
        return Configuration(
            rules=rules, providers=providers, instances=instances, chat_templates=templates,
            assistants=self._assistants(),
            host=HostPolicy(allowed=file.allowed_plugins, disabled=file.disabled_plugins),
            default_provider=NO_DEFAULT if file.default_provider_problem else file.default_provider,
            secret=secrets.read, refused_providers=self._refused(), broken_sources=file.broken_data_sources,
            problems=tuple(self._problems), place=self._place, lines=self._lines,
        )  # fmt: skip

    def _told(self, text: str, *keys: str) -> str:
        return told_in(self._place, self._lines, text, *keys)

    def _by(self, *key: str) -> SetBy:
        """Return the user, with the line of a key where it is known."""
        return SetBy(SetByKind.USER, file=self._place, line=self._file.lines.get(key))

    def _refused(self) -> dict[str, str]:
        """Return the providers that must not be asked, each with what is wrong in the file."""
        refused = dict(self._file.broken_providers)
        if self._file.default_provider_problem:
            refused[NO_DEFAULT] = self._file.default_provider_problem
        told = {name: self._told(why, why.partition(" ")[0]) for name, why in refused.items()}  # it begins with its key
        return {name: why if why.endswith(("?", ".")) else f"{why}." for name, why in told.items()}

    def _rules(self, secrets: LazySecrets) -> Rules:
        file = self._file
        has_scheme = ("confidence", "scheme") in file.lines or file.confidence_scheme is not ConfidenceScheme.TRUST_ALL
        defaults, minimums = "default_tool_ids_by_component", "minimum_provider_confidence_by_tool_id"
        self._known_components(defaults, file.default_tool_ids_by_component)
        calls, characters, restricted = (
            file.max_tool_calls, file.max_tool_result_characters, file.max_restricted_calls
        )  # fmt: skip
        return Rules(
            tools_enabled=file.enable_tools,
            tools_enabled_by=self._by(*file.tools_off_by),
            disabled={
                **{name: self._by("tools", name) for name in sorted(file.unusable_tools)},
                **dict.fromkeys(sorted(file.disabled_tool_ids), self._by("disabled_tool_ids")),
            },
            minimums={
                name: Minimum(level, self._by(minimums, name))
                for name, level in file.minimum_provider_confidence_by_tool_id.items()
            },
            previews=switches(self._previews(), {}, {}),
            layers=Layers(user=file.tool_settings, secrets=secrets, user_by=self._tools_by()),
            scheme=file.confidence_scheme,
            custom_scheme=file.custom_confidence,
            scheme_by=self._by("confidence", "scheme") if has_scheme else BUILT_IN,
            global_minimum=self._global_minimum(),
            trusted_provider_ids=frozenset(name.lower() for name in file.trusted_provider_ids),
            default_tools=file.default_tool_ids_by_component,
            default_tools_by=self._by(defaults) if file.default_tool_ids_by_component else BUILT_IN,
            visible_selection_components=frozenset(
                self._known_components("visible_tool_selection_components", file.visible_selection_components)
            ),
            max_tool_calls=MAX_TOOL_CALLS if calls is None else calls,
            max_tool_result_characters=MAX_TOOL_RESULT_CHARACTERS if characters is None else characters,
            max_restricted_calls=MAX_RESTRICTED_CALLS if restricted is None else restricted,
        )

    def _global_minimum(self) -> Minimum | None:
        level = self._file.global_minimum
        if not self._file.enforce_global_minimum or level is ConfidenceLevel.NONE:
            return None
        return Minimum(level, self._by(*self._file.global_minimum_by))

    def _tools_by(self) -> dict[str, SetBy]:
        """Return who set each setting of a tool: the user, with its line, else that of the tool's table."""
        lines, found = self._file.lines, dict[str, SetBy]()
        for key in self._file.tool_settings:
            tool_id, _, name = key.partition(".")
            own = ("tools", tool_id, name)
            found[key] = self._by(*(own if own in lines else own[:2]))
        return found

    def _previews(self) -> dict[str, PreviewSwitch]:
        """Return the user's switches, each with its line."""
        if self._file.all_previews_off:
            return {preview.id: PreviewSwitch(False, self._by("previews")) for preview in BUILT_IN_PREVIEWS}
        return {
            name: PreviewSwitch(is_on, self._by("previews", name)) for name, is_on in self._file.previews.items()
        }

    def _known_components(self, key: str, names: Iterable[str]) -> list[str]:
        """Return the components among some names, in the order of the names; the others are problems."""
        found = []
        for name in sorted(names):
            if name in _COMPONENTS:
                found.append(name)
            else:
                hint = nearest(name.upper(), _COMPONENTS)
                self._problems.append(
                    self._told(f"{key} names the component {name!r}, which does not exist.{hint}", key)
                )
        return found

    def _assistants(self) -> dict[str, Assistant]:
        found: dict[str, Assistant] = {}
        for entry in self._file.assistants.values():
            if entry.component not in _COMPONENTS:
                key, hint = key_of("assistants", entry.id), nearest(entry.component, _COMPONENTS)
                text = f"{key} is left out: it names the component {entry.component!r}, which does not exist.{hint}"
                self._problems.append(self._told(text, key_of(key, "component"), key))
                continue
            found[entry.id] = Assistant(
                entry.id, entry.name, entry.system_prompt, Components[entry.component], entry.tool_ids,
                entry.provider, entry.description, self._by("assistants", entry.id),
            )  # fmt: skip
        return found


def read_configuration(home: Home) -> Configuration:
    """Return the configuration in a user's home. Nothing is written.

    Raises:
        ConfigurationError: The settings file is no TOML; it names file and line, and the file is left as it is.
    """
    return configuration_from(UserSettings(home.settings_file).read(), home, LazySecrets(home))


def open_lockgate(
    home: Home | None = None, configuration: Configuration | None = None, **overrides: Any
) -> Lockgate:
    """Return a ``Lockgate`` with the user's settings, secrets and chats. Nothing is written before there is need.

    Args:
        home: Where they lie; found by `Home.find` when left out.
        configuration: The settings and secrets, where `read_configuration` has read them before.
        overrides: Anything `Lockgate` takes.

    Raises:
        ConfigurationError: The settings file is no TOML; it names file and line, and the file is left as it is.
    """
    home = home or Home.find()
    overrides.setdefault("store", SqliteChatStore(home.chats_file))
    overrides.setdefault("data_dir", home.data_dir)
    return Lockgate(configuration or read_configuration(home), **overrides)
