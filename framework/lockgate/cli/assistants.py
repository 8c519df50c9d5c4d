"""``lockgate assistants``."""

import click


@click.group("assistants")
def command() -> None:
    """List assistants."""


@command.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def list_assistants(*, as_json: bool) -> int:
    """List assistants: prompts for one kind of work, with rules of their own about tools."""
    from lockgate.cli.presets import assistants
    from lockgate.cli.running import run

    return run(assistants(as_json=as_json))
