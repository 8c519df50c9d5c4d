"""Which sentences answer a question best: shared words, weighed by how rare they are in what was found."""

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from lockgate_offline.question import Question
from lockgate_offline.reading import Document
from lockgate_offline.sentences import Sentence, split
from lockgate_offline.words import kinship, stems

MAXIMUM_QUOTES: Final = 5
"""Most sentences an answer quotes."""

_OPENING: Final = 2
_HEADING_SHARE: Final = 0.45
_NEIGHBOUR_SHARE: Final = 0.2
_LEAST_SHARE: Final = 0.33
_ALIKE: Final = 0.7
_USUAL_LENGTH: Final = 30
_FEW_WORDS: Final = 0.34
_CUES: Final = (
    (
        re.compile(
            r"\b(?:how (?:many|much|long|often|far|old|large|big)|when|wie ?viele?|wann|which year|welche[sm]? jahr|"
            r"wie (?:lange|oft|hoch|groß|schnell|alt|teuer|weit)|what (?:time|port|year|size))\b",
            re.IGNORECASE,
        ),
        re.compile(
            r"\d|\b(?:once|twice|daily|weekly|monthly|yearly|every|hour|day|week|month|year|einmal|zweimal|täglich|"
            r"one|two|three|four|five|six|seven|eight|nine|ten|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|"
            r"wöchentlich|monatlich|jährlich|jede[nrs]?|stunden?|tagen?|wochen?|monaten?|jahren?)\b",
            re.IGNORECASE,
        ),
    ),
    (
        re.compile(r"^\W*(?:what (?:is|are|does)|was (?:ist|sind|bedeutet|heißt))\b", re.IGNORECASE),
        re.compile(
            r"\b(?:(?:is|are) (?:an?|the|one)|means|(?:ist|sind) (?:eine?|der|die|das)|bedeutet|bezeichnet)\b",
            re.IGNORECASE,
        ),
    ),
    (
        re.compile(r"\b(?:why|warum|wieso|weshalb)\b", re.IGNORECASE),
        re.compile(
            r"\b(?:because|since|so that|therefore|otherwise|due to|weil|da|damit|deshalb|sonst|denn|wegen)\b",
            re.IGNORECASE,
        ),
    ),
    (
        re.compile(r"\b(?:who|wer|wem|wen)\b", re.IGNORECASE),
        re.compile(r"\b(?:by|von|responsible|zuständig|verantwortlich|team|office|büro)\b|@", re.IGNORECASE),
    ),
)
"""Pairs: how a kind of question is told, and what its answers usually hold (numbers, definitions, reasons,
people).
"""

_CUE_BONUS: Final = 1.2


@dataclass(frozen=True, slots=True)
class Quote:
    """A sentence chosen for the answer.

    Attributes:
        document: What it stands in.
        text: Its words.
        is_cut: It is a piece of a longer run.
    """

    document: Document
    text: str
    is_cut: bool = False


@dataclass(frozen=True, slots=True)
class Selection:
    """What was chosen.

    Attributes:
        quotes: The sentences, best document first, within a document in its order.
        coverage: Share of the question's words, weighed by rarity, that the quotes hold; from 0 to 1.
        is_opening: No sentence shares a word with the question: the quotes are how the first documents begin.
    """

    quotes: tuple[Quote, ...]
    coverage: float = 0.0
    is_opening: bool = False

    @property
    def is_weak(self) -> bool:
        """Whether the quotes share so few of the question's words that they may well miss it."""
        return not self.is_opening and self.coverage < _FEW_WORDS


@dataclass(frozen=True, slots=True)
class _Unit:
    """A sentence with what ranking needs of it; `own` and `above` say how well it and its heading hold each term."""

    sentence: Sentence
    document: int
    length: int
    own: dict[int, float]
    spots: tuple[tuple[int, int], ...]
    above: dict[int, float]
    tokens: frozenset[str]


def select(question: Question, documents: Sequence[Document]) -> Selection:
    """Choose at most five sentences that differ from each other. Time grows with the length of the texts only."""
    units = _units(question.terms, documents)
    if not units:
        return Selection(())
    weights = _weights(len(question.terms), units)
    scores = _scores(question, units, weights)
    chosen = _pick(units, scores, weights)
    if not chosen:
        return Selection(_quotes(units[:_OPENING], documents), is_opening=True)
    return Selection(_quotes(chosen, documents), _coverage(chosen, weights))


def _coverage(chosen: Sequence[_Unit], weights: Sequence[float]) -> float:
    best: dict[int, float] = {}
    for unit in chosen:
        for term, share in (*unit.above.items(), *unit.own.items()):
            best[term] = max(best.get(term, 0.0), share)
    total = sum(weights)
    return sum(weights[term] * share for term, share in best.items()) / total if total else 0.0


def _units(terms: Sequence[str], documents: Sequence[Document]) -> list[_Unit]:
    finder = _Finder(terms)
    units = []
    for index, document in enumerate(documents):
        above = f"{document.name} {document.section}"
        about: dict[str, dict[int, float]] = {}
        for sentence in split(document.text):
            if sentence.heading not in about:
                about[sentence.heading] = finder.best(stems(f"{above} {sentence.heading}"))
            tokens = stems(sentence.text)
            own, spots = finder.find(tokens)
            units.append(
                _Unit(sentence, index, len(tokens), own, spots, about[sentence.heading], frozenset(tokens))
            )
    return units


class _Finder:
    """Finds the question's terms among tokens, each distinct token compared once."""

    def __init__(self, terms: Sequence[str]) -> None:
        self._terms = terms
        self._known: dict[str, tuple[tuple[int, float], ...]] = {}

    def find(self, tokens: Sequence[str]) -> tuple[dict[int, float], tuple[tuple[int, int], ...]]:
        """Return how well each term is met, and where: pairs of token position and term."""
        best: dict[int, float] = {}
        spots = []
        for position, token in enumerate(tokens):
            for term, share in self._matches(token):
                best[term] = max(best.get(term, 0.0), share)
                spots.append((position, term))
        return best, tuple(spots)

    def best(self, tokens: Sequence[str]) -> dict[int, float]:
        """Return how well each term is met."""
        return self.find(tokens)[0]

    def _matches(self, token: str) -> tuple[tuple[int, float], ...]:
        known = self._known.get(token)
        if known is None:
            shares = ((index, kinship(term, token)) for index, term in enumerate(self._terms))
            known = self._known[token] = tuple((index, share) for index, share in shares if share)
        return known


def _weights(terms: int, units: Sequence[_Unit]) -> list[float]:
    """Return the rarity of each term over all sentences (idf as in BM25, never negative)."""
    frequency = Counter(term for unit in units for term in unit.own)
    return [math.log(1 + (len(units) - frequency[i] + 0.5) / (frequency[i] + 0.5)) for i in range(terms)]


def _scores(question: Question, units: Sequence[_Unit], weights: Sequence[float]) -> list[float]:
    cues = [wanted for asked, wanted in _CUES if asked.search(question.text)]
    scores = []
    for index, unit in enumerate(units):
        score = sum(weights[term] * share for term, share in unit.own.items())
        score += _HEADING_SHARE * sum(
            weights[term] * share for term, share in unit.above.items() if term not in unit.own
        )
        score += _NEIGHBOUR_SHARE * _around(units, index, weights)
        score *= 1 + _closeness(unit) + _order(unit)
        is_cued = any(wanted.search(unit.sentence.text) for wanted in cues)
        if is_cued:
            score *= _CUE_BONUS
        score *= 1 + 0.25 / (unit.document + 2) + 0.05 / (unit.sentence.position + 1)
        if unit.length > _USUAL_LENGTH:
            score /= 1 + 0.01 * (unit.length - _USUAL_LENGTH)
        if unit.sentence.text.endswith((":", "?")):
            score *= 0.7  # it announces or asks, and tells nothing
        if unit.length < 4:
            score *= 0.8
        if unit.sentence.position == 0 and unit.sentence.text[0].islower():
            score *= 0.7  # the passage begins in the middle of a sentence
        scores.append(score if unit.own or len(unit.above) > 1 or is_cued else 0.0)
    return scores


def _around(units: Sequence[_Unit], index: int, weights: Sequence[float]) -> float:
    """What the sentence before holds of the question: "It is renewed every year" speaks of what stands there."""
    unit = units[index]
    if not index or units[index - 1].document != unit.document:
        return 0.0
    before = units[index - 1]
    if before.sentence.heading != unit.sentence.heading:
        return 0.0
    return sum(
        weights[term] * share for term, share in before.own.items() if term not in unit.own and term not in unit.above
    )


def _closeness(unit: _Unit) -> float:
    """Up to 0.25 for different terms that stand near each other."""
    nearest: int | None = None
    last: dict[int, int] = {}
    for position, term in unit.spots:
        for other, place in last.items():
            if other != term and (nearest is None or position - place < nearest):
                nearest = position - place
        last[term] = position
    return 0.0 if nearest is None else 0.25 / max(1, nearest)


def _order(unit: _Unit) -> float:
    """0.15 where two terms that follow each other in the question do so in the sentence, at most one word between."""
    for (here, term), (there, following) in zip(unit.spots, unit.spots[1:], strict=False):
        if following == term + 1 and 0 < there - here <= 2:
            return 0.15
    return 0.0


def _pick(units: Sequence[_Unit], scores: Sequence[float], weights: Sequence[float]) -> list[_Unit]:
    """Take the best, then those that are good enough and say something else; a new term counts more."""
    order = sorted((index for index in range(len(units)) if scores[index] > 0), key=lambda i: (-scores[i], i))
    if not order:
        return []
    chosen: list[_Unit] = []
    covered: set[int] = set()
    waiting = [index for index in order[:200] if scores[index] >= _LEAST_SHARE * scores[order[0]]]
    while waiting and len(chosen) < MAXIMUM_QUOTES:
        ranked = [
            (scores[i] + 0.5 * sum(weights[term] for term in units[i].own if term not in covered), -position, i)
            for position, i in enumerate(waiting)
        ]
        _, _, index = max(ranked) if chosen else (0.0, 0, waiting[0])
        waiting.remove(index)
        unit = units[index]
        if any(_alike(unit, other) for other in chosen):
            continue
        chosen.append(unit)
        covered.update(unit.own)
    return chosen


def _alike(left: _Unit, right: _Unit) -> bool:
    """Whether two sentences say the same words: passages overlap, and files are copied."""
    shared = len(left.tokens & right.tokens)
    return shared >= _ALIKE * len(left.tokens | right.tokens) or shared == min(len(left.tokens), len(right.tokens))


def _quotes(units: Sequence[_Unit], documents: Sequence[Document]) -> tuple[Quote, ...]:
    """Put the sentences in the order they are read: documents of one name together, the best one first."""
    first: dict[str, int] = {}
    for rank, unit in enumerate(units):
        first.setdefault(documents[unit.document].name, rank)
    ordered = sorted(
        units, key=lambda unit: (first[documents[unit.document].name], unit.document, unit.sentence.position)
    )
    return tuple(Quote(documents[unit.document], unit.sentence.text, unit.sentence.is_cut) for unit in ordered)
