"""What moved in the beginning of a chat's requests: which part, and by how many bytes."""

import itertools
import json
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockgate.chat import Moved, PrefixChange, PromptPrefix, prefix_changes, prompt_prefix
from lockgate.chat.prefix import SYSTEM, TOOLS

Items = Sequence[tuple[str, bytes]]


def block(items: Items) -> bytes:
    """Encode tools as adapters do: an array, or nothing at all."""
    return b"[" + b",".join(item for _, item in items) + b"]" if items else b""


def prefix(system: str, *items: tuple[str, bytes]) -> PromptPrefix:
    """Describe a beginning with these tools."""
    return prompt_prefix(system, block(items), items)


def size_of(part: PromptPrefix) -> int:
    """Add up the sizes of all parts."""
    return part.system.size + sum(tool.size for tool in part.tools)


NAMES = st.sampled_from(["a", "b", "c", "d", "e", "f", "g"])
TOOL_LISTS = st.lists(st.tuples(NAMES, st.sampled_from([b'"x"', b'"yy"', b'{"z":1}'])), unique_by=lambda item: item[0])
SYSTEMS = st.text(max_size=12) | st.just("a\ud800\n\"")
CHANGED_SIZE = (Moved.ADDED, Moved.REMOVED, Moved.CHANGED)


@given(SYSTEMS, TOOL_LISTS, SYSTEMS, TOOL_LISTS)
def test_the_changes_add_up_to_the_difference(system: str, tools: Items, later: str, others: Items) -> None:
    """Whatever was added, removed or changed: together it is by how much the beginning grew or shrank."""
    old, new = prefix(system, *tools), prefix(later, *others)
    changes = prefix_changes(old, new)
    assert sum(change.bytes for change in changes if change.moved in CHANGED_SIZE) == size_of(new) - size_of(old)
    assert len({change.name for change in changes}) == len(changes)


@given(SYSTEMS, TOOL_LISTS, SYSTEMS, TOOL_LISTS, st.booleans(), st.booleans())
def test_there_is_a_change_exactly_when_the_fingerprints_differ(  # noqa: PLR0917 - one argument a strategy
    system: str, tools: Items, later: str, others: Items, told: bool, told_later: bool
) -> None:
    """Also where an adapter tells no tool from the other, before or after."""
    old = prompt_prefix(system, block(tools), tools if told else ())
    new = prompt_prefix(later, block(others), others if told_later else ())
    same = (system, block(tools)) == (later, block(others))
    assert (old.fingerprint == new.fingerprint) is same
    assert bool(prefix_changes(old, new)) is not same


@given(TOOL_LISTS)
def test_the_parts_make_up_the_block(tools: Items) -> None:
    """Each tool counts with the comma that parts it from the next, so only one bracket is nobody's."""
    found = prefix("", *tools)
    assert sum(part.size for part in found.tools) == max(0, len(block(tools)) - 1)


@given(st.text())
def test_a_system_prompt_counts_as_it_is_sent(text: str) -> None:
    """As a JSON text in UTF-8: a line break is two bytes, an umlaut two, a quotation mark two."""
    sent = json.dumps({"content": text}, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    assert prefix(text).system.size == len(sent) - len('{"content":""}')


@given(st.permutations(["a", "b", "c", "d", "e", "f"]), st.sets(st.sampled_from("abcdef")))
def test_as_few_tools_as_possible_are_said_to_have_changed_places(order: list[str], gone: set[str]) -> None:
    """What is not named keeps its order, and no smaller set would do; what came or went is not said to have moved."""
    old = prefix("", *((name, b'"%b"' % name.encode()) for name in "abcdef"))
    kept = [name for name in order if name not in gone]
    new = prefix("", *((name, b'"%b"' % name.encode()) for name in kept))
    named = {change.name for change in prefix_changes(old, new) if change.moved is Moved.REORDERED}
    still = [name for name in kept if name not in named]
    assert still == sorted(still)
    longer = itertools.combinations(kept, len(still) + 1)
    assert not any(list(candidate) == sorted(candidate) for candidate in longer)


def test_a_tool_that_changed_places_is_told_how_far_it_moved() -> None:
    """In bytes of the block: over the tools it was put before, commas included."""
    long, short = ("long", b'"0123456789"'), ("short", b'"x"')
    third = ("third", b'"third"')
    changes = prefix_changes(prefix("", long, third, short), prefix("", short, long, third))
    assert changes == (PrefixChange("short", Moved.REORDERED, -(len(b'"0123456789",') + len(b'"third",'))),)


def test_a_tool_with_other_words_in_another_place_is_changed() -> None:
    """Its words are what a person has to look at."""
    others = ("b", b'"2"'), ("c", b'"3"')
    changes = prefix_changes(prefix("", ("a", b'"1"'), *others), prefix("", *others, ("a", b'"10"')))
    assert changes == (PrefixChange("a", Moved.CHANGED, 1),)


def test_tools_come_in_their_order_and_the_system_prompt_last() -> None:
    """What is gone stands first, since it has no place any more."""
    changes = prefix_changes(
        prefix("base", ("gone", b'"gone"'), ("kept", b'"kept"'), ("words", b'"one"')),
        prefix("base\n", ("new", b'"n"'), ("kept", b'"kept"'), ("words", b'"three"')),
    )
    assert [str(change) for change in changes] == [
        "gone removed (-7 bytes)", "new added (+4 bytes)", "words changed (+2 bytes)",
        "system prompt changed (+2 bytes)",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "items",
    [
        (),
        (("a", b'"1"'),),
        (("a", b'"1"'), ("a", b'"2"')),
        (("b", b'"2"'), ("a", b'"1"')),
        (("a", b'"1"'), ("b", b'"3"')),
    ],
    ids=["left out", "one missing", "one name twice", "another order", "other bytes"],
)
def test_an_adapter_that_does_not_tell_its_tools_apart_is_told_of_as_a_whole(items: Items) -> None:
    """Items that do not make up the block are as good as none: a number that is wrong would be worse."""
    first, second = b'["1","2"]', b'["1","2","third"]'
    old, new = prompt_prefix("s", first, items), prompt_prefix("s", second, items)
    assert prefix_changes(old, new) == (PrefixChange(TOOLS, Moved.CHANGED, len(second) - len(first)),)
    assert [change.moved for change in prefix_changes(prompt_prefix("s", b"", ()), new)] == [Moved.ADDED]


def test_a_block_that_is_told_of_as_a_whole_and_then_by_tools_adds_up() -> None:
    """As when another provider goes on with the chat."""
    items = (("a", b'"1"'), ("b", b'"22"'))
    old, new = prompt_prefix("", block(items[:1]), ()), prefix("", *items)
    assert {change.name: change.bytes for change in prefix_changes(old, new)} == {TOOLS: -5, "a": 4, "b": 5}


def test_names_of_parts_are_no_names_of_functions() -> None:
    """A function's name has no blank, so nothing is mistaken for a tool."""
    assert " " in TOOLS
    assert " " in SYSTEM


def test_a_prefix_whose_parts_are_equal_although_it_differs_still_has_a_change() -> None:
    """As after an import of a chat whose stored beginning is odd."""
    kept = prefix("s", ("a", b'"1"'))
    odd = PromptPrefix("0" * 16, kept.tools, kept.system)
    assert prefix_changes(odd, kept) == (PrefixChange(TOOLS, Moved.CHANGED, 0),)
