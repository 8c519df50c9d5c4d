"""Whether a regular expression from outside can be used without taking very long on hostile text."""

import re
from re import _constants, _parser  # type: ignore[attr-defined]  # not in the stubs
from typing import Any

MAX_PATTERN_CHARACTERS = 200
_REPEATS = (_constants.MAX_REPEAT, _constants.MIN_REPEAT, getattr(_constants, "POSSESSIVE_REPEAT", None))
_MOST_OPEN_REPEATS = 2
_SMALL = 64


def pattern_problem(pattern: object) -> str:
    """Say why a pattern is not accepted, or return an empty text.

    Refused are long ones, back references, look-around, repeats inside repeats, alternatives inside repeats, and more
    than two open repeats: what is left takes at most time proportional to the cube of a text of bounded length.
    """
    if not isinstance(pattern, str):
        return "it is no text"
    if len(pattern) > MAX_PATTERN_CHARACTERS:
        return f"it has {len(pattern)} characters; at most {MAX_PATTERN_CHARACTERS} are accepted"
    try:
        parsed = _parser.parse(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        return f"it is no regular expression ({error})"
    counter = _Counter()
    counter.walk(parsed, inside_repeat=False)
    if counter.problem:
        return counter.problem
    if counter.open_repeats > _MOST_OPEN_REPEATS:
        return f"it has {counter.open_repeats} open repeats; at most {_MOST_OPEN_REPEATS} are accepted"
    return ""


class _Counter:
    def __init__(self) -> None:
        self.open_repeats = 0
        self.problem = ""

    def walk(self, parsed: Any, *, inside_repeat: bool) -> None:
        for operation, argument in parsed:
            if operation in _REPEATS:
                self._repeat(argument, inside_repeat=inside_repeat)
            elif operation is _constants.BRANCH:
                if inside_repeat:
                    self.problem = "it has alternatives inside a repeat"
                for branch in argument[1]:
                    self.walk(branch, inside_repeat=inside_repeat)
            elif operation is _constants.SUBPATTERN:
                self.walk(argument[-1], inside_repeat=inside_repeat)
            elif operation in (_constants.GROUPREF, _constants.GROUPREF_EXISTS, _constants.ASSERT,
                               _constants.ASSERT_NOT):
                self.problem = "it has a back reference or looks around"
            elif operation is getattr(_constants, "ATOMIC_GROUP", None):
                self.walk(argument, inside_repeat=inside_repeat)

    def _repeat(self, argument: Any, *, inside_repeat: bool) -> None:
        _, most, body = argument
        variable = argument[0] != most
        if inside_repeat and (variable or most > _SMALL):
            self.problem = "it has a repeat inside a repeat"
        if most is _constants.MAXREPEAT or most > _SMALL:
            self.open_repeats += 1
        self.walk(body, inside_repeat=inside_repeat or most > 1)
