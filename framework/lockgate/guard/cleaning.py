"""Deterministic cleaning: characters that a reader never sees but a model reads.

What is honest stays byte for byte: joiners in emoji and in Persian and Indic words, soft hyphens, a leading byte order
mark, balanced isolates, direction marks, the three subdivision flags. The choice of characters follows Unicode
Technical Reports 36 and 39 and Annexes 9 (bidirectional text) and 51 (emoji).
"""

import re
import unicodedata
from dataclasses import dataclass, field
from typing import Final

SMUGGLING_RUN: Final = 4
"""So many invisible characters in a row mean nothing in any script; they carry something."""

_ANSI = re.compile(
    r"\x1b\[[0-?]{0,64}[ -/]{0,8}[@-~]?"
    r"|\x1b\][^\x07\x1b\x9c\r\n]{0,512}(?:\x07|\x1b\\|\x9c)?"
    r"|\x1b[ -/]{0,8}[0-~]?"
)
# A page feed parts words as a line break does: it becomes one, where other controls vanish.
_BREAKS = str.maketrans({"\x0b": "\n", "\x0c": "\n", "\x85": "\n"})
_FLAGS = frozenset("".join(chr(0xE0000 + ord(c)) for c in name) + "\U000e007f" for name in ("gbeng", "gbsct", "gbwls"))
_BLACK_FLAG = "\U0001f3f4"

_CONTROLS = r"\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"
_SURROGATES = r"\ud800-\udfff"
_ZERO_WIDTH = r"\u034f\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200d\u2060-\u2064\u3164\ufeff\uffa0"
_MARKS = r"\u061c\u200e\u200f"
_OVERRIDES = r"\u202a-\u202e"
_ISOLATES = r"\u2066-\u2069"
_SELECTORS = r"\ufe00-\ufe0f\U000e0100-\U000e01ef"
_TAGS = r"\U000e0000-\U000e007f"

_ASCII_CONTROL = re.compile(rf"[{_CONTROLS}]")
_RUN = re.compile(rf"[{_CONTROLS}{_SURROGATES}{_ZERO_WIDTH}{_MARKS}{_OVERRIDES}{_ISOLATES}{_SELECTORS}{_TAGS}]+")
_IS_CONTROL = re.compile(rf"[{_CONTROLS}]").match
_IS_SURROGATE = re.compile(rf"[{_SURROGATES}]").match
_IS_ZERO_WIDTH = re.compile(rf"[{_ZERO_WIDTH}]").match
_IS_MARK = re.compile(rf"[{_MARKS}]").match
_IS_OVERRIDE = re.compile(rf"[{_OVERRIDES}]").match
_IS_SELECTOR = re.compile(rf"[{_SELECTORS}]").match
_IS_TAG = re.compile(rf"[{_TAGS}]").match
_BIDI_ISOLATE = re.compile(rf"[{_ISOLATES}]")
# Letters of the scripts that need no invisible character inside a word, with their marks, digits and the underscore.
_PLAIN_LETTER = re.compile(
    r"[0-9A-Z_a-z\u00aa\u00b5\u00ba\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02af\u0300-\u034e\u0350-\u036f\u0370-\u052f"
    r"\u1e00-\u1fff\u2c60-\u2c7f\ua640-\ua69f\ua720-\ua7ff\ufb00-\ufb06\uff21-\uff3a\uff41-\uff5a]"
).match


@dataclass(slots=True)
class Cleaned:
    """A cleaned text.

    Attributes:
        text: The text without concealed characters.
        silent: Runs that concealed something; repairs of stray controls do not count.
        hidden: The readable text of each run of tag characters, in order.
    """

    text: str
    silent: int = 0
    hidden: list[str] = field(default_factory=list)


def clean(text: str) -> Cleaned:
    """Remove what conceals text from a reader; the same object comes back where nothing does.

    Total over every string, linear in its length, and idempotent.
    """
    if text.isascii():
        if _ASCII_CONTROL.search(text) is None:
            return Cleaned(text)
    elif _RUN.search(text) is None:
        return Cleaned(text)
    result = Cleaned(text)
    if "\x1b" in text:
        text = _ANSI.sub("", text)
    text = text.translate(_BREAKS)
    unpaired = _unpaired_isolates(text)
    result.text = _RUN.sub(lambda match: _clean_run(match, unpaired, result), text)
    return result


def _unpaired_isolates(text: str) -> frozenset[int]:
    """Positions of isolates that are not closed, and of closings that close nothing."""
    unpaired: list[int] = []
    opened: list[int] = []
    for match in _BIDI_ISOLATE.finditer(text):
        if match[0] != "\u2069":
            opened.append(match.start())
        elif opened:
            opened.pop()
        else:
            unpaired.append(match.start())
    return frozenset(unpaired + opened)


def _clean_run(match: re.Match[str], unpaired: frozenset[int], result: Cleaned) -> str:
    """What stays of one run of characters that are invisible or controls."""
    run, text = match[0], match.string
    before = text[match.start() - 1] if match.start() else ""
    after = text[match.end()] if match.end() < len(text) else ""
    if before == _BLACK_FLAG and run[:6] in _FLAGS:
        flag, run, offset = run[:6], run[6:], match.start() + 6
    else:
        flag, offset = "", match.start()
    invisible = sum(1 for character in run if _IS_ZERO_WIDTH(character) or _IS_MARK(character))
    drop_zero_width = invisible >= SMUGGLING_RUN or bool(_PLAIN_LETTER(before) and _PLAIN_LETTER(after))
    kept = [flag] if flag else []
    dropped_selectors = 0
    for index, character in enumerate(run):
        if _IS_SURROGATE(character):
            kept.append("\ufffd")
        elif _IS_SELECTOR(character):
            if _takes_selector(kept[-1][-1] if kept else before, character):
                kept.append(character)
            else:
                dropped_selectors += 1
        elif _IS_ZERO_WIDTH(character):
            leading_mark = character == "\ufeff" and offset + index == 0
            if leading_mark or not drop_zero_width:
                kept.append(character)
        elif _IS_MARK(character):
            if invisible < SMUGGLING_RUN:
                kept.append(character)
        elif "\u2066" <= character <= "\u2069" and offset + index not in unpaired:
            kept.append(character)
    hidden = "".join(chr(ord(character) - 0xE0000) for character in run if _IS_TAG(character))
    hidden = "".join(character for character in hidden if character.isprintable())
    if hidden:
        result.hidden.append(hidden)
    conceals = bool(hidden) or invisible >= SMUGGLING_RUN or dropped_selectors >= SMUGGLING_RUN
    result.silent += conceals or "\u202d" in run or "\u202e" in run
    return "".join(kept)


def _takes_selector(base: str, selector: str) -> bool:
    """Whether a variation selector after this character can be honest (emoji, ideographs, Mongolian, symbols)."""
    if not base or _IS_SELECTOR(base):
        return False
    category = unicodedata.category(base)
    if selector >= "\U000e0100":
        return category == "Lo" and ord(base) >= 0x2E80
    if selector in "\ufe0e\ufe0f":
        return category in {"So", "Sm", "Sk", "Po", "Pd"} or base in "0123456789"
    return category in {"Lo", "Sm", "So", "Po"}
