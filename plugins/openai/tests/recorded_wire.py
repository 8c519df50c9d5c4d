"""Recorded exchanges with real hosts, where the folder with them lies beside the project; and how to compare."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lockgate.chat.values import Message, Role
from lockgate.providers import OfferedFunction, Round, StopReason, ToolBlock

FOLDER = Path(__file__).resolve().parents[4] / "shared" / "data" / "wire"

Values = dict[str, Any]

STOPS = {
    "tool_calls": StopReason.TOOL_CALLS,
    "stop": StopReason.STOP,
    "length": StopReason.LENGTH,
    "content_filter": StopReason.CONTENT_FILTER,
    "refusal": StopReason.REFUSAL,
    "pause": StopReason.PAUSE,
    "error": StopReason.ERROR,
    None: StopReason.STOP,
    "unknown": StopReason.STOP,
}


@dataclass(frozen=True)
class Recorded:
    """One recorded exchange: the answers in order, and what has to come of them."""

    name: str
    responses: list[Values]
    expected: list[Values]
    functions: dict[str, OfferedFunction]
    cut: bool


def recorded_chats() -> list[Recorded]:
    """All exchanges over Chat Completions, or none where the folder is missing."""
    found = []
    for path in sorted([*FOLDER.glob("recordings/*.json"), *FOLDER.glob("quirks/*.json")]):
        values = json.loads(path.read_text("utf-8"))
        if values["api"] == "chat":
            found.append(_recorded(path.stem, values))
    return found


def _recorded(name: str, values: Values) -> Recorded:
    one = {
        "status": values["status"],
        "headers": values.get("response_headers", {}),
        "body": values.get("response_body"),
    }
    body = values.get("request_body") or {}
    functions = {}
    for tool in body.get("tools") or ():
        function = tool.get("function") or {}
        if "name" in function:
            parameters = function.get("parameters") or {"type": "object", "properties": {}}
            functions[function["name"]] = OfferedFunction(
                function["name"], function.get("description") or "", parameters, strict=False
            )
    return Recorded(
        name=name,
        responses=values.get("responses") or [one],
        expected=values.get("any_of") or [values["expected"]],
        functions=functions,
        cut=bool(values.get("cut")),
    )


def a_message() -> Message:
    """A user turn; what it says does not matter."""
    return Message(Role.USER, "Hello")


def no_tools() -> ToolBlock:
    """No tools are encoded: what a recording answers does not depend on them."""
    return ToolBlock(b"")


def difference(expected: Values, done: Round) -> str:
    """In what a round differs from what is expected; empty when in nothing."""
    if "error" in expected:
        return "an error was expected"
    if done.text != (expected["text"] or ""):
        return f"text: {done.text[:100]!r}"
    wanted = expected["tool_calls"]
    if len(done.calls) != len(wanted):
        return f"{len(done.calls)} calls, expected {len(wanted)}"
    if len({call.id for call in done.calls}) != len(wanted):
        return "IDs repeat"
    for call, want in zip(done.calls, wanted, strict=True):
        if want["id"] is not None and expected.get("ids") != "unique" and call.id != want["id"]:
            return f"ID {call.id!r}"
        if call.name != want["name"]:
            return f"name {call.name!r}"
        got = None if call.problem else json.loads(call.arguments)
        if got != want["arguments"] or repr(got) != repr(want["arguments"]):
            return f"arguments {call.arguments!r}, problem {call.problem!r}"
    accepted = {STOPS.get(name, StopReason.STOP) for name in expected["finish_accept"]}
    return "" if done.stop in accepted else f"stop {done.stop}"


def error_difference(expected: Values, message: str, status: int | None) -> str:
    """In what an error differs from what is expected; empty when in nothing."""
    if "error" not in expected:
        return f"an answer was expected, not {message}"
    error = expected["error"]
    if error["status"] != 200 and error["status"] != status:
        return f"status {status}"
    wanted = error.get("must_mention") or [error["message"]]
    missing = [words for words in wanted if words.lower() not in message.lower()]
    return f"{missing} missing in {message!r}" if missing else ""
