"""Where the headings of a text are: Markdown's, and titles underlined with punctuation."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from lockgate.documents.kinds import DocumentKind

MAX_HEADING_CHARACTERS: Final = 200
"""A longer line is a paragraph, whatever stands below it; a path of headings is cut to it."""

# CommonMark 0.31, sections 4.2 (ATX), 4.3 (setext), 4.5 (fences).
_ATX = re.compile(r" {0,3}(#{1,6})(?:[ \t](.*))?$")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)$")
_SETEXT = re.compile(r" {0,3}(=+|-+)[ \t]*$")
# reStructuredText: any punctuation, repeated, at least as long as the title.
_ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1{2,}[ \t]*$")


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading: where its first line begins (in characters), its rank from 1, its text."""

    start: int
    level: int
    title: str


def find_headings(text: str, kind: DocumentKind) -> list[Heading]:
    """Find the headings of a text, in order; source code, tables and web pages have none. Linear time."""
    if kind is DocumentKind.MARKDOWN:
        return list(_markdown(text))
    if kind in (DocumentKind.RESTRUCTURED_TEXT, DocumentKind.TEXT):
        return list(_underlined(text))
    return []


def heading_paths(headings: list[Heading]) -> list[str]:
    """Return for each heading the way to it: the titles above it and its own, joined by `` > ``."""
    paths: list[str] = []
    open_paths: list[tuple[int, str]] = []  # the levels above, and the way to each
    for heading in headings:
        while open_paths and open_paths[-1][0] >= heading.level:
            open_paths.pop()
        path = f"{open_paths[-1][1]} > {heading.title}" if open_paths else heading.title
        path = path[-MAX_HEADING_CHARACTERS:]
        open_paths.append((heading.level, path))
        paths.append(path)
    return paths


def _lines(text: str) -> Iterator[tuple[int, str]]:
    start = 0
    for line in text.split("\n"):
        yield start, line
        start += len(line) + 1


def _title(text: str) -> str:
    return " ".join(text.split())


def _atx_title(text: str) -> str:
    """Return the title in what follows the signs of an ATX heading: the closing ones stand after a blank."""
    stripped = text.rstrip(" \t")
    opened = stripped.rstrip("#")
    return _title(stripped if opened and not opened.endswith((" ", "\t")) else opened)


def _markdown(text: str) -> Iterator[Heading]:
    fence = ""
    above = (0, "")  # the line before, if it can be the text of an underlined heading
    for start, line in _lines(text):
        if len(line) > 2 * MAX_HEADING_CHARACTERS:
            above = (start, "")
            continue
        if fence:
            closing = _FENCE.match(line)
            if closing and closing[1].startswith(fence) and not closing[2].strip():
                fence = ""
            continue
        if (opening := _FENCE.match(line)) and not (opening[1][0] == "`" and "`" in opening[2]):
            fence, above = opening[1], (start, "")
        elif atx := _ATX.match(line):
            if title := _atx_title(atx[2] or ""):
                yield Heading(start, len(atx[1]), title)
            above = (start, "")
        elif above[1] and (underline := _SETEXT.match(line)):
            yield Heading(above[0], 1 if underline[1][0] == "=" else 2, _title(above[1]))
            above = (start, "")
        else:
            is_text = line.strip() and not line.startswith(("    ", "\t", ">", "-", "*", "+", "|"))
            above = (start, line if is_text else "")


def _underlined(text: str) -> Iterator[Heading]:
    """Titles with a line of punctuation below; in a text a title's rank is the order its style first appears in."""
    styles: dict[tuple[str, bool], int] = {}
    before: tuple[int, str] = (0, "")
    above: tuple[int, str] = (0, "")
    for start, line in _lines(text):
        adornment = _ADORNMENT.match(line) if len(line) <= MAX_HEADING_CHARACTERS else None
        title = above[1].strip()
        if adornment and title and len(line.rstrip()) >= len(title) and any(character.isalnum() for character in title):
            overlined = bool(before[1]) and before[1].rstrip() == line.rstrip()
            level = styles.setdefault((adornment[1], overlined), len(styles) + 1)
            yield Heading(before[0] if overlined else above[0], level, _title(title))
            above = (start, "")
        before, above = above, (start, line)
