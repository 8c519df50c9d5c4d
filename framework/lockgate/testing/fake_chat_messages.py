"""Whether OpenAI would accept the messages of a Chat Completions request: each alone, calls with results."""

import json
import re
from typing import Any

from lockgate.testing.fake_host import (
    FakeHost,
    Refused,
    need,
    need_array,
    need_choice,
    need_object,
    need_string,
    only_known,
    refuse_type,
)

ROLES = ("system", "developer", "user", "assistant", "tool")
MEMBERS = {
    "system": ("role", "content", "name"),
    "developer": ("role", "content", "name"),
    "user": ("role", "content", "name"),
    "assistant": ("role", "content", "name", "refusal", "tool_calls", "audio"),
    "tool": ("role", "content", "tool_call_id"),
}
NULLABLE = {"assistant": ("content", "refusal")}
PARTS = {
    "system": ("text",),
    "developer": ("text",),
    "user": ("text", "image_url", "input_audio", "file"),
    "assistant": ("text", "refusal"),
    "tool": ("text",),
}
LONGEST_CALL_ID = 40
"""Characters of a call's id that OpenAI takes on this API (reported)."""

FUNCTION_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")


def check_messages(value: object, host: FakeHost) -> None:
    """Check all messages and their order.

    Raises:
        Refused: for the first thing that the host would not accept.
    """
    messages = need_array(value, "messages", least=1)
    owed: list[str] = []
    for number, entry in enumerate(messages):
        place = f"messages[{number}]"
        message = need_object(entry, place)
        role = need_choice(need(message, "role", f"{place}.role"), f"{place}.role", ROLES)
        only_known(message, (*MEMBERS[role], *host.accepts_in_messages), place, nullable=NULLABLE.get(role, ()))
        _check_content(message, role, place)
        if role == "tool":
            _take_result(message, owed, place)
            continue
        _refuse_owed(owed, number)
        if role == "assistant" and "tool_calls" in message:
            owed = _check_calls(message["tool_calls"], host, f"{place}.tool_calls")
    _refuse_owed(owed, len(messages))


def _check_content(message: dict[str, Any], role: str, place: str) -> None:
    content = message.get("content")
    place = f"{place}.content"
    if content is None:
        if role == "assistant" and (message.get("tool_calls") or message.get("refusal") or "audio" in message):
            return
        need(message, "content", place)
        refuse_type(place, "a string or an array of parts", content)
    if isinstance(content, str):
        return
    if not isinstance(content, list):
        refuse_type(place, "a string or an array of parts", content)
    for number, entry in enumerate(need_array(content, place, least=1)):
        where = f"{place}[{number}]"
        part = need_object(entry, where)
        kind = need_choice(need(part, "type", f"{where}.type"), f"{where}.type", PARTS[role])
        inner = need(part, kind, f"{where}.{kind}")
        only_known(part, ("type", kind), where)
        (need_string if kind in ("text", "refusal") else need_object)(inner, f"{where}.{kind}")


def _check_calls(value: object, host: FakeHost, place: str) -> list[str]:
    """Check the calls of an assistant message; returns their ids, which are owed a result."""
    ids: list[str] = []
    for number, entry in enumerate(need_array(value, place, least=1)):
        where = f"{place}[{number}]"
        call = need_object(entry, where)
        only_known(call, ("id", "type", "function", *host.accepts_in_calls), where)
        call_id = need_string(need(call, "id", f"{where}.id"), f"{where}.id", least=1, most=LONGEST_CALL_ID)
        if host.call_ids is not None and not re.fullmatch(host.call_ids, call_id):
            message = f"Tool call id was {call_id} but must match {host.call_ids}."
            raise Refused(message, f"{where}.id", "invalid_value")
        if call_id in ids:
            raise Refused(f"Duplicate tool call id '{call_id}' in one message.", f"{where}.id", "invalid_value")
        ids.append(call_id)
        need_choice(need(call, "type", f"{where}.type"), f"{where}.type", ("function",))
        _check_function(need(call, "function", f"{where}.function"), host, f"{where}.function")
    return ids


def _check_function(value: object, host: FakeHost, place: str) -> None:
    function = need_object(value, place)
    only_known(function, ("name", "arguments"), place)
    name = need_string(need(function, "name", f"{place}.name"), f"{place}.name", least=1, most=64)
    if not FUNCTION_NAME.fullmatch(name):
        message = (
            f"Invalid '{place}.name': string does not match pattern. "
            "Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'."
        )
        raise Refused(message, f"{place}.name", "invalid_value")
    arguments = need_string(need(function, "arguments", f"{place}.arguments"), f"{place}.arguments")
    if host.reads_arguments and not _is_object_text(arguments):
        message = f"Invalid '{place}.arguments': not the text of a JSON object."
        raise Refused(message, f"{place}.arguments", "invalid_value")


def _is_object_text(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def _take_result(message: dict[str, Any], owed: list[str], place: str) -> None:
    """A tool message answers one call of the assistant message before it, and answers it once."""
    where = f"{place}.tool_call_id"
    call_id = need_string(need(message, "tool_call_id", where), where, least=1)
    if not owed:
        raise Refused(
            "Invalid parameter: messages with role 'tool' must be a response to a preceding message with 'tool_calls'.",
            f"{place}.role",
        )
    if call_id not in owed:
        raise Refused(
            f"Invalid parameter: 'tool_call_id' of '{call_id:.60}' not found in 'tool_calls' of previous message.",
            where,
        )
    owed.remove(call_id)


def _refuse_owed(owed: list[str], number: int) -> None:
    if owed:
        raise Refused(
            "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
            f"'tool_call_id'. The following tool_call_ids did not have response messages: {', '.join(owed)}",
            f"messages[{number}].role",
        )
