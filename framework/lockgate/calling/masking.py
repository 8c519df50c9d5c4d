"""Keeping sensitive arguments and secrets out of traces, events, logs and error texts."""

import html
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import quote, quote_plus

from lockgate.chat.values import MASK
from lockgate.settings.model import ToolSettings

_SHORTEST = 3
"""Values shorter than this are not searched for in texts: they would mask ordinary words."""

_DEEPEST = 50
"""Levels of an argument that are shown; what lies deeper is masked whole."""


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
            shown[name] = json.dumps(_masked(value, names, _DEEPEST), ensure_ascii=False)
    return shown


def _masked(value: Any, names: frozenset[str], levels: int) -> Any:
    if not isinstance(value, dict | list):
        return value
    if not levels:
        return MASK
    if isinstance(value, list):
        return [_masked(item, names, levels - 1) for item in value]
    return {key: MASK if key in names else _masked(item, names, levels - 1) for key, item in value.items()}


def _sensitive_texts(arguments: Mapping[str, Any], names: frozenset[str]) -> Iterator[str]:
    """Yield every text, number and name below a sensitive name. Depth is no limit."""
    waiting: list[tuple[Any, bool]] = [(arguments, False)]
    while waiting:
        value, hidden = waiting.pop()
        if isinstance(value, Mapping):
            if hidden:
                yield from map(str, value)  # the names below a sensitive one are part of its value
            waiting += [(item, hidden or key in names) for key, item in value.items()]
        elif isinstance(value, list):
            waiting += [(item, hidden) for item in value]
        elif hidden and value is not None and not isinstance(value, bool):
            yield str(value)


def _forms(text: str) -> Iterable[str]:
    """A value as it may stand in a message: plain, as JSON, as Python shows it, in an address, in a page."""
    yield text
    yield text.strip()  # arguments and settings are trimmed before a tool sees them
    yield " ".join(text.split())
    for plain in (text, text.strip()):
        quoted = (json.dumps(plain, ensure_ascii=False)[1:-1], json.dumps(plain)[1:-1], repr(plain)[1:-1])
        yield from quoted
        for once in quoted:  # a text in JSON that quotes it
            yield json.dumps(once, ensure_ascii=False)[1:-1]
            yield json.dumps(once)[1:-1]
        yield html.escape(plain)
        encoded = plain.encode("utf-8", "replace")
        yield quote(encoded)
        yield quote(encoded, safe="")
        yield quote_plus(encoded)


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
        hidden = list(_sensitive_texts(arguments, names)) if names else []
        self._secrets = _prepared(secrets)
        self._hidden = _prepared([*secrets, *hidden])

    def for_model(self, text: str) -> str:
        """Hide secrets."""
        return _without(text, self._secrets)

    def for_trace(self, text: str) -> str:
        """Hide secrets and sensitive values."""
        return _without(text, self._hidden)

    def for_quotation(self, text: str) -> str:
        """Hide secrets and sensitive values in a piece cut out of a text, also those the cut went through."""
        text = self.for_trace(text)
        end = text.removesuffix("…")
        for value in self._hidden:
            for length in range(min(len(value) - 1, len(end)), _SHORTEST - 1, -1):
                if end.startswith(value[-length:]):
                    end = MASK + end[length:]
                if end.endswith(value[:length]):
                    end = end[:-length] + MASK
        return end + ("…" if text.endswith("…") else "")


def _prepared(values: Iterable[str]) -> tuple[str, ...]:
    forms = {form for value in values for form in _forms(value) if len(form) >= _SHORTEST}
    return tuple(sorted(forms, key=lambda form: (-len(form), form)))


def _without(text: str, values: tuple[str, ...]) -> str:
    for value in values:
        if value in text:
            text = text.replace(value, MASK)
    return text
