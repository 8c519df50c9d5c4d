"""``lockgate ask``."""

import sys
from pathlib import Path

import click

from lockgate.cli.exit_status import ExitStatus


@click.command("ask")
@click.option("--provider", "-p", metavar="ID", help="A configured provider, or the name of a profile.")
@click.option("--model", "-m", metavar="NAME", help="Another model than the configured one.")
@click.option("--tool", "-t", "tools", multiple=True, metavar="ID", help="Select a tool or collection. Repeatable.")
@click.option("--docs", type=click.Path(path_type=Path), metavar="PATH",
              help="A folder or file of text to search; the model gets the tool semantic_search for it.")
@click.option("--attach", "attached", multiple=True, type=click.Path(path_type=Path), metavar="FILE",
              help="Send a document with the question. Repeatable.")
@click.option("--chat", metavar="ID", help="Go on with a kept chat; `last` is the latest.")
@click.option("--json", "as_json", is_flag=True,
              help="Print one JSON object: text, sources, traces, requirements, usage, stopped.")
@click.option("--verbose", "-v", is_flag=True, help="Show what is offered and why not, rounds, tokens, details.")
@click.argument("question", nargs=-1, required=False)
def command(  # noqa: PLR0917 - click passes each option by name
    provider: str | None, model: str | None, tools: tuple[str, ...], docs: Path | None, attached: tuple[Path, ...],
    chat: str | None, question: tuple[str, ...], *, as_json: bool, verbose: bool,
) -> int:  # fmt: skip
    """Ask a question. Text streams as it comes, each call is shown as it runs, numbered sources end the answer.

    QUESTION may also come from standard input: `-`, or a pipe.
    """
    text = " ".join(question)
    if text == "-" or (not text and not sys.stdin.isatty()):
        text = sys.stdin.read()
    if not text.strip():
        raise click.UsageError('Ask something: lockgate ask "What is …?"')
    from lockgate.cli.asking import Request, ask
    from lockgate.cli.running import Interrupted, run

    request = Request(text.strip(), provider, model or "", tools, docs, attached, chat, as_json, verbose)
    try:
        return run(ask(request))
    except Interrupted:
        return ExitStatus.INTERRUPTED
