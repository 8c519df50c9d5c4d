"""Texts in the one form in which they are compared: unescaped, without case and widths, cut into words."""

import html
import re
import unicodedata
from collections.abc import Container, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import unquote

_ROUNDS = 6  # how often a text is unescaped; each way of escaping that is put round another one takes a round
_ESCAPED = re.compile(r"[%&\\+]")
_JSON_ESCAPE = re.compile(r"\\u([0-9A-Fa-f]{4})|\\([\"\\/])")
_JSON_BLANK = re.compile(r"\\[nrtbf]")
_SURROGATES = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_PUNYCODE = re.compile(r"xn--([a-z0-9-]{1,59})")
_WORD = re.compile(r"(?:[^\W\d_]|[^\x00-\x7f])+|[0-9]+")

LETTERS = 5
"""So many characters in a row that stand in two texts are no chance."""
_SIGNS = 2  # likewise of a script that writes words or syllables, and of emoji
_FIRST_SIGN = "\u2e80"


class Plain(NamedTuple):
    """A text in the form for comparing.

    Attributes:
        text: The form.
        settled: False when the text is escaped more often than anybody has reason to: its form is unknown.
        hidden: Whether the text held characters that cannot be seen, which the form leaves out.
    """

    text: str
    settled: bool = True
    hidden: bool = False


def plain(text: str) -> Plain:
    """Undo every way of escaping, fold case, widths and punycode, and drop what cannot be seen."""
    if text.isascii() and not _ESCAPED.search(text):
        return Plain(_without_punycode(text.lower()))
    settled = False
    for _ in range(_ROUNDS):
        before = text
        text = html.unescape(unquote(_SURROGATES.sub(_joined_pair, _JSON_ESCAPE.sub(_unescaped, text))))
        if settled := text == before:
            break
    text = unicodedata.normalize("NFKC", text).casefold().replace("\u3002", ".").replace("+", " ")
    if text.isascii():
        return Plain(_without_punycode(text), settled)
    seen = "".join([mark if mark < "\x80" else _seen(mark) for mark in text])
    return Plain(_without_punycode(seen), settled, len(seen) < len(text))


def words(text: str) -> list[str]:
    """Cut a plain text into runs of letters, signs and symbols of any script, and runs of digits."""
    return _WORD.findall(text)


def variants(text: str) -> Iterator[str]:
    """Yield what else a tool may make of a plain text: without accents, with escaped line breaks as blanks."""
    if not text.isascii():
        decomposed = unicodedata.normalize("NFKD", text)
        yield "".join(mark for mark in decomposed if unicodedata.category(mark) != "Mn")
    if "\\" in text:
        yield _JSON_BLANK.sub(" ", text)


def pieces(text: str) -> Iterator[str]:
    """Yield every piece of a text (words without what stood between them) that is too long to occur by chance."""
    for start in range(len(text) - LETTERS + 1):
        yield text[start : start + LETTERS]
    if not text.isascii():
        for start in range(len(text) - _SIGNS + 1):
            piece = text[start : start + _SIGNS]
            if min(piece) >= _FIRST_SIGN:
                yield piece


def is_made_of(word: str, parts: Container[str], lengths: Iterable[int]) -> bool:
    """Tell whether a word is a row of parts. Takes time in proportion to its length and the number of lengths."""
    ends = {0}
    furthest = 0
    for start in range(len(word)):
        if start > furthest:
            return False
        if start in ends:
            for length in lengths:
                if word[start : start + length] in parts:
                    ends.add(start + length)
                    furthest = max(furthest, start + length)
    return len(word) in ends


def strings_of(value: object, *, names: bool = True) -> Iterator[str]:
    """Yield every text inside a JSON value. Depth is no limit.

    Args:
        value: The JSON value.
        names: Whether names of members count as texts, too.
    """
    waiting: list[object] = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, Mapping):
            for name, inside in list(item.items())[::-1]:
                waiting += (inside, name) if names else (inside,)
        elif isinstance(item, list | tuple):
            waiting += reversed(item)


def texts_of_arguments(arguments: object) -> Iterator[str]:
    """Yield all that the model chose: texts, numbers, truth values, names of members below the schema's own."""
    waiting: list[object] = list(arguments.values())[::-1] if isinstance(arguments, Mapping) else [arguments]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, bool):
            yield "true" if item else "false"
        elif isinstance(item, int | float):
            yield from _written(item)
        elif isinstance(item, Mapping):
            for name, inside in list(item.items())[::-1]:
                waiting += (inside, name)
        elif isinstance(item, list | tuple):
            waiting += reversed(item)


def _written(number: object) -> Iterator[str]:
    try:
        yield repr(number)
    except ValueError:  # Python refuses to write integers of thousands of digits as decimals
        yield format(number, "x")
    if isinstance(number, float) and number.is_integer():
        yield f"{number:.0f}"


@lru_cache(maxsize=4096)
def _seen(mark: str) -> str:
    category = unicodedata.category(mark)
    if category == "Cf":
        return ""
    return " " if category[0] in "PZ" or category in {"Cc", "Cs"} else mark


def _without_punycode(text: str) -> str:
    return _PUNYCODE.sub(_unicode_label, text).casefold() if "xn--" in text else text


def _unescaped(found: re.Match[str]) -> str:
    return chr(int(found[1], 16)) if found[1] else found[2]


def _joined_pair(found: re.Match[str]) -> str:
    return found[0].encode("utf-16", "surrogatepass").decode("utf-16")


def _unicode_label(found: re.Match[str]) -> str:
    try:
        return found[1].encode().decode("punycode")
    except (UnicodeError, ValueError, OverflowError):
        return found[0]
