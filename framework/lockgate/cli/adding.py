"""Adding and removing a provider: settings, key, and what is said about both."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass

from lockgate.app.home import LazySecrets, open_lockgate
from lockgate.app.providers import OFFLINE
from lockgate.cli.changing import change_of, has_key, is_loopback, tell_change, tell_unusable
from lockgate.cli.exit_status import ExitStatus
from lockgate.cli.keeping import asked_secret, put
from lockgate.cli.running import run
from lockgate.cli.terminal import console, note, notes, safe
from lockgate.errors import ConfigurationError, UnknownNameError, UsageError
from lockgate.policy import SELF_HOSTED_TYPE
from lockgate.providers.endpoint import without_credentials
from lockgate.providers.profile import ProviderProfile
from lockgate.settings.file_values import ProviderEntry
from lockgate.settings.files import UserSettings
from lockgate.settings.home import Home
from lockgate.settings.secrets import provider_secret_name

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


@dataclass(frozen=True, slots=True)
class Addition:
    """What was said on the command line; an option that was left out is None."""

    id: str
    profile: str | None
    name: str | None
    base_url: str | None
    model: str | None
    key_from_env: str | None
    no_key: bool
    self_hosted: bool | None
    as_default: bool
    replace: bool = False

    @property
    def stated(self) -> dict[str, str | bool]:
        """The keys of the entry that an option names, with their values; an empty value takes a key out."""
        named = {
            "profile": self.profile, "name": self.name, "base_url": self.base_url, "model": self.model,
            "api_key_variable": self.key_from_env, "self_hosted": self.self_hosted,
        }  # fmt: skip
        return {key: value for key, value in named.items() if value is not None}


def add(addition: Addition) -> int:
    """Add a provider: first everything is checked, then the key is asked for, then both are written.

    One that is there is changed when it may be replaced: what no option names stays.

    Raises:
        UnknownNameError: There is no such profile.
        UsageError: The ID is taken, or is none.
        ConfigurationError: A value is wrong, or something cannot be written; nothing of it is left then.
    """
    home = Home.find()
    settings = UserSettings(home.settings_file)
    _check_id(addition.id, settings, replace=addition.replace)
    profiles = run(_profiles(home))
    name = addition.profile or addition.id
    there = settings.read()
    old = there.providers.get(addition.id)
    if old is not None:
        name = addition.profile or old.profile
    if name not in profiles:
        raise UnknownNameError("provider profile", name, profiles)
    profile = profiles[name]
    if old is None:
        if addition.id in there.broken_providers:
            tell_unusable(there.broken_providers[addition.id])
        return _add_new(home, settings, addition, profile)

    _check_address(profile, old.base_url if addition.base_url is None else addition.base_url)
    change = change_of(old, addition.stated, profiles)
    tell_change(change, home, settings)
    variable = change.new.api_key_variable
    key = "" if addition.no_key or variable else _asked_key(profile, kept=True)
    change.write(settings, lambda: _keep(home, settings, addition, key))
    console().print(f"Changed {old.id!r} in {home.settings_file}.")
    _tell_what_is_missing(change.new.model, variable, profile, key, has_stored=has_key(home, old.id))
    return ExitStatus.OK


def _add_new(home: Home, settings: UserSettings, addition: Addition, profile: ProviderProfile) -> int:
    base_url = addition.base_url or profile.base_url
    _check_address(profile, base_url)
    self_hosted = addition.self_hosted
    if self_hosted is None:
        self_hosted = profile.provider_type == SELF_HOSTED_TYPE and is_loopback(base_url)
        if self_hosted:
            shown = safe(without_credentials(base_url))
            notes().print(f"{shown} is on this machine, so it counts as self-hosted.", style="dim")
    key = "" if addition.no_key or addition.key_from_env else _asked_key(profile)
    settings.add_provider(ProviderEntry(
        addition.id, profile.id, name=addition.name or "", base_url=addition.base_url or "",
        model=addition.model or "", api_key_variable=addition.key_from_env or "", self_hosted=self_hosted,
    ), replace=addition.replace)  # fmt: skip
    try:
        _keep(home, settings, addition, key)
    except ConfigurationError:
        if not addition.replace:
            settings.remove_provider(addition.id)
        raise
    console().print(f"Added {addition.id!r} to {home.settings_file}.")
    _tell_what_is_missing(addition.model or "", addition.key_from_env or "", profile, key)
    return ExitStatus.OK


def _check_address(profile: ProviderProfile, base_url: str) -> None:
    if not (base_url or profile.base_url) and profile.adapter != OFFLINE:
        raise ConfigurationError(f"The profile {profile.id!r} knows no address: name one with --base-url.")


async def _profiles(home: Home) -> Mapping[str, ProviderProfile]:
    async with open_lockgate(home) as gate:
        return gate.assembly.directory.profiles


def _check_id(provider_id: str, settings: UserSettings, *, replace: bool) -> None:
    if not _ID.fullmatch(provider_id):
        raise UsageError(
            f"{provider_id[:40]!r} is no ID for a provider: it has 1 to 64 ASCII letters, digits and . _ -, and begins "
            "with a letter or digit."
        )
    if not replace and provider_id in settings.read().providers:
        raise UsageError(
            f"There is a provider {provider_id!r} already. With --replace the options you name change it, and the rest "
            "of it stays."
        )


def _keep(home: Home, settings: UserSettings, addition: Addition, key: str) -> None:
    if key:
        put(home, provider_secret_name(addition.id), key)
    if addition.as_default:
        settings.set_value(("default_provider",), addition.id)


def _tell_what_is_missing(
    model: str, named_variable: str, profile: ProviderProfile, key: str, *, has_stored: bool = False
) -> None:
    if not model and not profile.default_model:
        note("it has no model yet: name one with --model when you ask, or set it in the settings")
    if key or profile.authentication == "none" or (has_stored and not named_variable):
        return
    variable = named_variable or profile.api_key_variable
    if variable and not os.environ.get(variable, "").strip():
        note(f"the environment variable {variable} is expected to hold its key, and is not set now")


def _asked_key(profile: ProviderProfile, *, kept: bool = False) -> str:
    """Ask for the key without echo, or read a line from a pipe."""
    if profile.authentication == "none":
        return ""
    optional = ""
    if kept:
        optional = " (empty to change nothing about it)"
    elif profile.provider_type == SELF_HOSTED_TYPE:
        optional = " (empty for none)"
    elif os.environ.get(profile.api_key_variable, "").strip():
        optional = f" (empty to use {profile.api_key_variable})"
    return asked_secret(f"API key for {profile.title}{optional}")


def remove(provider_id: str) -> int:
    """Remove a provider and its key.

    Raises:
        UnknownNameError: There is no such provider in the settings.
        ConfigurationError: Something cannot be written.
    """
    home = Home.find()
    settings = UserSettings(home.settings_file)
    settings.remove_provider(provider_id)
    secrets = LazySecrets(home).store
    secrets.delete(provider_secret_name(provider_id))
    console().print(f"Removed {provider_id!r}.")
    return ExitStatus.OK
