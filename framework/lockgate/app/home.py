"""A ``Lockgate`` with what lies in the user's home: settings, secrets, chats."""

from collections.abc import Iterator, Mapping
from typing import Any

from lockgate.app.configuration import Configuration, InstanceConfig, ProviderConfig
from lockgate.app.lockgate import Lockgate
from lockgate.plugin_host.policy import HostPolicy
from lockgate.policy import SetBy, SetByKind
from lockgate.registry.rules import MAX_TOOL_CALLS, MAX_TOOL_RESULT_CHARACTERS, Minimum, Rules
from lockgate.settings.effective import Layers
from lockgate.settings.file_values import SettingsFile
from lockgate.settings.files import UserSettings
from lockgate.settings.home import Home
from lockgate.settings.secrets import SecretStore, system_keyring
from lockgate.storage import SqliteChatStore
from lockgate.tools.definition import Components

_FAMILY = "data_source"


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
    by_user = SetBy(SetByKind.USER, file=str(home.settings_file))
    problems = [f"In {home.settings_file}: {problem}" for problem in file.problems]
    known = {component.value for component in Components}
    problems.extend(
        f"In {home.settings_file}: default_tool_ids_by_component names the component {name!r}, which does not exist."
        for name in file.default_tool_ids_by_component
        if name not in known
    )
    rules = Rules(
        tools_enabled=file.enable_tools,
        tools_enabled_by=by_user,
        disabled=dict.fromkeys(sorted(file.disabled_tool_ids), by_user),
        minimums={
            name: Minimum(level, by_user) for name, level in file.minimum_provider_confidence_by_tool_id.items()
        },
        layers=Layers(user=file.tool_settings, secrets=secrets),
        scheme=file.confidence_scheme,
        custom_scheme=file.custom_confidence,
        trusted_provider_ids=frozenset(name.lower() for name in file.trusted_provider_ids),
        default_tools=file.default_tool_ids_by_component,
        max_tool_calls=file.max_tool_calls or MAX_TOOL_CALLS,
        max_tool_result_characters=file.max_tool_result_characters or MAX_TOOL_RESULT_CHARACTERS,
    )
    providers = {
        entry.id: ProviderConfig(
            entry.id, entry.profile, name=entry.name, base_url=entry.base_url, model=entry.model,
            api_key_variable=entry.api_key_variable, self_hosted=entry.self_hosted, confidence=entry.confidence,
            can_call_tools=entry.can_call_tools, parameters=entry.parameters, set_by=by_user,
        )
        for entry in file.providers.values()
    }  # fmt: skip
    instances = tuple(
        InstanceConfig(entry.id, entry.kind, _FAMILY, name=entry.name, values=entry.settings, set_by=by_user)
        for entry in file.data_sources.values()
    )
    return Configuration(
        rules=rules, providers=providers, instances=instances,
        host=HostPolicy(allowed=file.allowed_plugins, disabled=file.disabled_plugins),
        default_provider=file.default_provider, secret=secrets.read, problems=tuple(problems),
    )


def open_lockgate(home: Home | None = None, **overrides: Any) -> Lockgate:
    """Return a ``Lockgate`` with the user's settings, secrets and chats. Nothing is written before there is need.

    Args:
        home: Where they lie; found by `Home.find` when left out.
        overrides: Anything `Lockgate` takes.

    Raises:
        ConfigurationError: The settings file is no TOML; it names file and line, and the file is left as it is.
    """
    home = home or Home.find()
    secrets = LazySecrets(home)
    configuration = configuration_from(UserSettings(home.settings_file).read(), home, secrets)
    overrides.setdefault("store", SqliteChatStore(home.chats_file))
    overrides.setdefault("data_dir", home.data_dir)
    return Lockgate(configuration, **overrides)
