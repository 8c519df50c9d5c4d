"""What went wrong in plugins, kept for ``plugins doctor`` and ``explain``."""

import threading
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from lockgate.chat.plain_text import strings_of
from lockgate.chat.values import MASK
from lockgate.registry.contribution import Owner

SHORTEST_HIDDEN = 3
"""Values shorter than this are not masked: they would hide ordinary words."""

MAX_INCIDENTS = 500
"""How many different incidents are kept; the one that was last seen longest ago goes first."""


@dataclass(frozen=True, slots=True)
class Incident:
    """One thing that went wrong, however often.

    Attributes:
        owner: Whose code it was.
        what: What was called.
        error: Type and message of the exception, on one line; secrets that the log was told to hide are masked.
        when: When it last happened, in UTC.
        traceback: The traceback of the last time; empty where there was no exception.
        times: How often it happened.
    """

    owner: Owner
    what: str
    error: str
    when: datetime
    traceback: str = ""
    times: int = 1


class IncidentLog:
    """The incidents of one ``Lockgate``, and which calls are still out. Safe to use from any thread.

    Args:
        before: The log that this one takes the place of; what it masks is masked here, too.
    """

    def __init__(self, before: "IncidentLog | None" = None) -> None:
        self._lock = threading.Lock()
        self._incidents: dict[tuple[Owner, str, str], Incident] = {}
        self._left: Counter[tuple[Owner, str]] = Counter()
        self._hidden: frozenset[str] = frozenset() if before is None else before.hidden

    @property
    def hidden(self) -> frozenset[str]:
        """What is masked, in the forms in which it is looked for."""
        return self._hidden

    def hide(self, values: Iterable[str]) -> None:
        """Mask these values, such as secrets of settings, in everything that is written from now on."""
        long_enough = {form for value in values if len(value) >= SHORTEST_HIDDEN for form in (value, repr(value)[1:-1])}
        with self._lock:
            self._hidden |= long_enough

    def shown(self, text: str) -> str:
        """Return a text with hidden values masked."""
        for value in sorted(self._hidden, key=len, reverse=True):
            text = text.replace(value, MASK)
        return text

    def holds(self, value: object) -> bool:
        """Tell whether a JSON value has a hidden value in one of its texts."""
        hidden = self._hidden
        return bool(hidden) and any(item in text for text in strings_of(value) for item in hidden)

    def add(self, owner: Owner, what: str, error: str, traceback: str = "") -> Incident:
        """Write down an incident; the same one again is counted, not repeated."""
        error, traceback = self.shown(error), self.shown(traceback)
        key, now = (owner, what, error), datetime.now(UTC)
        with self._lock:
            known = self._incidents.pop(key, None)
            if known is None:
                incident = Incident(owner, what, error, now, traceback)
            else:
                incident = replace(known, when=now, traceback=traceback, times=known.times + 1)
            self._incidents[key] = incident
            if len(self._incidents) > MAX_INCIDENTS:
                del self._incidents[next(iter(self._incidents))]
        return incident

    @property
    def incidents(self) -> tuple[Incident, ...]:
        """All incidents, the latest last."""
        with self._lock:
            return tuple(self._incidents.values())

    def of(self, owner: Owner, what: str = "") -> tuple[Incident, ...]:
        """Return the incidents of one owner, of one call of it where `what` is given."""
        return tuple(item for item in self.incidents if item.owner == owner and what in ("", item.what))

    def begin(self, owner: Owner, what: str) -> "CallUnderWay":
        """Open the note of one call, by which it can be told whether it came back."""
        return CallUnderWay(self._lock, self._left, (owner, what))

    def is_left(self, owner: Owner, what: str) -> bool:
        """Tell whether a call that was left behind is still out."""
        with self._lock:
            return self._left[owner, what] > 0


class CallUnderWay:
    """One call: left behind when its caller waits no longer, ended when it is over."""

    __slots__ = ("_counts", "_ended", "_key", "_left", "_lock")

    def __init__(self, lock: threading.Lock, counts: "Counter[tuple[Owner, str]]", key: tuple[Owner, str]) -> None:
        self._lock, self._counts, self._key = lock, counts, key
        self._left = self._ended = False

    def leave(self) -> None:
        """Note that nobody waits for the call any more."""
        with self._lock:
            if not self._ended and not self._left:
                self._left = True
                self._counts[self._key] += 1

    def end(self) -> None:
        """Note that the call is over, late or not."""
        with self._lock:
            self._ended = True
            if self._left:
                self._left = False
                self._counts[self._key] -= 1
                if not self._counts[self._key]:
                    del self._counts[self._key]
