"""The adapter of the offline reader: it answers in this process and never touches the transport."""

import asyncio
import json
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from lockgate import (
    CallResult,
    ModelRequest,
    OfferedFunction,
    OnText,
    ProviderProfile,
    RequestedCall,
    Role,
    Round,
    StopReason,
    ToolBlock,
)
from lockgate_offline.answering import AnsweredCall, compose
from lockgate_offline.choosing import Choice, choose
from lockgate_offline.cleaning import clean, one_line
from lockgate_offline.question import read_question
from lockgate_offline.reading import Document, read_passages

if TYPE_CHECKING:
    from lockgate import Transport

READER_PROFILE: Final = ProviderProfile(
    id="offline",
    title="Offline reader",
    provider_type="SELF_HOSTED",
    adapter="offline",
    authentication="none",
    default_model="reader-1",
    accepts_strict_member=False,
    accepts_parallel_tool_calls_parameter=False,
    accepts_stream_options=False,
)
"""The reader's row in the table of hosts."""

_PIECES: Final = re.compile(r"\s*\S+\s*|\s+")
_PIECES_A_TURN: Final = 16


class ReaderAdapter:
    """Speaks no wire API: the model behind it is a set of rules in this process."""

    id = "offline"

    def tool_block(self, functions: Sequence[OfferedFunction], profile: ProviderProfile) -> ToolBlock:
        """Encode functions as an array of name, description and parameters; nothing is strict."""
        if not functions:
            return ToolBlock(b"")
        listed = [
            {"name": function.name, "description": function.description, "parameters": _plain(function.parameters)}
            for function in functions
        ]
        return ToolBlock(json.dumps(listed, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace"))

    def open(
        self, request: ModelRequest, profile: ProviderProfile, transport: "Transport | None" = None
    ) -> "ReaderExchange":
        """Begin an answer to the last user message of a request."""
        return ReaderExchange(request)


class ReaderExchange:
    """The conversation of one run: at most two calls, the second only to search again with fewer words."""

    def __init__(self, request: ModelRequest) -> None:
        users = [message for message in request.messages if message.role is Role.USER]
        self._question = read_question(users[-1].text if users else "")
        self._functions = tuple(request.functions.values())
        # Documents of earlier turns count as well: "and what does it cost?" asks about the same file.
        attached = (attachment for message in users for attachment in message.attachments)
        self._given = (
            *read_passages(clean(request.system)),
            *(Document(one_line(item.name, 120), clean(item.text)) for item in attached),
        )
        self._answered: list[AnsweredCall] = []
        self._open: tuple[Choice, ...] = ()

    async def round(self, on_text: OnText, *, final: str | None = None) -> Round:
        """Make the next call, or write the answer when there is nothing left to call or tools are withheld.

        Raises:
            RuntimeError: The calls of the last round have no results yet.
        """
        if self._open:
            raise RuntimeError("The calls of the last round have no results yet; hand them to answer() first.")
        choice = None if final is not None else await asyncio.to_thread(self._next_choice)
        if choice:
            self._open = (choice,)
            call = RequestedCall(f"call{len(self._answered) + 1:05}", choice.name, choice.arguments_text)
            return Round("", (call,), StopReason.TOOL_CALLS)
        # Long results take tenths of a second to read; other chats of this process go on meanwhile.
        text = await asyncio.to_thread(
            compose,
            self._question,
            tuple(self._answered),
            functions=self._functions,
            given=self._given,
            is_final=final is not None,
        )
        for number, piece in enumerate(_PIECES.findall(text), 1):
            on_text(piece)
            if number % _PIECES_A_TURN == 0:
                await asyncio.sleep(0)
        return Round(text)

    def answer(self, results: Sequence[CallResult]) -> None:
        """Take the results of the last round, by position.

        Raises:
            ValueError: There are more or fewer results than calls.
        """
        if len(results) != len(self._open):
            raise ValueError(f"The last round has {len(self._open)} calls, and {len(results)} results arrived.")
        self._answered += [AnsweredCall(*pair) for pair in zip(self._open, results, strict=True)]
        self._open = ()

    async def close(self) -> None:
        """Nothing is held."""

    def _next_choice(self) -> Choice | None:
        if not self._answered:
            return choose(self._question, self._functions)
        last = self._answered[-1]
        if len(self._answered) > 1 or not last.choice.query or last.result.is_error or not last.reading().is_empty:
            return None
        broader = self._question.broader_query
        return last.choice.with_query(broader) if broader else None


def _plain(value: object) -> object:
    """Return a schema as plain dictionaries and lists, so that it can be written as JSON."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value
