"""Sentences of Markdown and plain text in English and German, each as it stands in the text."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from lockgate_offline.stop_words import ENGLISH, GERMAN, word_set

MAXIMUM_SENTENCE: Final = 420
"""Longest quotation in characters. A longer run is cut at a blank and shown with an ellipsis outside the quotes."""

_ABBREVIATIONS: Final = word_set(
    # English
    "mr mrs ms dr prof st jr sr vs e.g i.e cf fig figs eq no nos vol pp p ch sec approx dept est inc ltd co corp rev",
    "gen col sgt capt jan feb mar apr jun jul aug sep sept oct nov dec",
    # German
    "z.b d.h u.a u.ä o.ä i.d.r z.t v.a s.o s.u bzw ca evtl ggf inkl exkl max min mind nr abs art bspw dgl ebd",
    "gem ggü hrsg jh kap lt mio mrd tel str vgl zzgl bzgl sog allg geb gest hl ing dipl st tsd v.chr n.chr",
    "d u z o a i v n",
)
_MONTHS: Final = re.compile(
    r"januar|jänner|februar|märz|april|mai|juni|juli|august|september|oktober|november|dezember|jahrhundert|klasse|"
    r"stock|etage|tag|woche|monat|quartal",
    re.IGNORECASE,
)
_BEFORE_ORDINALS: Final = word_set(
    "der die das den dem des am im zum zur vom beim jeder jede jedes jeden jedem ab bis seit ein eine einen",
)
_FUNCTION_WORDS: Final = GERMAN | ENGLISH
_BREAK: Final = re.compile(r"[.!?…][.!?…]{0,8}[\"'”’“»)\]*_]{0,4}(?= )")
_LAST_WORD: Final = re.compile(r"([\w.]+)\Z")
_OPENERS: Final = "\"'“„‘»«([*_`"
_HEADING: Final = re.compile(r" {0,3}#{1,6}[ \t]+(.{1,300}?)[ \t]*#*")
_ITEM: Final = re.compile(r"[ \t]*(?:[-*+•–]|\d{1,3}[.)])[ \t]+(\S.*)")
_FENCE: Final = re.compile(r" {0,12}(`{3,}|~{3,})[^`]*")
_LONGEST_MARK: Final = 400
_RULES: Final = frozenset("-*_=~.|:+ \t")
_GUARD_NOTE: Final = "⟦"
_LETTERS: Final = re.compile(r"[^\W\d_]")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a text.

    Attributes:
        text: Its words as they stand there, white space collapsed.
        heading: The headings above it and the line that introduces its list: what it is about besides its words.
        position: Its place in the text, from 0.
        is_cut: It is a piece of a longer run without an end.
    """

    text: str
    heading: str
    position: int
    is_cut: bool = False


def split(text: str) -> list[Sentence]:
    """Return the sentences of a text; headings, code and what the guard put a note into are left out."""
    found: list[Sentence] = []
    for block in _blocks(text):
        for sentence in _sentences(block.text):
            pieces = _pieces(sentence)
            for piece in pieces:
                if _is_prose(piece):
                    found.append(Sentence(piece, block.heading, len(found), len(pieces) > 1))
    return found


# --- blocks -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Block:
    text: str
    heading: str


class _Lines:
    """Gathers lines to blocks: paragraphs, list items, rows of tables."""

    def __init__(self) -> None:
        self.held: list[str] = []
        self.heading = ""
        self.lead = ""
        self.is_item = False
        self.in_table = False

    def block(self) -> Iterator[_Block]:
        """Hand over what was gathered. A paragraph that ends in a colon introduces what follows."""
        text = " ".join(" ".join(self.held).split())
        self.held = []
        if not text:
            return
        about = f"{self.heading} {self.lead}".strip() if self.is_item else self.heading
        if not self.is_item:
            self.lead = text[-300:] if text.endswith(":") else ""
        yield _Block(text, about)

    def take(self, line: str) -> Iterator[_Block]:
        """Take the next line outside code; hands over the block it ends, if any."""
        if not line.strip():
            yield from self.block()
            self.in_table = False
        elif heading := _HEADING.fullmatch(line) if len(line) <= _LONGEST_MARK else None:
            yield from self.block()
            self.heading, self.lead, self.is_item = heading[1], "", False
        elif _is_rule(line):
            if set(line.strip()) <= set("-=") and len(self.held) == 1 and not self.is_item:
                self.heading, self.lead, self.held = self.held[0].strip(), "", []  # an underlined heading
            yield from self.block()
        elif line.lstrip().startswith("|"):
            yield from self.block()
            self._row(line.strip().strip("|").strip())
        elif item := _ITEM.fullmatch(line):
            yield from self.block()
            self.held, self.is_item = [item[1]], True
        else:
            if not self.held:
                # After a blank line an indented paragraph still belongs to its item.
                self.is_item = self.is_item and line[:1] in " \t"
            self.held.append(line)

    def _row(self, cells: str) -> None:
        """Take a row of a table; the first one names the columns and is no statement itself."""
        self.is_item = True
        if self.in_table:
            self.held = [cells]
        else:
            self.in_table, self.lead = True, cells[:300]


def _is_rule(line: str) -> bool:
    stripped = line.strip()
    return len(stripped) >= 3 and len(line) <= _LONGEST_MARK and _RULES.issuperset(stripped)


def _blocks(text: str) -> Iterator[_Block]:
    lines = _Lines()
    fence = ""
    for raw in text.split("\n"):
        line = raw.rstrip()
        if fence:
            stripped = line.strip()
            if len(stripped) >= len(fence) and stripped == fence[0] * len(stripped):
                fence = ""
        elif opening := _FENCE.fullmatch(line):
            yield from lines.block()
            fence = opening[1]
        else:
            yield from lines.take(line.lstrip("> \t") if line.lstrip().startswith(">") else line)
    yield from lines.block()


# --- sentences ----------------------------------------------------------------------------------------------


def _sentences(text: str) -> Iterator[str]:
    start = 0
    for match in _BREAK.finditer(text):
        if _ends(text, match):
            yield text[start : match.end()]
            start = match.end() + 1
    if start < len(text):
        yield text[start:]


def _ends(text: str, match: re.Match[str]) -> bool:
    """Whether a full stop ends a sentence: what follows begins one, and what precedes is no abbreviation."""
    following = text[match.end() + 1 : match.end() + 40]
    first = following.lstrip(_OPENERS)[:1]
    if first.islower() or (not first and not following):
        return False
    if match.group()[0] != "." or len(match.group()) > 1:
        return True
    last = _LAST_WORD.search(text[max(0, match.start() - 40) : match.start()])
    word = last[1] if last else ""
    if word.isdigit() and len(word) <= 2:
        return not (_MONTHS.match(following) or _is_ordinal(text, match.start() - len(word), following))
    if len(word) == 1 and word.isupper():
        return False  # an initial
    return word.lower() not in _ABBREVIATIONS


def _is_ordinal(text: str, start: int, following: str) -> bool:
    """Whether a German numeral such as "am 2. Platz" goes on: an article before it, a noun behind it."""
    before = _LAST_WORD.search(text[max(0, start - 20) : start].rstrip())
    after = re.match(r"\w+", following)
    is_noun = after is not None and after[0].lower() not in _FUNCTION_WORDS
    return is_noun and before is not None and before[1].lower() in _BEFORE_ORDINALS


def _is_prose(text: str) -> bool:
    """Whether a piece can be quoted: it has words, is no bare address or dotted line, and no note of the guard."""
    letters = sum(1 for _ in _LETTERS.finditer(text))
    if letters < max(3, len(text) // 4) or "....." in text or (" " not in text and text.isascii()):
        return False
    return _GUARD_NOTE not in text


def _pieces(text: str) -> list[str]:
    """Cut a run that is too long to quote at blanks, into pieces of about equal length."""
    pieces = []
    start = 0
    while len(text) - start > MAXIMUM_SENTENCE:
        end = text.rfind(" ", start + MAXIMUM_SENTENCE // 2, start + MAXIMUM_SENTENCE)
        end = start + MAXIMUM_SENTENCE if end < 0 else end
        pieces.append(text[start:end].strip())
        start = end
    pieces.append(text[start:].strip())
    return [piece for piece in pieces if piece]
