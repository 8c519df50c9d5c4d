"""Runs the reader as the loop does: rounds, calls, results."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from lockgate.chat import Attachment, Message, Role
from lockgate.providers import CallResult, ModelRequest, OfferedFunction, RequestedCall, ToolBlock
from lockgate_offline.adapter import READER_PROFILE, ReaderAdapter

Tool = Callable[[str], str]
_MOST_ROUNDS: Final = 6


def function(
    name: str, description: str = "", required: Sequence[str] = (), **properties: Mapping[str, Any]
) -> OfferedFunction:
    """A function as it is offered; all its properties are required unless `required` says which."""
    schema = {
        "type": "object",
        "properties": properties,
        "required": list(required or properties),
        "additionalProperties": False,
    }
    return OfferedFunction(name, description, schema)


STRING: Final = {"type": "string"}
NUMBER: Final = {"type": "number"}
INTEGER: Final = {"type": "integer"}
SEMANTIC_SEARCH: Final = function(
    "semantic_search",
    "Searches the data sources given to this chat, such as folders of documents.",
    required=["query"],
    query={"type": "string", "maxLength": 500},
    data_source_ids={"type": "array", "items": {"type": "string", "enum": ["shelf"]}},
    page=INTEGER,
)
READ_WEB_PAGE: Final = function("read_web_page", "Reads one web page.", url={**STRING, "description": "The address."})


@dataclass
class Transcript:
    """What a run came to."""

    text: str = ""
    pieces: list[str] = field(default_factory=list)
    calls: list[RequestedCall] = field(default_factory=list)


async def run_reader(
    question: str,
    functions: Sequence[OfferedFunction] = (),
    answer: Callable[[RequestedCall], CallResult | str] = lambda _call: "",
    *,
    attachments: Sequence[Attachment] = (),
    system: str = "",
    final_at: int = _MOST_ROUNDS,
) -> Transcript:
    """Let the reader answer a question; each call is answered by a function.

    Args:
        question: The user's message.
        functions: What is offered.
        answer: The result of a call; a text is one that worked.
        attachments: Documents attached to the message.
        system: The system prompt.
        final_at: The round, from 1, in which tools are withheld.
    """
    adapter = ReaderAdapter()
    block = adapter.tool_block(functions, READER_PROFILE)
    message = Message(Role.USER, question, attachments=tuple(attachments))
    offered = {item.name: item for item in functions}
    exchange = adapter.open(ModelRequest("reader-1", system, [message], block, offered), READER_PROFILE)
    transcript = Transcript()
    for number in range(1, _MOST_ROUNDS + 1):
        final = "Answer now." if number == final_at else None
        outcome = await exchange.round(transcript.pieces.append, final=final)
        if not outcome.calls:
            transcript.text = outcome.text
            await exchange.close()
            return transcript
        transcript.calls += outcome.calls
        exchange.answer([_result(call, answer(call)) for call in outcome.calls])
    raise AssertionError("The reader does not come to an end.")


def _result(call: RequestedCall, outcome: CallResult | str) -> CallResult:
    return CallResult(call.id, outcome) if isinstance(outcome, str) else outcome


def ask(question: str, *functions: OfferedFunction, result: str = "") -> Transcript:
    """Run the reader with one result for every call."""
    return asyncio.run(run_reader(question, functions, lambda _call: result))


def failing(words: str) -> Callable[[RequestedCall], CallResult]:
    """Make every call fail with these words."""
    return lambda call: CallResult(call.id, words, is_error=True)


EMPTY_BLOCK: Final = ToolBlock(b"")
