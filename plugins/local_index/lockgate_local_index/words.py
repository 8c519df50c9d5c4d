"""A question to full-text queries: its words, without those that say nothing, each quoted.

No text of a question reaches SQLite's query syntax unquoted, so nobody can write operators or name columns.
"""

import re
from dataclasses import dataclass
from typing import Final

MAX_WORDS: Final = 32
"""How many different words of a question count."""

MIN_STEM: Final = 4
"""The shortest beginning of a word that other words are found by."""

_WORD = re.compile(r"\w+")
_ENGLISH = (
    "a about all also am an and any are as at be because been but by can could did do does for from had has have he "
    "her his how i if in into is it its just may me might my no nor not of on or our shall she should so some such "
    "than that the their them then there these they this those to us was we were what when where which who whom whose "
    "why will with would you your"
)
_GERMAN = (
    "aber alle allem allen aller als also am an auch auf aus bei beim bin bis bist da damit dann das dass dein deine "
    "dem den denn der des die dies diese diesem diesen dieser dieses doch dort du durch ein eine einem einen einer "
    "eines er es euch für gibt haben habe hat hatte ich ihm ihn ihr ihre im in ist ja jede jedem jeden jeder jedes "
    "kann kein keine können man mein meine mich mir mit muss nach nicht noch nur ob oder sehr sein seine sich sie "
    "sind so soll sollte über um und uns unser unsere unter vom von vor wann war waren warum was weil welche "
    "welchem welchen welcher welches wenn wer werden wie wieso wir wird wo wurde wurden zu zum zur"
)
STOP_WORDS: Final = frozenset(_ENGLISH.split()) | frozenset(_GERMAN.split())

# Endings that change the form of a word and not its sense, the longer ones first; a beginning is looked for instead.
_ENDINGS = ("ings", "ungen", "ern", "ing", "ies", "ers", "ed", "en", "er", "es", "em", "e", "n", "s", "y")
_SPELLINGS = (("ß", "ss"), ("ae", "a"), ("oe", "o"), ("ue", "u"))


@dataclass(frozen=True, slots=True)
class Queries:
    """FTS5 queries for one question, the strictest first; empty when it has no words."""

    steps: tuple[str, ...]


def words_of(question: str) -> list[str]:
    """Return the distinct words of a question (letters, digits, underscore), without regard to case, at most 32."""
    distinct: dict[str, str] = {}
    for match in _WORD.finditer(question):
        if len(distinct) == MAX_WORDS:
            break
        if any(character.isalnum() for character in match[0]):
            distinct.setdefault(match[0].casefold(), match[0].lower())
    return list(distinct.values())


def queries_for(question: str) -> Queries:
    """Make the queries for a question.

    First all words that say something as they stand, then the same in other forms (another ending, an umlaut written
    with e), then any of them. Without a word that says something, all words count.
    """
    words = words_of(question)
    telling = [word for word in words if word not in STOP_WORDS] or words
    if not telling:
        return Queries(())
    exact = [_either(_spellings(word)) for word in telling]
    widened = [_either([*_spellings(word), *_beginnings(word)]) for word in telling]
    steps = [" AND ".join(exact), " AND ".join(widened)]
    if len(telling) > 1:
        steps.append(" OR ".join(widened))
    return Queries(tuple(dict.fromkeys(steps)))


def _either(terms: list[str]) -> str:
    distinct = list(dict.fromkeys(terms))
    return distinct[0] if len(distinct) == 1 else f"({' OR '.join(distinct)})"


def _spellings(word: str) -> list[str]:
    """The word as written, and as it would be with an umlaut or a sharp s in place of the letters that stand for it."""
    found = [_quoted(word)]
    plain = word.replace("ß", "ss")
    if plain != word:
        found.append(_quoted(plain))
    elif "ss" in word:
        found.append(_quoted(word.replace("ss", "ß")))
    if len(word) > MIN_STEM and word.isalpha():
        for written, umlaut in _SPELLINGS[1:]:
            plain = plain.replace(written, umlaut)
        found.append(_quoted(plain))
    return found


def _beginnings(word: str) -> list[str]:
    """Prefix queries for other forms of a word; none for short words and for what holds digits."""
    if not word.isalpha() or len(word) <= MIN_STEM:
        return []
    stem = next((word.removesuffix(end) for end in _ENDINGS if word.endswith(end)), word)
    if len(stem) < MIN_STEM:
        return []
    return [f"{_quoted(stem)} *"]


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'
