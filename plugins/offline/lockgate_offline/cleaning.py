"""What a terminal must never get from a quoted text: escape sequences, control and invisible characters."""

import re
from typing import Final

_ESCAPES: Final = re.compile(
    r"\x1b\[[0-?]{0,64}[ -/]{0,16}[@-~]?"  # CSI: colours, cursor (ECMA-48, section 5.4)
    r"|\x1b[\]PX^_][^\x07\x1b]{0,4096}(?:\x07|\x1b\\)?"  # OSC, DCS, SOS, PM, APC: titles, links, clipboard
    r"|\x1b[ -/]{0,16}[0-~]?"
    r"|\x9b[0-?]{0,64}[ -/]{0,16}[@-~]?"
)
_CONTROLS: Final = re.compile(
    "[\x00-\x08\x0b\x0e-\x1f\x7f-\x84\x86-\x9f"  # C0 and C1 without those that end lines
    "\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"  # soft hyphens, direction, joiners
    "\U000e0000-\U000e0fff\ud800-\udfff]"  # tags, lone surrogates
)
_LINE_ENDS: Final = re.compile(r"\r\n?|[\x0c\x85\u2028\u2029]")


def clean(text: str) -> str:
    """Return a text that is safe to print: line ends unified, escapes, controls and invisible characters gone."""
    return _CONTROLS.sub("", _ESCAPES.sub("", _LINE_ENDS.sub("\n", text)))


def one_line(text: str, limit: int) -> str:
    """Return a cleaned text in one line, at most `limit` characters, cut at a word with an ellipsis."""
    line = " ".join(clean(text[: limit * 8 + 1000]).split())
    if len(line) <= limit:
        return line
    cut = line[: limit - 1]
    return f"{cut.rpartition(' ')[0] or cut}…"
