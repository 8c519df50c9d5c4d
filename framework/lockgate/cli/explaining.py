"""What `lockgate tools explain` prints."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from lockgate.app.configuration import Configuration
from lockgate.app.home import open_lockgate, read_configuration
from lockgate.app.lockgate import Lockgate
from lockgate.app.templates import chat_of_assistant
from lockgate.chat.values import ChatThread
from lockgate.cli.asking import chat_of, names_of_tools
from lockgate.cli.exit_status import ExitStatus
from lockgate.cli.folders import with_documents
from lockgate.cli.names import check_provider, no_such
from lockgate.cli.problems import tell_problems
from lockgate.cli.sources import with_sources
from lockgate.cli.terminal import brief, console, indented, note, safe, write_json
from lockgate.errors import UnknownNameError
from lockgate.policy import SetBy, SetByKind
from lockgate.registry.beyond import BeyondKind
from lockgate.registry.checks import Change, ChangeKind
from lockgate.registry.explain import Explanation
from lockgate.settings.home import Home
from lockgate.tools.definition import Components


@dataclass(frozen=True, slots=True)
class Asked:
    """What an explanation was asked for. An empty component stands for that of the chat."""

    tool: str
    provider: str | None = None
    chat: str | None = None
    selected: tuple[str, ...] = ()
    docs: Path | None = None
    component: str = ""
    model: str = ""
    sources: tuple[str, ...] = ()
    template: str | None = None
    assistant: str | None = None


async def explain(asked: Asked, *, as_json: bool) -> int:
    """Explain a tool, or each tool of a collection.

    Raises:
        UnknownNameError: No tool or collection of that name is registered, or there is no such component.
        UsageError: A question like this one could not be asked, such as with another tool than an assistant's.
    """
    tool = asked.tool
    component = None
    if asked.component:
        if asked.component.upper() not in Components.__members__:
            raise UnknownNameError("component", asked.component, Components.__members__)
        component = Components[asked.component.upper()]
    home = Home.find()
    configuration = read_configuration(home)
    async with open_lockgate(home, configuration) as gate:
        if not as_json:
            tell_problems(gate)
        tool_ids = _ids_of(gate, tool)
        if asked.provider or not (asked.chat or asked.assistant):
            check_provider(gate, asked.provider or gate.default_provider)  # told before anything is indexed
        for name in asked.selected:
            if not gate.registry.is_known(name):
                raise UnknownNameError("tool", name, names_of_tools(gate))
        thread = await _thread(gate, configuration, asked)
        answers = [
            await gate.explain(
                tool_id, provider=asked.provider, model=asked.model, chat=thread, selected=asked.selected or None,
                component=component,
            )
            for tool_id in tool_ids
        ]
        if as_json:
            rows = [_as_object(answer) for answer in answers]
            write_json(rows[0] if tool_ids == [tool] else rows)
        else:
            for answer in answers:
                _print(answer, gate.registry.get_collection_id(answer.tool_id))
    return ExitStatus.OK


def _ids_of(gate: Lockgate, name: str) -> list[str]:
    """Return the tools that a name means: one, or those of a collection.

    Raises:
        UnknownNameError: It means none.
    """
    registry = gate.registry
    if registry.get(name) is not None:
        return [name]
    tool_ids = [item.id for item in registry.tools if name == registry.get_collection_id(item.id)]
    if not tool_ids:
        for rejection in registry.rejections:
            if rejection.id == name:
                note(str(rejection))
        raise UnknownNameError("tool", name, names_of_tools(gate))
    return tool_ids


async def _thread(gate: Lockgate, configuration: Configuration, asked: Asked) -> ChatThread | None:
    """Return the chat that a question like this one would be asked in; None for a new and empty one."""
    chat = await chat_of(gate, asked.chat)
    if asked.template is not None:
        if asked.template not in configuration.chat_templates:
            raise no_such(gate, "chat template", asked.template, configuration.chat_templates)
        chat = gate.new_chat(asked.template)
    if asked.assistant is not None:
        if asked.assistant not in configuration.assistants:
            raise no_such(gate, "assistant", asked.assistant, configuration.assistants)
        chat = chat_of_assistant(chat, gate.assistant(asked.assistant))
    if asked.sources:
        chat = await with_sources(gate, chat or ChatThread(), asked.sources)
    if asked.docs is not None:
        chat = await with_documents(gate, configuration, chat, asked.docs, verbose=False)
    return chat


def _print(answer: Explanation, collection: str) -> None:
    out, standing = console(), answer.standing
    out.print(f"{safe(answer.tool_id)}, asked of {safe(standing.id)} in {answer.component.value}", style="bold")
    hosted = "self-hosted" if standing.self_hosted else "not self-hosted"
    trusted = ", trusted for data security" if standing.trusted else ""
    level = f"confidence {standing.confidence.name} ({safe(brief(standing.confidence_by.phrase))})"
    out.print(f"  provider: {level}, {hosted}{trusted}", style="dim")
    takes = "takes tools" if standing.can_call_tools else "takes no tools"
    out.print(f"  model: {takes}, {safe(standing.capability_ground)}", style="dim")
    if answer.selected_by:
        out.print(f"  selected by: {safe(brief(answer.selected_by))}", style="dim")
    for verdict in answer.verdicts:
        block = verdict.block
        out.print("  ok  " if block is None else "  no  ", style="green" if block is None else "red", end="")
        out.print(verdict.check)
        if block is not None:
            _print_reason(block.why, block.set_by, (block.change, *block.or_else), collection)
    for beyond in answer.beyond:
        out.print("  no  ", style="red", end="")
        out.print(f"beyond the checks: {_BEYOND[beyond.kind]}")
        _print_reason(beyond.why, beyond.set_by, (beyond.change,), collection)
    if answer.also_with:
        out.print(f"  With these providers every check would pass: {safe(', '.join(answer.also_with))}", style="yellow")
    if answer.offered:
        out.print("It would be offered.", style="bold green", end=" ")
    else:
        out.print("It would not be offered.", style="bold red", end=" ")
    out.print(answer.ending, style="dim")


def _print_reason(why: str, set_by: SetBy, changes: Sequence[Change | None], collection: str) -> None:
    indented(safe(brief(why)), 8)
    indented(safe(brief(set_by.phrase)), 8, "dim")
    ways = [safe(_worded(change, set_by)) for change in changes if change is not None]
    if any(change is not None and change.setting == "selection" for change in changes):
        ways[-1] += f" (`--tool {safe(collection)}`)"
    if ways:
        indented(f"what would change it: {'; or '.join(ways)}", 8, "dim")


_BEYOND = {
    BeyondKind.PROVIDER_DENIED: "the provider may have the chat",
    BeyondKind.NOT_SELECTED: "the tool is selected",
    BeyondKind.SELECTION_HIDDEN: "the selection counts here",
    BeyondKind.NOTHING_TO_OFFER: "the tool has something to offer",
    BeyondKind.RESOLUTION_FAILED: "asking the tool worked",
}

_KEYS = {
    "DataTools.EnableTools": "enable_tools",
    "DataTools.DisabledToolIds": "disabled_tool_ids",
    "DataTools.MinimumProviderConfidenceByToolId": "minimum_provider_confidence_by_tool_id",
    "EnabledPreviewFeatures": "previews",
    "VisibleToolSelectionComponents": "visible_tool_selection_components",
}


def _worded(change: Change, set_by: SetBy) -> str:
    """Say what would change it, with the key of ``settings.toml`` where no organization set the rule."""
    if set_by.kind is SetByKind.ORGANIZATION or change.kind in (ChangeKind.CHOOSE, ChangeKind.INSTALL):
        return str(change)
    if change.setting == "can_call_tools":
        return f"set providers.{change.item}.can_call_tools to {change.value}"
    name = _KEYS.get(change.setting, change.setting)
    if change.item:
        name = f"{name}.{change.item}"
    return str(replace(change, setting=name, item=""))


def _reason_as_object(why: str, set_by: SetBy, changes: Sequence[Change | None]) -> dict[str, object]:
    words = [_worded(change, set_by) for change in changes if change is not None]
    return {
        "why": why, "set_by": str(set_by), "set_by_kind": set_by.kind.value, "file": set_by.file or None,
        "line": set_by.line, "change": words[0] if words else None, "or_else": words[1:],
    }  # fmt: skip


def _as_object(answer: Explanation) -> dict[str, object]:
    rows = []
    for verdict in answer.verdicts:
        block = verdict.block
        row: dict[str, object] = {"check": verdict.check, "passes": block is None}
        if block is not None:
            row["reason"] = block.reason.value
            row |= _reason_as_object(block.why, block.set_by, (block.change, *block.or_else))
        rows.append(row)
    beyond = [
        {"kind": item.kind.value, **_reason_as_object(item.why, item.set_by, (item.change,))} for item in answer.beyond
    ]
    standing = answer.standing
    return {
        "tool": answer.tool_id, "component": answer.component.value, "provider": standing.id,
        "confidence": standing.confidence.name, "confidence_set_by": str(standing.confidence_by),
        "model_takes_tools": standing.can_call_tools, "model_takes_tools_because": standing.capability_ground,
        "offered": answer.offered, "selected": answer.selected, "selected_by": answer.selected_by or None,
        "checks": rows, "beyond": beyond, "also_with": list(answer.also_with), "ending": answer.ending,
    }  # fmt: skip
