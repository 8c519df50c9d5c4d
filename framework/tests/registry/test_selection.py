"""Selections, collections and the rules that name either."""

import pytest
from registry_kit import registry, simple

from lockgate.chat import ChatThread
from lockgate.policy import BUILT_IN, BY_USER, ConfidenceLevel, SetBy, SetByKind
from lockgate.registry import Minimum, Rules
from lockgate.registry.selection import Selection, SelectionOrigin, is_selection_visible, selection_of_chat
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
    defaults = {place: made.selection_of(ChatThread(), place) for place in (Components.CHAT, Components.WRITER)}
    assert made.normalize_selection(defaults[Components.CHAT].identifiers) == {"mailboxes"}
    assert made.normalize_selection(defaults[Components.WRITER].identifiers) == frozenset()


ORGANIZATION = SetBy(SetByKind.ORGANIZATION, "Acme")
SHOWN_BY_ITSELF = {
    "CHAT", "GATEWAY", "MCP", "CODING_ASSISTANT", "SLIDE_BUILDER_ASSISTANT", "DOCUMENT_ANALYSIS_ASSISTANT"
}


@pytest.mark.parametrize("component", list(Components), ids=lambda component: component.value)
def test_what_a_chat_selects_in_a_component(component: Components) -> None:
    """Its own choice, be it empty, before the defaults of that component; hidden where nobody can see it."""
    rules = Rules(default_tools={component.value: ("one",), "OTHER": ("two",)}, default_tools_by=ORGANIZATION)
    hidden, name = component.value not in SHOWN_BY_ITSELF, component.value
    assert is_selection_visible(rules, component) == (not hidden)
    chosen = selection_of_chat(rules, component, ("b", "a"))
    assert chosen == Selection(("b", "a"), SelectionOrigin.CHAT, BUILT_IN, name, hidden)
    assert selection_of_chat(rules, component, ()) == Selection((), SelectionOrigin.CHAT, BUILT_IN, name, hidden)
    defaults = selection_of_chat(rules, component, None)
    assert defaults == Selection(("one",), SelectionOrigin.DEFAULTS, ORGANIZATION, name, hidden)
    nothing = selection_of_chat(Rules(), component, None)
    assert nothing == Selection((), SelectionOrigin.DEFAULTS, BUILT_IN, name, hidden)
    seen = Rules(visible_selection_components=frozenset({name}))
    assert not selection_of_chat(seen, component, None).hidden
    assert not selection_of_chat(seen, component, ()).hidden


def test_a_selection_says_who_chose() -> None:
    """In words for a person; IDs alone are a caller's, and a selection stays itself."""
    assert str(Selection((), SelectionOrigin.ASSISTANT, name="x")) == "the assistant 'x'"
    defaults = Selection((), SelectionOrigin.DEFAULTS, ORGANIZATION, "CHAT")
    assert str(defaults) == "the defaults of CHAT (set by organization 'Acme')"
    assert str(Selection((), SelectionOrigin.CHAT)) == "the chat"
    assert str(Selection.of(["a", "b"])) == "whoever asks"
    assert Selection.of(iter(["a", "b"])) == Selection(("a", "b"), SelectionOrigin.CALLER, BUILT_IN, "", hidden=False)
    assert Selection.of(defaults) is defaults


def test_companions_come_along_as_far_as_they_go_and_say_who_brought_them() -> None:
    """Companions of companions, in a circle as well; what somebody selected was brought by nobody."""
    made = registry(
        ("a", "tools", simple("first", companions=("second_tool", "gone"))),
        ("a", "tools", simple("second_tool", companions=("third",))), ("a", "tools", simple("second_other")),
        ("a", "collections", ToolCollection("second", ("second_tool", "second_other"))),
        ("a", "tools", simple("third", companions=("first", "watch"))),
        ("a", "tools", simple("watch", activation=ToolActivation.CONTEXT)),
    )
    assert made.companions(["first"]) == {"second": "first", "gone": "first", "third": "second_tool"}
    assert made.companions(["first", "second_other"]) == {"gone": "first", "third": "second_tool"}
    assert made.normalize_selection(["third"]) == {"first", "second", "gone", "third"}
    assert made.expand_selection(["first"]) == {"first", "second_tool", "second_other", "gone", "third"}
    assert made.companions([]) == {}
    assert [made.is_known(name) for name in ("second", "second_tool", "gone")] == [True, True, False]
