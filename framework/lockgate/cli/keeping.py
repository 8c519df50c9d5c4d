"""Keeping secrets: asking for one without echo, and putting it where secrets lie."""

import sys

import click

from lockgate.app.home import LazySecrets, open_lockgate
from lockgate.cli.exit_status import ExitStatus
from lockgate.cli.running import run
from lockgate.cli.terminal import console, note, safe
from lockgate.errors import UnknownNameError, UsageError
from lockgate.settings.home import Home
from lockgate.settings.secrets import tool_secret_name

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
        note(secrets.warning)
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


async def _secrets_of(home: Home, tool_id: str) -> frozenset[str]:
    async with open_lockgate(home) as gate:
        registered = gate.registry.get(tool_id)
        if registered is None:
            raise UnknownNameError("tool", tool_id, [tool.id for tool in gate.registry.tools])
        return registered.settings_model.secret_names()
