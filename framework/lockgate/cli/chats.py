"""``lockgate chats``."""

import click


@click.group("chats")
def command() -> None:
    """List the chats that were kept."""


@command.command("list")
@click.option("--limit", default=20, show_default=True, type=click.IntRange(1, 1000), help="How many, latest first.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def list_chats(limit: int, *, as_json: bool) -> int:
    """List chats, the latest first. Go on with one by `lockgate ask --chat ID`."""
    from lockgate.cli.listing import chats
    from lockgate.cli.running import run

    return run(chats(limit, as_json=as_json))
