"""What a result says of who demands something: copied, bounded, masked, and never in somebody else's name."""

from typing import Any, cast

import pytest
from calling_kit import DONE, AnyTool, asked, asking, probe, returning

from lockgate.calling import RequirementsRaised
from lockgate.chat import MemoryChatStore
from lockgate.policy import (
    BUILT_IN,
    NOTHING,
    ChatRequirements,
    ConfidenceLevel,
    DataSourceSecurity,
    OutboundDataRestriction,
    SetBy,
    SetByKind,
)
from lockgate.storage import SqliteChatStore
from lockgate.testing import Call, answer_calls
from lockgate.tools import ToolContext, ToolResult

HIGHEST = ChatRequirements(
    ConfidenceLevel.MEDIUM, DataSourceSecurity.ALLOW_ANY, OutboundDataRestriction.ONLY_CONFIGURED_SERVICES
)


def forged(kind: Any, value: int, name: str) -> Any:
    """Make an object of an enum's type that is none of its members."""
    made = int.__new__(kind, value)
    made._name_, made._value_ = name, value
    return made


FORGED = {
    "confidence": (ConfidenceLevel, 300, "NONE"),
    "data_security": (DataSourceSecurity, 3, "NOT_SPECIFIED"),
    "outbound": (OutboundDataRestriction, 3, "UNRESTRICTED"),
}


@pytest.mark.parametrize("axis", FORGED)
async def test_a_forged_level_lowers_nothing(axis: str, tmp_path: Any) -> None:
    """A number above all others under the name of the lowest: memory would rise, and what is kept by name fall."""
    forgery = ChatRequirements(**{axis: forged(*FORGED[axis])})
    tools = [returning(ToolResult("first", requires=HIGHEST), "honest"), returning(ToolResult("x", requires=forgery))]
    store = SqliteChatStore(tmp_path / "chats.sqlite3")
    script = [answer_calls(Call("honest", {})), probe(), DONE]
    async with asking(script, *tools, store=store, self_hosted=True) as asked_now:
        assert await asked_now.end() is None
        stored = await store.load(asked_now.run.chat.id)
    assert stored is not None
    assert (stored.requirements.confidence, stored.requirements.outbound) == (HIGHEST.confidence, HIGHEST.outbound)
    assert stored.requirements.data_security is HIGHEST.data_security
    assert "a value nobody knows" in asked_now.results[1]


class Shouting(SetBy):
    """Speaks for somebody else, and breaks when it is shown."""

    __slots__ = ()

    def __str__(self) -> str:
        raise SystemExit(3)


@pytest.mark.parametrize(
    "by",
    [
        Shouting(SetByKind.DATA_SOURCE, "x"),
        SetBy(cast("Any", "user"), "x"),
        SetBy(SetByKind.DATA_SOURCE, cast("Any", object())),
        cast("Any", "Contracts"),
    ],
    ids=["subclass", "kind", "name", "text"],
)
async def test_who_is_nobody_costs_its_call(by: Any) -> None:
    """One result in words, and the chat goes on as it was."""
    done = await asked([probe(), DONE], returning(ToolResult("x", requires=ChatRequirements(
        ConfidenceLevel.LOW, confidence_by=by
    ))))  # fmt: skip
    assert "nobody who could demand" in done.results[0]
    assert done.run.chat.requirements == NOTHING


async def test_a_tool_cannot_speak_for_the_organization() -> None:
    """What it brings may demand something as a data source; neither the user nor the organization says so."""
    claimed = SetBy(SetByKind.ORGANIZATION, "Acme", "rules.lua", 3)
    done = await asked([probe(), DONE], returning(ToolResult("x", requires=ChatRequirements(
        ConfidenceLevel.LOW, confidence_by=claimed
    ))))  # fmt: skip
    assert done.run.chat.requirements.confidence_by == SetBy(SetByKind.DATA_SOURCE, "Acme")
    plain = await asked([probe(), DONE], returning(ToolResult("x", requires=ChatRequirements(ConfidenceLevel.LOW))))
    assert plain.run.chat.requirements.confidence_by == BUILT_IN


async def test_a_name_is_one_line_of_bounded_length() -> None:
    """It is shown to people, kept with the chat, and told to the model."""
    name = "Con\ntracts\x1b " + "x" * 5_000_000
    done = await asked([probe(), DONE], returning(ToolResult("x", requires=ChatRequirements(
        ConfidenceLevel.LOW, confidence_by=SetBy(SetByKind.DATA_SOURCE, name)
    ))))  # fmt: skip
    kept = done.run.chat.requirements.confidence_by.name
    assert len(kept) == 200
    assert kept.startswith("Con tracts")
    assert kept.isprintable()


async def test_a_sensitive_value_is_in_no_name() -> None:
    """A tool that names a data source after a password would keep it with the chat."""

    async def execute(arguments: dict[str, Any], context: ToolContext) -> ToolResult:
        by = SetBy(SetByKind.DATA_SOURCE, f"vault of {arguments['password']}")
        return ToolResult("x", requires=ChatRequirements(ConfidenceLevel.LOW, confidence_by=by))

    tool = AnyTool(execute, sensitive_arguments=("password",))
    store = MemoryChatStore()
    async with asking([probe(password="open-sesame-9"), DONE], tool, store=store) as asked_now:
        assert await asked_now.end() is None
        stored = await store.load(asked_now.run.chat.id)
    assert stored is not None
    raised = [event for event in asked_now.events if isinstance(event, RequirementsRaised)]
    assert stored.requirements.confidence_by.name == "vault of *****"
    assert "sesame" not in repr((raised, stored, asked_now.run.traces))
