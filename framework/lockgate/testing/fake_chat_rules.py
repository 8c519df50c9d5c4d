"""Whether OpenAI would accept a Chat Completions request: its top-level members and its tools.

Source: the request types of OpenAI's published SDK and its error messages as users report them. Messages are
in `fake_chat_messages`, schemas in `fake_schema_rules`.
"""

import re
from typing import Any

from lockgate.testing.fake_chat_messages import check_messages
from lockgate.testing.fake_host import (
    FakeHost,
    Refused,
    need,
    need_array,
    need_boolean,
    need_choice,
    need_count,
    need_number,
    need_object,
    need_string,
    only_known,
    refuse_type,
)
from lockgate.testing.fake_schema_rules import InvalidSchema, check_parameters, check_strict_parameters

KNOWN = (
    "model", "messages", "tools", "tool_choice", "parallel_tool_calls", "stream", "stream_options",
    "temperature", "top_p", "n", "stop", "max_tokens", "max_completion_tokens", "presence_penalty",
    "frequency_penalty", "logit_bias", "logprobs", "top_logprobs", "user", "seed", "response_format",
    "reasoning_effort", "verbosity", "metadata", "store", "service_tier", "modalities", "audio",
    "prediction", "web_search_options", "prompt_cache_key", "prompt_cache_retention", "safety_identifier",
)  # fmt: skip

NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh")
FORMATS = ("text", "json_object", "json_schema")


def check_chat_request(body: dict[str, Any], host: FakeHost) -> None:
    """Check one request.

    Raises:
        Refused: for the first thing that the host would not accept.
    """
    only_known(body, (*KNOWN, *host.accepts, *host.refuses), "")
    for name in host.refuses:
        if name in body:
            message = f"Unsupported parameter: '{name}' is not supported with this model."
            raise Refused(message, name, "unsupported_parameter")
    model = need_string(need(body, "model", "model"), "model", least=1)
    if host.checks_model and model not in host.models:
        message = f"The model '{model}' does not exist or you do not have access to it."
        raise Refused(message, None, "model_not_found", status=404)
    check_messages(need(body, "messages", "messages"), host)
    _check_stream(body)
    _check_plain_members(body)
    names = _check_tools(body["tools"], host) if "tools" in body else None
    _check_tool_use(body, names)


def _check_stream(body: dict[str, Any]) -> None:
    stream = need_boolean(body.get("stream", False), "stream")
    if "stream_options" not in body:
        return
    if not stream:
        message = "The 'stream_options' parameter is only allowed when 'stream' is enabled."
        raise Refused(message, "stream_options", "invalid_value")
    options = need_object(body["stream_options"], "stream_options")
    only_known(options, ("include_usage", "include_obfuscation"), "stream_options")
    for name, value in options.items():
        need_boolean(value, f"stream_options.{name}")


def _check_plain_members(body: dict[str, Any]) -> None:
    """Members whose value stands alone."""
    ranges = {
        "temperature": (0, 2),
        "top_p": (0, 1),
        "presence_penalty": (-2, 2),
        "frequency_penalty": (-2, 2),
    }
    for name, (low, high) in ranges.items():
        if name in body:
            need_number(body[name], name, low, high)
    for name in ("max_tokens", "max_completion_tokens", "n"):
        if name in body:
            need_count(body[name], name)
    if "max_tokens" in body and "max_completion_tokens" in body:
        message = "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported."
        raise Refused(message, "max_tokens", "invalid_parameter_combination")
    if "reasoning_effort" in body:
        need_choice(body["reasoning_effort"], "reasoning_effort", EFFORTS)
    if "seed" in body and (isinstance(body["seed"], bool) or not isinstance(body["seed"], int)):
        refuse_type("seed", "an integer", body["seed"])
    if "stop" in body and not isinstance(body["stop"], str):
        for number, text in enumerate(need_array(body["stop"], "stop", least=1, most=4)):
            need_string(text, f"stop[{number}]")
    if "response_format" in body:
        _check_response_format(need_object(body["response_format"], "response_format"))


def _check_response_format(form: dict[str, Any]) -> None:
    chosen = need_choice(need(form, "type", "response_format.type"), "response_format.type", FORMATS)
    if chosen != "json_schema":
        only_known(form, ("type",), "response_format")
        return
    only_known(form, ("type", "json_schema"), "response_format")
    place = "response_format.json_schema"
    described = need_object(need(form, "json_schema", place), place)
    only_known(described, ("name", "description", "schema", "strict"), place)
    name = _check_name(described, place)
    if "schema" in described:
        strict = need_boolean(described.get("strict", False), f"{place}.strict")
        _check_schema(described["schema"], strict, f"response_format '{name}'", f"{place}.schema")


def _check_tools(value: object, host: FakeHost) -> set[str]:
    """Check the tools; returns their names."""
    names: set[str] = set()
    for number, entry in enumerate(need_array(value, "tools", least=1, most=host.most_tools)):
        place = f"tools[{number}]"
        tool = need_object(entry, place)
        only_known(tool, ("type", "function"), place)
        need_choice(need(tool, "type", f"{place}.type"), f"{place}.type", ("function",))
        place += ".function"
        function = need_object(need(tool, "function", place), place)
        only_known(function, ("name", "description", "parameters", "strict"), place)
        name = _check_name(function, place)
        if name in names:
            raise Refused(f"Tool names must be unique: '{name}' is there twice.", f"{place}.name", "invalid_value")
        names.add(name)
        description = f"{place}.description"
        need_string(function.get("description", ""), description, most=host.longest_description)
        strict = need_boolean(function.get("strict", False), f"{place}.strict")
        if strict and "parameters" not in function:
            raise Refused(
                f"Invalid schema for function '{name}': a strict function has parameters.",
                f"{place}.parameters",
                "invalid_function_parameters",
            )
        if "parameters" in function:
            _check_schema(function["parameters"], strict, f"function '{name}'", f"{place}.parameters")
    return names


def _check_name(members: dict[str, Any], place: str) -> str:
    place += ".name"
    name = need_string(need(members, "name", place), place, least=1, most=64)
    if not NAME.fullmatch(name):
        message = (
            f"Invalid '{place}': string does not match pattern. "
            "Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'."
        )
        raise Refused(message, place, "invalid_value")
    return name


def _check_schema(schema: object, strict: bool, whose: str, place: str) -> None:
    try:
        (check_strict_parameters if strict else check_parameters)(schema)
    except InvalidSchema as problem:
        raise Refused(f"Invalid schema for {whose}: {problem}", place, "invalid_function_parameters") from None


def _check_tool_use(body: dict[str, Any], names: set[str] | None) -> None:
    """`tool_choice` and `parallel_tool_calls`, which mean nothing without tools."""
    for name in ("tool_choice", "parallel_tool_calls"):
        if name in body and names is None:
            raise Refused(f"Invalid value for '{name}': '{name}' is only allowed when 'tools' are specified.", name)
    if names is None:
        return
    if "parallel_tool_calls" in body:
        need_boolean(body["parallel_tool_calls"], "parallel_tool_calls")
    choice = body.get("tool_choice", "auto")
    if isinstance(choice, str):
        need_choice(choice, "tool_choice", ("none", "auto", "required"))
        return
    choice = need_object(choice, "tool_choice")
    kinds = ("function", "allowed_tools")
    if need_choice(need(choice, "type", "tool_choice.type"), "tool_choice.type", kinds) == "function":
        _check_named(choice, names, "tool_choice")
        return
    only_known(choice, ("type", "allowed_tools"), "tool_choice")
    place = "tool_choice.allowed_tools"
    allowed = need_object(need(choice, "allowed_tools", place), place)
    only_known(allowed, ("mode", "tools"), place)
    need_choice(need(allowed, "mode", f"{place}.mode"), f"{place}.mode", ("auto", "required"))
    tools = need_array(need(allowed, "tools", f"{place}.tools"), f"{place}.tools", least=1)
    for number, tool in enumerate(tools):
        _check_named(need_object(tool, f"{place}.tools[{number}]"), names, f"{place}.tools[{number}]")


def _check_named(choice: dict[str, Any], names: set[str], place: str) -> None:
    only_known(choice, ("type", "function"), place)
    function = need_object(need(choice, "function", f"{place}.function"), f"{place}.function")
    only_known(function, ("name",), f"{place}.function")
    name = need_string(need(function, "name", f"{place}.function.name"), f"{place}.function.name")
    if name not in names:
        raise Refused(f"Tool choice '{name:.64}' not found in 'tools' parameter.", place, "invalid_value")
