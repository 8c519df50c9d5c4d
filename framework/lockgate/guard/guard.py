"""The filter: clean, find, neutralize, and say what was done."""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from lockgate.guard.cleaning import clean
from lockgate.guard.decoding import carriers
from lockgate.guard.findings import Category, Finding, Sanitized
from lockgate.guard.matching import Hit, find
from lockgate.guard.neutralizing import (
    FORGED_NOTE,
    GENUINE_NOTE,
    Region,
    apply,
    bracketed,
    broken,
    merge,
    note,
    sentence,
    snippet,
)
from lockgate.guard.normalizing import normalize
from lockgate.guard.rule_set import RuleSet

if TYPE_CHECKING:
    from collections.abc import Callable

    from lockgate.guard.findings import GuardReport
    from lockgate.guard.scope import GuardScope

MAXIMUM_PASSES: Final = 5
"""How often a text is looked at again after something was removed from it."""
DECODING_DEPTH: Final = 3
"""How many encodings within each other are undone."""

Span = tuple[int, int]

_COMMENT_START, _COMMENT_END = "<!--", "-->"
_MARKDOWN_COMMENT = re.compile(r"^ {0,3}\[(?://|#|comment|_)\]: *(?:#|<>|<#>) *[(\"'][^\n]{0,4000}", re.MULTILINE)


@dataclass(slots=True)
class _Pass:
    """What one look at a text came to."""

    regions: list[Region] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)


class Guard:
    """The prompt-injection filter; holds no state of a chat and may be shared by threads.

    It never rejects content: what a rule finds is replaced where it stands, everything else is left byte for byte.
    """

    def __init__(self, rules: RuleSet | None = None) -> None:
        """Make a filter.

        Args:
            rules: The rules; the packaged ones if left out, loaded when the first text arrives.
        """
        self._rules = rules

    @property
    def rules(self) -> RuleSet:
        """The rules in use."""
        if self._rules is None:
            self._rules = RuleSet.packaged()
        return self._rules

    def scope(self, on_report: "Callable[[GuardReport], None] | None" = None) -> "GuardScope":
        """A scope for one action, such as one tool call.

        Args:
            on_report: Told once when the outermost action closes and there is something to tell; without it the
                report waits for ``take_report``.
        """
        from lockgate.guard.scope import GuardScope

        return GuardScope(self, on_report)

    def sanitize(self, text: str) -> Sanitized:
        """Filter one text.

        Total over every string, lone surrogates included; linear in its length; filtering a result again changes
        nothing.

        Args:
            text: The text, already cut to what the model will read.
        """
        if not text or text.isspace():
            return Sanitized(text)
        findings: dict[Finding, None] = {}
        redactions = silent = 0
        for number in range(MAXIMUM_PASSES):
            cleaned = clean(text)
            silent += cleaned.silent
            findings |= dict.fromkeys(self._hidden_findings(cleaned.hidden))
            text = cleaned.text
            look = self._look(text, silently=number < MAXIMUM_PASSES - 1)
            if not look.regions:
                break
            findings |= dict.fromkeys(look.findings)
            regions = merge(text, look.regions)
            redactions += sum(1 for region in regions if region.replacement)
            silent += sum(1 for region in regions if not region.replacement)
            text = apply(text, regions)
        else:
            text = clean(text).text
        return Sanitized(text, tuple(findings), redactions, silent)

    def _hidden_findings(self, hidden: list[str]) -> Iterator[Finding]:
        for passage in hidden:
            if len(passage) > 3:
                yield Finding("unicode_smuggling", Category.ENCODING_EVASION, snippet(passage, 0, len(passage)))

    def _look(self, text: str, *, silently: bool) -> _Pass:
        """Everything to replace in a cleaned text.

        Args:
            text: The cleaned text.
            silently: Whether concealed carriers vanish; else they leave a note, which nothing can be joined across.
        """
        look = _Pass()
        view = normalize(text)
        hits = find(view.text, self.rules)
        in_html = list(_html_comments(text)) if hits else []
        in_markdown = [match.span() for match in _MARKDOWN_COMMENT.finditer(text)] if hits else []
        for hit in hits:
            start, end = view.span(hit.start, hit.end)
            if hit.is_token and text[start] == "[" and text[start:end].islower():
                continue  # in lower case it is a subscript of some programming language
            finding = Finding(hit.rule.id, hit.rule.category, snippet(text, start, end))
            look.findings.append(finding)
            comment = _around(in_html, start, end) or _around(in_markdown, start, end)
            if comment is not None:
                replacement = "" if silently else note(Category.MARKUP_EVASION)
                look.regions.append(Region(*comment, replacement))
            else:
                look.regions.append(self._region(text, hit, start, end, view.text))
        self._look_for_forgeries(text, view.text, view.span, look)
        self._look_into_carriers(text, look, DECODING_DEPTH)
        return look

    @staticmethod
    def _region(text: str, hit: Hit, start: int, end: int, folded: str) -> Region:
        if hit.is_token:
            return Region(start, end, broken(folded[hit.start : hit.end]))
        return Region(*sentence(text, start, end), note(hit.rule.category))

    @staticmethod
    def _look_for_forgeries(text: str, folded: str, span: "Callable[[int, int], tuple[int, int]]", look: _Pass) -> None:
        genuine = {match.start() + 1 for match in GENUINE_NOTE.finditer(text)}
        for match in FORGED_NOTE.finditer(folded):
            start, end = span(match.start(), match.end())
            if start not in genuine:
                category = Category.DELIMITER_EVASION
                look.findings.append(Finding("forged_note", category, snippet(text, start, end)))
                look.regions.append(Region(*bracketed(text, *sentence(text, start, end)), note(category)))

    def _look_into_carriers(self, text: str, look: _Pass, depth: int) -> None:
        for carrier in carriers(text):
            found = self._carried(carrier.decoded, depth)
            if found is not None:
                look.findings.append(found)
                look.regions.append(Region(carrier.start, carrier.end, note(Category.ENCODING_EVASION)))

    def _carried(self, decoded: str, depth: int) -> Finding | None:
        """The first thing found in a decoded text; its quotation is the decoded text."""
        decoded = clean(decoded).text
        view = normalize(decoded)
        for hit in find(view.text, self.rules):
            start, end = view.span(hit.start, hit.end)
            return Finding(hit.rule.id, hit.rule.category, snippet(decoded, start, end))
        if depth > 1:
            for carrier in carriers(decoded):
                found = self._carried(carrier.decoded, depth - 1)
                if found is not None:
                    return found
        return None


def _html_comments(text: str) -> Iterator[Span]:
    start = text.find(_COMMENT_START)
    while start >= 0:
        end = text.find(_COMMENT_END, start + len(_COMMENT_START))
        if end < 0:
            return
        yield start, end + len(_COMMENT_END)
        start = text.find(_COMMENT_START, end)


def _around(stretches: list[Span], start: int, end: int) -> Span | None:
    """The stretch that holds a span; stretches are in order and do not overlap."""
    index = bisect_right(stretches, start, key=lambda stretch: stretch[0]) - 1
    return stretches[index] if index >= 0 and end <= stretches[index][1] else None
