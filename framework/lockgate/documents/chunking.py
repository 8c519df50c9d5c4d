"""Text to chunks of bounded size: cut at headings, else paragraphs, lines, sentences, words, else anywhere.

Every level of cutting looks at each character once, so time grows with the text and not with its shape.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from lockgate.documents.headings import find_headings, heading_paths
from lockgate.documents.kinds import Document

DEFAULT_MAX_CHARACTERS: Final = 1200
"""Characters of a chunk: some 300 tokens, below the limit of every common embedder."""

DEFAULT_OVERLAP: Final = 150
"""Characters a chunk repeats of the one before it, so that what is cut apart is found in one of them."""

MIN_MAX_CHARACTERS: Final = 20

# Each finds the end of a unit of its level. The next level cuts what is still too long.
_LEVELS = (
    re.compile(r"\n[ \t]*\n(?:[ \t]*\n)*|\f"),  # paragraphs, pages
    re.compile(r"\n"),
    re.compile(r"(?:(?<=[.!?…])|(?<=[.!?…][\"'”’»)\]]))\s+|(?<=[。！？])"),  # sentences
    re.compile(r"\s+"),
)

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a document.

    Attributes:
        text: The piece, without white space at its ends.
        index: Its position among the chunks of the document, from 0.
        heading: The way to the heading it stands under (``Manual > Installing``); empty where there is none.
        start: Where it begins in the document's text, in characters.
    """

    text: str
    index: int
    heading: str
    start: int


def chunk(
    document: Document, max_characters: int = DEFAULT_MAX_CHARACTERS, overlap: int = DEFAULT_OVERLAP
) -> list[Chunk]:
    """Cut a document into chunks.

    A chunk reaches across a heading only while it is shorter than a quarter of the limit, so that small sections
    share one. Nothing but white space is lost.

    Args:
        document: What to cut.
        max_characters: The longest chunk, at least 20.
        overlap: Characters repeated from the chunk before within a section; at most half of the limit counts.

    Raises:
        ValueError: A limit is out of its range.
    """
    if max_characters < MIN_MAX_CHARACTERS or overlap < 0:
        raise ValueError(
            f"max_characters must be at least {MIN_MAX_CHARACTERS} (got {max_characters}), "
            f"overlap at least 0 (got {overlap})."
        )
    text = document.text
    headings = find_headings(text, document.kind)
    cutter = _Cutter(text, max_characters, min(overlap, max_characters // 2))
    starts, paths = [0], [""]
    for heading, path in zip(headings, heading_paths(headings), strict=True):
        starts.append(heading.start)
        paths.append(path)
    for start, end, path in zip(starts, [*starts[1:], len(text)], paths, strict=True):
        cutter.section(start, end, path)
    return cutter.finish()


class _Cutter:
    """Packs units into chunks, section by section."""

    def __init__(self, text: str, limit: int, overlap: int) -> None:
        self.text, self.limit, self.overlap = text, limit, overlap
        self.chunks: list[Chunk] = []
        self.start = self.end = 0  # the chunk being filled; empty while both are equal
        self.heading = ""

    def section(self, start: int, end: int, heading: str) -> None:
        if self.end - self.start >= self.limit // 4:
            self._emit()
        if self.start == self.end:
            self.heading = heading
        for unit_start, unit_end in _units(self.text, start, end, self.limit):
            if self.start == self.end:
                self.start = unit_start
            elif unit_end - self.start > self.limit:
                self._emit()
                self.heading = heading
                self.start = self._overlapping(unit_start, unit_end, start)
            self.end = unit_end

    def finish(self) -> list[Chunk]:
        self._emit()
        return self.chunks

    def _emit(self) -> None:
        if self.end > self.start:
            self.chunks.append(Chunk(self.text[self.start : self.end], len(self.chunks), self.heading, self.start))
        self.start = self.end

    def _overlapping(self, unit_start: int, unit_end: int, section_start: int) -> int:
        """Where the next chunk begins: earlier than its unit by at most the overlap, at the begin of a word."""
        room = min(self.overlap, self.limit - (unit_end - unit_start))
        earliest = max(unit_start - room, section_start, 0)
        if earliest >= unit_start:
            return unit_start
        if earliest == section_start:
            return _trimmed(self.text, earliest, unit_start)[0]
        window = self.text[earliest - 1 : unit_start]
        best = unit_start
        for level in _LEVELS:
            cuts = [match.end() for match in level.finditer(window)]
            inside = [earliest - 1 + cut for cut in cuts if earliest <= earliest - 1 + cut < unit_start]
            if inside:
                best = inside[0]
                break
        return best


def _units(text: str, start: int, end: int, limit: int, levels: Sequence[re.Pattern[str]] = _LEVELS) -> Iterator[Span]:
    """Yield the units of a span: paragraphs, and where one is longer than the limit, what it is made of."""
    begin = start
    for match in levels[0].finditer(text, start, end):
        yield from _within(text, begin, match.start(), limit, levels[1:])
        begin = match.end()
    yield from _within(text, begin, end, limit, levels[1:])


def _within(text: str, start: int, end: int, limit: int, levels: Sequence[re.Pattern[str]]) -> Iterator[Span]:
    start, end = _trimmed(text, start, end)
    if start == end:
        return
    if end - start <= limit:
        yield start, end
    elif levels:
        yield from _units(text, start, end, limit, levels)
    else:
        for begin in range(start, end, limit):
            yield begin, min(begin + limit, end)


def _trimmed(text: str, start: int, end: int) -> Span:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end
