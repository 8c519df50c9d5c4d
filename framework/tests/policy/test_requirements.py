"""Requirements of a chat are a join-semilattice; proven over all states."""

from itertools import product

import pytest

from lockgate.policy import (
    NOTHING,
    ChatRequirements,
    ConfidenceLevel,
    DataSourceSecurity,
    DenialReason,
    OutboundDataRestriction,
    ProviderStanding,
    SetBy,
    SetByKind,
    requirements_from_stored,
)

STATES = [
    ChatRequirements(*state) for state in product(ConfidenceLevel, DataSourceSecurity, OutboundDataRestriction)
]


def _levels(requirements: ChatRequirements) -> tuple[int, int, int]:
    return (requirements.confidence, requirements.data_security, requirements.outbound)


def test_join_takes_the_stricter_of_each_axis_over_all_pairs() -> None:
    """Join is the component-wise maximum: commutative, idempotent, and never below either side."""
    for left, right in product(STATES, STATES):
        joined = _levels(left.join(right))
        assert joined == tuple(map(max, _levels(left), _levels(right))) == _levels(right.join(left))


def test_join_is_associative_over_all_triples_of_levels() -> None:
    """The order in which requirements arrive makes no difference."""
    axes = [{_levels(state)[axis]: state for state in STATES}.values() for axis in range(3)]
    for states in axes:
        for a, b, c in product(states, states, states):
            assert _levels(a.join(b).join(c)) == _levels(a.join(b.join(c)))


def test_join_returns_itself_when_nothing_rises() -> None:
    """A caller may compare with `is` to learn whether anything has to be stored."""
    for left, right in product(STATES, STATES):
        rises = any(b > a for a, b in zip(_levels(left), _levels(right), strict=True))
        assert (left.join(right) is not left) == rises


def test_the_first_who_demanded_a_level_stays_named() -> None:
    """On a tie the first data source stays the one that is named; a stricter one takes its place."""
    first, second = (SetBy(SetByKind.DATA_SOURCE, name) for name in ("Inbox", "Archive"))
    links = OutboundDataRestriction.ONLY_LINKS_FROM_CHAT
    held = NOTHING.join(ChatRequirements(outbound=links, outbound_by=first))
    assert held.join(ChatRequirements(outbound=links, outbound_by=second)).outbound_by == first
    strictest = ChatRequirements(outbound=OutboundDataRestriction.ONLY_CONFIGURED_SERVICES, outbound_by=second)
    assert held.join(strictest).outbound_by == second


@pytest.mark.parametrize("required", list(ConfidenceLevel))
@pytest.mark.parametrize("security", list(DataSourceSecurity))
@pytest.mark.parametrize("level", list(ConfidenceLevel))
@pytest.mark.parametrize("kind", ["plain", "self_hosted", "trusted"])
def test_a_provider_is_admitted_by_the_written_table(
    required: ConfidenceLevel, security: DataSourceSecurity, level: ConfidenceLevel, kind: str
) -> None:
    """Confidence is asked first, and being trusted never makes up for it; it satisfies data-source security only."""
    standing = ProviderStanding("p", "T", level, self_hosted=kind == "self_hosted", trusted=kind == "trusted")
    denial = ChatRequirements(required, security).admits(standing)
    if level < required:
        assert denial is not None
        assert denial.reason is DenialReason.CONFIDENCE
        assert required.name in denial.why
        assert level.name in denial.why
    elif security is DataSourceSecurity.SELF_HOSTED and kind == "plain":
        assert denial is not None
        assert denial.reason is DenialReason.DATA_SECURITY
    else:
        assert denial is None


def test_stored_names_nobody_knows_are_read_as_the_strictest() -> None:
    """A newer version may have written a level this one does not know."""
    read = requirements_from_stored("VERY_VERY_HIGH", "ON_THE_MOON", "NOWHERE")
    assert _levels(read) == (300, 2, 2)
    assert requirements_from_stored("LOW", "ALLOW_ANY", "UNRESTRICTED") == ChatRequirements(
        ConfidenceLevel.LOW, DataSourceSecurity.ALLOW_ANY
    )


def test_who_set_a_rule_reads_as_words() -> None:
    """A person sees who set a rule and where it stands."""
    assert str(SetBy(SetByKind.ORGANIZATION, file="plugin.lua", line=12)) == "organization (plugin.lua:12)"
    assert str(SetBy(SetByKind.DATA_SOURCE, "Contracts")) == "data source 'Contracts'"
