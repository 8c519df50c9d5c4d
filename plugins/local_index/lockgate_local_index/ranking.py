"""The order of passages that hold some of a question's words: how many of them counts beside how rare they are."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from lockgate.retrieval import Hit
from lockgate_local_index.words import Term, fold

CANDIDATES: Final = 200
"""How many passages are put in order. A fixed number, so that every page sees the same order."""


@dataclass(frozen=True, slots=True)
class Scored:
    """A passage found: its key, its bm25 score (the lower the better, as SQLite has it), and what it is."""

    key: int
    score: float
    hit: Hit


def by_coverage(candidates: Sequence[Scored], terms: Sequence[Term]) -> list[Scored]:
    """Put passages in order of bm25 times the share of the question's words they hold.

    bm25 alone lets a passage that repeats one rare word win over one that holds nearly all words.
    """

    def key(item: Scored) -> tuple[float, int]:
        passage = item.hit.passage
        text = fold(f"{item.hit.path} {passage.heading} {passage.text}")
        return (item.score * sum(term.is_in(text) for term in terms) / len(terms), item.key)

    return sorted(candidates, key=key)
