"""``lockgate providers``."""

import click


@click.group("providers")
def command() -> None:
    """List, add, change and remove providers of models."""


@command.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def list_providers(*, as_json: bool) -> int:
    """List configured providers: model, address, confidence, whether there is a key (never the key)."""
    from lockgate.cli.listing import providers
    from lockgate.cli.running import run

    return run(providers(as_json=as_json))


@command.command("add")
@click.argument("provider_id", metavar="ID")
@click.option("--profile", metavar="NAME", help="How its host speaks; the ID itself when left out.")
@click.option("--name", help="What people call it.")
@click.option("--base-url", metavar="URL", help="Where its API lives, if not where the profile says.")
@click.option("--model", "-m", metavar="NAME", help="The model to ask.")
@click.option("--key-from-env", metavar="VARIABLE", help="The environment variable that holds the key.")
@click.option("--no-key", is_flag=True, help="Do not ask for a key.")
@click.option("--self-hosted/--no-self-hosted", default=None,
              help="You run it. Left out: yes for self-hosted software on this machine, else no.")
@click.option("--default", "as_default", is_flag=True, help="Ask it when no provider is named.")
@click.option("--replace", is_flag=True, help="Change a provider of that ID: what no option names stays as it is.")
def add_provider(  # noqa: PLR0917 - click passes each option by name
    provider_id: str, profile: str | None, name: str | None, base_url: str | None, model: str | None,
    key_from_env: str | None, *, no_key: bool, self_hosted: bool | None, as_default: bool, replace: bool,
) -> int:  # fmt: skip
    """Add a provider under ID. The key is asked for without echo, or read from a pipe; it never stands in settings."""
    from lockgate.cli.adding import Addition, add

    return add(Addition(
        provider_id, profile, name, base_url, model, key_from_env, no_key, self_hosted, as_default, replace,
    ))  # fmt: skip


@command.command("key")
@click.argument("provider_id", metavar="ID")
def keep_key(provider_id: str) -> int:
    """Ask for the key of a provider and keep it; nothing else is changed. ID may be a profile's name, too."""
    from lockgate.cli.keeping import keep_key as keep

    return keep(provider_id)


@command.command("remove")
@click.argument("provider_id", metavar="ID")
def remove_provider(provider_id: str) -> int:
    """Remove a provider and its stored key."""
    from lockgate.cli.adding import remove

    return remove(provider_id)
