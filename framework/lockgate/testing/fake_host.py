"""What all hosts have in common: options, refusals, and the small checks that validation is made of."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, NoReturn


@dataclass(frozen=True, slots=True, kw_only=True)
class FakeHost:
    """How the host differs from OpenAI.

    Attributes:
        models: what GET /models lists.
        checks_model: whether another model is answered with 404.
        refuses: top-level members answered with 400, such as `parallel_tool_calls` (o-series, Hugging Face
            router).
        accepts: further top-level members that are known here, such as `top_k`.
        accepts_in_messages: further members of messages, such as `reasoning_content` (DeepSeek).
        accepts_in_calls: further members of tool calls in messages, such as `extra_content` (Gemini).
        call_ids: a pattern that ids of calls have to match whole, such as `[a-zA-Z0-9]{9}` (Mistral).
        reads_arguments: whether arguments in the history have to be the text of a JSON object (hosts whose
            chat template parses them, such as Ollama and vLLM).
        most_tools: tools in one request (OpenAI, Azure, Copilot: 128; zed-industries/zed#32946).
        longest_description: characters of a function's description; None for any (OpenAI: 1,024 by a report
            of 2024, jan-janssen/LangSim#66).
    """

    models: tuple[str, ...] = ("fake-model",)
    checks_model: bool = False
    refuses: tuple[str, ...] = ()
    accepts: tuple[str, ...] = ()
    accepts_in_messages: tuple[str, ...] = ()
    accepts_in_calls: tuple[str, ...] = ()
    call_ids: str | None = None
    reads_arguments: bool = False
    most_tools: int = 128
    longest_description: int | None = 1024


class Refused(Exception):
    """The host does not accept a request."""

    def __init__(
        self,
        message: str,
        param: str | None = None,
        code: str | None = None,
        *,
        status: int = 400,
        type: str = "invalid_request_error",
    ) -> None:
        super().__init__(message)
        self.message = message
        self.param = param
        self.code = code
        self.status = status
        self.type = type


def kind(value: object) -> str:
    """What JSON calls a value, for a message."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    names = {int: "an integer", float: "a number", str: "a string", list: "an array", dict: "an object"}
    return names[type(value)]


def refuse_type(param: str, expected: str, value: object) -> NoReturn:
    """Refuse a value of the wrong type in OpenAI's words."""
    message = f"Invalid type for '{param}': expected {expected}, but got {kind(value)} instead."
    raise Refused(message, param, "invalid_type")


def need(members: dict[str, Any], name: str, param: str) -> Any:
    """A member that has to be there."""
    if name not in members:
        raise Refused(f"Missing required parameter: '{param}'.", param, "missing_required_parameter")
    return members[name]


def need_object(value: object, param: str) -> dict[str, Any]:
    """The value, which has to be an object."""
    if not isinstance(value, dict):
        refuse_type(param, "an object", value)
    return value


def need_array(value: object, param: str, *, least: int = 0, most: int | None = None) -> list[Any]:
    """The value, which has to be an array of a fitting length."""
    if not isinstance(value, list):
        refuse_type(param, "an array", value)
    if len(value) < least:
        message = f"Invalid '{param}': empty array. Expected an array with minimum length {least}."
        raise Refused(message, param, "empty_array")
    if most is not None and len(value) > most:
        message = (
            f"Invalid '{param}': array too long. Expected an array with maximum length {most}, "
            f"but got an array with length {len(value)} instead."
        )
        raise Refused(message, param, "array_above_max_length")
    return value


def need_string(value: object, param: str, *, least: int = 0, most: int | None = None) -> str:
    """The value, which has to be a string of a fitting length."""
    if not isinstance(value, str):
        refuse_type(param, "a string", value)
    if len(value) < least:
        message = f"Invalid '{param}': empty string. Expected a string with minimum length {least}."
        raise Refused(message, param, "empty_string")
    if most is not None and len(value) > most:
        message = (
            f"Invalid '{param}': string too long. Expected a string with maximum length {most}, "
            f"but got a string with length {len(value)} instead."
        )
        raise Refused(message, param, "string_above_max_length")
    return value


def need_boolean(value: object, param: str) -> bool:
    """The value, which has to be true or false."""
    if not isinstance(value, bool):
        refuse_type(param, "a boolean", value)
    return value


def need_number(value: object, param: str, low: float, high: float) -> float:
    """The value, which has to be a number in a range."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        refuse_type(param, "a number", value)
    if not low <= value <= high:
        message = f"Invalid '{param}': {value} is out of range. Expected a value from {low:g} to {high:g}."
        raise Refused(message, param, "value_out_of_range")
    return value


def need_count(value: object, param: str) -> int:
    """The value, which has to be an integer from 1 on."""
    if isinstance(value, bool) or not isinstance(value, int):
        refuse_type(param, "an integer", value)
    if value < 1:
        message = f"Invalid '{param}': integer below minimum value. Expected a value >= 1, but got {value} instead."
        raise Refused(message, param, "integer_below_min_value")
    return value


def need_choice(value: object, param: str, choices: Collection[str]) -> str:
    """The value, which has to be one of some strings."""
    text = need_string(value, param)
    if text not in choices:
        known = ", ".join(f"'{choice}'" for choice in choices)
        raise Refused(f"Invalid value: '{text:.40}'. Supported values are: {known}.", param, "invalid_value")
    return text


def only_known(members: dict[str, Any], known: Collection[str], param: str, *, nullable: Collection[str] = ()) -> None:
    """Refuse members that nobody knows, and members that are null where leaving them out is meant."""
    for name, value in members.items():
        place = f"{param}.{name}" if param else name
        if name not in known:
            raise Refused(f"Unknown parameter: '{place}'.", place, "unknown_parameter")
        if value is None and name not in nullable:
            refuse_type(place, "a value or no such member", value)
