"""Adding and removing a provider: settings, key, and what is said about both."""

import ipaddress
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from lockgate.app.home import LazySecrets, open_lockgate
from lockgate.app.providers import OFFLINE
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
    """What was said on the command line."""

    id: str
    profile: str
    name: str
    base_url: str
    model: str
    key_from_env: str
    no_key: bool
    self_hosted: bool | None
    as_default: bool
    replace: bool = False


def is_loopback(url: str) -> bool:
    """Tell whether an address is on this machine."""
    try:
        host = urlsplit(url).hostname or ""
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def add(addition: Addition) -> int:
    """Add a provider: first everything is checked, then the key is asked for, then both are written.

    Raises:
        UnknownNameError: There is no such profile.
        UsageError: The ID is taken, or is none.
        ConfigurationError: A value is wrong, or something cannot be written; nothing of it is left then.
    """
    home = Home.find()
    settings = UserSettings(home.settings_file)
    _check_id(addition.id, settings, replace=addition.replace)
    profiles = run(_profiles(home))
    if addition.profile not in profiles:
        raise UnknownNameError("provider profile", addition.profile, profiles)
    profile = profiles[addition.profile]
    base_url = addition.base_url or profile.base_url
    if not base_url and profile.adapter != OFFLINE:
        raise ConfigurationError(f"The profile {profile.id!r} knows no address: name one with --base-url.")
    self_hosted = addition.self_hosted
    if self_hosted is None:
        self_hosted = profile.provider_type == SELF_HOSTED_TYPE and is_loopback(base_url)
        if self_hosted:
            shown = safe(without_credentials(base_url))
            notes().print(f"{shown} is on this machine, so it counts as self-hosted.", style="dim")
    key = "" if addition.no_key or addition.key_from_env else _asked_key(profile)
    _write(home, settings, addition, key, self_hosted=self_hosted)
    console().print(f"Added {addition.id!r} to {home.settings_file}.")
    _tell_what_is_missing(addition, profile, key)
    return ExitStatus.OK


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
        raise UsageError(f"There is a provider {provider_id!r} already. --replace writes it anew.")


def _write(home: Home, settings: UserSettings, addition: Addition, key: str, *, self_hosted: bool) -> None:
    settings.add_provider(ProviderEntry(
        addition.id, addition.profile, name=addition.name, base_url=addition.base_url, model=addition.model,
        api_key_variable=addition.key_from_env, self_hosted=self_hosted,
    ), replace=addition.replace)  # fmt: skip
    try:
        if key:
            put(home, provider_secret_name(addition.id), key)
        if addition.as_default:
            settings.set_value(("default_provider",), addition.id)
    except ConfigurationError:
        if not addition.replace:
            settings.remove_provider(addition.id)
        raise


def _tell_what_is_missing(addition: Addition, profile: ProviderProfile, key: str) -> None:
    if not addition.model and not profile.default_model:
        note("it has no model yet: name one with --model when you ask, or set it in the settings")
    if key or profile.authentication == "none":
        return
    variable = addition.key_from_env or profile.api_key_variable
    if variable and not os.environ.get(variable, "").strip():
        note(f"the environment variable {variable} is expected to hold its key, and is not set now")


def _asked_key(profile: ProviderProfile) -> str:
    """Ask for the key without echo, or read a line from a pipe."""
    if profile.authentication == "none":
        return ""
    optional = ""
    if profile.provider_type == SELF_HOSTED_TYPE:
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
