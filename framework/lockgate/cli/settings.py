"""``lockgate settings``."""

from pathlib import Path

import click


@click.group("settings")
def command() -> None:
    """Check settings.toml."""


@command.command("check")
@click.argument("file", required=False, type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def check_settings(file: Path | None, *, as_json: bool) -> int:
    """Say what in settings.toml, or in another FILE, cannot be used or means nothing, with its line. Changes nothing.

    Status 3 when there is something.
    """
    from lockgate.cli.checking import check
    from lockgate.cli.running import run

    return run(check(file, as_json=as_json))
