"""Copies of a text made for matching, with the way back to the text they were made of.

A view is the text after a chain of rewritings. Each rewriting is a sorted list of edits, so that a span found in the
copy leads back to the span of the original in logarithmic time, and text that no edit touches costs nothing.
"""

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass

Edit = tuple[int, int, str]
"""Start and end in the text, and what stands there instead."""


@dataclass(frozen=True, slots=True)
class Layer:
    """One rewriting: where each edit lies in the copy and in what was rewritten."""

    starts: list[int]
    ends: list[int]
    source_starts: list[int]
    source_ends: list[int]

    def start(self, position: int) -> int:
        """Where the character at this position of the copy begins in the text before."""
        index = bisect_right(self.starts, position) - 1
        if index < 0:
            return position
        if position < self.ends[index]:
            return self.source_starts[index]
        return self.source_ends[index] + position - self.ends[index]

    def end(self, position: int) -> int:
        """Where the character before this position of the copy ends in the text before."""
        if position <= 0:
            return 0
        last = position - 1
        index = bisect_right(self.starts, last) - 1
        if index >= 0 and self.starts[index] == self.ends[index]:
            # A deletion covers nothing of the copy; the character lies behind it.
            return self.source_ends[index] + position - self.ends[index]
        if index < 0:
            return position
        if last < self.ends[index]:
            return self.source_ends[index]
        return self.source_ends[index] + position - self.ends[index]


@dataclass(frozen=True, slots=True)
class View:
    """A rewritten copy of a text.

    Attributes:
        text: The copy.
        layers: The rewritings that led to it, the first one first.
    """

    text: str
    layers: tuple[Layer, ...] = ()

    def rewrite(self, edits: Iterable[Edit]) -> "View":
        """The view after one more rewriting; edits are sorted and do not overlap."""
        pieces: list[str] = []
        layer = Layer([], [], [], [])
        copied = length = 0
        for start, end, replacement in edits:
            pieces.append(self.text[copied:start])
            length += start - copied
            layer.starts.append(length)
            length += len(replacement)
            layer.ends.append(length)
            layer.source_starts.append(start)
            layer.source_ends.append(end)
            pieces.append(replacement)
            copied = end
        if not layer.starts:
            return self
        pieces.append(self.text[copied:])
        return View("".join(pieces), (*self.layers, layer))

    def same_length(self, text: str) -> "View":
        """The view with its characters replaced one by one, so that no position moves."""
        return View(text, self.layers)

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The span of the original text that a non-empty span of the copy was made of."""
        for layer in reversed(self.layers):
            start, end = layer.start(start), layer.end(end)
        return start, max(start, end)
