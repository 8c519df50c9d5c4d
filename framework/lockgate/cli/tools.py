"""``lockgate tools``."""

from pathlib import Path

import click


@click.group("tools")
def command() -> None:
    """List tools, and find out why one is there or not."""


@command.command("list")
@click.option("--component", default="", metavar="NAME", help="Only tools of a component, such as CHAT.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def list_tools(component: str, *, as_json: bool) -> int:
    """List all tools by collection: whether they are on and configured, whom they need, where their data goes."""
    from lockgate.cli.listing import tools
    from lockgate.cli.running import run

    return run(tools(component, as_json=as_json))


@command.command("explain")
@click.argument("tool")
@click.option("--provider", "-p", metavar="ID",
              help="The provider that would be asked; that of the chat's assistant, or the default, otherwise.")
@click.option("--model", "-m", metavar="NAME", help="Another model than the configured one.")
@click.option("--chat", metavar="ID", help="A kept chat, or `last`; a new one otherwise.")
@click.option("--tool", "-t", "selected", multiple=True, metavar="ID", help="As if it were selected. Repeatable.")
@click.option("--template", metavar="NAME", help="As if a new chat began with this chat template.")
@click.option("--assistant", metavar="NAME", help="As if this assistant were asked.")
@click.option("--docs", type=click.Path(path_type=Path), metavar="PATH", help="As if the chat searched this folder.")
@click.option("--source", "-s", "sources", multiple=True, metavar="ID",
              help="As if the chat searched this configured data source; `all` for all of them. Repeatable.")
@click.option("--component", default="", metavar="NAME", help="As if it were asked from there.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def explain_tool(  # noqa: PLR0917 - click passes each option by name
    tool: str, provider: str | None, model: str | None, chat: str | None, selected: tuple[str, ...],
    template: str | None, assistant: str | None, docs: Path | None, sources: tuple[str, ...], component: str, *,
    as_json: bool,
) -> int:  # fmt: skip
    """Say why TOOL would be offered or not: each check in order, who set the rule, what would change it."""
    from lockgate.cli.ask import check_together
    from lockgate.cli.explaining import Asked, explain
    from lockgate.cli.running import run

    check_together(template, assistant, chat)
    asked = Asked(
        tool, provider, chat, selected, docs, component, model or "", sources=sources, template=template,
        assistant=assistant,
    )  # fmt: skip
    return run(explain(asked, as_json=as_json))


@command.command("secret")
@click.argument("tool")
@click.argument("setting")
@click.option("--delete", is_flag=True, help="Forget the secret.")
def keep_secret(tool: str, setting: str, *, delete: bool) -> int:
    """Keep a secret SETTING of TOOL, such as an API key. It is asked for without echo, or read from a pipe."""
    from lockgate.cli.keeping import keep

    return keep(tool, setting, delete=delete)
