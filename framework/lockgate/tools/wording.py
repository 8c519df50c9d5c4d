"""How a wrong argument is refused, in words a model can correct itself from.

A refusal names the argument, says what is valid, echoes what arrived as JSON cut to 40 characters, and says of an
optional argument that it can be left out. Nothing is guessed: a placeholder such as 0 is not an absent page.
"""

import difflib
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from lockgate.chat.values import MASK
from lockgate.errors import ArgumentRefused

ECHO_CHARACTERS = 40
"""How much of a wrong value is echoed."""

_SENTENCES = 3


def echo(value: object) -> str:
    """Return a value as JSON text, cut to 40 characters and three dots."""
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        text = str(type(value).__name__)
    text = text.encode("utf-8", "replace").decode("utf-8")
    return text if len(text) <= ECHO_CHARACTERS else text[:ECHO_CHARACTERS] + "..."


def _quantity(low: Any, high: Any, noun: str) -> str:
    if low is not None and high is not None:
        return f"{low} to {high} {noun}" if low != high else f"{low} {noun}"
    return f"at least {low} {noun}" if low is not None else f"at most {high} {noun}"


def _number(schema: Mapping[str, Any], noun: str) -> str:
    low, high = schema.get("minimum"), schema.get("maximum")
    parts = [noun]
    if low is not None and high is not None:
        parts.append(f"from {low} to {high}")
    elif low is not None:
        parts.append(f"of at least {low}")
    elif high is not None:
        parts.append(f"of at most {high}")
    if (above := schema.get("exclusiveMinimum")) is not None:
        parts.append(f"greater than {above}")
    if (below := schema.get("exclusiveMaximum")) is not None:
        parts.append(f"less than {below}")
    if (step := schema.get("multipleOf")) is not None:
        parts.append(f"that is a multiple of {step}")
    return " ".join(parts)


_FORMATS = {
    "date": "a date such as 2026-12-31",
    "date-time": "a date and time such as 2026-12-31T18:00:00Z",
    "time": "a time such as 18:00:00",
    "uuid": "a UUID",
    "uri": "a web address",
    "email": "a mail address",
}


def _text(schema: Mapping[str, Any]) -> str:
    if schema.get("format") in _FORMATS:
        return _FORMATS[schema["format"]]
    low, high = schema.get("minLength"), schema.get("maxLength")
    words = "a text"
    if high is not None or (low or 0) > 1:
        words += " of " + _quantity(low or None, high, "characters")
    elif low:
        words = "a text that is not empty"
    if pattern := schema.get("pattern"):
        words += f" that matches {pattern}"
    return words


def _list(schema: Mapping[str, Any]) -> str:
    low, high = schema.get("minItems"), schema.get("maxItems")
    size = f" with {_quantity(low or None, high, 'items')}" if low or high is not None else ""
    return f"a list{size} whose items are each {describe(schema.get('items', {}))}"


def describe(schema: Any) -> str:
    """Say in words what a schema takes."""
    if not isinstance(schema, Mapping) or not schema:
        return "any JSON value"
    if "enum" in schema:
        values = ", ".join(json.dumps(value, ensure_ascii=False) for value in schema["enum"])
        return f"one of {values}" if len(schema["enum"]) > 1 else values
    for union in ("anyOf", "oneOf"):
        if union in schema:
            return " or ".join(describe(branch) for branch in schema[union])
    kind = schema.get("type")
    if isinstance(kind, list):
        return " or ".join(describe({**schema, "type": one}) for one in kind)
    simple = {"boolean": "true or false", "null": "null", "object": "an object"}
    if kind in simple:
        return simple[kind]
    if kind == "string":
        return _text(schema)
    if kind == "integer":
        return _number(schema, "a whole number")
    if kind == "number":
        return _number(schema, "a number")
    return _list(schema) if kind == "array" else "any JSON value"


def path_name(path: Sequence[str | int]) -> str:
    """Write a path as people do: ``filter.kinds[2]``."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text


class Refusals:
    """Collects what is wrong with the arguments of one call and raises it once.

    Args:
        schema: The canonical schema of the arguments.
        arguments: The arguments as read from JSON.
        sensitive: Names whose values never appear in the text for traces.
    """

    def __init__(self, schema: Mapping[str, Any], arguments: Mapping[str, Any], sensitive: Iterable[str] = ()) -> None:
        self._schema, self._arguments, self._sensitive = schema, arguments, frozenset(sensitive)
        self._sentences: dict[str, tuple[str, str]] = {}

    def __bool__(self) -> bool:
        """Whether anything is wrong."""
        return bool(self._sentences)

    def _optional(self, name: str) -> bool:
        return name not in self._schema.get("required", ())

    def _leave_out(self, path: Sequence[str | int]) -> str:
        return " Leave it out if you do not need it." if len(path) == 1 and self._optional(str(path[0])) else ""

    def _note(self, path: Sequence[str | int], before: str, value: str, after: str) -> None:
        name = path_name(path)
        hidden = MASK if value and any(part in self._sensitive for part in path) else value
        self._sentences.setdefault(name, (before + value + after, before + hidden + after))

    def _at(self, path: Sequence[str | int]) -> tuple[Any, Any]:
        schema: Any = self._schema
        value: Any = self._arguments
        for part in path:
            if isinstance(part, int):
                schema = schema.get("items", {}) if isinstance(schema, Mapping) else {}
                value = value[part] if isinstance(value, list) and part < len(value) else None
            else:
                schema = schema.get("properties", {}).get(part, {}) if isinstance(schema, Mapping) else {}
                value = value.get(part) if isinstance(value, Mapping) else None
        return schema, value

    def wrong(self, path: Sequence[str | int], expectation: str = "") -> None:
        """Note a wrong value. `expectation` replaces what the schema says, and reads on from "must be"."""
        schema, value = self._at(path)
        expected = expectation or f"must be {describe(schema)}"
        leave_out = self._leave_out(path[:1])
        longest = schema.get("maxLength") if isinstance(schema, Mapping) else None
        if isinstance(value, str) and longest is not None and len(value) > longest:
            text = f'The argument "{path_name(path)}" {expected}, but {len(value)} characters arrived.{leave_out}'
            self._note(path, text, "", "")
            return
        before = f'The argument "{path_name(path)}" {expected}, but '
        self._note(path, before, echo(value), f" arrived.{leave_out}")

    def missing(self, path: Sequence[str | int]) -> None:
        """Note a required argument that is not there."""
        schema, _ = self._at(path)
        self._note(path, f'The argument "{path_name(path)}" is missing; it must be {describe(schema)}.', "", "")

    def unknown(self, path: Sequence[str | int]) -> None:
        """Note an argument the schema does not have."""
        schema, _ = self._at(path[:-1])
        names = [str(name) for name in schema.get("properties", {})] if isinstance(schema, Mapping) else []
        near = difflib.get_close_matches(str(path[-1]), names, n=1)
        hint = f' Did you mean "{near[0]}"?' if near else ""
        valid = f" Valid arguments are: {', '.join(names)}." if names else " It takes no arguments."
        shown = str(path[-1])[:ECHO_CHARACTERS]
        self._note(path, f'There is no argument "{path_name((*path[:-1], shown))}".{hint}{valid}', "", "")

    def raise_first(self) -> None:
        """Raise what was noted, at most three sentences.

        Raises:
            ArgumentRefused: Something was noted.
        """
        if self._sentences:
            first = list(self._sentences.items())[:_SENTENCES]
            raise ArgumentRefused(
                " ".join(text for _, (text, _) in first),
                argument=first[0][0],
                trace_message=" ".join(text for _, (_, text) in first),
            )
