"""Every state of a chat, result, kind of tool and level of provider, held against a table a person can read.

The table is the page `outcome_table.md` beside this module. This module holds the pure part of the product against it:
the checks in front of a tool, the admission of content, and the join. The executor's turn is `test_outcomes_of_calls`.
"""

import random
from dataclasses import replace
from itertools import product

import pytest
from outcome_kit import (
    KINDS,
    Ending,
    ending,
    may_have,
    may_have_both,
    may_run,
    may_run_again,
    names,
    order,
    reaches,
    standing_of,
    tables,
    together,
)
from registry_kit import registry, simple

from lockgate.policy import (
    BY_USER,
    NOTHING,
    ChatRequirements,
    ConfidenceLevel,
    DataSourceSecurity,
    Minimum,
    OutboundDataRestriction,
    ProviderStanding,
    ToolOutboundData,
    admission,
)
from lockgate.registry.checks import CHECKS, Situation, ToolOfferBlockReason, first_block
from lockgate.tools.definition import Components

L = ConfidenceLevel
STATES = [ChatRequirements(*state) for state in product(L, DataSourceSecurity, OutboundDataRestriction)]
TOOLS = list(product(ToolOutboundData, (False, True)))
PROVIDERS = list(product(L, KINDS))
STANDINGS = [standing_of(level, kind) for level, kind in PROVIDERS]
SAMPLE = 20_000


@pytest.fixture
async def situations() -> list[Situation]:
    """One situation per kind of tool, in the order of `TOOLS`; nothing stands in the way of any."""
    made = [
        simple(f"tool_{place}", outbound_data=data, enforces_outbound_restriction=refuses)
        for place, (data, refuses) in enumerate(TOOLS)
    ]
    found = registry(*(("pack", "tools", item) for item in made))
    return [
        await found.situation(item.definition.id, STANDINGS[-1], Components.CHAT, NOTHING) for item in made
    ]


def _in(
    situation: Situation, standing: ProviderStanding, chat: ChatRequirements, minimum: ConfidenceLevel
) -> Situation:
    return replace(
        situation, standing=standing, requirements=chat, state=replace(situation.state, minimum=minimum)
    )


def _offered(situation: Situation) -> tuple[bool, bool]:
    """Ask the real checks: whether the minimum is reached, and whether the chat lets the arguments go."""
    by_reason = dict(zip((name for name, _ in CHECKS), (check(situation) for _, check in CHECKS), strict=True))
    failed = {block.reason for block in by_reason.values() if block is not None}
    assert failed <= {R.PROVIDER_CONFIDENCE_TOO_LOW, R.OUTBOUND_DATA_RESTRICTED}
    first = first_block(situation)
    assert (None if first is None else first.reason) is next((reason for reason in R if reason in failed), None)
    return R.PROVIDER_CONFIDENCE_TOO_LOW not in failed, R.OUTBOUND_DATA_RESTRICTED not in failed


R = ToolOfferBlockReason


def _by_the_page(
    chat: ChatRequirements, result: ChatRequirements, tool: tuple[ToolOutboundData, bool],
    provider: tuple[ConfidenceLevel, str], minimum: ConfidenceLevel,
) -> tuple[Ending, tuple[str, str, str]]:
    """Read off what becomes of a call, and what the chat demands afterwards."""
    level, kind = provider
    both = together(chat, result)
    found = ending(
        minimum_reached=reaches(level, minimum),
        lets_go=may_run(chat.outbound, tool[0], refuses_itself=tool[1]),
        may_have_it=may_have_both(both, level, kind),
    )
    return found, both if found.raised else names(chat)


def test_the_page_has_a_cell_for_everything_there_is() -> None:
    """Every level, kind of data and restriction stands in it, once, in the documented order; nothing else does."""
    page = tables()
    assert len(page["Where a tool's arguments may go"]) == len(TOOLS)
    assert len(page["How many calls an answer may make"]) == len(TOOLS)
    assert [row["a provider of"] for row in page["Which provider reaches which level"]] == list(L.__members__)
    assert order("confidence") == tuple(L.__members__)
    assert order("data security") == tuple(DataSourceSecurity.__members__)
    assert order("outbound") == tuple(OutboundDataRestriction.__members__)
    for restriction, (data, refuses) in product(OutboundDataRestriction, TOOLS):
        once = may_run_again(restriction, data, refuses_itself=refuses, limit=1, so_far=0)
        assert once == may_run(restriction, data, refuses_itself=refuses)
    for security, kind in product(DataSourceSecurity, KINDS):
        assert may_have(security, kind) in (True, False)
    endings = [
        ending(minimum_reached=a, lets_go=b, may_have_it=c, calls_left=d, may_have_chat=e)
        for a, b, c, d, e in product((False, True), repeat=5)
    ]
    assert {found.happens for found in endings} == {
        "blocked before it ran", "withheld after it ran", "delivered"
    }  # fmt: skip


async def test_the_checks_agree_with_the_page_for_every_chat_tool_provider_and_minimum(
    situations: list[Situation]
) -> None:
    """All 110,592 combinations: which tool may run depends on the minimum and on the restriction, as written."""
    for (tool, situation), chat, minimum in product(zip(TOOLS, situations, strict=True), STATES, L):
        lets_go = may_run(chat.outbound, tool[0], refuses_itself=tool[1])
        for (level, _), standing in zip(PROVIDERS, STANDINGS, strict=True):
            block = first_block(_in(situation, standing, chat, minimum))
            if not reaches(level, minimum):
                assert block is not None
                assert block.reason is R.PROVIDER_CONFIDENCE_TOO_LOW
            elif not lets_go:
                assert block is not None
                assert block.reason is R.OUTBOUND_DATA_RESTRICTED
            else:
                assert block is None


def test_admission_agrees_with_the_page_for_every_chat_provider_and_global_minimum() -> None:
    """All 15,552 combinations, the minimum of all providers among them."""
    for chat, ((level, kind), standing) in product(STATES, zip(PROVIDERS, STANDINGS, strict=True)):
        may = may_have_both(names(chat), level, kind)
        assert (admission(chat, standing) is None) == may
        for minimum in L:
            admitted = admission(chat, standing, Minimum(minimum, BY_USER)) is None
            assert admitted == (may and reaches(level, minimum))


def test_a_join_agrees_with_the_page_for_every_chat_and_result() -> None:
    """All 5,184 pairs."""
    for chat, result in product(STATES, STATES):
        assert names(chat.join(result)) == together(chat, result)


async def test_the_whole_product_agrees_with_the_page(situations: list[Situation]) -> None:
    """All 995,328 combinations of chat, result, kind of tool and provider, from what the product says of its parts.

    Which tool may run does not depend on the result, and who may have both does not depend on the tool; so each is
    asked once a combination of its own. That the parts make the whole is what the next test shows.
    """
    offered = {
        (chat, tool, provider): _offered(_in(situation, standing, chat, L.NONE))
        for chat in STATES
        for tool, situation in zip(TOOLS, situations, strict=True)
        for provider, standing in zip(PROVIDERS, STANDINGS, strict=True)
    }
    both = {(chat, result): chat.join(result) for chat, result in product(STATES, STATES)}
    admitted = {
        (state, provider): admission(state, standing) is None
        for state, (provider, standing) in product(STATES, zip(PROVIDERS, STANDINGS, strict=True))
    }
    written = {
        (reached, lets_go, may): ending(minimum_reached=reached, lets_go=lets_go, may_have_it=may)
        for reached, lets_go, may in product((False, True), repeat=3)
    }
    lets_go = {
        (chat, tool): may_run(chat.outbound, tool[0], refuses_itself=tool[1]) for chat in STATES for tool in TOOLS
    }
    may_have_it = {
        (state, provider): may_have_both(names(state), *provider) for state in STATES for provider in PROVIDERS
    }
    checked = 0
    for chat, provider in product(STATES, PROVIDERS):
        before = [(offered[chat, tool, provider], (True, lets_go[chat, tool])) for tool in TOOLS]
        for result in STATES:
            joined = both[chat, result]
            actual, expected = admitted[joined, provider], may_have_it[joined, provider]
            for found, page in before:
                assert written[*found, actual] is written[*page, expected]
                checked += 1
    assert checked == 72 * 72 * 8 * 24


async def test_a_sample_of_the_whole_product_agrees_with_the_page_without_any_shortcut(
    situations: list[Situation]
) -> None:
    """20,000 combinations, tool's minimum included, each asked of the product from scratch."""
    drawn = random.Random(20_000)  # noqa: S311 - a sample, no secret
    seen = set()
    for _ in range(SAMPLE):
        chat, result, minimum = drawn.choice(STATES), drawn.choice(STATES), drawn.choice(list(L))
        place, provider = drawn.randrange(len(TOOLS)), drawn.choice(PROVIDERS)
        standing = standing_of(*provider)
        reached, lets_go = _offered(_in(situations[place], standing, chat, minimum))
        joined = chat.join(result)
        found = ending(
            minimum_reached=reached, lets_go=lets_go, may_have_it=admission(joined, standing) is None
        )
        afterwards = names(joined) if found.raised else names(chat)
        assert (found, afterwards) == _by_the_page(chat, result, TOOLS[place], provider, minimum)
        seen.add(found.happens)
    assert seen == {"blocked before it ran", "withheld after it ran", "delivered"}
