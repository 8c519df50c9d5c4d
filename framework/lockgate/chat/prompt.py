"""Composition of the system prompt: pure, so that counting and sending see the same text."""

from collections.abc import Iterable, Sequence
from datetime import date

_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip

TOOL_POLICY_HEADING = "# Using tools"
TOOL_POLICY_INTRODUCTION = (
    "You can call the tools offered with this request. Each serves a purpose of its own: pick the one that fits, "
    "call none when the conversation already holds the answer, and ask the user when you cannot tell what is meant. "
    "Keep to the rules below for each tool."
)


def tool_policy(instructions: Iterable[tuple[str, str]]) -> str:
    """Join the instructions of tools into one block.

    Args:
        instructions: Pairs of function name and instructions; blank ones are left out, repeated sections too.

    Returns:
        The block, or an empty text when no tool has instructions.
    """
    sections: dict[str, None] = {}
    for name, text in instructions:
        if body := text.strip():
            sections[f"## `{name}`\n\n{body}"] = None
    if not sections:
        return ""
    return "\n\n".join((TOOL_POLICY_HEADING, TOOL_POLICY_INTRODUCTION, *sections))


def date_line(day: date) -> str:
    """Return what a model is told of the day. Names of days and months do not depend on the system's language."""
    return f"Today is {_DAYS[day.weekday()]}, {day.day} {_MONTHS[day.month - 1]} {day.year} ({day.isoformat()})."


def compose(base: str, parts: Sequence[str] = ()) -> str:
    """Join the base prompt and further parts by blank lines, blank ones left out, in the order given."""
    return "\n\n".join(text for part in (base, *parts) if (text := part.strip()))
