"""Selections, collections and the rules that name either."""

import pytest
from registry_kit import registry, simple

from lockgate.policy import BUILT_IN, BY_USER, ConfidenceLevel
from lockgate.registry import Minimum, Rules
from lockgate.tools import Components, ToolActivation, ToolCollection

L = ConfidenceLevel
MAILS = ToolCollection("mailboxes", ("search_mails", "read_mail"), minimum_confidence=L.VERY_LOW)
ITEMS = (
    ("mail", "tools", simple("search_mails", minimum_confidence=L.HIGH)), ("mail", "tools", simple("read_mail")),
    ("mail", "collections", MAILS), ("web", "tools", simple("read_web_page", minimum_confidence=L.LOW)),
    ("wiki", "tools", simple("search_wiki", companions=("read_web_page",))),
    ("docs", "tools", simple("semantic_search", activation=ToolActivation.CONTEXT)),
)  # fmt: skip


@pytest.mark.parametrize(
    ("selection", "collections", "tools"),
    [
        (["search_mails"], {"mailboxes"}, {"search_mails", "read_mail"}),
        (["mailboxes", "read_mail"], {"mailboxes"}, {"search_mails", "read_mail"}),
        (["search_wiki"], {"search_wiki", "read_web_page"}, {"search_wiki", "read_web_page"}),
        (["semantic_search", "read_web_page"], {"read_web_page"}, {"read_web_page"}),
        (["not_installed"], {"not_installed"}, {"not_installed"}),
        ([], set(), set()),
    ],
)
def test_a_selection_is_translated_both_ways(selection: list[str], collections: set[str], tools: set[str]) -> None:
    """A tool stands for its collection, companions come along, context tools drop out, unknown IDs stay."""
    made = registry(*ITEMS)
    normalized = made.normalize_selection(selection)
    assert normalized == collections
    assert made.normalize_selection(normalized) == normalized
    assert made.expand_selection(selection) == tools


def test_a_collection_has_one_minimum() -> None:
    """What a tool declares itself does not count once it belongs to a collection."""
    made = registry(*ITEMS)
    assert made.minimum_confidence("search_mails") == (L.VERY_LOW, BUILT_IN)
    assert made.minimum_confidence("read_web_page") == (L.LOW, BUILT_IN)
    assert made.minimum_confidence("not_installed") == (L.NONE, BUILT_IN)


def test_of_several_minimums_for_a_collection_the_highest_counts() -> None:
    """The ID of a tool stands for its whole collection."""
    minimums = {"mailboxes": Minimum(L.LOW, BY_USER), "read_mail": Minimum(L.MEDIUM, BY_USER)}
    made = registry(*ITEMS, rules=Rules(minimums=minimums))
    assert made.minimum_confidence("search_mails") == (L.MEDIUM, BY_USER)


def test_switching_one_tool_off_switches_its_collection_off() -> None:
    """The same holds for the list of what is switched off."""
    made = registry(*ITEMS, rules=Rules(disabled={"read_mail": BY_USER}))
    assert made.switched_off_by("search_mails") == BY_USER
    assert made.switched_off_by("mailboxes") == BY_USER
    assert made.switched_off_by("read_web_page") is None


def test_defaults_of_a_component_are_normalized() -> None:
    """Defaults may have been stored before a tool joined its collection."""
    made = registry(*ITEMS, rules=Rules(default_tools={"CHAT": ("read_mail", "semantic_search")}))
    assert made.default_selection(Components.CHAT) == {"mailboxes"}
    assert made.default_selection(Components.WRITER) == frozenset()
