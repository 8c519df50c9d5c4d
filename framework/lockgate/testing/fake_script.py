"""The script of a fake provider: which answer comes next, given as a list or as a function that behaves."""

import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lockgate.testing.fake_answers import Answer


@dataclass(frozen=True, slots=True)
class FakeRequest:
    """A request as it arrived.

    Attributes:
        method, path, query: of the request line, the path without its query.
        headers: names in lower case.
        body: the JSON object; empty when there was none or it was something else (then it is a problem).
        arrived_bytes: the body byte for byte.
        number: how many requests this provider had before.
    """

    method: str
    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]
    arrived_bytes: bytes = b""
    query: str = ""
    number: int = 0

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The messages of a Chat Completions request; empty for others."""
        messages: list[dict[str, Any]] = self.body.get("messages", [])
        return messages

    @property
    def tool_names(self) -> list[str]:
        """The names of the functions offered, in order."""
        return [tool["function"]["name"] for tool in self.body.get("tools", [])]


Behaviour = Callable[[FakeRequest], Answer | Awaitable[Answer]]


class ScriptExhausted(Exception):
    """More requests came than the script has answers."""


class Script:
    """Answers in order, or a function that makes each from its request.

    Raises:
        TypeError: when the script is no list of answers and no function.
    """

    def __init__(self, script: Sequence[Answer] | Behaviour) -> None:
        self._behaviour = script if callable(script) else None
        self._answers: list[Answer] = [] if callable(script) else [_answer(entry) for entry in script]
        self._taken = 0

    @property
    def unused(self) -> int:
        """How many answers of the list nobody has asked for; 0 for a function."""
        return max(0, len(self._answers) - self._taken)

    async def answer(self, request: FakeRequest) -> Answer:
        """The answer to the next request.

        Raises:
            ScriptExhausted: when the list has no further answer. Repeating the last one would hide a loop
                that does not end.
        """
        if self._behaviour is not None:
            made = self._behaviour(request)
            return _answer(await made if inspect.isawaitable(made) else made)
        self._taken += 1
        if self._taken > len(self._answers):
            raise ScriptExhausted(
                f"The script of the fake provider has {len(self._answers)} answers; this is request {self._taken}."
            )
        return self._answers[self._taken - 1]


def _answer(value: object) -> Answer:
    if isinstance(value, Answer):
        return value
    raise TypeError(f"a script is made of answers (answer_text(...), answer_calls(...) …), not {value!r:.80}")
