"""``lockgate chats``."""

from pathlib import Path

import click


@click.group("chats")
def command() -> None:
    """List, show, fork, export, import and remove the chats that were kept."""


@command.command("list")
@click.option("--limit", default=20, show_default=True, type=click.IntRange(1, 1000), help="How many, latest first.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def list_chats(limit: int, *, as_json: bool) -> int:
    """List chats, the latest first. Go on with one by `lockgate ask --chat ID`."""
    from lockgate.cli.listing import chats
    from lockgate.cli.running import run

    return run(chats(limit, as_json=as_json))


@command.command("show")
@click.argument("chat", metavar="ID")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def show_chat(chat: str, *, as_json: bool) -> int:
    """Show a chat: what it selects, what it demands and who demanded it, its messages. ID may be `last`."""
    from lockgate.cli.chat_view import show
    from lockgate.cli.running import run

    return run(show(chat, as_json=as_json))


@command.command("fork")
@click.argument("chat", metavar="ID")
@click.option("--at", type=click.IntRange(0), metavar="N", help="Keep the first N messages only; all otherwise.")
def fork_chat(chat: str, at: int | None) -> int:
    """Make a new chat that goes on from ID, and print its ID. It demands all that the old one does."""
    from lockgate.cli.chat_files import fork
    from lockgate.cli.running import run

    return run(fork(chat, at))


@command.command("export")
@click.argument("chat", metavar="ID")
@click.option("--output", "-o", type=click.Path(path_type=Path), metavar="FILE", help="Where to; printed otherwise.")
@click.option("--replace", is_flag=True, help="Write over a file that is there.")
def export_chat(chat: str, output: Path | None, *, replace: bool) -> int:
    """Write a chat as one JSON object, for another machine or for a copy."""
    from lockgate.cli.chat_files import export
    from lockgate.cli.running import run

    return run(export(chat, output, replace=replace))


@command.command("import")
@click.argument("file")
def import_chat(file: str) -> int:
    """Keep the chat of an exported FILE (`-`: standard input) under a new ID, and print it."""
    from lockgate.cli.chat_files import import_from
    from lockgate.cli.running import run

    return run(import_from(file))


@command.command("remove")
@click.argument("chat", metavar="ID")
@click.option("--yes", is_flag=True, help="Do not ask.")
def remove_chat(chat: str, *, yes: bool) -> int:
    """Remove a chat with its messages and all that it demands."""
    from lockgate.cli.chat_files import remove

    return remove(chat, yes=yes)
