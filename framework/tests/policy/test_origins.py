"""Who demanded a level, in any sequence and bracketing of joins; and reading requirements back from any text."""

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce

from hypothesis import given
from hypothesis import strategies as st

from lockgate.policy import (
    BUILT_IN,
    NOTHING,
    ChatRequirements,
    ConfidenceLevel,
    DataSourceSecurity,
    OutboundDataRestriction,
    SetBy,
    SetByKind,
    requirements_from_stored,
)

AXES = ("confidence", "data_security", "outbound")
STRICTEST = ChatRequirements(
    ConfidenceLevel.HIGH, DataSourceSecurity.SELF_HOSTED, OutboundDataRestriction.ONLY_CONFIGURED_SERVICES
)
ORIGINS = st.builds(
    SetBy, st.sampled_from(SetByKind), st.text(max_size=5), st.text(max_size=3), st.none() | st.integers(1, 99)
)
REQUIREMENTS = st.builds(
    ChatRequirements,
    st.sampled_from(ConfidenceLevel), st.sampled_from(DataSourceSecurity), st.sampled_from(OutboundDataRestriction),
    ORIGINS, ORIGINS, ORIGINS,
)  # fmt: skip

TEXTS = st.text() | st.sampled_from([*ConfidenceLevel.__members__, *DataSourceSecurity.__members__,
                                     *OutboundDataRestriction.__members__])


def _joined(arrived: Sequence[ChatRequirements], draw: st.DataObject) -> ChatRequirements:
    """Join a sequence in its order, but bracketed at random."""
    if len(arrived) == 1:
        return arrived[0]
    cut = draw.draw(st.integers(1, len(arrived) - 1))
    return _joined(arrived[:cut], draw).join(_joined(arrived[cut:], draw))


@given(st.lists(REQUIREMENTS, max_size=12))
def test_the_first_who_reached_the_final_level_is_the_one_named(arrived: list[ChatRequirements]) -> None:
    """In each axis on its own; while an axis is at the bottom, it is nobody's."""
    final = reduce(ChatRequirements.join, arrived, NOTHING)
    for axis in AXES:
        reached = getattr(final, axis)
        assert reached == max((getattr(item, axis) for item in arrived), default=0)
        first = next((getattr(item, f"{axis}_by") for item in arrived if getattr(item, axis) == reached), BUILT_IN)
        assert getattr(final, f"{axis}_by") == (first if reached else BUILT_IN)


@given(st.lists(REQUIREMENTS, min_size=1, max_size=8), st.data())
def test_who_is_named_does_not_depend_on_the_bracketing(arrived: list[ChatRequirements], draw: st.DataObject) -> None:
    """Requirements bundled on the way, as by another process, name the same as one by one."""
    assert _joined(arrived, draw) == reduce(ChatRequirements.join, arrived)


@given(REQUIREMENTS, REQUIREMENTS)
def test_a_join_is_the_same_object_exactly_when_nothing_rises(held: ChatRequirements, new: ChatRequirements) -> None:
    """Whoever compares with `is` misses no rise and stores nothing in vain, whoever demanded it."""
    rises = any(getattr(new, axis) > getattr(held, axis) for axis in AXES)
    assert (held.join(new) is held) == (not rises)
    assert (held.join(new) == held) == (not rises)


def _spelled(name: str, draw: st.DataObject) -> str:
    """Spell a name as a person, another version or a broken disk may leave it."""
    letters = [
        draw.draw(st.sampled_from((letter, letter.lower(), letter, " ", "ı", "_", "", "\x00", "Ё")))
        if draw.draw(st.integers(0, 9)) == 0 else letter
        for letter in name
    ]
    around = st.sampled_from(("", "", "", " ", "\n", "\t", "VERY_", "_", "0", "\ufeff"))
    return draw.draw(around) + "".join(letters) + draw.draw(around)


@given(REQUIREMENTS, st.data())
def test_what_is_read_back_is_never_less_than_what_was_written(
    written: ChatRequirements, draw: st.DataObject
) -> None:
    """However a name was damaged on the way: it is read as the level it now names, if that is one, or the strictest."""
    texts = [_spelled(getattr(written, axis).name, draw) for axis in AXES]
    read = requirements_from_stored(*texts)
    for axis, text in zip(AXES, texts, strict=True):
        level, was = getattr(read, axis), getattr(written, axis)
        assert level.name == text.strip().upper() or level is getattr(STRICTEST, axis)
        assert level is was or text != was.name


@given(TEXTS, TEXTS, TEXTS)
def test_any_other_text_is_read_as_the_strictest(confidence: str, data_security: str, outbound: str) -> None:
    """A text that is no member's name gives the strictest level of its own axis, and of no other."""
    read = requirements_from_stored(confidence, data_security, outbound)
    levels = (ConfidenceLevel, DataSourceSecurity, OutboundDataRestriction)
    texts = (confidence.strip().upper(), data_security, outbound)
    for axis, text, known in zip(AXES, texts, levels, strict=True):
        if text not in known.__members__:
            assert getattr(read, axis) is getattr(STRICTEST, axis)
        mixed = requirements_from_stored(*(text if axis == other else "NONSENSE" for other in AXES))
        assert getattr(mixed, axis) is getattr(read, axis)


@given(REQUIREMENTS)
def test_names_and_origins_survive_being_written_and_read(written: ChatRequirements) -> None:
    """What is written by name is read back whole, with who set each level."""
    by = (written.confidence_by, written.data_security_by, written.outbound_by)
    assert requirements_from_stored(*(getattr(written, axis).name for axis in AXES), by=by) == written


def test_a_rise_in_one_axis_leaves_the_others_named_as_they_were() -> None:
    """Whoever reached a level first stays named although another demands the same, and more elsewhere."""
    wiki, mail = (SetBy(SetByKind.DATA_SOURCE, name) for name in ("Wiki", "Mail"))
    security, outbound = DataSourceSecurity, OutboundDataRestriction
    held = ChatRequirements(
        ConfidenceLevel.LOW, security.ALLOW_ANY, outbound.ONLY_LINKS_FROM_CHAT, wiki, wiki, wiki
    )
    same = replace(held, confidence_by=mail, data_security_by=mail, outbound_by=mail)
    assert held.join(replace(same, confidence=ConfidenceLevel.HIGH)) == replace(
        held, confidence=ConfidenceLevel.HIGH, confidence_by=mail
    )
    assert held.join(replace(same, data_security=security.SELF_HOSTED)) == replace(
        held, data_security=security.SELF_HOSTED, data_security_by=mail
    )
    assert held.join(replace(same, outbound=outbound.ONLY_CONFIGURED_SERVICES)) == replace(
        held, outbound=outbound.ONLY_CONFIGURED_SERVICES, outbound_by=mail
    )


def test_whoever_set_a_rule_is_named_with_what_is_known() -> None:
    """Kind, name and place; a line without a file is no place, a file without a line is."""
    assert str(SetBy(SetByKind.USER)) == "user"
    assert str(SetBy(SetByKind.ORGANIZATION, "Acme")) == "organization 'Acme'"
    assert str(SetBy(SetByKind.ORGANIZATION, file="plugin.lua")) == "organization (plugin.lua)"
    assert str(SetBy(SetByKind.ORGANIZATION, file="plugin.lua", line=0)) == "organization (plugin.lua:0)"
    assert str(SetBy(SetByKind.ORGANIZATION, "Acme", "plugin.lua", 12)) == "organization 'Acme' (plugin.lua:12)"
    assert str(SetBy(SetByKind.ORGANIZATION, line=12)) == "organization"
