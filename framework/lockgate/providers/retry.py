"""How long to wait before asking a host again: what it asks for, or what is sensible when it says nothing."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

_UNIT = r"(?:milliseconds?|ms|seconds?|secs?|s|minutes?|mins?|m|hours?|h)(?![a-z])"
_NUMBER = r"\d{1,7}(?:\.\d{1,9})?"
_TEXT_HINT = re.compile(rf"(?i)(?:again|retry) (?:in|after) (?:about )?((?:{_NUMBER}\s?{_UNIT}\s?){{1,4}})")
_PART = re.compile(rf"(?i)({_NUMBER})\s?({_UNIT})")
_GOOGLE_DELAY = re.compile(r"(\d{1,7}(?:\.\d{1,9})?)s")


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """When to ask again. Only before the first byte of an answer was used, and never for good.

    Attributes:
        retries: How often, beyond the first try.
        longest_total: Seconds of waiting, all waits together; a host that asks for more gets no further try.
        first_wait: Seconds before the first further try when the host asks for nothing; each further one
            is four times as long.
        statuses: Answers that may be different a moment later.
    """

    retries: int = 2
    longest_total: float = 30.0
    first_wait: float = 1.0
    statuses: frozenset[int] = frozenset({408, 429, 502, 504, 529})

    def wait(self, tries: int, waited: float, asked: float | None) -> float | None:
        """Return the seconds to wait after so many tries, or None to give up.

        Args:
            tries: How many tries failed so far, from 1.
            waited: Seconds waited before.
            asked: What the host asked for; zero and nothing count the same.
        """
        if tries > self.retries:
            return None
        seconds = asked or self.first_wait * 4.0 ** (tries - 1)
        return seconds if waited + seconds <= self.longest_total else None


def wait_asked_for(headers: Mapping[str, str], message: str, body: object, now: datetime) -> float | None:
    """Return how many seconds a host asks to wait, by its headers, then by its body; None for nothing.

    Known are `retry-after-ms` (OpenAI), `Retry-After` in seconds or as an HTTP date, `retryDelay` in the
    details (Google), and "try again in …" in the text. A time in the past is zero.
    """
    milliseconds = _number(headers.get("retry-after-ms", ""))
    if milliseconds:
        return milliseconds / 1000
    after = headers.get("retry-after", "").strip()
    if after:
        seconds = _number(after)
        if seconds is None:
            seconds = _until(after, now)
        if seconds is not None:
            return seconds
    delay = google_delay(body)
    return delay if delay is not None else _text_hint(message)


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and value >= 0 else None


def _until(text: str, now: datetime) -> float | None:
    try:
        when = parsedate_to_datetime(text)
    except (ValueError, TypeError, OverflowError, IndexError):
        return None
    if when.tzinfo is None:
        when = when.replace(tzinfo=UTC)
    try:
        return max(0.0, (when - now).total_seconds())
    except OverflowError:
        return None


def google_delay(body: object) -> float | None:
    """Return the seconds in `retryDelay` of an error of Google's, or None."""
    if isinstance(body, list):
        body = body[0] if body else None
    error = body.get("error") if isinstance(body, dict) else None
    details = error.get("details") if isinstance(error, dict) else None
    for detail in details if isinstance(details, list) else ():
        delay = detail.get("retryDelay") if isinstance(detail, dict) else None
        if isinstance(delay, str) and (match := _GOOGLE_DELAY.fullmatch(delay)):
            return float(match[1])
    return None


def _text_hint(message: str) -> float | None:
    match = _TEXT_HINT.search(message[:4_000])
    if match is None:
        return None
    return sum(float(number) * _unit(unit.lower()) for number, unit in _PART.findall(match[1]))


def _unit(unit: str) -> float:
    """Return the seconds of a unit as it is written in messages."""
    if unit.startswith(("ms", "milli")):
        return 0.001
    return {"s": 1.0, "m": 60.0, "h": 3600.0}[unit[0]]
