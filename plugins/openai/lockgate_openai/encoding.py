"""A request in bytes, made of parts that are encoded once.

The members before the messages stay the same for a whole run, and messages are only ever added, so each request of a
run begins with the bytes of the one before: hosts keep what they computed for an equal beginning.
"""

import json
import logging
from collections.abc import Mapping, Sequence

from lockgate import (
    CallResult,
    ConfigurationError,
    Endpoint,
    HttpRequest,
    Message,
    ModelRequest,
    OfferedFunction,
    ProviderProfile,
    Role,
    ToolBlock,
    user_content,
)
from lockgate_openai.assembly import Assembly
from lockgate_openai.calls import FinishedCall
from lockgate_openai.strict import to_strict

PATH = "/chat/completions"

RESERVED = frozenset({
    "model", "messages", "stream", "stream_options", "tools", "tool_choice", "parallel_tool_calls", "functions",
    "function_call",
})  # fmt: skip
"""Members that no configured parameter can set, whatever its case: they are the framework's."""

OUTPUT_LIMITS = frozenset({"max_tokens", "max_output_tokens"})
"""Configured names of the output limit; the profile says what the host calls it."""

_log = logging.getLogger(__name__)


def to_bytes(value: object) -> bytes:
    """Encode a value compactly as UTF-8. A lone surrogate is no character, and becomes a question mark."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.encode("utf-8", "replace")


def encode_tools(functions: Sequence[OfferedFunction], profile: ProviderProfile) -> ToolBlock:
    """Encode functions as the member `tools`: strict where the host keeps it and the schema allows it."""
    if not functions:
        return ToolBlock(b"")
    each = [(function.name, *_encoded(function, profile)) for function in functions]
    encoded = b"[" + b",".join(item for _, item, _ in each) + b"]"
    strict = frozenset(name for name, _, is_strict in each if is_strict)
    return ToolBlock(encoded, strict, tuple((name, item) for name, item, _ in each))


def _encoded(function: OfferedFunction, profile: ProviderProfile) -> tuple[bytes, bool]:
    """Return one function, and whether it is strict; encoded once for as long as the function lives."""
    key = (PATH, profile.enforces_strict_schemas, profile.accepts_strict_member)
    kept = function.encodings.get(key)
    if isinstance(kept, tuple):
        known: tuple[bytes, bool] = kept
        return known
    wanted = function.strict and profile.enforces_strict_schemas and profile.accepts_strict_member
    converted = to_strict(function.parameters) if wanted else None
    body: dict[str, object] = {"name": function.name, "description": function.description}
    body["parameters"] = function.parameters if converted is None else converted
    if profile.accepts_strict_member:
        body["strict"] = converted is not None
    made = to_bytes({"type": "function", "function": body}), converted is not None
    function.encodings[key] = made
    return made


def request_head(request: ModelRequest, profile: ProviderProfile, *, with_tools: bool) -> bytes:
    """Return a request up to and including the opening bracket of its messages."""
    members: dict[str, object] = {"model": request.model, "stream": True}
    if profile.accepts_stream_options:
        members["stream_options"] = {"include_usage": True}
    members |= _parameters(request.parameters, profile)
    parts = [to_bytes(members)[:-1]]
    if with_tools and request.tools.encoded:
        parts += [b',"tools":', request.tools.encoded]
        if profile.accepts_parallel_tool_calls_parameter:
            parts.append(b',"parallel_tool_calls":false')
    parts.append(b',"messages":[')
    return b"".join(parts)


def _parameters(configured: Mapping[str, object], profile: ProviderProfile) -> dict[str, object]:
    """Return the configured parameters that may be sent. A null means that the member is left out."""
    kept: dict[str, object] = {}
    for name, value in configured.items():
        if name.strip().lower() in RESERVED:
            _log.warning("The configured parameter %r is left out: it belongs to the framework.", name)
        elif value is not None:
            kept[profile.max_tokens_parameter if name in OUTPUT_LIMITS else name] = value
    return kept


def encode_system(role: str, system: str, final: str | None) -> bytes:
    """Encode the system prompt with the words of a final round; empty when there is nothing to say."""
    text = "\n\n".join(part for part in (system, final) if part)
    return to_bytes({"role": role, "content": text}) if text else b""


def encode_turn(message: Message) -> bytes:
    """Encode a turn of the chat."""
    if message.role is Role.USER:
        return to_bytes({"role": "user", "content": user_content(message)})
    return to_bytes({"role": "assistant", "content": message.text})


def encode_call_turn(answer: Assembly, calls: Sequence[FinishedCall], *, returns_reasoning: bool) -> bytes:
    """Encode the model's turn that made calls, as it goes back."""
    # Hosts read "" beside calls in several ways, null in one.
    turn: dict[str, object] = {"role": "assistant", "content": "".join(answer.text) or None}
    if returns_reasoning:
        if answer.reasoning and answer.reasoning_field:
            turn[answer.reasoning_field] = "".join(answer.reasoning)
        if answer.reasoning_details:
            turn["reasoning_details"] = answer.reasoning_details
    turn["tool_calls"] = [_call(call) for call in calls]
    return to_bytes(turn)


def _call(call: FinishedCall) -> dict[str, object]:
    function = {"name": call.requested.name, "arguments": call.arguments}
    encoded: dict[str, object] = {"id": call.requested.id, "type": "function", "function": function}
    if call.extra is not None:
        encoded["extra_content"] = call.extra
    return encoded


def encode_result(call_id: str, result: CallResult) -> bytes:
    """Encode the result of a call. The API has no mark for a failure: the words say it."""
    return to_bytes({"role": "tool", "tool_call_id": call_id, "content": result.content})


def address_of(endpoint: Endpoint, profile: ProviderProfile) -> str:
    """Return the address to send requests to.

    Raises:
        ConfigurationError: Neither the instance nor the profile has a usable one.
    """
    base = (endpoint.base_url or profile.base_url).strip().rstrip("/")
    if not base.lower().startswith(("http://", "https://")):
        name = endpoint.name or profile.title
        arrived = f"{base[:200]!r} is none" if base else "there is none"
        raise ConfigurationError(
            f"The provider {name!r} needs an address that begins with http:// or https://; {arrived}. "
            "An example: http://localhost:8000/v1"
        )
    return base if base.endswith(PATH) else base + PATH


def headers_of(endpoint: Endpoint, profile: ProviderProfile) -> dict[str, str]:
    """Return the headers of every request.

    Raises:
        ConfigurationError: The key or a header holds what HTTP does not allow; the text does not show it.
    """
    headers = {"Content-Type": "application/json", "Accept": "text/event-stream", "User-Agent": "lockgate"}
    key = endpoint.api_key.strip()
    if key:
        scheme = profile.authentication
        if scheme in ("x-api-key", "api-key"):
            headers[scheme] = key
        else:  # with "none" a key is not needed, yet one that is configured is meant
            headers["Authorization"] = f"Bearer {key}"
    by_lower = {name.lower(): name for name in headers}
    for name, value in endpoint.headers.items():
        headers.pop(by_lower.get(name.lower(), ""), None)
        headers[name] = value.strip()
    for name, value in headers.items():
        if not (name and name.isascii() and name.replace("-", "").replace("_", "").isalnum()):
            raise ConfigurationError(f"{name[:80]!r} is no name of a header.")
        if not (value.isascii() and value.isprintable()):
            where = "The API key" if key and value.endswith(key) else f"The header {name}"
            raise ConfigurationError(f"{where} holds characters that HTTP does not allow.")
    return headers


def secrets_of(endpoint: Endpoint) -> tuple[str, ...]:
    """Return what must not appear in any message."""
    return tuple(text for text in (endpoint.api_key.strip(), *map(str.strip, endpoint.headers.values())) if text)


def http_request(request: ModelRequest, profile: ProviderProfile) -> HttpRequest:
    """Return what all requests of a run have in common, with an empty body."""
    endpoint = request.endpoint
    return HttpRequest(
        method="POST",
        url=address_of(endpoint, profile),
        headers=headers_of(endpoint, profile),
        secrets=secrets_of(endpoint),
        provider=endpoint.name or profile.title,
        has_key=bool(endpoint.api_key.strip()),
    )
