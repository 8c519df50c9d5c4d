"""``lockgate ask``."""

import sys
from pathlib import Path

import click

MAX_QUESTION_BYTES = 20 * 1024 * 1024
"""The most that is read from a pipe."""


@click.command("ask")
@click.option("--provider", "-p", metavar="ID", help="A configured provider, or the name of a profile.")
@click.option("--model", "-m", metavar="NAME", help="Another model than the configured one.")
@click.option("--tool", "-t", "tools", multiple=True, metavar="ID", help="Select a tool or collection. Repeatable.")
@click.option("--no-tools", is_flag=True,
              help="Switch off all tools that can be selected, and keep it so in the chat. Those that offer "
                   "themselves, such as the search of --docs and --source, go by the chat's data sources.")
@click.option("--template", metavar="NAME", help="Begin the new chat with a chat template.")
@click.option("--assistant", metavar="NAME", help="Ask an assistant: its prompt, its tools, its provider.")
@click.option("--docs", type=click.Path(path_type=Path), multiple=True, metavar="PATH",
              help="A folder or file of text to search; the model gets the tool semantic_search for it. Repeatable.")
@click.option("--source", "-s", "sources", multiple=True, metavar="ID",
              help="Search a configured data source; `all` for all of them. Repeatable.")
@click.option("--attach", "attached", multiple=True, type=click.Path(path_type=Path), metavar="FILE",
              help="Send a document with the question. Repeatable.")
@click.option("--chat", metavar="ID", help="Go on with a kept chat; `last` is the latest.")
@click.option("--json", "as_json", is_flag=True,
              help="Print one JSON object: text, sources, traces, requirements, usage, stopped.")
@click.option("--verbose", "-v", count=True,
              help="Show what is offered and why not, rounds, tokens, details; -vv shows the log as well.")
@click.argument("question", nargs=-1, required=False)
def command(  # noqa: PLR0917 - click passes each option by name
    provider: str | None, model: str | None, tools: tuple[str, ...], docs: tuple[Path, ...],
    sources: tuple[str, ...], attached: tuple[Path, ...], chat: str | None, question: tuple[str, ...],
    template: str | None, assistant: str | None, *, no_tools: bool, as_json: bool, verbose: int,
) -> int:  # fmt: skip
    """Ask a question. Text streams as it comes, each call is shown as it runs, numbered sources end the answer.

    QUESTION may also come from standard input: `-`, or a pipe.
    """
    check_together(template, assistant, chat)
    if no_tools and tools:
        raise click.UsageError("--no-tools selects no tool; leave out --tool, or --no-tools.")
    text = " ".join(question)
    if text == "-" or (not text and not _is_terminal()):
        text = _piped()
    if not text.strip():
        raise click.UsageError('Ask something: lockgate ask "What is …?"')
    from lockgate.cli.asking import Request, ask
    from lockgate.cli.running import run

    request = Request(
        text.strip(), provider, model or "", tools, docs, sources, attached, chat, as_json, verbose > 0,
        template=template, assistant=assistant, no_tools=no_tools, shows_log=verbose > 1,
    )  # fmt: skip
    return run(ask(request))


def check_together(template: str | None, assistant: str | None, chat: str | None) -> None:
    """Refuse a template, an assistant and a kept chat that do not go together."""
    if template is not None and chat is not None:
        raise click.UsageError("--template begins a new chat; leave out --chat, or --template.")
    if template is not None and assistant is not None:
        raise click.UsageError("A template and an assistant both bring a prompt; leave out --template, or --assistant.")


def _is_terminal() -> bool:
    return sys.stdin is None or sys.stdin.isatty()


def _piped() -> str:
    """Return what stands in the pipe, as UTF-8 whatever the system's encoding is."""
    if sys.stdin is None:
        return ""
    content = sys.stdin.buffer.read(MAX_QUESTION_BYTES + 1)
    if len(content) > MAX_QUESTION_BYTES:
        raise click.UsageError(f"Standard input holds more than {MAX_QUESTION_BYTES} bytes.")
    return content.decode("utf-8-sig", "replace")
