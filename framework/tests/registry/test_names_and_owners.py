"""Whose a name is, down to the last word: every rejection whole, and what a collection without its name still holds."""

import pytest
from registry_kit import owner, registry, simple

from lockgate.policy import BUILT_IN, BY_USER, ConfidenceLevel, Minimum
from lockgate.registry import Owner, Rules
from lockgate.registry.contribution import FRAMEWORK
from lockgate.registry.registration import Rejection
from lockgate.settings import FixedOptions
from lockgate.tools import ToolActivation, ToolCollection

A, B = owner("a"), owner("b")
L = ConfidenceLevel


def test_a_collection_keeps_its_tools_in_order_and_each_refusal_is_told() -> None:
    """Twice named is once held; unknown, foreign, context and claimed tools are told one by one."""
    made = registry(
        *(("a", "tools", simple(name)) for name in ("one", "two", "three")),
        ("a", "tools", simple("ctx", activation=ToolActivation.CONTEXT)), ("b", "tools", simple("foreign")),
        ("a", "collections", ToolCollection("both", ("two", "one", "two", "gone", "ctx", "foreign"))),
        ("a", "collections", ToolCollection("late", ("one", "three"))),
        ("a", "collections", ToolCollection("empty", ("one",))),
    )  # fmt: skip
    assert made.rejections == (
        Rejection("tool in collection 'both'", "gone", A, "it is not registered"),
        Rejection("tool in collection 'both'", "ctx", A,
                  "it offers itself from the context of a chat, so it cannot be selected"),
        Rejection("tool in collection 'both'", "foreign", A,
                  "the collection 'both' may claim tools of its own distribution only", B),
        Rejection("tool in collection 'late'", "one", A, "the collection 'both' has claimed it first"),
        Rejection("tool in collection 'empty'", "one", A, "the collection 'both' has claimed it first"),
        Rejection("collection", "empty", A, "no tool is left in it"),
    )  # fmt: skip
    assert made.expand_selection(["both"]) == {"one", "two"}
    assert made.expand_selection(["late"]) == {"three"}
    collections = [made.get_collection_id(name) for name in ("one", "two", "three", "foreign", "ctx", "empty")]
    assert collections == ["both", "both", "late", "foreign", "ctx", "empty"]
    assert [made.is_known(name) for name in ("both", "late", "empty")] == [True, True, False]


def test_a_name_that_is_taken_stays_with_its_first_owner() -> None:
    """Tools, collections and option sources; a collection may not be called like a tool."""
    colours = FixedOptions("colours", ("RED",), (("en", ("Red",)),))
    built_in = FixedOptions("common_languages", ("x",), (("en", ("X",)),))
    made = registry(
        ("b", "tools", simple("t")), ("a", "tools", simple("t")), ("b", "tools", simple("u")),
        ("a", "tools", simple("v")),
        ("b", "option_sources", colours), ("a", "option_sources", colours), ("a", "option_sources", built_in),
        ("b", "collections", ToolCollection("set", ("u",))), ("a", "collections", ToolCollection("set", ("v",))),
        ("b", "collections", ToolCollection("t", ("u",))),
    )  # fmt: skip
    there = "there is {} of that name already"
    assert made.rejections == (
        Rejection("option source", "common_languages", A, there.format("an option source"), FRAMEWORK),
        Rejection("option source", "colours", B, there.format("an option source"), A),
        Rejection("tool", "t", B, there.format("a tool"), A),
        Rejection("collection", "set", B, there.format("a collection"), A),
        Rejection("collection", "t", B, "its ID is the ID of a tool", A),
    )
    assert [(item.id, item.owner) for item in made.tools] == [("t", A), ("v", A), ("u", B)]
    assert made.option_sources["colours"].options("en")[0].value == "RED"
    pinned = registry(("b", "tools", simple("t")), ("a", "tools", simple("t")), rules=Rules(pins={"t": "B"}))
    assert [item.owner for item in pinned.tools] == [B]


def test_what_cannot_be_read_is_told_as_what_it_was_meant_to_be() -> None:
    """Its kind, its name where it has one, and nobody else's name."""
    made = registry(*(("a", kind, 5) for kind in ("tools", "collections", "option_sources", "previews")))
    told = {rejection.kind: (rejection.id, rejection.owner, rejection.other) for rejection in made.rejections}
    assert list(told) == ["option source", "preview", "tool", "collection"]
    assert set(told.values()) == {("", A, None)}
    assert made.tools == []


@pytest.mark.parametrize(
    ("rejection", "words"),
    [
        (Rejection("tool", "t", A, "it rests"), "The tool 't' of a 1.0 (entry point 'a') was not taken: it rests."),
        (Rejection("tool", "", A, "it rests"), "A tool of a 1.0 (entry point 'a') was not taken: it rests."),
        (Rejection("option source", "", A, "it rests"),
         "An option source of a 1.0 (entry point 'a') was not taken: it rests."),
        (Rejection("tool", "t", A, "it rests", B),
         "The tool 't' of a 1.0 (entry point 'a') was not taken: it rests. It belongs to b 1.0 (entry point 'b')."),
        (Rejection("preview", "P", Owner(""), "it rests"), "The preview 'P' of this program was not taken: it rests."),
    ],
)  # fmt: skip
def test_a_rejection_is_worded_for_people(rejection: Rejection, words: str) -> None:
    """What, whose, why, and who has the name instead."""
    assert str(rejection) == words


def _two_of_one_name(minimum: ConfidenceLevel, rules: Rules | None = None) -> dict[str, tuple[ConfidenceLevel, object]]:
    made = registry(
        *(("b", "tools", simple(name)) for name in ("mine", "mine_too")), ("a", "tools", simple("theirs")),
        ("b", "tools", simple("free")),
        ("a", "collections", ToolCollection("set", ("theirs",))),
        ("b", "collections", ToolCollection("set", ("mine", "gone", "theirs", "mine"), minimum_confidence=minimum)),
        ("b", "collections", ToolCollection("own", ("mine", "mine_too"), minimum_confidence=L.LOW)),
        rules=rules,
    )
    return {name: made.minimum_confidence(name) for name in ("set", "theirs", "own", "mine", "mine_too", "free")}


@pytest.mark.parametrize("minimum", list(L), ids=lambda level: level.name)
def test_a_collection_that_lost_its_name_keeps_what_it_demands_of_its_own_tools(minimum: ConfidenceLevel) -> None:
    """Whoever takes the name lowers nothing by it; the tools of others are not bound, nor those it does not hold."""
    found = _two_of_one_name(minimum)
    for name in ("own", "mine", "mine_too"):
        assert found[name] == (max(L.LOW, minimum), BUILT_IN)
    for name in ("set", "theirs", "free"):
        assert found[name] == (L.NONE, BUILT_IN)


def test_rules_for_a_lost_name_hold_for_the_tools_it_was_said_of() -> None:
    """Somebody set a minimum for the name, or switched it off, meaning either: it holds for both."""
    found = _two_of_one_name(L.NONE, Rules(minimums={"set": Minimum(L.HIGH, BY_USER)}))
    assert {name for name, (level, _) in found.items() if level is L.HIGH} == {
        "set", "theirs", "own", "mine", "mine_too"
    }
    made = registry(
        ("a", "tools", simple("t")), ("b", "tools", simple("u")), ("b", "tools", simple("w")),
        ("b", "collections", ToolCollection("t", ("u",), minimum_confidence=L.MEDIUM)),
        rules=Rules(disabled={"t": BY_USER}),
    )
    assert [made.switched_off_by(name) for name in ("t", "u", "w")] == [BY_USER, BY_USER, None]
    assert made.minimum_confidence("u") == (L.MEDIUM, BUILT_IN)
    assert made.minimum_confidence("t") == (L.NONE, BUILT_IN)


def test_a_second_collection_of_the_same_pack_binds_nobody() -> None:
    """It is its author's own mistake, and told: the first one says what is demanded."""
    made = registry(
        ("a", "tools", simple("t")), ("a", "tools", simple("u")),
        ("a", "collections", ToolCollection("set", ("t",), minimum_confidence=L.LOW)),
        ("a", "collections", ToolCollection("set", ("t", "u"), minimum_confidence=L.HIGH)),
        ("a", "collections", ToolCollection("u", ("t",), minimum_confidence=L.HIGH)),
    )
    assert made.minimum_confidence("t") == (L.LOW, BUILT_IN)
    assert made.minimum_confidence("u") == (L.NONE, BUILT_IN)
    assert [(item.id, item.other) for item in made.rejections] == [("set", A), ("u", A)]
