"""The limits of a run, and what is said when one is hit."""

from dataclasses import dataclass

from lockgate.registry.rules import MAX_RESTRICTED_CALLS, MAX_TOOL_CALLS, MAX_TOOL_RESULT_CHARACTERS, Rules


@dataclass(frozen=True, slots=True)
class Limits:
    """How much a run may do, all rounds together.

    Attributes:
        max_tool_calls: Calls.
        max_tool_result_characters: Characters of results.
        max_restricted_calls: Calls that may leave the configured services while the chat restricts where its data goes.
    """

    max_tool_calls: int = MAX_TOOL_CALLS
    max_tool_result_characters: int = MAX_TOOL_RESULT_CHARACTERS
    max_restricted_calls: int = MAX_RESTRICTED_CALLS

    @classmethod
    def of(cls, rules: Rules) -> "Limits":
        """Return the limits that the rules set, ceilings included."""
        return cls(
            rules.limit("max_tool_calls"), rules.limit("max_tool_result_characters"),
            rules.limit("max_restricted_calls"),
        )


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
