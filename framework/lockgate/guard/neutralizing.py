"""Where a found passage ends, what stands in its place, and how it is quoted to a person.

A found sentence is replaced by a fixed note that names the category. A forged note can therefore carry nothing: one
that is letter for letter the real one says only that something was withheld, and every other is itself replaced.
"""

import re
from dataclasses import dataclass
from typing import Final

from lockgate.guard.findings import Category

SNIPPET_LENGTH: Final = 240
"""Longest quotation in a finding, in characters."""
SENTENCE_REACH: Final = 240
"""How far a sentence is followed to either side of the passage, in characters."""

NOTE: Final = "passage withheld by the content filter"
"""The words that every note consists of, before its category."""
_NOTE_START, _NOTE_END = f"⟦{NOTE}: ", "⟧"
GENUINE_NOTE: Final = re.compile(
    re.escape(_NOTE_START) + "(?:" + "|".join(category.value for category in Category) + ")" + _NOTE_END
)
FORGED_NOTE: Final = re.compile(re.escape(NOTE))
"""What any note looks like once normalized, genuine or not."""

_BOUNDARY = re.compile(r"[.!?](?=[\s\"'”’)\]*_]|\Z)|[\r\n\t|<>{}⟦⟧\u2028\u2029]|[。！？।]")
_BROKEN = str.maketrans("<>[]|｜", "‹›❲❳¦¦")


@dataclass(frozen=True, slots=True)
class Region:
    """A stretch of the original text to be replaced.

    Attributes:
        start: Where it begins.
        end: Where it ends.
        replacement: What stands there instead; empty for a concealed carrier.
    """

    start: int
    end: int
    replacement: str


def note(category: Category) -> str:
    """The visible note that stands in place of a passage."""
    return f"{_NOTE_START}{category.value}{_NOTE_END}"


def broken(token: str) -> str:
    """A chat-template mark that no template takes for one and a reader still recognizes."""
    return token.translate(_BROKEN)


def sentence(text: str, start: int, end: int) -> tuple[int, int]:
    """The sentence around a passage, without the white space round it.

    Where no sentence ends within ``SENTENCE_REACH`` characters, the passage is widened to the nearest white space.
    """
    low = max(0, start - SENTENCE_REACH)
    first = low
    for match in _BOUNDARY.finditer(text, low, start):
        first = match.end()
    if first == low > 0:
        space = re.compile(r"\s").search(text, low, start)
        first = space.end() if space else start
    high = min(len(text), end + SENTENCE_REACH)
    boundary = _BOUNDARY.search(text, max(end - 1, start), high)
    if boundary is not None:
        last = boundary.end() if boundary[0] in ".!?。！？।" else boundary.start()
    else:
        last = high if high == len(text) else max(end, text.rfind(" ", end, high))
    last = max(last, end)
    while first < start and text[first].isspace():
        first += 1
    while last > end and text[last - 1].isspace():
        last -= 1
    return first, last


def bracketed(text: str, start: int, end: int) -> tuple[int, int]:
    """A span with the brackets that stand directly round it, so that none of a forged note is left."""
    if text[start - 1 : start] in {"⟦", "["}:
        start -= 1
    if text[end : end + 1] in {"⟧", "]"}:
        end += 1
    return start, end


def snippet(text: str, start: int, end: int) -> str:
    """The sentence around a passage as a quotation of at most ``SNIPPET_LENGTH`` characters."""
    first, last = sentence(text, start, end)
    if last - first > SNIPPET_LENGTH:
        first = max(first, min(start, last - SNIPPET_LENGTH))
    quotation = " ".join(text[first : min(last, first + 4 * SNIPPET_LENGTH)].split())
    return quotation if len(quotation) <= SNIPPET_LENGTH else quotation[: SNIPPET_LENGTH - 1] + "…"


def merge(text: str, regions: list[Region]) -> list[Region]:
    """Regions without overlap, those parted by white space only as one, so that notes do not pile up.

    Of regions that overlap, a note wins over a broken mark and over silence; the first note is kept.
    """
    merged: list[Region] = []
    for region in sorted(regions, key=lambda region: (region.start, -region.end)):
        last = merged[-1] if merged else None
        if last is not None and (region.start < last.end or _joinable(text, last, region)):
            merged[-1] = Region(last.start, max(last.end, region.end), _stronger(last.replacement, region.replacement))
        else:
            merged.append(region)
    return merged


def apply(text: str, regions: list[Region]) -> str:
    """The text with each region replaced."""
    pieces: list[str] = []
    copied = 0
    for region in regions:
        pieces += (text[copied : region.start], region.replacement)
        copied = region.end
    return "".join((*pieces, text[copied:]))


def is_note(replacement: str) -> bool:
    """Whether a replacement is a note rather than a broken mark or nothing."""
    return replacement.startswith(_NOTE_START)


def _joinable(text: str, last: Region, region: Region) -> bool:
    between = text[last.end : region.start]
    return is_note(last.replacement) and is_note(region.replacement) and (not between or between.isspace())


def _stronger(first: str, second: str) -> str:
    return first if is_note(first) or not is_note(second) else second
