"""``lockgate plugins``."""

import click


@click.group("plugins")
def command() -> None:
    """List plugins, and find out what is wrong with one."""


@command.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def list_plugins(*, as_json: bool) -> int:
    """List plugins: where they come from, what became of them, what they bring."""
    from lockgate.cli.listing import plugins
    from lockgate.cli.running import run

    return run(plugins(as_json=as_json))


@command.command("doctor")
@click.option("--verbose", "-v", is_flag=True, help="Show tracebacks.")
def doctor(*, verbose: bool) -> int:
    """Say what is wrong with plugins and what to do about it. Status 1 when something is."""
    from lockgate.cli import listing
    from lockgate.cli.running import run

    return run(listing.doctor(verbose=verbose))
