"""What ``lockgate chats show`` prints."""

from contextlib import suppress

from lockgate.app.home import open_lockgate
from lockgate.app.lockgate import Lockgate
from lockgate.chat.encoding import data_sources_values, message_values
from lockgate.chat.values import ChatThread, Message, Role, Source, ToolTrace, TraceStatus
from lockgate.cli.asking import chat_of
from lockgate.cli.demands import FAMILY
from lockgate.cli.exit_status import ExitStatus
from lockgate.cli.folders import PREFIX, source_id_of
from lockgate.cli.presets import named_tools
from lockgate.cli.problems import tell_problems
from lockgate.cli.sources import path_of
from lockgate.cli.terminal import brief, console, one_line, safe, write_json
from lockgate.errors import UnknownNameError
from lockgate.policy import ChatRequirements, ConfidenceLevel, DataSourceSecurity, OutboundDataRestriction, SetBy
from lockgate.registry.selection import SelectionOrigin

_LOST_FOLDER = "a folder named by --docs before"
_STYLES = {TraceStatus.SUCCESS: "green", TraceStatus.ERROR: "red", TraceStatus.BLOCKED: "yellow"}
_WORDS = {TraceStatus.SUCCESS: "done", TraceStatus.ERROR: "failed", TraceStatus.BLOCKED: "blocked"}


async def show(wanted: str, *, as_json: bool) -> int:
    """Show a chat.

    Raises:
        UnknownNameError: There is no such chat.
    """
    async with open_lockgate() as gate:
        if not as_json:
            tell_problems(gate)
        chat = await kept(gate, wanted)
        selected = selection_of(gate, chat)
        unknown = [name for name in selected or () if not gate.registry.is_known(name)]
        if as_json:
            write_json(_as_object(chat, selected, unknown))
        else:
            _print_head(chat, _selection_in_words(gate, chat, selected, unknown), _sources_in_words(gate, chat))
            for message in chat.messages:
                _print_message(message)
    return ExitStatus.OK


async def kept(gate: Lockgate, wanted: str) -> ChatThread:
    """Return a kept chat by its ID, or the latest by ``last``.

    Raises:
        UnknownNameError: There is no such chat.
    """
    chat = await chat_of(gate, wanted)
    if chat is None:
        raise UnknownNameError("chat", wanted, ())
    return chat


def selection_of(gate: Lockgate, chat: ChatThread) -> list[str] | None:
    """Return what a chat selects, as it is read now: IDs of collections; None when nobody ever chose."""
    return None if chat.selected_tools is None else sorted(gate.registry.normalize_selection(chat.selected_tools))


def demanded(needs: ChatRequirements) -> list[tuple[str, str, SetBy]]:
    """Return what a chat really demands: axis, level, who demanded it. A level that all pass demands nothing."""
    found = []
    if needs.confidence > ConfidenceLevel.UNKNOWN:
        found.append(("confidence", needs.confidence.name, needs.confidence_by))
    if needs.data_security > DataSourceSecurity.ALLOW_ANY:
        found.append(("data security", needs.data_security.name, needs.data_security_by))
    if needs.outbound > OutboundDataRestriction.UNRESTRICTED:
        found.append(("outbound", needs.outbound.name, needs.outbound_by))
    return found


def _print_head(chat: ChatThread, tools: str, sources: str) -> None:
    out = console()
    out.print(one_line(chat.title) or "(no title)", style="bold")
    count = "1 message" if len(chat.messages) == 1 else f"{len(chat.messages)} messages"
    out.print(f"chat {safe(chat.id)}, begun {chat.created.isoformat()}, {count}", style="dim")
    if chat.assistant:
        out.print(f"assistant: {one_line(chat.assistant)}")
    if chat.system_prompt:
        out.print(f"system prompt: {one_line(chat.system_prompt)}")
    out.print(f"tools: {tools}")
    out.print(f"data sources: {sources}")
    demands = demanded(chat.requirements)
    for axis, level, set_by in demands:
        out.print(f"demands {axis} {level}", style="yellow", end="")
        out.print(f", {one_line(brief(set_by.phrase))}")
    if not demands:
        out.print("demands nothing")


def _selection_in_words(gate: Lockgate, chat: ChatThread, selected: list[str] | None, unknown: list[str]) -> str:
    rules = gate.selection(chat, gate.component_of(chat))
    if rules.origin in (SelectionOrigin.ASSISTANT, SelectionOrigin.GONE):
        named = one_line(named_tools(gate.registry, rules.identifiers), 1_000)
        return f"{named or 'none at all'}, by {one_line(str(rules))}"
    if selected is None:
        return "never chosen, so the defaults apply"
    if not selected:
        return "all off"
    named = ", ".join(one_line(name) for name in selected)
    return f"{named} (unknown here: {', '.join(one_line(name) for name in unknown)})" if unknown else named


def _sources_in_words(gate: Lockgate, chat: ChatThread) -> str:
    options = chat.data_sources
    if not options.enabled:
        return "none"
    folders = _names_of_folders(gate)
    words = [
        folders.get(name, _LOST_FOLDER) if name.startswith(PREFIX) else one_line(name) for name in options.selected
    ]
    lost = words.count(_LOST_FOLDER)
    if lost > 1:
        words = [*(word for word in words if word != _LOST_FOLDER), f"{lost} folders named by --docs before"]
    if options.automatic:
        words.insert(0, "all that the provider may use")
    return f"{', '.join(words)} ({options.retrieval_mode.value})"


def _names_of_folders(gate: Lockgate) -> dict[str, str]:
    """Return the ID that a folder has when --docs names it → its name, of the folders that are configured."""
    found = {}
    for instance in gate.assembly.services.instances(FAMILY):
        path = path_of(instance)
        with suppress(OSError, RuntimeError):
            if path is not None:
                found[source_id_of(path.resolve())] = one_line(path.name or str(path))
    return found


def _print_message(message: Message) -> None:
    out = console()
    who = "You" if message.role is Role.USER else "Answer"
    out.print(f"\n{who}", style="bold cyan" if message.role is Role.USER else "bold green", end="")
    out.print(" (not complete)" if message.partial else "", style="yellow")
    if message.text:
        out.print(safe(message.text))
    for item in message.attachments:
        out.print(f"  attached: {one_line(item.name)} ({len(item.text):,} characters)", style="dim")
    for trace in message.traces:
        _print_call(trace)
    for number, source in enumerate(message.sources, 1):
        _print_source(number, source)


def _print_call(trace: ToolTrace) -> None:
    out = console()
    name = one_line(trace.tool_name or trace.tool_id or "(no tool)", 80)
    shown = ", ".join(f"{one_line(key, 40)}: {one_line(value, 60)}" for key, value in trace.arguments.items())
    out.print(f"  call {name} {_WORDS.get(trace.status, 'unknown')}", style=_STYLES.get(trace.status, "red"), end="")
    reason = f": {one_line(brief(trace.status_message), 400)}" if trace.status_message else ""
    out.print(reason + (f"  {shown}" if shown else ""))


def _print_source(number: int, source: Source) -> None:
    title, url = one_line(source.title), one_line(source.url, 4_000)
    out = console()
    out.print(f"  [{number}] {title or url}", end="  " if title and title != url else "\n")
    if title and title != url:
        out.print(url, style="dim", soft_wrap=True)


def _as_object(chat: ChatThread, selected: list[str] | None, unknown: list[str]) -> dict[str, object]:
    needs = chat.requirements
    return {
        "id": chat.id, "title": chat.title, "created": chat.created.isoformat(), "assistant": chat.assistant,
        "system_prompt": chat.system_prompt, "include_date": chat.include_date,
        "selected_tools": selected, "unknown_tools": unknown, "data_sources": data_sources_values(chat.data_sources),
        "requirements": {
            "confidence": needs.confidence.name, "data_security": needs.data_security.name,
            "outbound": needs.outbound.name, "confidence_by": str(needs.confidence_by),
            "data_security_by": str(needs.data_security_by), "outbound_by": str(needs.outbound_by),
        },
        "messages": [
            {
                **message_values(message),
                "attachments": [{"name": item.name, "characters": len(item.text)} for item in message.attachments],
            }
            for message in chat.messages
        ],
    }  # fmt: skip
