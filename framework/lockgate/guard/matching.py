"""Applying rules to a normalized text in linear time.

A form is tried only around the words it cannot do without: first the vocabulary of the whole text decides which forms
are possible at all, then each occurrence of the slot that is rarest in it opens a window as wide as the form reaches.
Windows of one form are merged, so that no character is looked at more often than the number of forms times a constant.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from lockgate.guard.rule_set import Form, Rule, RuleSet


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage that a rule found.

    Attributes:
        rule: The rule.
        start: Where it begins in the text that was searched.
        end: Where it ends.
        is_token: It is a literal mark, to be broken where it stands, not a sentence.
    """

    rule: Rule
    start: int
    end: int
    is_token: bool = False


def find(text: str, rules: RuleSet) -> list[Hit]:
    """Every passage of a normalized text that a rule finds, in the order of the text, longer ones first."""
    hits = list(_find_tokens(text, rules))
    words = _Words(text)
    if words.has_any(rules.anchors):
        for rule in rules.rules:
            for form in rule.forms:
                if all(map(words.has_any, form.gates)):
                    hits += (Hit(rule, start, end) for start, end in _find_form(text, form, words))
    return sorted(hits, key=lambda hit: (hit.start, -hit.end))


class _Words:
    """Which words stand in a text and how often, each looked up once."""

    def __init__(self, text: str) -> None:
        self._text = text
        # The distinct words are much shorter than the text, and what is not in them is not in it.
        self._vocabulary = " ".join(set(text.split()))
        self._present: dict[str, bool] = {}
        self._counts: dict[str, int] = {}

    def has_any(self, words: Collection[str]) -> bool:
        """Whether one of the words stands in the text."""
        return any(map(self._has, words))

    def count(self, words: Collection[str]) -> int:
        """How often the words stand in the text altogether."""
        return sum(map(self._count, words))

    def positions(self, words: Collection[str]) -> list[int]:
        """Where the words begin, in order."""
        found: list[int] = []
        for word in filter(self._has, words):
            start = self._text.find(word)
            while start >= 0:
                found.append(start)
                start = self._text.find(word, start + 1)
        return sorted(found)

    def _has(self, word: str) -> bool:
        present = self._present.get(word)
        if present is None:
            present = self._present[word] = word in self._vocabulary
        return present

    def _count(self, word: str) -> int:
        count = self._counts.get(word)
        if count is None:
            count = self._counts[word] = self._text.count(word) if self._has(word) else 0
        return count


def _find_tokens(text: str, rules: RuleSet) -> Iterator[Hit]:
    if "<" not in text and "[" not in text:
        return
    for rule in rules.rules:
        for token in rule.tokens:
            start = text.find(token)
            while start >= 0:
                yield Hit(rule, start, start + len(token), is_token=True)
                start = text.find(token, start + len(token))


def _find_form(text: str, form: Form, words: _Words) -> Iterator[tuple[int, int]]:
    rarest = min(form.gates, key=words.count)
    for start, end in _windows(words.positions(rarest), form.reach, len(text)):
        window = text[start:end]
        if all(any(word in window for word in gate) for gate in form.gates):
            yield from (match.span() for match in form.pattern.finditer(text, start, end))


def _windows(positions: list[int], reach: int, length: int) -> Iterator[tuple[int, int]]:
    """Merged stretches of text around each position."""
    opened = closed = -1
    for position in positions:
        start, end = max(0, position - reach), min(length, position + reach)
        if opened < 0:
            opened, closed = start, end
        elif start <= closed:
            closed = max(closed, end)
        else:
            yield opened, closed
            opened, closed = start, end
    if opened >= 0:
        yield opened, closed
