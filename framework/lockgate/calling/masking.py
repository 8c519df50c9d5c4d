"""Keeping sensitive arguments and secrets out of traces, events, logs and error texts."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from lockgate.chat.values import MASK
from lockgate.settings.model import ToolSettings

_SHORTEST = 3
"""Values shorter than this are not searched for in texts: they would mask ordinary words."""


def masked_arguments(arguments: Mapping[str, Any], sensitive: Iterable[str]) -> dict[str, str]:
    """Return top-level arguments as text for a trace; sensitive ones masked, at any depth."""
    names = frozenset(sensitive)
    shown: dict[str, str] = {}
    for name, value in arguments.items():
        if name in names:
            shown[name] = MASK
        elif isinstance(value, str):
            shown[name] = value
        else:
            shown[name] = json.dumps(_masked(value, names) if names else value, ensure_ascii=False)
    return shown


def _masked(value: Any, names: frozenset[str]) -> Any:
    if isinstance(value, dict):
        return {key: MASK if key in names else _masked(item, names) for key, item in value.items()}
    if isinstance(value, list):
        return [_masked(item, names) for item in value]
    return value


def _texts(value: Any) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
    elif value is not None and not isinstance(value, bool):
        yield str(value)


def _sensitive_texts(value: Any, names: frozenset[str]) -> Iterable[str]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _texts(item) if key in names else _sensitive_texts(item, names)
    elif isinstance(value, list):
        for item in value:
            yield from _sensitive_texts(item, names)


def _forms(text: str) -> Iterable[str]:
    """A value as it may stand in a message: plain, as JSON, and as Python shows it."""
    yield text
    yield json.dumps(text, ensure_ascii=False)[1:-1]
    yield json.dumps(text)[1:-1]
    yield repr(text)[1:-1]


class Masker:
    """Replaces values by five asterisks, in two strengths.

    Args:
        arguments: The arguments of a call.
        sensitive: Names of its sensitive arguments.
        settings: The tool's settings; its secrets are hidden from everyone, the model included.
    """

    def __init__(
        self, arguments: Mapping[str, Any], sensitive: Iterable[str], settings: ToolSettings | None
    ) -> None:
        secrets = list(settings.secret_values()) if settings is not None else []
        names = frozenset(sensitive)
        hidden = list(_sensitive_texts(dict(arguments), names)) if names else []
        self._secrets = _prepared(secrets)
        self._hidden = _prepared([*secrets, *hidden])

    def for_model(self, text: str) -> str:
        """Hide secrets."""
        return _without(text, self._secrets)

    def for_trace(self, text: str) -> str:
        """Hide secrets and sensitive values."""
        return _without(text, self._hidden)


def _prepared(values: Iterable[str]) -> tuple[str, ...]:
    forms = {form for value in values if len(value) >= _SHORTEST for form in _forms(value)}
    return tuple(sorted(forms, key=lambda form: (-len(form), form)))


def _without(text: str, values: tuple[str, ...]) -> str:
    for value in values:
        if value in text:
            text = text.replace(value, MASK)
    return text
