"""What the filter tells: findings, the outcome for one text, and the report grouped by source."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Final

from lockgate.guard.sources import GuardSource

MAXIMUM_FINDINGS: Final = 8
"""Findings listed for one source. What is neutralised is not limited by it."""


class Category(Enum):
    """What a found passage attempts."""

    OVERRIDE = "override"
    ROLE_OVERRIDE = "role_override"
    EXFILTRATION = "exfiltration"
    JAILBREAK = "jailbreak"
    AGENT_MANIPULATION = "agent_manipulation"
    DELIMITER_EVASION = "delimiter_evasion"
    MARKUP_EVASION = "markup_evasion"
    ENCODING_EVASION = "encoding_evasion"
    PERSISTENCE = "persistence"
    EVASION = "evasion"


@dataclass(frozen=True, slots=True)
class Finding:
    """One passage that was found.

    Attributes:
        rule: The identifier of the rule.
        category: What the passage attempts.
        snippet: The sentence around it, white space collapsed, at most 240 characters. It is written by whoever
            controls the source: show it as text, never hand it to a model.
    """

    rule: str
    category: Category
    snippet: str


@dataclass(frozen=True, slots=True)
class Sanitized:
    """The outcome for one text.

    Attributes:
        text: What the model may read. Identical to the input where nothing was found.
        findings: Every distinct finding, in the order of the text.
        redactions: Visible replacements.
        silent: Concealed carriers removed without a trace in the text.
    """

    text: str
    findings: tuple[Finding, ...] = ()
    redactions: int = 0
    silent: int = 0


@dataclass(frozen=True, slots=True)
class SourceReport:
    """What happened to the texts of one source.

    Attributes:
        source: The origin.
        findings: The first distinct findings, at most ``MAXIMUM_FINDINGS``.
        found: How many findings there were in total.
        redactions: Visible replacements.
        silent: Concealed carriers removed.
        failed: The filter could not run on at least one text, which went on unchanged.
    """

    source: GuardSource
    findings: tuple[Finding, ...] = ()
    found: int = 0
    redactions: int = 0
    silent: int = 0
    failed: bool = False

    def __bool__(self) -> bool:
        """Whether there is something to tell."""
        return bool(self.found or self.redactions or self.silent or self.failed)

    def join(self, outcome: Sanitized) -> "SourceReport":
        """This report with the outcome of one more text of the same source."""
        merged = dict.fromkeys(self.findings + outcome.findings)
        return SourceReport(
            self.source,
            tuple(merged)[:MAXIMUM_FINDINGS],
            self.found + len(outcome.findings),
            self.redactions + outcome.redactions,
            self.silent + outcome.silent,
            self.failed,
        )

    def mark_failed(self) -> "SourceReport":
        """This report, saying that a text went on unfiltered."""
        return SourceReport(self.source, self.findings, self.found, self.redactions, self.silent, failed=True)


@dataclass(frozen=True, slots=True)
class GuardReport:
    """What one action has to tell the user, grouped by source; false when there is nothing to tell."""

    sources: tuple[SourceReport, ...] = ()

    def __bool__(self) -> bool:
        """Whether there is something to tell."""
        return any(self.sources)

    @classmethod
    def of(cls, sources: Iterable[SourceReport]) -> "GuardReport":
        """A report of those sources that have something to tell, in their order."""
        return cls(tuple(report for report in sources if report))

    def describe(self) -> str:
        """One or two sentences for a person; empty when there is nothing to tell.

        One source is named, several are counted.
        """
        sentences = []
        touched = [report for report in self.sources if report.redactions or report.silent or report.found]
        if touched:
            passages = sum(report.redactions + report.silent for report in touched)
            noun = "passage" if passages == 1 else "passages"
            sentences.append(
                f"{passages} {noun} in {_origin(touched)} looked like orders to the model or were hidden "
                "from readers, and did not reach it as written."
            )
        failed = [report for report in self.sources if report.failed]
        if failed:
            sentences.append(f"The content filter could not check {_origin(failed)}; the text was passed on unchanged.")
        return " ".join(sentences)


def _origin(reports: list[SourceReport]) -> str:
    return f"“{reports[0].source.display}”" if len(reports) == 1 else f"{len(reports)} sources"
