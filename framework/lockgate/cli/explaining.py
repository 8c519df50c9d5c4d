"""What `lockgate tools explain` prints."""

from pathlib import Path

from lockgate.app.home import open_lockgate
from lockgate.app.providers import Provider
from lockgate.cli.asking import chat_of, names_of_tools
from lockgate.cli.exit_status import ExitStatus
from lockgate.cli.folders import with_documents
from lockgate.cli.problems import tell_problems
from lockgate.cli.terminal import console, note, safe, write_json
from lockgate.errors import UnknownNameError
from lockgate.policy import SetByKind
from lockgate.registry.checks import Block
from lockgate.registry.explain import Explanation


async def explain(
    tool: str, provider: str | None, chat: str | None, selected: tuple[str, ...], docs: Path | None, *, as_json: bool
) -> int:
    """Explain a tool, or each tool of a collection.

    Without a selection it is taken as selected: the question is what else is in the way.

    Raises:
        UnknownNameError: No tool or collection of that name is registered.
    """
    async with open_lockgate() as gate:
        if not as_json:
            tell_problems(gate)
        registry = gate.registry
        tool_ids = [item.id for item in registry.tools if tool in (item.id, registry.get_collection_id(item.id))]
        if registry.get(tool) is not None:
            tool_ids = [tool]
        if not tool_ids:
            for rejection in registry.rejections:
                if rejection.id == tool:
                    note(str(rejection))
            raise UnknownNameError("tool", tool, names_of_tools(gate))
        ready = gate.provider(provider)
        for name in selected:
            if not registry.is_known(name):
                raise UnknownNameError("tool", name, names_of_tools(gate))
        thread = await chat_of(gate, chat)
        if docs is not None:
            thread = await with_documents(gate, thread, docs, verbose=False)
        chosen = selected or (None if thread is not None and thread.selected_tools is not None else (tool,))
        answers = [
            await gate.explain(tool_id, provider=ready, chat=thread, selected=chosen) for tool_id in tool_ids
        ]
        if as_json:
            rows = [_as_object(answer, ready.config.id) for answer in answers]
            write_json(rows[0] if tool_ids == [tool] else rows)
        else:
            for answer in answers:
                _print(answer, ready)
    return ExitStatus.OK


def _print(answer: Explanation, provider: Provider) -> None:
    out, standing = console(), provider.standing
    out.print(f"{answer.tool_id}, asked of {safe(provider.config.id)}", style="bold")
    hosted = "self-hosted" if standing.self_hosted else "not self-hosted"
    out.print(f"  provider: confidence {standing.confidence.name}, {hosted}", style="dim")
    for verdict in answer.verdicts:
        block = verdict.block
        out.print("  ok  " if block is None else "  no  ", style="green" if block is None else "red", end="")
        out.print(verdict.check)
        if block is not None:
            out.print(f"        {safe(block.why)}")
            out.print(f"        set by: {safe(str(block.set_by))}", style="dim")
            if block.change is not None:
                out.print(f"        what would change it: {safe(_worded(block))}", style="dim")
    if answer.beyond:
        out.print(f"  -   {safe(answer.beyond)}", style="yellow")
    if answer.offered:
        out.print("It would be offered.", style="bold green")
    else:
        out.print("It would not be offered.", style="bold red")


_KEYS = {
    "DataTools.EnableTools": "enable_tools",
    "DataTools.DisabledToolIds": "disabled_tool_ids",
}


def _worded(block: Block) -> str:
    """Say what would change it, with the key of ``settings.toml`` where the user set the rule."""
    text = str(block.change)
    if block.set_by.kind is SetByKind.ORGANIZATION:
        return text
    for name, key in _KEYS.items():
        text = text.replace(name, key)
    return text


def _as_object(answer: Explanation, provider: str) -> dict[str, object]:
    rows = [
        {
            "check": verdict.check,
            "passes": verdict.block is None,
            "reason": verdict.block.reason.value if verdict.block else None,
            "why": verdict.block.why if verdict.block else None,
            "set_by": str(verdict.block.set_by) if verdict.block else None,
            "change": _worded(verdict.block) if verdict.block and verdict.block.change else None,
        }
        for verdict in answer.verdicts
    ]
    return {
        "tool": answer.tool_id, "provider": provider, "offered": answer.offered, "selected": answer.selected,
        "beyond": answer.beyond or None, "checks": rows,
    }  # fmt: skip
