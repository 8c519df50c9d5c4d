"""From a configured provider to one frozen value that request, rules and executor share."""

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase

from lockgate.addresses import AddressError, WebAddress
from lockgate.app.configuration import ProviderConfig, no_secrets
from lockgate.app.contributed import in_order, read_all, read_profile, with_name
from lockgate.errors import ConfigurationError, UnknownNameError, UsageError
from lockgate.policy import (
    BUILT_IN,
    PROVIDER_TYPES,
    SELF_HOSTED_TYPE,
    ConfidenceLevel,
    ProviderStanding,
    SetBy,
    SetByKind,
    provider_confidence,
)
from lockgate.providers.contract import ProviderAdapter
from lockgate.providers.endpoint import Endpoint
from lockgate.providers.profile import ProviderProfile
from lockgate.registry.contribution import Contribution
from lockgate.registry.rules import Rules
from lockgate.settings.secrets import FoundKey, find_provider_key

OFFLINE = "offline"
"""ID of the provider that is there without any configuration."""

_OFFLINE_DISTRIBUTION = "lockgate-offline"


@dataclass(frozen=True, slots=True)
class Provider:
    """A provider ready to be asked: configuration, profile, adapter, endpoint, and its standing under the rules."""

    config: ProviderConfig
    profile: ProviderProfile
    adapter: ProviderAdapter
    endpoint: Endpoint
    model: str
    standing: ProviderStanding
    from_directory: bool = False


@dataclass(frozen=True, slots=True)
class Directory:
    """All adapters and profiles that plugins brought, and the configured providers.

    Attributes:
        adapters, profiles, configs: By ID.
        secret: Returns a stored secret by name.
        problems: What could not be taken, in sentences for a person.
        refused: ID of a configured provider whose entry cannot be used → why.
    """

    adapters: Mapping[str, ProviderAdapter]
    profiles: Mapping[str, ProviderProfile]
    configs: Mapping[str, ProviderConfig]
    secret: Callable[[str], str | None] = no_secrets
    problems: tuple[str, ...] = ()
    refused: Mapping[str, str] = field(default_factory=dict)

    def config(self, provider_id: str) -> ProviderConfig:
        """Return a configured provider; a profile's ID stands for one with the profile's own values.

        Raises:
            UnknownNameError: Neither is there.
            ConfigurationError: It is configured, and its entry cannot be used. A profile of that name is not asked
                instead: its host is another one.
        """
        if provider_id in self.refused and provider_id not in self.configs:
            raise ConfigurationError(f"The provider {provider_id!r} cannot be used: {self.refused[provider_id]}")
        if provider_id in self.configs:
            return self.configs[provider_id]
        if provider_id in self.profiles:
            title = self.profiles[provider_id].title
            return ProviderConfig(provider_id, provider_id, name=title, set_by=BUILT_IN)
        raise UnknownNameError("provider", provider_id, {*self.configs, *self.profiles})

    def standing_now(self, provider: Provider, rules: Rules) -> ProviderStanding:
        """Return how far a provider is trusted now: its entry may have changed since it was made ready.

        One whose entry is gone, or now means another host, is trusted with nothing: what runs still speaks to the old.
        """
        config = provider.config
        if provider.from_directory:
            try:
                config = replace(self.config(config.id), model=provider.model)  # the model that is really asked
            except UsageError:
                return _nothing(provider.standing)
            if (config.profile, config.base_url) != (provider.config.profile, provider.config.base_url):
                return _nothing(provider.standing)
        return standing_of(config, provider.profile, rules)

    def standings(self, rules: Rules) -> list[ProviderStanding]:
        """Return how far every configured provider is trusted, in order of their IDs."""
        return [
            standing_of(config, self.profiles[config.profile], rules)
            for _, config in sorted(self.configs.items()) if config.profile in self.profiles
        ]

    def _profile(self, config: ProviderConfig) -> ProviderProfile:
        if config.profile not in self.profiles:
            raise UnknownNameError("provider profile", config.profile, self.profiles)
        return self.profiles[config.profile]

    def standing(self, config: ProviderConfig, rules: Rules) -> ProviderStanding:
        """Return how far a provider is trusted; it need not be ready to be asked, so no key is looked for.

        Raises:
            UnknownNameError: Its profile is not installed.
        """
        return standing_of(config, self._profile(config), rules)

    def provider(self, config: ProviderConfig, rules: Rules, *, from_directory: bool = False) -> Provider:
        """Make a provider ready.

        Args:
            config: How it is configured.
            rules: The rules in force.
            from_directory: The configuration is an entry of this directory, so later changes of it count.

        Raises:
            UnknownNameError: Its profile or the profile's adapter is not installed.
            ConfigurationError: An address, a key or a model is missing.
        """
        profile = self._profile(config)
        if profile.adapter not in self.adapters:
            raise UnknownNameError("provider adapter", profile.adapter, self.adapters)
        model = config.model or profile.default_model
        name = config.name or config.id
        if not model:
            raise ConfigurationError(
                f"The provider {config.id!r} needs a model: name one with --model, or set it in settings.toml."
            )
        base_url = config.base_url or profile.base_url
        if not base_url and profile.adapter != OFFLINE:
            raise ConfigurationError(f"The provider {config.id!r} needs a base_url, such as http://127.0.0.1:8000/v1.")
        key = _key(config, profile, self.secret)
        return Provider(
            config, profile, self.adapters[profile.adapter], Endpoint(base_url, key, name=name), model,
            standing_of(config, profile, rules), from_directory,
        )


def find_key(
    config: ProviderConfig, profile: ProviderProfile, secret: Callable[[str], str | None]
) -> FoundKey | None:
    """Look for a provider's key: in its configuration, then where `find_provider_key` looks."""
    if config.api_key and not config.api_key_variable:
        return FoundKey(config.api_key, "configuration")
    return find_provider_key(config.id, config.api_key_variable, profile.api_key_variable, secret, os.environ)


def _key(config: ProviderConfig, profile: ProviderProfile, secret: Callable[[str], str | None]) -> str:
    found = find_key(config, profile, secret)
    if found is not None:
        return found.value
    if profile.authentication == "none" or profile.provider_type == SELF_HOSTED_TYPE:
        return ""
    if config.api_key_variable:
        raise ConfigurationError(
            f"The provider {config.id!r} has no API key: its entry names the environment variable "
            f"{config.api_key_variable}, which is not set."
        )
    variable = profile.api_key_variable
    held = f", and the environment variable {variable} can hold it" if variable else ""
    command = f"lockgate providers key {config.id}"
    if config.set_by == BUILT_IN:
        command = f"lockgate providers add {config.id} --profile {profile.id}"
    raise ConfigurationError(f"The provider {config.id!r} has no API key: `{command}` asks for it{held}.")


def _nothing(standing: ProviderStanding) -> ProviderStanding:
    return replace(standing, confidence=ConfidenceLevel.NONE, self_hosted=False, trusted=False)


def standing_of(config: ProviderConfig, profile: ProviderProfile, rules: Rules) -> ProviderStanding:
    """Work out how far a provider is trusted. SELF_HOSTED is for the instance to state, not for a profile.

    Where the organization chose the scheme, a user may give a provider less than it says, and never more.
    """
    provider_type = profile.provider_type
    self_hosted = config.self_hosted and not _is_the_vendors(config, profile)
    if self_hosted:
        provider_type = SELF_HOSTED_TYPE
    elif provider_type == SELF_HOSTED_TYPE:
        provider_type = "UNKNOWN"
    confidence = provider_confidence(rules.scheme, provider_type, rules.custom_scheme)
    confidence_by = config.set_by if self_hosted else rules.scheme_by
    bound = rules.scheme_by.kind is SetByKind.ORGANIZATION and config.set_by.kind is not SetByKind.ORGANIZATION
    if config.confidence is not None and not (bound and config.confidence >= confidence):
        confidence, confidence_by = config.confidence, config.set_by
    takes_tools, ground, capability_by = _takes_tools(config, profile)
    return ProviderStanding(
        config.id, provider_type, confidence, self_hosted=self_hosted,
        trusted=config.id.lower() in rules.trusted_provider_ids,
        can_call_tools=takes_tools, capability_ground=ground,
        confidence_by=confidence_by, capability_by=capability_by,
    )


def _is_the_vendors(config: ProviderConfig, profile: ProviderProfile) -> bool:
    """Tell whether a provider's address is that of a known vendor whose profile it has: nobody else runs that host."""
    vendor = profile.provider_type in PROVIDER_TYPES and profile.provider_type != SELF_HOSTED_TYPE
    if not vendor or not profile.base_url:
        return False
    try:
        return WebAddress.parse(config.base_url or profile.base_url).host == WebAddress.parse(profile.base_url).host
    except AddressError:
        return False


def _takes_tools(config: ProviderConfig, profile: ProviderProfile) -> tuple[bool, str, SetBy]:
    """Say whether a model takes tools, on what ground, and who said so."""
    if config.can_call_tools is not None:
        return config.can_call_tools, f"stated for the provider {config.id!r}", config.set_by
    model = (config.model or profile.default_model).lower()
    for pattern in profile.models_without_tools:
        if fnmatchcase(model, pattern.lower()):
            return False, f"the profile {profile.id!r} lists {pattern!r} among models without tools", BUILT_IN
    return True, "assumed for a model nobody described", BUILT_IN


def directory(  # noqa: PLR0917 - what plugins brought and what is configured are that many tables
    adapters: Iterable[Contribution],
    profiles: Iterable[Contribution],
    configs: Mapping[str, ProviderConfig],
    secret: Callable[[str], str | None] = no_secrets,
    pins: Mapping[str, str] | None = None,
    refused: Mapping[str, str] | None = None,
) -> Directory:
    """Collect what plugins brought. Of two with one ID the first stays, unless the other is pinned; both are told.

    Args:
        adapters: What plugins contribute as adapters.
        profiles: What plugins contribute as profiles.
        configs: Configured providers by ID.
        secret: Returns a stored secret by name.
        pins: ID that two plugins claim → the distribution that has it.
        refused: ID of a configured provider whose entry cannot be used → why.
    """
    problems: list[str] = []
    known_adapters = _first(adapters, "provider adapter", problems, pins or {})
    known_profiles: dict[str, Contribution] = _first(profiles, "provider profile", problems, pins or {})
    known = dict(configs)
    offline = known_profiles.get(OFFLINE)
    if offline is not None and OFFLINE not in known and OFFLINE not in (refused or {}):
        first_party = offline.owner.distribution == _OFFLINE_DISTRIBUTION or offline.owner.first_party
        known[OFFLINE] = ProviderConfig(
            OFFLINE, OFFLINE, name=offline.value.title, self_hosted=first_party, set_by=BUILT_IN
        )
    for config in known.values():
        profile = known_profiles.get(config.profile)
        if config.self_hosted and profile is not None and _is_the_vendors(config, profile.value):
            problems.append(f"The provider {config.id!r} does not count as self-hosted: its host is the vendor's own.")
    return Directory(
        {key: item.value for key, item in known_adapters.items()},
        {key: item.value for key, item in known_profiles.items()},
        known,
        secret,
        tuple(problems),
        refused or {},
    )


def _first(
    contributions: Iterable[Contribution], what: str, problems: list[str], pins: Mapping[str, str]
) -> dict[str, Contribution]:
    found: dict[str, Contribution] = {}
    copying = read_profile if what == "provider profile" else with_name()
    for item, name, value in in_order(read_all(contributions, what, copying, problems), pins):
        if name in found:
            problems.append(f"The {what} {name!r} of {item.owner} was not taken: {found[name].owner} has that name.")
        else:
            found[name] = replace(item, value=value)
    return found


def with_overrides(
    config: ProviderConfig, *, model: str = "", confidence: ConfidenceLevel | None = None
) -> ProviderConfig:
    """Return the configuration with a model or a level chosen for one run."""
    if model:
        config = replace(config, model=model)
    return config if confidence is None else replace(config, confidence=confidence)
