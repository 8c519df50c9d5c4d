"""The registry: registration, selection, the ordered checks, preparation of a request. Imports no plugin machinery."""

from lockgate.policy import Minimum
from lockgate.registry.beyond import Beyond, BeyondKind, LeftOut
from lockgate.registry.catalog import CatalogItem, catalog, catalog_item, filter_selectable
from lockgate.registry.ceilings import Cap, Ceilings
from lockgate.registry.checks import CHECKS, Block, Change, ChangeKind, Situation, ToolOfferBlockReason
from lockgate.registry.contribution import FRAMEWORK, Contribution, Owner
from lockgate.registry.explain import Explanation, Verdict, explain
from lockgate.registry.incidents import Incident, IncidentLog
from lockgate.registry.preparation import Offer, Offered, Preparation
from lockgate.registry.previews import BUILT_IN_PREVIEWS, Preview, PreviewOff, Previews, PreviewSwitch
from lockgate.registry.registration import Registered, Rejection
from lockgate.registry.registry import Registry
from lockgate.registry.rules import MAX_RESTRICTED_CALLS, MAX_TOOL_CALLS, MAX_TOOL_RESULT_CHARACTERS, Rules
from lockgate.registry.selection import Selection, SelectionOrigin, is_selection_visible

__all__ = [
    "BUILT_IN_PREVIEWS",
    "CHECKS",
    "FRAMEWORK",
    "MAX_RESTRICTED_CALLS",
    "MAX_TOOL_CALLS",
    "MAX_TOOL_RESULT_CHARACTERS",
    "Beyond",
    "BeyondKind",
    "Block",
    "Cap",
    "CatalogItem",
    "Ceilings",
    "Change",
    "ChangeKind",
    "Contribution",
    "Explanation",
    "Incident",
    "IncidentLog",
    "LeftOut",
    "Minimum",
    "Offer",
    "Offered",
    "Owner",
    "Preparation",
    "Preview",
    "PreviewOff",
    "PreviewSwitch",
    "Previews",
    "Registered",
    "Registry",
    "Rejection",
    "Rules",
    "Selection",
    "SelectionOrigin",
    "Situation",
    "ToolOfferBlockReason",
    "Verdict",
    "catalog",
    "catalog_item",
    "explain",
    "filter_selectable",
    "is_selection_visible",
]
