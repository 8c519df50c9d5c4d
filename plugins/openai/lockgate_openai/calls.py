"""From the pieces of calls to calls: names, arguments, IDs.

What is no valid call is never repaired and never run: it becomes a call with a problem in words for the model, and
``{}`` stands in its place in the history, where hosts such as vLLM and Ollama refuse anything else.
"""

import json
import secrets
import string
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NoReturn

from lockgate import FUNCTION_NAME, RequestedCall
from lockgate_openai.assembly import CallPieces

INVALID_NAME = "invalid_tool_call"
"""The name of a call whose own name no host would take back."""

EMPTY_ARGUMENTS = "{}"
_ID_CHARACTERS = string.ascii_letters + string.digits
_NINE = 9


@dataclass(frozen=True, slots=True)
class FinishedCall:
    """A call as the loop gets it and as it goes back to the host.

    Attributes:
        requested: The call for the loop.
        arguments: The arguments for the history: always a JSON object as text.
        extra: The member `extra_content`, which goes back unchanged.
        is_whole: The arguments came to their end.
    """

    requested: RequestedCall
    arguments: str
    extra: object
    is_whole: bool


class CallIds:
    """The IDs of a run: made up where none came, replaced where one repeats or the host would refuse it.

    Args:
        nine_only: The host takes nine letters and digits and nothing else (Mistral).
    """

    def __init__(self, *, nine_only: bool = False) -> None:
        self._nine_only = nine_only
        self._used: set[str] = set()

    def take(self, wire_id: str) -> str:
        """Return the ID for a call. Nine letters and digits suit every host."""
        call_id = wire_id.strip()
        if not call_id or call_id in self._used or (self._nine_only and not _is_nine(call_id)):
            call_id = self._invent()
        self._used.add(call_id)
        return call_id

    def _invent(self) -> str:
        while True:
            made = "".join(secrets.choice(_ID_CHARACTERS) for _ in range(_NINE))
            if made not in self._used:
                return made


def finish_calls(
    pieces: Sequence[CallPieces], offered: Collection[str], ids: CallIds, *, cut_off_by: str = ""
) -> list[FinishedCall]:
    """Make calls of their pieces, in order.

    Args:
        pieces: What came.
        offered: The names that were offered.
        ids: The IDs of the run.
        cut_off_by: What ended the answer early, in words; empty when it ended by itself. A call whose arguments are
            not whole then has a problem of its own.
    """
    return [_finish(call, offered, ids, cut_off_by) for call in pieces]


def _finish(call: CallPieces, offered: Collection[str], ids: CallIds, cut_off_by: str) -> FinishedCall:
    name, problem = _name_of(call, offered)
    raw = "".join(call.fragments)
    is_whole = True
    arguments = EMPTY_ARGUMENTS
    try:
        arguments = _arguments_of(call, raw)
        # "" means {} only where the call came to its end.
        is_whole = not cut_off_by or call.value is not None or bool(raw.strip())
    except _Broken as broken:
        is_whole = not cut_off_by
        problem = problem or str(broken)
    if not is_whole:
        problem = f"This call was not complete: the answer was cut off by {cut_off_by}. Make it again, shorter."
    shown = arguments if not problem else raw or arguments
    return FinishedCall(RequestedCall(ids.take(call.id), name, shown, problem), arguments, call.extra, is_whole)


def _name_of(call: CallPieces, offered: Collection[str]) -> tuple[str, str]:
    """Return the name to go on with, and what is wrong with the one that came."""
    name = call.name.strip()
    if name in offered or FUNCTION_NAME.fullmatch(name):
        return name, ""
    if not call.has_function:
        return INVALID_NAME, "This call names no function. Call one of the functions that were offered."
    rule = "1 to 64 letters, digits, underscores or hyphens"
    wrong = f"The name {name[:80]!r} of this call is no name of a function: one has {rule}." if name else (
        "This call has no name. Call one of the functions that were offered."
    )  # fmt: skip
    return INVALID_NAME, wrong


class _Broken(Exception):
    """Arguments that are no JSON object; the text is for the model."""


def _arguments_of(call: CallPieces, raw: str) -> str:
    """Return the arguments as the text of a JSON object.

    Undoes what hosts do to a right call: an object instead of its text, JSON text inside a JSON string, nothing for an
    empty object. Everything else goes on as it came, to the byte.

    Raises:
        _Broken: They are no object.
    """
    if call.value is not None:
        if not isinstance(call.value, dict):
            raise _Broken(f"The arguments of this call have to be a JSON object, not {_kind(call.value)}.")
        return _dump(call.value)
    if not raw.strip():
        return EMPTY_ARGUMENTS
    text, value = raw, _load(raw)
    if isinstance(value, str):
        if not value.strip():
            return EMPTY_ARGUMENTS
        text, value = value, _load(value)
    if value is None:
        return EMPTY_ARGUMENTS
    if not isinstance(value, dict):
        raise _Broken(f"The arguments of this call have to be a JSON object, not {_kind(value)}.")
    return text


def _refuse_constant(name: str) -> NoReturn:
    raise _Broken(f"The arguments of this call hold {name}, which is no JSON.")


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)


def _load(text: str) -> object:
    try:
        return _DECODER.decode(text)
    except json.JSONDecodeError as problem:
        raise _Broken(
            f"The arguments of this call are no valid JSON ({problem.msg} at character {problem.pos + 1} of "
            f"{len(text)}). Send one JSON object."
        ) from None
    except RecursionError:
        raise _Broken("The arguments of this call are nested too deeply.") from None
    except ValueError:
        raise _Broken("The arguments of this call hold a number with too many digits.") from None


def _dump(value: object) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    except (ValueError, RecursionError):
        raise _Broken("The arguments of this call hold a value that JSON cannot express.") from None


def _kind(value: object) -> str:
    if isinstance(value, bool):
        return "true or false"
    return {list: "an array", int: "a number", float: "a number", str: "a text"}.get(type(value), "null")


def _is_nine(text: str) -> bool:
    return len(text) == _NINE and text.isascii() and text.isalnum()
