"""The list of commands, without any of them: ours stand in a table, those of packs are read from their metadata."""

import importlib
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

# Name → one line of help. It stands here, so that the list of commands imports none of them.
_COMMANDS = {
    "ask": "Ask a question; tools are called under the rules.",
    "assistants": "List assistants: prompts with rules of their own about tools.",
    "chats": "List, show, fork, export, import and remove kept chats.",
    "plugins": "List plugins, and find out what is wrong with one.",
    "previews": "List preview features, and switch them on or off.",
    "providers": "List, add and remove providers of models.",
    "settings": "Check settings.toml: what in it cannot be used, and where.",
    "templates": "List chat templates: what a new chat can begin with.",
    "tools": "List tools, and find out why one is there or not.",
}
GROUP = "lockgate.commands"
"""The group of entry points that packs announce commands in."""


class LazyGroup(click.Group):
    """Imports a command when it is called. Commands of packs come through the entry points ``lockgate.commands``."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return all names; nothing is imported."""
        del ctx
        return sorted({*_COMMANDS, *_of_packs()})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one command."""
        del ctx
        if cmd_name in _COMMANDS:
            command: click.Command = importlib.import_module(f"lockgate.cli.{cmd_name}").command
            return command
        entry = _of_packs().get(cmd_name)
        return None if entry is None else _of_pack(entry)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands; nothing is imported."""
        packs = _of_packs()
        rows = [(name, f"A command of {_owner(entry)}.") for name, entry in packs.items()]
        rows = sorted([*_COMMANDS.items(), *rows])
        with formatter.section("Commands"):
            formatter.write_dl(rows)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that was named, or suggest the nearest."""
        name = args[0] if args else ""
        if name not in _COMMANDS and name not in (known := self.list_commands(ctx)):
            import difflib

            near = difflib.get_close_matches(name, known, n=1)
            hint = f" Did you mean {near[0]!r}?" if near else f" There are: {', '.join(known)}."
            ctx.fail(f"There is no command {name!r}.{hint}")
        return super().resolve_command(ctx, args)


def _of_packs() -> "dict[str, EntryPoint]":
    """Return the commands of packs. Of two with one name that of the first distribution stays; ours cannot be taken."""
    from importlib.metadata import entry_points

    found: dict[str, EntryPoint] = {}
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: (_owner(entry).lower(), entry.name)):
        if entry.name not in _COMMANDS:
            found.setdefault(entry.name, entry)
    return found


def _owner(entry: "EntryPoint") -> str:
    return entry.dist.name if entry.dist is not None else "a pack"


def _of_pack(entry: "EntryPoint") -> click.Command:
    _check_allowed(entry)
    try:
        command = entry.load()
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        text = f"The command {entry.name!r} of {_owner(entry)} cannot be loaded: {type(error).__name__}: {error}"
        raise click.ClickException(text) from error
    if not isinstance(command, click.Command):
        raise click.ClickException(f"The command {entry.name!r} of {_owner(entry)} is no click command.")
    return command


def _check_allowed(entry: "EntryPoint") -> None:
    """Refuse a command of a distribution that must not be imported.

    Raises:
        ConfigurationError: The settings switch it off, or cannot be read.
    """
    from lockgate.errors import ConfigurationError
    from lockgate.plugin_host.policy import HostPolicy
    from lockgate.settings.files import UserSettings
    from lockgate.settings.home import Home

    settings = UserSettings(Home.find().settings_file).read()
    policy = HostPolicy(allowed=settings.allowed_plugins, disabled=settings.disabled_plugins)
    owner = _owner(entry)
    if policy.disables(owner, entry.name):
        raise ConfigurationError(f"The command {entry.name!r} of {owner} is switched off in the settings.")
    if not policy.allows(owner):
        raise ConfigurationError(f"The command {entry.name!r} cannot be used: {owner} is not on the allow list.")
