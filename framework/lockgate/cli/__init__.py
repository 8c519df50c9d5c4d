"""The command line. Each command is imported when it is called; help and version import nothing else."""

import importlib
import os
import sys
from importlib.metadata import EntryPoint, entry_points
from typing import Any, NoReturn

import click

import lockgate

# Name → (module, one line of help). The line stands here, so that the list of commands imports none of them.
_COMMANDS = {
    "ask": ("ask", "Ask a question; tools are called under the rules."),
    "chats": ("chats", "List the chats that were kept."),
    "plugins": ("plugins", "List plugins, and find out what is wrong with one."),
    "providers": ("providers", "List, add and remove providers of models."),
    "tools": ("tools", "List tools, and find out why one is there or not."),
}


class _LazyGroup(click.Group):
    """Imports a command when it is called. Commands of packs come through the entry points `lockgate.commands`."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return sorted({*_COMMANDS, *_of_packs()})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        del ctx
        if cmd_name in _COMMANDS:
            module = importlib.import_module(f"lockgate.cli.{_COMMANDS[cmd_name][0]}")
            command: click.Command = module.command
            return command
        entry = _of_packs().get(cmd_name)
        return None if entry is None else _of_pack(entry)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        rows = [(name, _short_help(name)) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl(rows)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        import difflib

        name = args[0] if args else ""
        if name not in self.list_commands(ctx):
            near = difflib.get_close_matches(name, self.list_commands(ctx), n=1)
            hint = f" Did you mean {near[0]!r}?" if near else f" There are: {', '.join(self.list_commands(ctx))}."
            ctx.fail(f"There is no command {name!r}.{hint}")
        return super().resolve_command(ctx, args)


def _of_packs() -> dict[str, EntryPoint]:
    return {entry.name: entry for entry in entry_points(group="lockgate.commands") if entry.name not in _COMMANDS}


def _short_help(name: str) -> str:
    if name in _COMMANDS:
        return _COMMANDS[name][1]
    entry = _of_packs().get(name)
    distribution = entry.dist.name if entry is not None and entry.dist is not None else "a pack"
    return f"A command of {distribution}."


def _of_pack(entry: EntryPoint) -> click.Command:
    try:
        command = entry.load()
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        text = f"The command {entry.name!r} cannot be loaded: {type(error).__name__}: {error}"
        raise click.ClickException(text) from None
    if not isinstance(command, click.Command):
        raise click.ClickException(f"The command {entry.name!r} is no click command.")
    return command


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(lockgate.__version__, prog_name="lockgate")
def cli() -> None:
    """Tool calling for language models under rules that an organization sets.

    Exit status: 0 done, 1 failed, 2 not understood, 3 configuration, 4 provider, 5 denied by a rule, 6 document,
    7 answered in part, 130 interrupted.
    """


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the command line and end the process with its status.

    Never waits for a tool that was left behind in a thread.
    """
    status: Any = 1
    try:
        status = cli.main(arguments, prog_name="lockgate", standalone_mode=False)
    except click.exceptions.Abort:
        click.echo("Interrupted.", err=True)
        status = 130
    except click.ClickException as error:
        error.show()
        status = error.exit_code
    except click.exceptions.Exit as end:
        status = end.exit_code
    except KeyboardInterrupt:
        click.echo("Interrupted.", err=True)
        status = 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = 1
    except lockgate.LockgateError as error:
        from lockgate.cli.exit_status import status_of
        from lockgate.cli.terminal import show_error

        show_error(error)
        status = status_of(error)
    raise SystemExit(int(status or 0))
