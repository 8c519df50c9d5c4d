"""Chats as JSON text and back. Results of tools are left out: they last for the process, never on disk."""

import json
from collections.abc import Mapping
from enum import Enum
from typing import Any, TypeVar

from lockgate.chat.prefix import PrefixPart, PromptPrefix
from lockgate.chat.values import (
    Attachment,
    DataSourceOptions,
    Message,
    RetrievalMode,
    Role,
    Source,
    SourceOrigin,
    ToolTrace,
    TraceStatus,
)
from lockgate.policy import BUILT_IN, SetBy, SetByKind

E = TypeVar("E", bound=Enum)
T = TypeVar("T")


def to_json(value: object) -> str:
    """Write a JSON value compactly. Lone surrogates are escaped, so that any text survives."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":"))
    return text


def message_values(message: Message) -> dict[str, object]:
    """Return a message with its sources and traces as JSON values, attachments as name and text alone."""
    return {
        "role": message.role.value,
        "text": message.text,
        "partial": message.partial,
        "attachments": [{"name": item.name, "text": item.text} for item in message.attachments],
        "sources": [{"title": item.title, "url": item.url, "origin": item.origin.value} for item in message.sources],
        "traces": [trace.to_json() for trace in message.traces],
    }


def message_to_json(message: Message) -> str:
    """Write a message whole, with its ID and the addresses that were found in its attachments."""
    attached = [
        {"name": item.name, "text": item.text, "addresses": sorted(item.addresses)} for item in message.attachments
    ]
    return to_json({"id": message.id, **message_values(message), "attachments": attached})


def id_of_message(text: str) -> str:
    """Return the ID of a message that :func:`message_to_json` wrote; empty for one written before there were any.

    Raises:
        ValueError, TypeError, AttributeError: The text is no such message.
    """
    return _text(json.loads(text).get("id", ""))


def with_message_id(text: str, message_id: str) -> str:
    """Return a written message under an ID. All else that stands in it stays, whoever wrote it."""
    return to_json({**json.loads(text), "id": message_id})


def message_from_json(text: str) -> Message:
    """Read a message.

    Raises:
        ValueError, KeyError, TypeError, AttributeError: The text is not what :func:`message_to_json` writes.
    """
    stored = json.loads(text)
    return Message(
        Role(stored["role"]),
        _text(stored["text"]),
        tuple(
            Attachment(_text(item["name"]), _text(item["text"]), frozenset(_texts(item["addresses"])))
            for item in _list(stored["attachments"])
        ),
        tuple(
            Source(_text(item["title"]), _text(item["url"]), _member(SourceOrigin, item["origin"], SourceOrigin.TOOL))
            for item in _list(stored["sources"])
        ),
        tuple(_trace(item) for item in _list(stored["traces"])),
        _of_type(bool, stored["partial"]),
        _text(stored.get("id", "")),
    )


def _trace(stored: Mapping[str, Any]) -> ToolTrace:
    return ToolTrace(
        order=_of_type(int, stored["order"]),
        tool_id=_text(stored["tool_id"]),
        tool_name=_text(stored["tool_name"]),
        call_id=_text(stored["call_id"]),
        status=_member(TraceStatus, stored["status"], TraceStatus.NONE),
        was_executed=_of_type(bool, stored["was_executed"]),
        status_message=_text(stored["status_message"]),
        arguments={name: _text(value) for name, value in _of_type(dict, stored["arguments"]).items()},
    )


def texts_from_json(text: str) -> tuple[str, ...]:
    """Read a list of texts.

    Raises:
        ValueError, TypeError: The text is no such list.
    """
    return _texts(json.loads(text))


def data_sources_values(options: DataSourceOptions) -> dict[str, object]:
    """Return which data sources a chat may search as JSON values."""
    return {
        "disabled": options.disabled,
        "automatic": options.automatic,
        "selected": list(options.selected),
        "retrieval_mode": options.retrieval_mode.value,
    }


def data_sources_to_json(options: DataSourceOptions) -> str:
    """Write which data sources a chat may search."""
    return to_json(data_sources_values(options))


def data_sources_from_json(text: str) -> DataSourceOptions:
    """Read which data sources a chat may search.

    Raises:
        ValueError, KeyError, TypeError: The text is not what :func:`data_sources_to_json` writes.
    """
    stored = json.loads(text)
    mode = _member(RetrievalMode, stored["retrieval_mode"], RetrievalMode.SEMANTIC_SEARCH)
    disabled, automatic = _of_type(bool, stored["disabled"]), _of_type(bool, stored["automatic"])
    return DataSourceOptions(disabled, automatic, _texts(stored["selected"]), mode)


def set_by_values(set_by: SetBy) -> dict[str, object]:
    """Return who set a rule as JSON values."""
    return {"kind": set_by.kind.name, "name": set_by.name, "file": set_by.file, "line": set_by.line}


def set_by_to_json(set_by: SetBy) -> str:
    """Write who set a rule."""
    return to_json(set_by_values(set_by))


def set_by_from_json(text: str) -> SetBy:
    """Read who set a rule. It is named to people only, so what cannot be read is *built in*."""
    try:
        stored = json.loads(text)
        line = None if stored["line"] is None else _of_type(int, stored["line"])
        return SetBy(SetByKind[stored["kind"]], _text(stored["name"]), _text(stored["file"]), line)
    except (ValueError, KeyError, TypeError, RecursionError):
        return BUILT_IN


def prefix_values(prefix: PromptPrefix) -> dict[str, object]:
    """Return the beginning of a request as JSON values."""
    return {
        "fingerprint": prefix.fingerprint,
        "system": _part_values(prefix.system),
        "tools": [_part_values(part) for part in prefix.tools],
    }


def _part_values(part: PrefixPart) -> dict[str, object]:
    return {"name": part.name, "size": part.size, "digest": part.digest}


def prefix_from_json(text: str) -> PromptPrefix | None:
    """Read the beginning of a request. It only tells what moved in it, so what cannot be read is none."""
    try:
        stored = json.loads(text)
        tools = tuple(_part(item) for item in stored["tools"])
        return PromptPrefix(_text(stored["fingerprint"]), tools, _part(stored["system"]))
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def _part(stored: Mapping[str, Any]) -> PrefixPart:
    size = _of_type(int, stored["size"])
    if size < 0:
        raise ValueError(size)
    return PrefixPart(_text(stored["name"]), size, _text(stored["digest"]))


def _text(stored: object) -> str:
    return _of_type(str, stored)


def _texts(stored: object) -> tuple[str, ...]:
    return tuple(_text(item) for item in _list(stored))


def _list(stored: object) -> list[Any]:
    return _of_type(list, stored)


def _of_type(kind: type[T], stored: object) -> T:
    """Return a value of exactly this type: a switch is no number."""
    if type(stored) is not kind:
        raise TypeError(f"{type(stored).__name__} where {kind.__name__} is right")
    return stored


def _member(enum: type[E], value: object, otherwise: E) -> E:
    try:
        return enum(value)
    except ValueError:
        return otherwise
