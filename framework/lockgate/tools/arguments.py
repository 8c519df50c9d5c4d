"""Arguments of a call: a strict model, read from the JSON text the model wrote. Model arguments are hostile."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, TypeVar

from annotated_types import GroupedMetadata
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from lockgate.errors import ArgumentRefused
from lockgate.tools.schema import Schema, canonical_schema, without_nulls
from lockgate.tools.wording import Refusals, echo

MAX_ARGUMENT_CHARACTERS = 100_000
"""Longest arguments of one call, in characters of JSON."""


class ToolArguments(BaseModel):
    """The base of every arguments model: nothing is converted, unknown names are refused, null means left out.

    The outside name of an argument is its alias where it has one. Texts are trimmed; a required text must not be
    blank.
    """

    model_config = ConfigDict(
        strict=True, extra="forbid", frozen=True, hide_input_in_errors=True, str_strip_whitespace=True,
        allow_inf_nan=False,
    )


Arguments = TypeVar("Arguments", bound=ToolArguments)


def _one_line(text: str) -> str:
    if any(ord(character) < 32 or 127 <= ord(character) < 160 or character in "\u2028\u2029" for character in text):
        raise ValueError("must be one line without control characters")
    return text


@dataclass(frozen=True, slots=True)
class Line(GroupedMetadata):
    """Limits a text to one line of 1 to `maximum` characters: ``Annotated[str, Line(500)]``."""

    maximum: int

    def __iter__(self) -> Iterator[object]:
        """Yield the constraints pydantic reads."""
        yield Field(min_length=1, max_length=self.maximum)
        yield AfterValidator(_one_line)


PositiveInt = Annotated[int, Field(ge=1, le=2**31 - 1)]
"""A whole number from 1 to 2,147,483,647."""


@cache
def _facts(model: type[ToolArguments]) -> tuple[Schema, tuple[tuple[str, str], ...]]:
    """Return the canonical schema, and (field, outside name) of each required text."""
    texts = tuple(
        (name, info.alias or name)
        for name, info in model.model_fields.items()
        if info.is_required() and info.annotation is str
    )
    return canonical_schema(model), texts


def parameters_of(model: type[ToolArguments]) -> Schema:
    """Return the canonical schema of an arguments model, for `ToolDefinition.parameters`."""
    return _facts(model)[0]


def read_object(text: str) -> dict[str, Any]:
    """Read the JSON text of a call's arguments; a blank text is an empty object.

    Raises:
        ArgumentRefused: It is too long, no JSON, or no object.
    """
    if len(text) > MAX_ARGUMENT_CHARACTERS:
        raise ArgumentRefused(
            f"The arguments are {len(text)} characters long; at most {MAX_ARGUMENT_CHARACTERS} are accepted."
        )
    if not text or text.isspace():
        return {}
    try:
        value = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise ArgumentRefused("The arguments are not valid JSON; they must be one JSON object.") from None
    if not isinstance(value, dict):
        wanted = "The arguments must be one JSON object"
        raise ArgumentRefused(f"{wanted}, but {echo(value)} arrived.", trace_message=f"{wanted}.")
    return value


def _refuse_constant(name: str) -> float:
    raise ValueError(name)


def parse_arguments(model: type[Arguments], text: str, sensitive: Iterable[str] = ()) -> Arguments:
    """Read the arguments of a call.

    Args:
        model: The arguments model.
        text: The JSON text the model wrote.
        sensitive: Names of arguments whose values stay out of the text for traces.

    Raises:
        ArgumentRefused: In words the model can correct itself from.
    """
    schema, required_texts = _facts(model)
    if len(text) > MAX_ARGUMENT_CHARACTERS or not text or text.isspace():
        text = json.dumps(read_object(text))
    if "null" in text:
        text = json.dumps(without_nulls(read_object(text), schema))
    try:
        arguments = model.model_validate_json(text)
    except ValidationError as error:
        raise _refused(error, schema, text, sensitive) from None
    for field, outside in required_texts:
        if not getattr(arguments, field):
            refusals = Refusals(schema, read_object(text), sensitive)
            refusals.wrong((outside,), "must be a text that is not empty")
            refusals.raise_first()
    return arguments


def _refused(error: ValidationError, schema: Schema, text: str, sensitive: Iterable[str]) -> ArgumentRefused:
    try:
        refusals = Refusals(schema, read_object(text), sensitive)
        for item in error.errors(include_url=False, include_input=False):
            _note(refusals, schema, item["type"], item["loc"], item["msg"])
        refusals.raise_first()
    except ArgumentRefused as refused:
        return refused
    return ArgumentRefused("The arguments are not valid; they must be one JSON object that fits the schema.")


def _note(refusals: Refusals, schema: Schema, kind: str, location: Sequence[str | int], message: str) -> None:
    path = _known_part(schema, location)
    if kind == "missing":
        refusals.missing(location)
    elif kind == "extra_forbidden":
        refusals.unknown(location)
    elif kind in ("value_error", "assertion_error"):
        words = message.split(", ", 1)[-1]
        refusals.wrong(path, words if words.startswith("must ") else f"is not valid: {words}")
    elif path:
        refusals.wrong(path)


def _known_part(schema: Any, location: Sequence[str | int]) -> tuple[str | int, ...]:
    """Return the part of an error's place that is in the schema; branches of unions have names of their own."""
    path: list[str | int] = []
    for part in location:
        if isinstance(part, int) and isinstance(schema, dict) and "items" in schema:
            schema = schema["items"]
        elif isinstance(schema, dict) and part in schema.get("properties", {}):
            schema = schema["properties"][part]
        else:
            break
        path.append(part)
    return tuple(path)
