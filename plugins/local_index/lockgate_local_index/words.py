"""A question to full-text queries: its words, without those that say nothing, each quoted.

No text of a question reaches SQLite's query syntax unquoted, so nobody can write operators or name columns.
"""

import re
import unicodedata
from dataclasses import dataclass
from typing import Final

MAX_WORDS: Final = 32
"""How many different words of a question count."""

MIN_STEM: Final = 4
"""The shortest beginning of a word that other words are found by."""

_WORD = re.compile(r"\w+")
_ENGLISH = (
    "a about all also am an and any are as at be because been but by can could did do does for from get had has "
    "have he her his how i if in into is it its just may me might my need no nor not of on or our please shall "
    "she should so some such tell than that the their them then there these they this those to us use used using "
    "want was we were what when where which who whom whose why will with would you your"
)
_GERMAN = (
    "aber alle allem allen aller als also am an auch auf aus bei beim bin bis bist bitte da damit dann das dass "
    "dein deine dem den denn der des die dies diese diesem diesen dieser dieses doch dort du durch ein eine einem "
    "einen einer eines er es euch für gibt habe haben hat hatte ich ihm ihn ihr ihre im in ist ja jede jedem "
    "jeden jeder jedes kann kein keine können man mein meine mich mir mit muss nach nicht noch nur ob oder sehr "
    "sein seine sich sie sind so soll sollte um und uns unser unsere unter vom von vor wann war waren warum was "
    "weil welche welchem welchen welcher welches wenn wer werden wie wieso wir wird wo wurde wurden zu zum zur "
    "über"
)
STOP_WORDS: Final = frozenset(_ENGLISH.split()) | frozenset(_GERMAN.split())

# Endings that change the form of a word and not its sense, the longer ones first; a beginning is looked for instead.
_ENDINGS = ("ings", "ungen", "ern", "ing", "ies", "ers", "ed", "en", "er", "es", "em", "e", "n", "s", "y")
_MARKS = re.compile(r"[\u0300-\u036f]+")


@dataclass(frozen=True, slots=True)
class Term:
    """A word of a question, in the forms it may have in a text.

    Attributes:
        spellings: The word as written first, then as it would be written otherwise.
        stems: What longer forms of it begin with; empty where it has none.
    """

    spellings: tuple[str, ...]
    stems: tuple[str, ...] = ()

    def exactly(self) -> str:
        """The query for the word itself."""
        return _either([_quoted(word) for word in self.spellings])

    def widely(self) -> str:
        """The query for the word in any form."""
        words = [_quoted(word) for word in self.spellings]
        return _either(words + [f"{_quoted(stem)} *" for stem in self.stems])

    def is_in(self, folded: str) -> bool:
        """Tell whether any form of the word is in a text that `fold` made."""
        forms = [fold(word) for word in self.spellings] + [f" {fold(stem).strip()}" for stem in self.stems]
        return any(form in folded for form in forms)


@dataclass(frozen=True, slots=True)
class Queries:
    """FTS5 queries for one question; empty when it has no words.

    Attributes:
        terms: The words that count.
        strict: Queries for all of them at once, the strictest first.
        loose: The query for any of them; empty for a single word.
    """

    terms: tuple[Term, ...] = ()
    strict: tuple[str, ...] = ()
    loose: str = ""


def fold(text: str) -> str:
    """Bring a text into the form the index compares words in: each word between blanks, small, without marks."""
    lowered = text.lower().replace("_", " ")
    if not lowered.isascii():
        lowered = _MARKS.sub("", unicodedata.normalize("NFKD", lowered))
    return f" {' '.join(_WORD.findall(lowered))} "


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
    terms = tuple(_term(word) for word in ([word for word in words if word not in STOP_WORDS] or words))
    if not terms:
        return Queries()
    exact = " AND ".join(term.exactly() for term in terms)
    wide = " AND ".join(term.widely() for term in terms)
    loose = " OR ".join(term.widely() for term in terms) if len(terms) > 1 else ""
    return Queries(terms, tuple(dict.fromkeys((exact, wide))), loose)


def _term(word: str) -> Term:
    spellings = tuple(dict.fromkeys(_spellings(word)))
    stems = dict.fromkeys(stem for spelling in spellings if (stem := _stem(spelling)))
    return Term(spellings, tuple(stems))


def _spellings(word: str) -> list[str]:
    """The word as written, and as it would be with an umlaut or a sharp s in place of the letters that stand for it."""
    plain = word.replace("ß", "ss")
    found = [word, plain]
    if "ss" in word:
        found.append(word.replace("ss", "ß"))
    if len(word) > MIN_STEM and word.isalpha():
        # The index takes ü for u, so "ue" has to be looked for as "u".
        found.append(plain.replace("ae", "a").replace("oe", "o").replace("ue", "u"))
    return found


def _stem(word: str) -> str:
    """What other forms of a word begin with; nothing for short words and for what holds digits."""
    if not word.isalpha() or len(word) <= MIN_STEM:
        return ""
    stem = next((word.removesuffix(end) for end in _ENDINGS if word.endswith(end)), word)
    return stem if len(stem) >= MIN_STEM else ""


def _either(queries: list[str]) -> str:
    return queries[0] if len(queries) == 1 else f"({' OR '.join(queries)})"


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'
