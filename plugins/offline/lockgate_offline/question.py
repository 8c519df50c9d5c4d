"""The question as the reader understands it: its language, key words, numbers, addresses and quoted spans."""

import re
from dataclasses import dataclass
from typing import Final

from lockgate_offline.stop_words import SMALL_TALK
from lockgate_offline.words import WORD, Language, base_form, fold, guess_language, is_stop_word, stem, stems

MAXIMUM_QUERY_CHARACTERS: Final = 500
"""Longest query: what the search tools take in one line."""

MAXIMUM_KEY_WORDS: Final = 32
"""Most key words: a keyword index looks at no more."""

_MAXIMUM_QUESTION: Final = 20_000
_BROADER_WORDS: Final = 3
_ADDRESS: Final = re.compile(r"https?://[^\s<>\"'`{}|\\^]{1,4000}", re.IGNORECASE)
_NUMBER: Final = re.compile(r"(?<![\w.,])[-−]?\d{1,15}(?:[.,]\d{1,15})*(?![\w])")
_QUOTED: Final = re.compile(r"\"([^\"\n]{1,500})\"|“([^”\n]{1,500})”|„([^“”\n]{1,500})[“”]|«([^»\n]{1,500})»")
_MEASURE: Final = re.compile(
    r"\b(how\s+)(?:long|many|much|often|quickly|fast|far|soon)\b|\b(wie\s+)(?:lange?|oft|viele?|schnell|weit|bald)\b",
    re.IGNORECASE,
)
_NUMBER_WORDS: Final = {
    "zero": 0, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
    "eleven": 11, "twelve": 12, "null": 0, "zwei": 2, "drei": 3, "vier": 4, "fünf": 5, "sechs": 6, "sieben": 7,
    "acht": 8, "neun": 9, "zehn": 10, "elf": 11, "zwölf": 12,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Number:
    """A number of the question: its value and the stems of the words beside it."""

    value: int | float
    before: str = ""
    after: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """What a user message asks.

    Attributes:
        text: The message.
        language: The language the answer is given in.
        key_words: Its words without stop words, as written, in order, each once.
        terms: Their stems, in order, each once.
        words: Stems of all its words.
        addresses: The web addresses in it.
        numbers: The numbers in it, in order.
        quoted: What it puts in quotation marks.
    """

    text: str
    language: Language
    key_words: tuple[str, ...]
    terms: tuple[str, ...]
    words: frozenset[str]
    addresses: tuple[str, ...] = ()
    numbers: tuple[Number, ...] = ()
    quoted: tuple[str, ...] = ()

    @property
    def is_small_talk(self) -> bool:
        """Whether nothing is asked: no key word and no address, or greetings and thanks alone."""
        return not self.addresses and all(fold(word) in _FOLDED_SMALL_TALK for word in self.key_words)

    @property
    def query(self) -> str:
        """The key words in one line of at most 500 characters."""
        return _joined(self.key_words)

    @property
    def broader_query(self) -> str:
        """Fewer and plainer words for a second search; empty when there is nothing broader to ask."""
        longest = sorted(self.key_words, key=lambda word: (-len(word), self.key_words.index(word)))
        for count in (_BROADER_WORDS, 1):
            kept = set(longest[:count])
            query = _joined(tuple(base_form(word) for word in self.key_words if word in kept))
            if query and query != self.query:
                return query
        return ""


_FOLDED_SMALL_TALK: Final = frozenset(fold(word) for word in SMALL_TALK)


def read_question(text: str) -> Question:
    """Take a user message apart. Beyond 20,000 characters it is not looked at."""
    text = text[:_MAXIMUM_QUESTION]
    addresses = tuple(dict.fromkeys(_trimmed(found.group()) for found in _ADDRESS.finditer(text)))
    plain = _ADDRESS.sub(" ", text)
    language = guess_language(plain)
    key_words = _key_words(plain, language)
    terms = tuple(dict.fromkeys(part for word in key_words for part in stems(word)))
    return Question(
        text=text,
        language=language,
        key_words=key_words,
        terms=terms,
        words=frozenset(stems(plain)),
        addresses=addresses,
        numbers=_numbers(plain, language),
        quoted=tuple(next(part for part in found.groups() if part) for found in _QUOTED.finditer(text)),
    )


def _key_words(text: str, language: Language) -> tuple[str, ...]:
    found: dict[str, str] = {}
    # "How long" asks for a number; the word "long" is not what the answer is found by.
    for match in WORD.finditer(_MEASURE.sub(r"\1\2", text)):
        word = re.sub(r"['’]s$", "", match.group())
        if is_stop_word(word, language) or (len(word) < 2 and not word.isdigit()):
            continue
        found.setdefault(fold(word), word)
        if len(found) == MAXIMUM_KEY_WORDS:
            break
    return tuple(found.values())


def _joined(words: tuple[str, ...]) -> str:
    line = ""
    for word in words:
        longer = f"{line} {word}" if line else word
        if len(longer) > MAXIMUM_QUERY_CHARACTERS:
            break
        line = longer
    return line


def _trimmed(address: str) -> str:
    """Cut what belongs to the sentence and not to the address: its punctuation and an unbalanced bracket."""
    while address:
        last = address[-1]
        opening = {")": "(", "]": "["}.get(last)
        if last in ".,;:!?*_~" or (opening and address.count(last) > address.count(opening)):
            address = address[:-1]
        else:
            break
    return address


def _numbers(text: str, language: Language) -> tuple[Number, ...]:
    found: list[tuple[int, int, int | float]] = []
    for match in _NUMBER.finditer(text):
        value = _value(match.group(), language)
        if value is not None:
            found.append((match.start(), match.end(), value))
    for match in WORD.finditer(text):
        value = _NUMBER_WORDS.get(match.group().lower())
        if value is not None:
            found.append((match.start(), match.end(), value))
    found.sort()
    return tuple(
        Number(value, _neighbour(text[max(0, start - 40) : start], -1), _neighbour(text[end : end + 40], 0))
        for start, end, value in found
    )


def _neighbour(text: str, index: int) -> str:
    words = WORD.findall(text)
    return stem(words[index]) if words else ""


def _value(text: str, language: Language) -> int | float | None:
    """Read a number as the language writes it: ``2.5`` and ``1,000`` in English, ``2,5`` and ``1.000`` in German."""
    point, group = (",", ".") if language == "de" else (".", ",")
    text = text.replace("−", "-")
    if re.fullmatch(rf"-?\d{{1,3}}(?:{re.escape(group)}\d{{3}})+(?:{re.escape(point)}\d+)?", text):
        text = text.replace(group, "")
    elif group in text:
        # The other language's decimal sign is understood where it cannot be a group: "2,5" in an English question.
        if point in text or text.count(group) > 1:
            return None
        text = text.replace(group, point)
    text = text.replace(point, ".")
    if text.count(".") > 1:
        return None
    return float(text) if "." in text else int(text)
