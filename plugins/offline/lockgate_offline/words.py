"""Words and stems of English and German text. Pure functions; the same text always gives the same words."""

import re
import unicodedata
from functools import lru_cache
from typing import Final, Literal

from lockgate_offline.stop_words import ASKING, BOTH_LANGUAGES, ENGLISH, GERMAN

Language = Literal["en", "de"]

WORD: Final = re.compile(r"\w+(?:[.\-'’]\w+)*")
"""A word as it stands in a question: inner dots, hyphens and apostrophes belong to it (`v2.1`, `e-mail`)."""

_PIECE: Final = re.compile(r"[^\W_]+")
_VOWELS: Final = frozenset("aeiou")
_SUFFIXES: Final = (
    ("ings", 4), ("ing", 4), ("ern", 4), ("ly", 4), ("ed", 4), ("em", 4), ("er", 4), ("en", 4), ("es", 4),
    ("et", 4), ("s", 3), ("e", 3), ("n", 4), ("t", 4),
)  # fmt: skip
_GERMAN_ONLY: Final = GERMAN - ENGLISH - BOTH_LANGUAGES
_ENGLISH_ONLY: Final = ENGLISH - GERMAN - BOTH_LANGUAGES
_PASSES: Final = 3
_LONGEST_WORD: Final = 64
_PREFIX: Final = 5
PARTIAL: Final = 0.6
"""How much a related word counts: a compound that holds the term, or another word of the family."""


def guess_language(text: str) -> Language:
    """Return the language a text is written in, by its function words and umlauts; English when it cannot tell."""
    german = english = 0
    for match in WORD.finditer(text):
        word = match.group().lower().replace("’", "'")
        german += (word in _GERMAN_ONLY) + any(letter in "äöüß" for letter in word)
        english += word in _ENGLISH_ONLY
    return "de" if german > english else "en"


def is_stop_word(word: str, language: Language) -> bool:
    """Tell whether a word says nothing about the matter, in its own language or clearly in the other one."""
    lower = word.lower().replace("’", "'")
    if lower in ASKING:
        return True
    own, other = (GERMAN, ENGLISH) if language == "de" else (ENGLISH, GERMAN)
    return lower in own or (lower in other and lower not in BOTH_LANGUAGES)


@lru_cache(maxsize=65_536)
def fold(word: str) -> str:
    """Return a word without case, accents and umlauts: ``Größe`` becomes ``grosse``."""
    decomposed = unicodedata.normalize("NFKD", word.casefold())
    return "".join(letter for letter in decomposed if not unicodedata.combining(letter))


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """Return a light stem that inflected forms of one English or German word mostly share.

    It is no dictionary form. Words over 64 characters are cut: nothing a person asks for is longer.
    """
    result = fold(word)[:_LONGEST_WORD]
    if any(letter.isdigit() for letter in result):
        return result
    for _ in range(_PASSES):
        shorter = _strip(result)
        if shorter == result:
            break
        result = shorter
    if len(result) > 2 and result[-1] == "y" and result[-2] not in _VOWELS:
        result = result[:-1] + "i"
    if len(result) > 3 and result[-1] == result[-2] and result[-1] not in _VOWELS:
        result = result[:-1]
    return result


def _strip(word: str) -> str:
    for suffix, least in _SUFFIXES:
        if not word.endswith(suffix) or len(word) - len(suffix) < least:
            continue
        before = word[-len(suffix) - 1]
        if (suffix == "s" and before == "s") or (suffix in ("t", "n") and before in _VOWELS):
            continue
        return word[: -len(suffix)]
    return word


def stems(text: str) -> list[str]:
    """Return the stems of all words of a text, in order, parts of compounds with hyphens or dots apart."""
    return [stem(piece) for piece in _PIECE.findall(text)]


def identifier_words(name: str) -> tuple[str, ...]:
    """Return the words of an identifier, lower case: ``readWeb_page`` gives ``read``, ``web``, ``page``."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
    return tuple(piece.lower() for piece in _PIECE.findall(spaced.replace("_", " ")))


def base_form(word: str) -> str:
    """Return a likely singular of a word, still a word: ``batteries`` gives ``battery``, ``Kosten`` ``Kost``."""
    lower = word.lower()
    for ending, replacement, least in (("ies", "y", 3), ("ses", "s", 3), ("en", "", 5), ("s", "", 3), ("e", "", 5)):
        if lower.endswith(ending) and len(word) - len(ending) >= least and not lower.endswith("ss"):
            return word[: len(word) - len(ending)] + replacement
    return word


def kinship(term: str, token: str) -> float:
    """Return how far a stem of a text answers a stem of the question: 1 for the same, 0 for none.

    Between lie compounds (``frist`` in ``kundigungsfrist``) and words of one family (``configur``,
    ``configuration``), told by a shared beginning of at least five letters.
    """
    if term == token:
        return 1.0
    short, long = (term, token) if len(term) <= len(token) else (token, term)
    if len(short) < _PREFIX:
        return 0.0
    if long.startswith(short) or long.endswith(short):
        return PARTIAL
    shared = 0
    for left, right in zip(short, long, strict=False):
        if left != right:
            break
        shared += 1
    return PARTIAL if shared >= _PREFIX and shared >= 0.6 * len(long) else 0.0
