"""Bytes to text: a byte order mark, else UTF-8, else a Western single-byte encoding; never bytes that are no text."""

import codecs
import re
from typing import Final

from lockgate.errors import DocumentError

NUL_WINDOW: Final = 8192
"""A NUL among so many first bytes makes a file binary; the same rule as git and grep."""

MAX_CONTROL_SHARE: Final = 0.02
"""More control characters than this share of a text mean that it is no text in the encoding tried."""

# The longer marks first: the one of UTF-32 little-endian begins with the one of UTF-16.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_SIGNATURES = (
    (b"%PDF-", "a PDF document"),
    (b"PK\x03\x04", "a ZIP archive or an Office document"),
    (b"\xd0\xcf\x11\xe0", "an old Office document"),
    (b"\x89PNG", "an image"),
    (b"GIF8", "an image"),
    (b"\xff\xd8\xff", "an image"),
    (b"\x7fELF", "a program"),
    (b"BZh", "a compressed file"),
    (b"\xfd7zXZ", "a compressed file"),
    (b"\x28\xb5\x2f\xfd", "a compressed file"),
    (b"\x1f\x8b", "a file compressed twice"),
)
# Tabs, breaks, page feeds, backspaces and escapes occur in honest texts (manual pages, terminal logs).
_CONTROL = re.compile(r"[\x00-\x07\x0e-\x1a\x1c-\x1f\x7f-\x9f]")
_BREAK = re.compile(r"\r\n?")


class NotTextError(DocumentError):
    """The content is the reason why a file cannot be read: it stays so until the file changes."""


def decode(data: bytes, name: str) -> str:
    """Make text of a file's bytes.

    Args:
        data: The whole content.
        name: What the file is called in an error.

    Returns:
        The text, its line ends unified to line feeds, without a byte order mark.

    Raises:
        NotTextError: The bytes are no text; the message says what they look like.
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _BREAK.sub("\n", _by_mark(data[len(mark) :], encoding, name))
    for signature, what in _SIGNATURES:
        if data.startswith(signature):
            raise NotTextError(f"{name!r} is {what}; only text files can be read.")
    if b"\x00" in data[:NUL_WINDOW]:
        raise NotTextError(f"{name!r} is a binary file; only text files can be read.")
    return _BREAK.sub("\n", _without_mark(data, name))


def _by_mark(data: bytes, encoding: str, name: str) -> str:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        raise NotTextError(
            f"{name!r} says that it is {encoding.upper()} text, and breaks off at byte {error.start}: it is damaged."
        ) from None


def _without_mark(data: bytes, name: str) -> str:
    for encoding in ("utf-8", "cp1252", "latin-1"):
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            continue
        if not _has_many_controls(text):
            return text
    raise NotTextError(f"{name!r} is no text in any encoding that is known here (UTF-8, UTF-16, UTF-32, Windows-1252).")


def _has_many_controls(text: str) -> bool:
    allowed = MAX_CONTROL_SHARE * len(text)
    return any(count > allowed for count, _ in enumerate(_CONTROL.finditer(text), 1))
