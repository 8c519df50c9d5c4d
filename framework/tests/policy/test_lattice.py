"""The laws of requirements, over all states and all triples of states: a bounded join-semilattice.

Levels are finite, so nothing is sampled here: 8 confidences, 3 securities and 3 restrictions make 72 states and 373,248
triples. Every join of two states is made once by the product; triples are then looked up, because a join of frozen
values depends on nothing but the values. That it does is the first test.
"""

from itertools import product

from lockgate.policy import (
    NOTHING,
    ChatRequirements,
    ConfidenceLevel,
    DataSourceSecurity,
    OutboundDataRestriction,
    ProviderStanding,
)

STATES = [ChatRequirements(*state) for state in product(ConfidenceLevel, DataSourceSecurity, OutboundDataRestriction)]
PLACES = range(len(STATES))
PLACE = {state: place for place, state in enumerate(STATES)}
JOIN = [[PLACE[left.join(right)] for right in STATES] for left in STATES]
"""JOIN[a][b]: the place of the join of two states. A join that left the 72 states would be a KeyError here."""

STANDINGS = [
    ProviderStanding("p", "T", level, self_hosted=self_hosted, trusted=trusted)
    for level, self_hosted, trusted in product(ConfidenceLevel, (False, True), (False, True))
]
ADMITTED = [frozenset(n for n, standing in enumerate(STANDINGS) if state.admits(standing) is None) for state in STATES]
"""ADMITTED[a]: the places of the standings that a chat in this state admits."""


def _at_most(left: ChatRequirements, right: ChatRequirements) -> bool:
    """Tell whether nothing in `left` is stricter than in `right`."""
    return (
        left.confidence <= right.confidence
        and left.data_security <= right.data_security
        and left.outbound <= right.outbound
    )


AT_MOST = [[_at_most(left, right) for right in STATES] for left in STATES]


def test_there_are_72_states_and_a_join_stays_among_them() -> None:
    """The states are all different, and joining equal values again gives an equal value."""
    assert len(STATES) == len(PLACE) == 72
    for (left, a), (right, b) in product(PLACE.items(), PLACE.items()):
        assert STATES[JOIN[a][b]] == left.join(right)


def test_join_is_associative_over_all_triples() -> None:
    """In which order requirements arrive, and how they are bundled on the way, makes no difference."""
    for a, b in product(PLACES, PLACES):
        first, then = JOIN[JOIN[a][b]], JOIN[b]
        assert all(first[c] == JOIN[a][then[c]] for c in PLACES)


def test_join_is_commutative_and_idempotent_over_all_pairs() -> None:
    """Neither the order of two requirements nor saying one twice makes a difference."""
    for a, b in product(PLACES, PLACES):
        assert JOIN[a][b] == JOIN[b][a]
    assert all(JOIN[a][a] == a for a in PLACES)
    assert all(state.join(state) is state for state in STATES)


def test_nothing_is_absorbed_and_there_is_a_strictest_state() -> None:
    """NOTHING is the bottom and changes no chat; the strictest state is the top and can rise no more."""
    strictest = ChatRequirements(
        ConfidenceLevel.HIGH, DataSourceSecurity.SELF_HOSTED, OutboundDataRestriction.ONLY_CONFIGURED_SERVICES
    )
    for state in STATES:
        assert state.join(NOTHING) is state
        assert NOTHING.join(state) == state
        assert strictest.join(state) is strictest
        assert state.join(strictest) == strictest


def test_a_join_is_an_upper_bound_of_both_over_all_pairs() -> None:
    """Neither side is ever lowered: nothing that was demanded is given up."""
    for a, b in product(PLACES, PLACES):
        joined = JOIN[a][b]
        assert AT_MOST[a][joined]
        assert AT_MOST[b][joined]
        assert AT_MOST[a][b] == (joined == b)


def test_a_join_is_the_least_upper_bound_over_all_triples() -> None:
    """Whatever meets both requirements meets their join: nothing is demanded that nobody demanded."""
    for a, b in product(PLACES, PLACES):
        joined = AT_MOST[JOIN[a][b]]
        assert all(joined[c] == (AT_MOST[a][c] and AT_MOST[b][c]) for c in PLACES)


def test_joining_is_monotone_over_all_triples() -> None:
    """A chat that demands more beforehand demands no less afterwards."""
    for a, b in product(PLACES, PLACES):
        if AT_MOST[a][b]:
            assert all(AT_MOST[JOIN[a][c]][JOIN[b][c]] for c in PLACES)


def test_the_stricter_a_chat_the_fewer_providers_it_admits() -> None:
    """Over all pairs: raising a chat admits nobody new, and two requirements admit whom both admit."""
    for a, b in product(PLACES, PLACES):
        if AT_MOST[a][b]:
            assert ADMITTED[b] <= ADMITTED[a]
        assert ADMITTED[JOIN[a][b]] == ADMITTED[a] & ADMITTED[b]
    assert ADMITTED[PLACE[NOTHING]] == frozenset(range(len(STANDINGS)))


def test_a_provider_trusted_with_more_is_admitted_wherever_one_trusted_with_less_is() -> None:
    """Over all states and pairs of standings: a higher level, being self-hosted or being trusted closes no chat."""
    for (m, low), (n, high) in product(enumerate(STANDINGS), enumerate(STANDINGS)):
        if low.confidence <= high.confidence and low.self_hosted <= high.self_hosted and low.trusted <= high.trusted:
            assert all(n in admitted for admitted in ADMITTED if m in admitted)


def test_outbound_says_nothing_about_providers() -> None:
    """How far tools may send data makes no difference to who may read the chat."""
    for state, admitted in zip(STATES, ADMITTED, strict=True):
        assert admitted == ADMITTED[PLACE[ChatRequirements(state.confidence, state.data_security)]]
