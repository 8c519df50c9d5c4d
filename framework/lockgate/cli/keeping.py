"""Keeping secrets: asking for one without echo, and putting it where secrets lie."""

import sys

import click

from lockgate.app.configuration import ProviderConfig
from lockgate.app.home import LazySecrets, open_lockgate
from lockgate.cli.exit_status import ExitStatus
from lockgate.cli.running import run
from lockgate.cli.terminal import console, note, safe
from lockgate.errors import UnknownNameError, UsageError
from lockgate.providers.profile import ProviderProfile
from lockgate.settings.home import Home
from lockgate.settings.secrets import provider_secret_name, tool_secret_name

MAX_SECRET_BYTES = 16_384
"""The longest line that is read as a secret."""


def asked_secret(words: str) -> str:
    """Ask for a secret without echo, or read one line from a pipe; empty when there is none."""
    if sys.stdin is None:
        return ""
    if not sys.stdin.isatty():
        return sys.stdin.buffer.readline(MAX_SECRET_BYTES).decode("utf-8-sig", "replace").strip()
    text: str = click.prompt(safe(words), default="", hide_input=True, show_default=False, err=True)
    return text.strip()


def put(home: Home, name: str, value: str) -> None:
    """Keep a secret, saying so where there is no keyring.

    Raises:
        ConfigurationError: It could not be kept.
    """
    secrets = LazySecrets(home).store
    if secrets.warning:
        other = " The key of a provider can stand in an environment variable instead (--key-from-env VARIABLE)."
        note(secrets.warning + (other if name.startswith(provider_secret_name("")) else ""))
    secrets.set(name, value)


def keep(tool_id: str, setting: str, *, delete: bool) -> int:
    """Keep or forget a secret of a tool's settings.

    Raises:
        UnknownNameError: There is no such tool, or it has no such secret.
        UsageError: Nothing was given.
        ConfigurationError: It could not be kept.
    """
    home = Home.find()
    names = run(_secrets_of(home, tool_id))
    if setting not in names:
        raise UnknownNameError(f"secret setting of {tool_id}", setting, names)
    name = tool_secret_name(tool_id, setting)
    if delete:
        LazySecrets(home).store.delete(name)
        console().print(f"Forgot {name}.")
        return ExitStatus.OK
    value = asked_secret(f"{setting} of {tool_id}")
    if not value:
        raise UsageError("No secret was given.")
    put(home, name, value)
    console().print(f"Kept {name}.")
    return ExitStatus.OK


def keep_key(provider_id: str) -> int:
    """Ask for the key of a provider, configured or of a profile's name, and keep it. Nothing else is touched.

    Raises:
        UnknownNameError: There is no such provider.
        UsageError: It takes no stored key, or none was given.
        ConfigurationError: Its entry cannot be used, or the key could not be kept.
    """
    home = Home.find()
    config, profile = run(_provider(home, provider_id))
    if profile is not None and profile.authentication == "none":
        raise UsageError(f"The provider {provider_id!r} needs no key.")
    if config.api_key_variable:
        raise UsageError(
            f"The provider {provider_id!r} takes its key from the environment variable {config.api_key_variable} and "
            f"from nowhere else; `lockgate providers add {provider_id} --replace --key-from-env \"\"` changes that and "
            "asks for the key."
        )
    title = config.name or provider_id
    value = asked_secret(f"API key for {title}")
    if not value:
        raise UsageError("No key was given.")
    put(home, provider_secret_name(provider_id), value)
    console().print(f"Kept the key of {provider_id!r}.")
    return ExitStatus.OK


async def _provider(home: Home, provider_id: str) -> tuple[ProviderConfig, ProviderProfile | None]:
    async with open_lockgate(home) as gate:
        found = gate.assembly.directory
        config = found.config(provider_id)
        return config, found.profiles.get(config.profile)


async def _secrets_of(home: Home, tool_id: str) -> frozenset[str]:
    async with open_lockgate(home) as gate:
        registered = gate.registry.get(tool_id)
        if registered is None:
            raise UnknownNameError("tool", tool_id, [tool.id for tool in gate.registry.tools])
        return registered.settings_model.secret_names()
