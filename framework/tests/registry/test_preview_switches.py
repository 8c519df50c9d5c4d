"""Preview features: who switches them, what stands on what, and why one is off."""

from dataclasses import replace

import pytest
from registry_kit import owner, registry

from lockgate.policy import BUILT_IN, BY_USER, SetBy, SetByKind
from lockgate.registry import Rules
from lockgate.registry.contribution import FRAMEWORK
from lockgate.registry.previews import BUILT_IN_PREVIEWS, Preview, PreviewOff, Previews, PreviewSwitch, switches
from lockgate.registry.registration import Rejection

ORGANIZATION = SetBy(SetByKind.ORGANIZATION, "Acme")
ON, OFF = PreviewSwitch(True, BY_USER), PreviewSwitch(False, ORGANIZATION)
STACK = (Preview("A"), Preview("B", requires=("A",)), Preview("C", requires=("B", "A")), Preview("D", requires=("X",)))


def test_a_preview_nobody_touched_is_on_and_one_that_was_switched_on_too() -> None:
    """With all it stands on."""
    for switched in ({}, {"C": ON}, {"A": ON, "B": ON, "C": ON}, {"X": OFF}):
        previews = Previews(STACK, switched)
        assert [previews.off(name) for name in "ABC"] == [None] * 3


def test_a_preview_that_is_off_takes_along_what_stands_on_it() -> None:
    """The one that was switched off is named, with who did it, and nothing below it is off."""
    previews = Previews(STACK, {"B": OFF, "A": ON})
    assert previews.off("A") is None
    assert previews.off("B") == PreviewOff(
        "B", ORGANIZATION, "It belongs to the preview B, which is switched off."
    )
    assert previews.off("C") == PreviewOff(
        "B", ORGANIZATION, "It belongs to the preview C, which stands on B, which is switched off."
    )


def test_the_nearest_one_that_is_off_is_named_first() -> None:
    """What it stands on directly before what that stands on; its own switch before all."""
    both = {"A": PreviewSwitch(False, BY_USER), "B": OFF}
    assert [found.id for name in "ABC" if (found := Previews(STACK, both).off(name))] == ["A", "B", "B"]
    assert [found.id for name in "BC" if (found := Previews(STACK, {"A": OFF}).off(name))] == ["A", "A"]


def test_a_preview_nobody_registered_is_off() -> None:
    """By nobody's doing, also where another stands on it, and whoever switched it on."""
    for switched in ({}, {"X": ON}):
        previews = Previews(STACK, switched)
        assert previews.off("X") == PreviewOff(
            "X", BUILT_IN, "It belongs to the preview X, which nobody has registered."
        )
        assert previews.off("D") == PreviewOff(
            "X", BUILT_IN, "It belongs to the preview D, which stands on X, which nobody has registered."
        )


def test_previews_that_stand_on_each_other_are_on_together_or_off_together() -> None:
    """A circle is looked through once."""
    circle = (Preview("A", requires=("A", "B")), Preview("B", requires=("A",)))
    assert Previews(circle, {}).off("A") is None
    assert [Previews(circle, {"B": OFF}).off(name) is None for name in "AB"] == [False, False]


def test_of_two_previews_with_one_name_the_first_counts() -> None:
    """In order of registration."""
    first, second = Preview("A", "First"), Preview("A", "Second", ("X",))
    previews = Previews((first, second), {})
    assert previews.all == (first,)
    assert previews.off("A") is None


@pytest.mark.parametrize("own", [None, True, False])
@pytest.mark.parametrize("listed", [True, False])
@pytest.mark.parametrize("barred", [True, False])
def test_the_organization_has_the_last_word(own: bool | None, *, listed: bool, barred: bool) -> None:
    """What it switches off is off, what it lists is on; else the user's switch counts."""
    user = {} if own is None else {"A": PreviewSwitch(own, BY_USER)}
    merged = switches(user, {"A": ORGANIZATION} if listed else {}, {"A": ORGANIZATION} if barred else {})
    expected = PreviewSwitch(False, ORGANIZATION) if barred else PreviewSwitch(True, ORGANIZATION) if listed else None
    assert merged.get("A") == (expected or user.get("A"))


def test_a_plugin_brings_previews_under_names_that_are_free() -> None:
    """The framework's names and the first plugin's stay; a pinned plugin goes first; the owners are shown."""
    mine, theirs = Preview("NEW", "Mine"), Preview("NEW", "Theirs")
    taken = replace(BUILT_IN_PREVIEWS[0], title="Mine")
    items = (("zebra", "previews", mine), ("zebra", "previews", taken), ("apple", "previews", theirs))
    made = registry(*items)
    assert made.previews.all == (*BUILT_IN_PREVIEWS, theirs)
    reason = "there is a preview of that name already"
    assert made.rejections == (
        Rejection("preview", "NEW", owner("zebra"), reason, owner("apple")),
        Rejection("preview", "PRE_RAG_2024", owner("zebra"), reason, FRAMEWORK),
    )
    assert registry(*items, rules=Rules(pins={"NEW": "Zebra"})).previews.all == (*BUILT_IN_PREVIEWS, mine)


def test_what_is_no_preview_is_told() -> None:
    """Nothing of it is taken."""
    made = registry(("a", "previews", "nonsense"), ("b", "previews", Preview("NEW", "New", ("PRE_RAG_2024",))))
    assert [preview.id for preview in made.previews.all] == [*(item.id for item in BUILT_IN_PREVIEWS), "NEW"]
    (rejection,) = made.rejections
    assert (rejection.kind, rejection.owner) == ("preview", owner("a"))
    assert "and no Preview" in rejection.reason
    off = registry(("b", "previews", Preview("NEW", "New", ("PRE_RAG_2024",))), rules=Rules(previews={
        "PRE_RAG_2024": OFF
    })).previews.off("NEW")  # fmt: skip
    assert off is not None
    assert off.set_by == ORGANIZATION
