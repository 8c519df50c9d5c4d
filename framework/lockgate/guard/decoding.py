"""Encoded carriers: runs of base64 or hexadecimal digits that decode to readable text."""

import re
from base64 import b64decode
from binascii import Error
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

MINIMUM_BASE64: Final = 24
"""Shortest base64 run looked at, in characters; no order to a model fits in less."""
PRINTABLE_SHARE: Final = 0.85
"""Share of printable characters from which decoded bytes count as text."""

_BASE64 = re.compile(rf"(?<![A-Za-z0-9+/_=-])[A-Za-z0-9+/_-]{{{MINIMUM_BASE64},}}={{0,2}}")
_HEX = re.compile(
    r"(?<![0-9A-Za-z])(?:[0-9a-fA-F]{2}[ \t:,-]){7,}[0-9a-fA-F]{2}(?![0-9A-Za-z])"
    r"|(?<![0-9A-Za-z])(?:[0-9a-fA-F]{2}){8,}(?![0-9A-Za-z])"
)
_WRAP = re.compile(r"\r?\n[ \t>]{0,8}\Z")
_HEX_SEPARATORS = re.compile(r"[ \t:,-]")
_WRAPPED_LINE = 40


@dataclass(frozen=True, slots=True)
class Carrier:
    """An encoded run.

    Attributes:
        start: Where it begins in the text.
        end: Where it ends.
        decoded: The text it carries.
    """

    start: int
    end: int
    decoded: str


def carriers(text: str) -> Iterator[Carrier]:
    """Every run of the text that decodes to something readable, longest possible first.

    Each run is decoded a fixed number of times, so the work is linear in the length of the text.
    """
    for match in _HEX.finditer(text):
        decoded = _readable(bytes.fromhex(_HEX_SEPARATORS.sub("", match[0])))
        if decoded is not None:
            yield Carrier(match.start(), match.end(), decoded)
    for lines in _base64_blocks(text):
        joined = "".join(text[start:end] for start, end in lines)
        decoded = _decode_base64(joined)
        if decoded is not None:
            yield Carrier(lines[0][0], lines[-1][1], decoded)
        elif len(lines) > 1:
            for start, end in lines:
                decoded = _decode_base64(text[start:end])
                if decoded is not None:
                    yield Carrier(start, end, decoded)


def _base64_blocks(text: str) -> Iterator[list[tuple[int, int]]]:
    """Runs of base64, those of wrapped lines together."""
    block: list[tuple[int, int]] = []
    for match in _BASE64.finditer(text):
        if block and not _continues(text, block[-1], match.start()):
            yield block
            block = []
        block.append(match.span())
    if block:
        yield block


def _continues(text: str, last: tuple[int, int], start: int) -> bool:
    start_of_gap = last[1]
    long_enough = start_of_gap - last[0] >= _WRAPPED_LINE
    return long_enough and start - start_of_gap <= 10 and bool(_WRAP.match(text[start_of_gap:start]))


def _decode_base64(run: str) -> str | None:
    """The text of a run, tried at each of the four alignments, for a run may have swallowed a letter before it."""
    standard = run.rstrip("=").replace("-", "+").replace("_", "/")
    for offset in range(4):
        body = standard[offset:]
        try:
            decoded = _readable(b64decode(body[: len(body) - (len(body) % 4 == 1)] + "=" * (-len(body) % 4 % 3)))
        except Error:
            continue
        if decoded is not None:
            return decoded
    return None


def _readable(data: bytes) -> str | None:
    """The bytes as text where they are UTF-8 and mostly printable."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    if not text:
        return None
    printable = sum(1 for character in text if character.isprintable() or character in "\t\n\r")
    return text if printable >= PRINTABLE_SHARE * len(text) else None
