"""``lockgate templates``."""

import click


@click.group("templates")
def command() -> None:
    """List chat templates."""


@command.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def list_templates(*, as_json: bool) -> int:
    """List what new chats can begin with: system prompts that come with tools."""
    from lockgate.cli.presets import templates
    from lockgate.cli.running import run

    return run(templates(as_json=as_json))
