"""The registry: registration, selection, the ordered checks, preparation of a request. Imports no plugin machinery."""

from lockgate.registry.checks import CHECKS, Block, Change, Situation, ToolOfferBlockReason
from lockgate.registry.contribution import FRAMEWORK, Contribution, Owner
from lockgate.registry.explain import Explanation, Verdict, explain
from lockgate.registry.incidents import Incident, IncidentLog
from lockgate.registry.preparation import Offer, Offered, Preparation
from lockgate.registry.registration import Registered, Rejection
from lockgate.registry.registry import CatalogItem, Registry
from lockgate.registry.rules import MAX_TOOL_CALLS, MAX_TOOL_RESULT_CHARACTERS, Minimum, Rules

__all__ = [
    "CHECKS",
    "FRAMEWORK",
    "MAX_TOOL_CALLS",
    "MAX_TOOL_RESULT_CHARACTERS",
    "Block",
    "CatalogItem",
    "Change",
    "Contribution",
    "Explanation",
    "Incident",
    "IncidentLog",
    "Minimum",
    "Offer",
    "Offered",
    "Owner",
    "Preparation",
    "Registered",
    "Registry",
    "Rejection",
    "Rules",
    "Situation",
    "ToolOfferBlockReason",
    "Verdict",
    "explain",
]
