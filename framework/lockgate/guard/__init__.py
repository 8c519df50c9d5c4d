"""The prompt-injection filter every text from outside passes before a model reads it.

The filter lowers the number of times the information-flow rules have to act and tells the user what it saw. It is
not a security boundary, never rejects content, and nothing else may depend on its having run.
"""

from lockgate.guard.findings import Category, Finding, GuardReport, Sanitized, SourceReport
from lockgate.guard.guard import Guard
from lockgate.guard.rule_set import Rule, RuleFileError, RuleSet
from lockgate.guard.scope import GuardScope
from lockgate.guard.sources import GuardSource, GuardText, SourceKind

__all__ = [
    "Category",
    "Finding",
    "Guard",
    "GuardReport",
    "GuardScope",
    "GuardSource",
    "GuardText",
    "Rule",
    "RuleFileError",
    "RuleSet",
    "Sanitized",
    "SourceKind",
    "SourceReport",
]
