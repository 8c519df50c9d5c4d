"""Adding and removing a provider: settings, key, and what is said about both."""

import ipaddress
import sys
from dataclasses import dataclass
from urllib.parse import urlsplit

import click

from lockgate.app.home import LazySecrets, open_lockgate
from lockgate.cli.exit_status import ExitStatus
from lockgate.cli.terminal import console, notes, safe
from lockgate.errors import ConfigurationError, UnknownNameError
from lockgate.policy import SELF_HOSTED_TYPE
from lockgate.providers.profile import ProviderProfile
from lockgate.settings.file_values import ProviderEntry
from lockgate.settings.files import UserSettings
from lockgate.settings.home import Home
from lockgate.settings.secrets import provider_secret_name


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


def is_loopback(url: str) -> bool:
    """Tell whether an address is on this machine."""
    try:
        host = urlsplit(url).hostname or ""
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


async def add(addition: Addition) -> int:
    """Add a provider.

    Raises:
        UnknownNameError: There is no such profile.
        ConfigurationError: The settings cannot be written, or the ID is taken.
    """
    async with open_lockgate() as gate:
        profiles = gate.assembly.directory.profiles
    if addition.profile not in profiles:
        raise UnknownNameError("provider profile", addition.profile, profiles)
    profile = profiles[addition.profile]
    base_url = addition.base_url or profile.base_url
    if not base_url and profile.adapter != "offline":
        raise ConfigurationError(f"The profile {profile.id!r} knows no address: name one with --base-url.")
    self_hosted = addition.self_hosted
    if self_hosted is None:
        self_hosted = profile.provider_type == SELF_HOSTED_TYPE and is_loopback(base_url)
        if self_hosted:
            notes().print(f"{safe(base_url)} is on this machine, so it counts as self-hosted.", style="dim")
    key = "" if addition.no_key or addition.key_from_env else _asked_key(profile)
    home = Home.find()
    settings = UserSettings(home.settings_file)
    settings.add_provider(ProviderEntry(
        addition.id, addition.profile, name=addition.name, base_url=addition.base_url, model=addition.model,
        api_key_variable=addition.key_from_env, self_hosted=self_hosted,
    ))  # fmt: skip
    if addition.as_default:
        settings.set_value(("default_provider",), addition.id)
    if key:
        secrets = LazySecrets(home).store
        if secrets.warning:
            notes().print(safe(secrets.warning), style="yellow")
        secrets.set(provider_secret_name(addition.id), key)
    console().print(f"Added {addition.id!r} to {home.settings_file}.")
    if not addition.model and not profile.default_model:
        notes().print("It has no model yet: name one with --model when you ask, or set it there.", style="yellow")
    return ExitStatus.OK


def _asked_key(profile: ProviderProfile) -> str:
    if profile.authentication == "none":
        return ""
    if not sys.stdin.isatty():
        return sys.stdin.readline().strip()
    optional = " (empty for none)" if profile.provider_type == SELF_HOSTED_TYPE else ""
    text: str = click.prompt(f"API key for {profile.title}{optional}", default="", hide_input=True, show_default=False)
    return text.strip()


def remove(provider_id: str) -> int:
    """Remove a provider and its key.

    Raises:
        UnknownNameError: There is no such provider in the settings.
    """
    home = Home.find()
    settings = UserSettings(home.settings_file)
    if settings.read().default_provider == provider_id:
        settings.remove_value(("default_provider",))
    settings.remove_provider(provider_id)
    secrets = LazySecrets(home)
    if secrets.read(provider_secret_name(provider_id)) is not None:
        secrets.store.delete(provider_secret_name(provider_id))
    console().print(f"Removed {provider_id!r}.")
    return ExitStatus.OK
