"""A chat as a file that goes to another place, and back.

A file that comes back is believed in what it says, not in what it claims: the chat and its messages get new IDs,
addresses are looked for anew, and requirements nobody can read are the strictest. What is kept for the session only is
never in it.
"""

from datetime import date

from lockgate.chat.addresses import keys_in
from lockgate.chat.arrived import Arrived
from lockgate.chat.encoding import data_sources_values, message_values, prefix_values, set_by_values, to_json
from lockgate.chat.prefix import PrefixPart, PromptPrefix
from lockgate.chat.values import (
    Attachment,
    ChatThread,
    DataSourceOptions,
    Message,
    RetrievalMode,
    Role,
    Source,
    SourceOrigin,
    ToolTrace,
    TraceStatus,
    new_message_id,
)
from lockgate.errors import UsageError
from lockgate.policy import BUILT_IN, ChatRequirements, SetBy, SetByKind, requirements_from_stored

FORMAT = "lockgate-chat"
"""What the member ``format`` of a file says."""

VERSION = 1
"""The version of the format."""

MAX_CHARACTERS = 20_000_000
"""The longest file that is written and read."""

MAX_MESSAGES = 20_000
"""The most messages of a chat in a file."""

MAX_ITEMS = 10_000
"""The most items of any other list in a file, such as the sources of an answer."""

_AXES = ("confidence", "data_security", "outbound")
_UNREADABLE = "?"  # the name of no level: read as the strictest


def chat_to_json(chat: ChatThread) -> str:
    """Write a chat as one JSON object.

    Without its ID and those of its messages, the results of tools, and addresses: those of attachments are found again
    in their text.

    Raises:
        UsageError: It is larger than what :func:`chat_from_json` takes.
    """
    messages = chat.messages
    _bound(len(messages), MAX_MESSAGES, "messages")
    for message in messages:
        for items in (message.attachments, message.sources, message.traces):
            _bound(len(items), MAX_ITEMS, "attachments, sources or calls in one message")
        for trace in message.traces:
            _bound(len(trace.arguments), MAX_ITEMS, "arguments of one call")
    _bound(len(chat.selected_tools or ()), MAX_ITEMS, "selected tools")
    _bound(len(chat.prefix.tools) if chat.prefix else 0, MAX_ITEMS, "tools in its prefix")
    _bound(len(chat.data_sources.selected), MAX_ITEMS, "selected data sources")
    text = to_json({
        "format": FORMAT,
        "version": VERSION,
        "title": chat.title,
        "created": chat.created.isoformat(),
        "system_prompt": chat.system_prompt,
        "include_date": chat.include_date,
        "assistant": chat.assistant,
        "selected_tools": None if chat.selected_tools is None else list(chat.selected_tools),
        "data_sources": data_sources_values(chat.data_sources),
        "requirements": {
            axis: {
                "level": getattr(chat.requirements, axis).name,
                "set_by": set_by_values(getattr(chat.requirements, f"{axis}_by")),
            }
            for axis in _AXES
        },
        "prefix": None if chat.prefix is None else prefix_values(chat.prefix),
        "messages": [message_values(message) for message in messages],
    })  # fmt: skip
    _bound(len(text), MAX_CHARACTERS, "characters as a file")
    return text


def _bound(count: int, most: int, what: str) -> None:
    if count > most:
        raise UsageError(f"The chat is too large for a file: it has {count} {what}, and {most} are the most.")


def chat_from_json(text: str) -> ChatThread:
    """Read a chat that :func:`chat_to_json` wrote, or that somebody made to look so.

    Args:
        text: The file. At most :data:`MAX_CHARACTERS`.

    Returns:
        The chat, with new IDs for itself and its messages. A requirement that is missing, or has a name nobody knows,
        is the strictest.

    Raises:
        UsageError: It is no such file; the text names the place in it, what arrived and what is wanted.
    """
    if len(text) > MAX_CHARACTERS:
        raise UsageError(f"The chat file has {len(text)} characters, and {MAX_CHARACTERS} are the most.")
    whole = Arrived.parse(text)
    _check_format(whole)
    required = (
        "format", "version", "title", "created", "system_prompt", "include_date", "assistant", "selected_tools",
        "data_sources", "prefix", "messages",
    )  # fmt: skip
    found = whole.members(required, ("requirements",))
    selected = found["selected_tools"]
    return ChatThread(
        system_prompt=found["system_prompt"].text(),
        messages=tuple(_message(item) for item in found["messages"].items(MAX_MESSAGES)),
        requirements=_requirements(found.get("requirements")),
        selected_tools=None if selected.value is None else _texts(selected),
        data_sources=_data_sources(found["data_sources"]),
        created=_day(found["created"]),
        title=found["title"].text(),
        include_date=found["include_date"].flag(),
        assistant=found["assistant"].text(),
        prefix=None if found["prefix"].value is None else _prefix(found["prefix"]),
    )


def _check_format(whole: Arrived) -> None:
    """Tell a file of something else, and one of a newer program, before anything in it is looked at.

    Raises:
        UsageError: It is one.
    """
    value = whole.value
    if not isinstance(value, dict) or value.get("format") != FORMAT:
        raise UsageError(
            f'This is no chat file: it has to be one JSON object whose member "format" is "{FORMAT}", as '
            "`lockgate chats export` writes it."
        )
    version = Arrived(value.get("version"), "version")
    if version.number() > VERSION:
        raise UsageError(
            f"The chat file was written by a newer program: its version is {version.value}, and this program knows "
            f"{VERSION}. Update this program."
        )
    if version.value != VERSION:
        version.refuse(str(VERSION))


def _texts(arrived: Arrived) -> tuple[str, ...]:
    return tuple(item.text() for item in arrived.items(MAX_ITEMS))


def _day(arrived: Arrived) -> date:
    try:
        return date.fromisoformat(arrived.text())
    except ValueError:
        arrived.refuse("a day such as 2026-02-03")


def _message(arrived: Arrived) -> Message:
    found = arrived.members(("role", "text", "partial", "attachments", "sources", "traces"))
    return Message(
        found["role"].one_of(Role),
        found["text"].text(),
        tuple(_attachment(item) for item in found["attachments"].items(MAX_ITEMS)),
        tuple(_source(item) for item in found["sources"].items(MAX_ITEMS)),
        tuple(_trace(item) for item in found["traces"].items(MAX_ITEMS)),
        found["partial"].flag(),
        new_message_id(),
    )


def _attachment(arrived: Arrived) -> Attachment:
    found = arrived.members(("name", "text"))
    text = found["text"].text()
    return Attachment(found["name"].text(), text, keys_in(text))


def _source(arrived: Arrived) -> Source:
    found = arrived.members(("title", "url", "origin"))
    return Source(found["title"].text(), found["url"].text(), found["origin"].one_of(SourceOrigin))


def _trace(arrived: Arrived) -> ToolTrace:
    found = arrived.members(
        ("order", "tool_id", "tool_name", "call_id", "status", "was_executed", "status_message", "arguments")
    )
    return ToolTrace(
        order=found["order"].number(),
        tool_id=found["tool_id"].text(),
        tool_name=found["tool_name"].text(),
        call_id=found["call_id"].text(),
        status=found["status"].one_of(TraceStatus),
        was_executed=found["was_executed"].flag(),
        status_message=found["status_message"].text(),
        arguments={name: value.text() for name, value in found["arguments"].pairs(MAX_ITEMS).items()},
    )


def _data_sources(arrived: Arrived) -> DataSourceOptions:
    found = arrived.members(("disabled", "automatic", "selected", "retrieval_mode"))
    return DataSourceOptions(
        found["disabled"].flag(),
        found["automatic"].flag(),
        _texts(found["selected"]),
        found["retrieval_mode"].one_of(RetrievalMode),
    )


def _requirements(arrived: Arrived | None) -> ChatRequirements:
    """Read what the chat demands: what is not there, or not known, is the strictest."""
    axes = {} if arrived is None or arrived.value is None else arrived.members((), _AXES)
    names, by = [], []
    for axis in _AXES:
        demanded = axes.get(axis)
        found = {} if demanded is None or demanded.value is None else demanded.members((), ("level", "set_by"))
        level, set_by = found.get("level"), found.get("set_by")
        names.append(_UNREADABLE if level is None or level.value is None else level.text())
        by.append(BUILT_IN if set_by is None or set_by.value is None else _set_by(set_by))
    return requirements_from_stored(names[0], names[1], names[2], by=(by[0], by[1], by[2]))


def _set_by(arrived: Arrived) -> SetBy:
    """Read who demanded something: a name for people. A kind nobody knows is *built in*."""
    found = arrived.members(("kind", "name", "file", "line"))
    kind, line = SetByKind.__members__.get(found["kind"].text()), found["line"]
    name, file = found["name"].text(), found["file"].text()
    number = None if line.value is None else line.number()
    return BUILT_IN if kind is None else SetBy(kind, name, file, number)


def _prefix(arrived: Arrived) -> PromptPrefix:
    found = arrived.members(("fingerprint", "system", "tools"))
    return PromptPrefix(
        found["fingerprint"].text(),
        tuple(_part(item) for item in found["tools"].items(MAX_ITEMS)),
        _part(found["system"]),
    )


def _part(arrived: Arrived) -> PrefixPart:
    found = arrived.members(("name", "size", "digest"))
    return PrefixPart(found["name"].text(), found["size"].number(), found["digest"].text())
