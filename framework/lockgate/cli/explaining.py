"""What `lockgate tools explain` prints."""

from pathlib import Path

from lockgate.app.home import open_lockgate
from lockgate.cli.asking import chat_of, with_documents
from lockgate.cli.exit_status import ExitStatus
from lockgate.cli.terminal import console, safe, write_json
from lockgate.errors import UnknownNameError
from lockgate.registry.explain import Explanation


async def explain(
    tool: str, provider: str | None, chat: str | None, selected: tuple[str, ...], docs: Path | None, *, as_json: bool
) -> int:
    """Explain a tool. Without a selection it is taken as selected: the question is what else is in the way.

    Raises:
        UnknownNameError: No tool of that name is registered.
    """
    async with open_lockgate() as gate:
        if gate.registry.get(tool) is None:
            raise UnknownNameError("tool", tool, [registered.id for registered in gate.registry.tools])
        thread = await chat_of(gate, chat)
        if docs is not None:
            thread = await with_documents(gate, thread, docs, verbose=False)
        chosen = selected or (None if thread is not None and thread.selected_tools is not None else (tool,))
        ready = gate.provider(provider)
        answer = await gate.explain(tool, provider=ready, chat=thread, selected=chosen)
        (_print_json if as_json else _print)(answer, ready.config.id)
    return ExitStatus.OK


def _print(answer: Explanation, provider: str) -> None:
    out = console()
    out.print(f"{answer.tool_id}, asked of {provider}", style="bold")
    for verdict in answer.verdicts:
        block = verdict.block
        out.print("  ok  " if block is None else "  no  ", style="green" if block is None else "red", end="")
        out.print(verdict.check)
        if block is not None:
            out.print(f"        {safe(block.why)}")
            out.print(f"        set by: {block.set_by}", style="dim")
            if block.change is not None:
                out.print(f"        what would change it: {block.change}", style="dim")
    if answer.beyond:
        out.print(f"  -   {safe(answer.beyond)}", style="yellow")
    if answer.offered:
        out.print("It would be offered.", style="bold green")
    else:
        out.print("It would not be offered.", style="bold red")


def _print_json(answer: Explanation, provider: str) -> None:
    rows = [
        {
            "check": verdict.check,
            "passes": verdict.block is None,
            "reason": verdict.block.reason.value if verdict.block else None,
            "why": verdict.block.why if verdict.block else None,
            "set_by": str(verdict.block.set_by) if verdict.block else None,
            "change": str(verdict.block.change) if verdict.block and verdict.block.change else None,
        }
        for verdict in answer.verdicts
    ]
    write_json({
        "tool": answer.tool_id, "provider": provider, "offered": answer.offered, "selected": answer.selected,
        "beyond": answer.beyond or None, "checks": rows,
    })  # fmt: skip
