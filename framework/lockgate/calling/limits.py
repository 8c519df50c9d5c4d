"""The limits of a run, and what is said when one is hit."""

from dataclasses import dataclass

from lockgate.registry.rules import MAX_TOOL_CALLS, MAX_TOOL_RESULT_CHARACTERS


@dataclass(frozen=True, slots=True)
class Limits:
    """How much a run may do: calls and characters of results, all rounds together."""

    max_tool_calls: int = MAX_TOOL_CALLS
    max_tool_result_characters: int = MAX_TOOL_RESULT_CHARACTERS


@dataclass(frozen=True, slots=True)
class Hit:
    """A limit that was hit: its name, its value, and what the model is told."""

    name: str
    value: int
    instruction: str


def limit_hit(limits: Limits, calls: int, characters: int) -> Hit | None:
    """Say which limit is reached; the limit of characters is tested first, and strictly.

    Args:
        limits: The limits of the run.
        calls: Calls counted so far.
        characters: Characters of results so far.
    """
    if characters > limits.max_tool_result_characters:
        value = limits.max_tool_result_characters
        told = f"Tools have returned more than {value} characters, which is the limit for one answer."
        return Hit("max_tool_result_characters", value, told + _ENDING)
    if calls >= limits.max_tool_calls:
        value = limits.max_tool_calls
        told = f"You have made {value} tool calls, which is the limit for one answer."
        return Hit("max_tool_calls", value, told + _ENDING)
    return None


_ENDING = " No further call is possible. Give the best final answer you can from the results you already have."
