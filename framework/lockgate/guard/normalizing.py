"""The copy that rules are matched on: escapes undone, letters folded, white space collapsed.

The original is never changed here. Rules and texts go through the same folding, so that a rule is written in plain
spelling and finds full-width, accented, invisible-laden and look-alike spellings of it.
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from html.entities import html5
from typing import Final
from urllib.parse import unquote

from lockgate.guard.views import Edit, View

ESCAPE_DEPTH: Final = 3
"""How many layers of escapes are undone."""

PARAGRAPH: Final = "\u2029"
"""What a run of white space with an empty line becomes; a single line break becomes a line feed."""

_ESCAPE = re.compile(
    r"\\u([0-9a-fA-F]{4})|\\u\{([0-9a-fA-F]{1,6})\}|\\U([0-9a-fA-F]{8})|\\x([0-9a-fA-F]{2})|\\([nrt])"
    r"|&#[xX]([0-9a-fA-F]{1,6});?|&#([0-9]{1,7});?|&([A-Za-z][A-Za-z0-9]{1,31});|((?:%[0-9a-fA-F]{2})+)"
)
_WHITESPACE = re.compile(r"\s{2,}|[^\S \n]")
_LINE_BREAK = re.compile(r"\r\n|[\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_GREEK_CYRILLIC = re.compile(r"[\u0370-\u03ff\u0400-\u052f]")
_MIXED_WORD = re.compile(r"[a-z0-9\u0370-\u03ff\u0400-\u052f]+")
_LATIN = re.compile(r"[a-z]")

_TYPOGRAPHY = {"‘": "'", "’": "'", "ʼ": "'", "‛": "'", "´": "'", "“": '"', "”": '"', "„": '"', "«": '"', "»": '"'}
_TYPOGRAPHY |= dict.fromkeys("‐‑‒–—―−", "-")
_LETTERS = {
    "ı": "i",
    "ł": "l",
    "ø": "o",
    "đ": "d",
    "ħ": "h",
    "ɑ": "a",
    "ɡ": "g",
    "ɩ": "i",
    "ʟ": "l",
    "ɴ": "n",
    "ʀ": "r",
}
_LETTERS |= {chr(start + i): chr(97 + i) for start in (0x1F150, 0x1F170) for i in range(26)}
_SPECIAL = _TYPOGRAPHY | _LETTERS
_INVISIBLE = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0")

# Letters that look Latin; used inside words that mix scripts only, so that Greek and Russian stay themselves.
_CYRILLIC = dict(zip("аеорсухівјѕһԁԛԝгкмнтпьӏ", "aeopcyxibjshdqwrkmhtnbl", strict=True))
_GREEK = dict(zip("αβγεηικμνορςτυχωϲϳ", "abyenikuvopstuxwcj", strict=True))
_CONFUSABLE = str.maketrans(_CYRILLIC | _GREEK)


def normalize(text: str) -> View:
    """The copy of a text that rules are matched on; linear in its length."""
    return collapse(fold(unescape(View(text))))


def unescape(view: View) -> View:
    """Undo JSON, HTML and percent escapes, nested up to ``ESCAPE_DEPTH`` deep."""
    for _ in range(ESCAPE_DEPTH):
        if not any(mark in view.text for mark in "\\&%"):
            break
        rewritten = view.rewrite(_escape_edits(view.text))
        if rewritten is view:
            break
        view = rewritten
    return view


def fold(view: View) -> View:
    """Case, compatibility forms, accents, invisible characters and look-alikes folded away."""
    if view.text.isascii():
        return view.same_length(view.text.lower())
    folded = {character: _fold_character(character) for character in set(view.text)}
    moved = {character for character, replacement in folded.items() if len(replacement) != 1}
    if moved:
        text = view.text
        view = view.rewrite(
            (index, index + 1, folded[character]) for index, character in enumerate(text) if character in moved
        )
    table = {ord(character): replacement for character, replacement in folded.items() if character not in moved}
    text = view.text.translate(table)
    if _GREEK_CYRILLIC.search(text):
        text = _MIXED_WORD.sub(_unmix, text)
    return view.same_length(text)


def collapse(view: View) -> View:
    """Runs of white space as one space, one line feed, or one ``PARAGRAPH``."""
    return view.rewrite(_whitespace_edits(view.text))


def fold_phrase(phrase: str) -> str:
    """A phrase of a rule in the spelling that views have."""
    return collapse(fold(View(phrase))).text


def _escape_edits(text: str) -> Iterator[Edit]:
    for match in _ESCAPE.finditer(text):
        replacement = _unescaped(match)
        if replacement is not None:
            yield match.start(), match.end(), replacement


def _unescaped(match: re.Match[str]) -> str | None:
    group = match.lastindex or 0
    value = match[group]
    if group == 5:
        return {"n": "\n", "r": "\r", "t": "\t"}[value]
    if group == 8:
        return html5.get(value + ";")
    if group == 9:
        return unquote(value)
    code = int(value, 10 if group == 7 else 16)
    return chr(code) if code <= 0x10FFFF and not 0xD800 <= code <= 0xDFFF else None


@lru_cache(maxsize=8192)
def _fold_character(character: str) -> str:
    special = _SPECIAL.get(character)
    if special is not None:
        return special
    if character in _INVISIBLE or unicodedata.category(character) == "Cf":
        return ""
    decomposed = unicodedata.normalize("NFKD", character).casefold()
    decomposed = unicodedata.normalize("NFKD", decomposed)
    kept = (part for part in decomposed if unicodedata.category(part) not in {"Mn", "Me", "Cf"})
    return "".join(_SPECIAL.get(part, part) for part in kept)


def _unmix(match: re.Match[str]) -> str:
    word = match[0]
    if _LATIN.search(word) and _GREEK_CYRILLIC.search(word):
        return word.translate(_CONFUSABLE)
    return word


def _whitespace_edits(text: str) -> Iterator[Edit]:
    for match in _WHITESPACE.finditer(text):
        breaks = sum(1 for _ in _LINE_BREAK.finditer(match[0]))
        replacement = " " if not breaks else "\n" if breaks == 1 else PARAGRAPH
        if replacement != match[0]:
            yield match.start(), match.end(), replacement
