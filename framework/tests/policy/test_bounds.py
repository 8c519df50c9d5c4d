"""Global minimum and ceilings, over all levels: a user may tighten what the organization says, and never loosen it."""

from itertools import product

from registry_kit import registry, simple

from lockgate.policy import (
    BY_USER,
    NOTHING,
    ChatRequirements,
    ConfidenceLevel,
    DataSourceSecurity,
    DenialReason,
    Minimum,
    OutboundDataRestriction,
    OutboundMinimum,
    ProviderStanding,
    SetBy,
    SetByKind,
    admission,
)
from lockgate.registry.ceilings import Cap, Ceilings
from lockgate.registry.rules import Rules

L = ConfidenceLevel
ORGANIZATION = SetBy(SetByKind.ORGANIZATION, "Acme", "plugin.lua", 7)
KINDS = tuple(product((False, True), (False, True)))
STATES = [ChatRequirements(*state) for state in product(L, DataSourceSecurity, OutboundDataRestriction)]
BY_THE_USER = [None, *(Minimum(level, BY_USER) for level in L)]
BY_THE_ORGANIZATION = [None, *(Minimum(level, ORGANIZATION) for level in L)]
STANDINGS = [ProviderStanding("p", "T", level, self_hosted=own, trusted=trusted)
             for level, (own, trusted) in product(L, KINDS)]


def _level(minimum: Minimum | None) -> ConfidenceLevel:
    return L.NONE if minimum is None else minimum.level


def _expected(state: ChatRequirements, standing: ProviderStanding, minimum: Minimum | None) -> DenialReason | None:
    """The rules in words: first what everybody needs, then the level of the chat, then where its content may go."""
    if minimum is not None and standing.confidence.value < minimum.level.value:
        return DenialReason.GLOBAL_MINIMUM
    if standing.confidence.value < state.confidence.value:
        return DenialReason.CONFIDENCE
    stays = state.data_security.name == "SELF_HOSTED"
    return DenialReason.DATA_SECURITY if stays and not (standing.self_hosted or standing.trusted) else None


def test_admission_follows_the_rules_for_every_level_minimum_requirement_and_kind() -> None:
    """20,736 combinations: the reason, who is named, and that neither trust nor self-hosting replaces a level."""
    for state, standing, minimum in product(STATES, STANDINGS, BY_THE_ORGANIZATION):
        denial = admission(state, standing, minimum)
        expected = _expected(state, standing, minimum)
        assert (None if denial is None else denial.reason) is expected
        if denial is not None and minimum is not None and expected is DenialReason.GLOBAL_MINIMUM:
            assert denial.set_by == minimum.set_by
            assert minimum.level.name in denial.why
            assert standing.confidence.name in denial.why


def test_a_global_minimum_only_ever_takes_providers_away() -> None:
    """Whom a minimum admits, a lower one and none at all admit, too."""
    for state, standing in product(STATES, STANDINGS):
        admitted = [admission(state, standing, minimum) is None for minimum in BY_THE_ORGANIZATION]
        assert admitted == sorted(admitted, reverse=True)
        assert admitted[0] == (state.admits(standing) is None)


def test_the_stricter_of_both_minimums_counts_for_all_providers() -> None:
    """Over all pairs: the one in force is one of the two, none is above it, and a tie stays the user's own."""
    for own, bound in product(BY_THE_USER, BY_THE_ORGANIZATION):
        found = Rules(global_minimum=own, ceilings=Ceilings(global_minimum=bound)).least_of_all
        assert _level(found) == max(_level(own), _level(bound))
        assert (found is None) == (own is None and bound is None)
        assert found in (own, bound)
        if own is not None and bound is not None and own.level == bound.level:
            assert found is own


def test_no_choice_of_the_user_admits_whom_the_organization_bars() -> None:
    """Over all pairs of minimums and all levels: what is admitted is what both admit; `admission` asks for both."""
    for own, bound, level in product(BY_THE_USER, BY_THE_ORGANIZATION, L):
        rules = Rules(global_minimum=own, ceilings=Ceilings(global_minimum=bound))
        standing = ProviderStanding("p", "T", level, self_hosted=True, trusted=True)
        both = admission(NOTHING, standing, own) is None and admission(NOTHING, standing, bound) is None
        assert (rules.admission(NOTHING, standing) is None) == both


def test_what_is_demanded_of_every_chat_is_joined_into_each() -> None:
    """Over all states: the outbound ceiling lifts this axis and no other, and a chat that is stricter stays itself."""
    for state in STATES:
        assert Rules().demanded(state) is state
        for level in OutboundDataRestriction:
            rules = Rules(ceilings=Ceilings(outbound=OutboundMinimum(level, ORGANIZATION)))
            counted = rules.demanded(state)
            assert counted.outbound == max(level, state.outbound)
            assert (counted.confidence, counted.data_security) == (state.confidence, state.data_security)
            assert (counted is state) == (level <= state.outbound)
            if level > state.outbound:
                assert counted.outbound_by == ORGANIZATION
            assert rules.demanded(counted) is counted


def test_a_limit_is_the_lower_of_both_numbers() -> None:
    """Over all three limits and numbers around each other: the organization's cap binds, and is no value of its own."""
    for name, own, cap in product(
        ("max_tool_calls", "max_tool_result_characters", "max_restricted_calls"), range(9), range(9)
    ):
        assert Rules(**{name: own}).limit(name) == own  # type: ignore[arg-type] # all three are numbers
        bounded = Rules(
            **{name: own},  # type: ignore[arg-type] # as above
            ceilings=Ceilings(**{name: Cap(cap, ORGANIZATION)}),  # type: ignore[arg-type] # as above
        )
        assert bounded.limit(name) == min(own, cap)


def test_a_ceiling_on_one_limit_leaves_the_others_alone() -> None:
    """Each cap binds the number of its own name."""
    names = ("max_tool_calls", "max_tool_result_characters", "max_restricted_calls")
    for capped in names:
        rules = Rules(ceilings=Ceilings(**{capped: Cap(1, ORGANIZATION)}))  # type: ignore[arg-type] # a cap
        assert [name for name in names if rules.limit(name) == 1] == [capped]


def test_the_minimum_of_a_tool_is_the_stricter_of_what_the_user_and_the_organization_say() -> None:
    """Over all declared, chosen and bounding levels: the user's takes the place of the tool's own, and is bounded."""
    tools = [("pack", "tools", simple(f"tool_{level.name.lower()}", minimum_confidence=level)) for level in L]
    for own, bound in product(BY_THE_USER, BY_THE_ORGANIZATION):
        rules = Rules(
            minimums={} if own is None else {item.definition.id: own for _, _, item in tools},
            ceilings=Ceilings(minimums={} if bound is None else {item.definition.id: bound for _, _, item in tools}),
        )
        made = registry(*tools, rules=rules)
        for declared in L:
            level, set_by = made.minimum_confidence(f"tool_{declared.name.lower()}")
            chosen = declared if own is None else own.level
            assert level == max(chosen, _level(bound))
            if level > chosen:
                assert set_by == ORGANIZATION
