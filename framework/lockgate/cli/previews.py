"""``lockgate previews``."""

import click


@click.group("previews")
def command() -> None:
    """List preview features, and switch them on or off."""


@command.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def list_previews(*, as_json: bool) -> int:
    """List preview features: whether they are on, who says so, what they stand on, which tools belong to them."""
    from lockgate.cli.previewing import previews
    from lockgate.cli.running import run

    return run(previews(as_json=as_json))


@command.command("on")
@click.argument("name")
def switch_on(name: str) -> int:
    """Switch the preview NAME on, in settings.toml."""
    return _switch(name, is_on=True)


@command.command("off")
@click.argument("name")
def switch_off(name: str) -> int:
    """Switch the preview NAME off, in settings.toml. Its tools are then nowhere; selections keep their names."""
    return _switch(name, is_on=False)


def _switch(name: str, *, is_on: bool) -> int:
    from lockgate.cli.previewing import switch
    from lockgate.cli.running import run

    return run(switch(name, is_on=is_on))
