"""Which tools a chat begins with, and whose word counts: the assistant's, the caller's, the chat's, the defaults'."""

from dataclasses import replace
from itertools import product

import pytest
from registry_kit import registry, simple

from lockgate.app.templates import (
    Assistant,
    ChatTemplate,
    chat_from_template,
    chat_of_assistant,
    normalized,
    selection_for,
)
from lockgate.chat import ChatThread, Message, Role
from lockgate.errors import UsageError
from lockgate.policy import BUILT_IN, BY_USER, SetBy, SetByKind
from lockgate.registry import Registry, Rules
from lockgate.registry.selection import Selection, SelectionOrigin
from lockgate.tools.collection import ToolCollection
from lockgate.tools.definition import Components

ORGANIZATION = SetBy(SetByKind.ORGANIZATION, "Acme")
TRANSLATOR = Assistant("translator", system_prompt="Translate.", tool_ids=("one", "lost"), set_by=ORGANIZATION)
OPEN = Assistant("open", system_prompt="Help.")
ASSISTANTS = {item.id: item for item in (TRANSLATOR, OPEN)}
CHAT = Components.CHAT


@pytest.fixture
def made() -> Registry:
    """Two tools of a collection, one beside it, and a default."""
    return registry(
        *(("pack", "tools", simple(name)) for name in ("one", "two", "alone")),
        ("pack", "collections", ToolCollection("both", ("one", "two"))),
        rules=Rules(default_tools={"CHAT": ("alone",)}, default_tools_by=ORGANIZATION),
    )


def test_a_selection_is_stored_as_collections_in_order(made: Registry) -> None:
    """Names nobody knows stay; that nobody chose stays apart from that somebody chose nothing."""
    assert normalized(made, ["two", "gone", "alone", "one"]) == ("alone", "both", "gone")
    assert normalized(made, []) == ()
    assert normalized(made, None) is None


def test_a_chat_begins_with_what_its_template_says(made: Registry) -> None:
    """The prompt, the selection as it is stored, and the date."""
    chat = chat_from_template(ChatTemplate("t", system_prompt="Be brief.", tool_ids=("two", "alone")), made)
    assert (chat.system_prompt, chat.selected_tools, chat.include_date) == ("Be brief.", ("alone", "both"), True)
    assert chat.assistant == ""
    assert chat_from_template(ChatTemplate("t"), made).selected_tools is None


def test_an_assistant_begins_a_chat_of_its_own() -> None:
    """Its prompt, its name, the date; what it may use is asked anew each time."""
    chat = chat_of_assistant(None, TRANSLATOR)
    assert (chat.system_prompt, chat.assistant, chat.include_date) == ("Translate.", "translator", True)
    assert chat.selected_tools is None
    assert chat_of_assistant(chat, TRANSLATOR) is chat


def test_an_assistant_takes_a_chat_that_nobody_has_begun() -> None:
    """With its prompt; all else of the chat stays. One that has a prompt already would have two."""
    empty = ChatThread(selected_tools=("alone",))
    taken = chat_of_assistant(empty, TRANSLATOR)
    assert taken == replace(empty, system_prompt="Translate.", assistant="translator")
    spoken = ChatThread(system_prompt="Rhyme.")
    with pytest.raises(UsageError, match="a system prompt of its own; it cannot take that of 'translator'"):
        chat_of_assistant(spoken, TRANSLATOR)


def test_a_chat_under_other_rules_does_not_change_them() -> None:
    """Neither another assistant's, begun or not, nor one that was begun without an assistant."""
    said = (Message(Role.USER, "Hello?"),)
    for chat, words in (
        (ChatThread(assistant="open"), "the assistant 'open'"),
        (ChatThread(assistant="open", messages=said), "the assistant 'open'"),
        (ChatThread(messages=said), "no assistant"),
    ):
        with pytest.raises(UsageError, match=f"begun with {words}; it cannot go on with 'translator'"):
            chat_of_assistant(chat, TRANSLATOR)
    kept = ChatThread(assistant="translator", messages=said)
    assert chat_of_assistant(kept, TRANSLATOR) is kept


def test_whose_selection_counts(made: Registry) -> None:
    """The assistant's rules before the caller, the caller before the chat, the chat before the defaults."""
    for asked in (None, ("two",), ()):
        for stored in (None, ("one",), ()):
            under = ChatThread(assistant="translator", selected_tools=stored)
            assert selection_for(under, CHAT, made, ASSISTANTS, asked) == Selection(
                ("one", "lost"), SelectionOrigin.ASSISTANT, ORGANIZATION, "translator"
            )
            for chat in (ChatThread(selected_tools=stored), ChatThread(selected_tools=stored, assistant="open")):
                found = selection_for(chat, CHAT, made, ASSISTANTS, asked)
                if asked is not None:
                    assert found == Selection(asked, SelectionOrigin.CALLER, BY_USER, "CHAT")
                elif stored is not None:
                    assert found == Selection(stored, SelectionOrigin.CHAT, BUILT_IN, "CHAT")
                else:
                    assert found == Selection(("alone",), SelectionOrigin.DEFAULTS, ORGANIZATION, "CHAT")


def test_a_chat_of_an_assistant_that_is_gone_selects_nothing(made: Registry) -> None:
    """Its rules are unknown, so no tool runs, whatever the caller or the chat names."""
    chat = ChatThread(assistant="gone", selected_tools=("one",))
    found = selection_for(chat, CHAT, made, ASSISTANTS, ("two",))
    assert (found.identifiers, found.origin, found.set_by) == ((), SelectionOrigin.GONE, BUILT_IN)
    assert (found.name, found.hidden) == ("gone", True)


HIDDEN = Components.TRANSLATION_ASSISTANT


def test_where_no_selection_is_shown_only_the_rules_of_an_assistant_count(made: Registry) -> None:
    """Whoever else names tools there, the selection is hidden; unless the component is made visible."""
    seen = registry(rules=replace(made.rules, visible_selection_components=frozenset({HIDDEN.value})))
    silent = replace(TRANSLATOR, tool_ids=())
    for rules_of, asked, stored in product((made, seen), (None, ("two",)), (None, ("one",))):
        chat = ChatThread(selected_tools=stored)
        assert selection_for(chat, HIDDEN, rules_of, {}, asked).hidden == (rules_of is made)
        under = replace(chat, assistant="translator")
        assert not selection_for(under, HIDDEN, rules_of, ASSISTANTS, asked).hidden
        nothing = selection_for(under, HIDDEN, rules_of, {"translator": silent}, asked)
        assert (nothing.identifiers, nothing.hidden) == ((), True)
