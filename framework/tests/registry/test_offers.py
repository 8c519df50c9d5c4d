"""Which tools a request offers, and the answer to "why not?"."""

import asyncio
from collections.abc import Iterable
from typing import Any, cast

import pytest
from registry_kit import registry, simple

from lockgate.chat import ChatThread
from lockgate.policy import (
    BUILT_IN,
    BY_USER,
    ChatRequirements,
    ConfidenceLevel,
    OutboundDataRestriction,
    ProviderStanding,
    ToolOutboundData,
)
from lockgate.registry import (
    CHECKS,
    Block,
    Minimum,
    Offer,
    Preparation,
    PreviewSwitch,
    Registry,
    Rules,
    ToolOfferBlockReason,
    explain,
)
from lockgate.settings import Layers, ToolSettings
from lockgate.tools import Components, RequestContext, Tool, ToolActivation, ToolFunction, ToolServices, Visibility

R = ToolOfferBlockReason
STANDING = ProviderStanding("p", "OPEN_AI", ConfidenceLevel.MEDIUM)
SERVICES = cast("ToolServices", None)


async def prepared(
    made: Registry, *, selected: Iterable[str] = ("t",), standing: ProviderStanding = STANDING,
    component: Components = Components.CHAT, chat: ChatThread | None = None,
) -> Offer:
    """Prepare a request."""
    return await Preparation(made, SERVICES).prepare(chat or ChatThread(id="c"), standing, component, selected)


def resolving(tool_id: str, answer: Any, instructions: Any = "", **facts: Any) -> Tool:
    """Make a tool that answers a resolution with a value, or raises it."""
    made = simple(tool_id, **facts)

    class Resolving(type(made)):  # type: ignore[misc] # a subclass made for one test
        async def resolve_function(self, context: RequestContext) -> Any:
            del context
            if isinstance(answer, BaseException):
                raise answer
            if answer == "hang":
                await asyncio.Event().wait()
            return answer

        async def resolve_instructions(self, context: RequestContext) -> Any:
            del context
            return instructions

    made.__class__ = Resolving
    return made


class Key(ToolSettings):
    """A required setting."""

    base: str


def configured() -> Tool:
    """Make a tool with a required setting."""
    made = simple("t")
    made.settings_model = Key  # type: ignore[misc] # one instance of a test
    return made


LOW = ProviderStanding("p", "X", ConfidenceLevel.LOW)
NO_TOOLS = ProviderStanding("p", "X", ConfidenceLevel.HIGH, can_call_tools=False)
STRICT = ChatThread(id="c", requirements=ChatRequirements(outbound=OutboundDataRestriction.ONLY_LINKS_FROM_CHAT))
CONFIGURED_SERVICE = ToolOutboundData.CONFIGURED_SERVICE


@pytest.mark.parametrize(
    ("item", "rules", "how", "reason"),
    [
        (simple("t"), Rules(), {}, None),
        (simple("t"), Rules(tools_enabled=False), {}, R.TOOLS_SWITCHED_OFF),
        (simple("t"), Rules(tools_enabled=False), {"standing": NO_TOOLS}, R.TOOLS_SWITCHED_OFF),
        (simple("t"), Rules(disabled={"t": BY_USER}), {"standing": NO_TOOLS}, R.MODEL_CANNOT_USE_TOOLS),
        (simple("t", visible_in=Visibility(chat=False)), Rules(disabled={"t": BY_USER}), {}, R.NOT_AVAILABLE_HERE),
        (simple("t"), Rules(disabled={"t": BY_USER}), {}, R.TOOL_SWITCHED_OFF),
        (simple("t", preview="PRE_RAG_2024"), Rules(previews={"PRE_RAG_2024": PreviewSwitch(False, BY_USER)}), {},
         R.NOT_AVAILABLE_HERE),
        (configured(), Rules(), {"standing": LOW}, R.NOT_CONFIGURED),
        (configured(), Rules(layers=Layers(user={"t.base": "x"})), {}, None),
        (simple("t"), Rules(minimums={"t": Minimum(ConfidenceLevel.HIGH, BY_USER)}), {},
         R.PROVIDER_CONFIDENCE_TOO_LOW),
        (simple("t", minimum_confidence=ConfidenceLevel.MEDIUM), Rules(), {"standing": LOW, "chat": STRICT},
         R.PROVIDER_CONFIDENCE_TOO_LOW),
        (simple("t"), Rules(), {"chat": STRICT}, R.OUTBOUND_DATA_RESTRICTED),
        (simple("t", outbound_data=CONFIGURED_SERVICE), Rules(), {"chat": STRICT}, None),
        (simple("t", enforces_outbound_restriction=True), Rules(), {"chat": STRICT}, None),
    ],
)  # fmt: skip
async def test_a_tool_is_left_out_for_the_first_reason_in_order(
    item: Tool, rules: Rules, how: dict[str, Any], reason: ToolOfferBlockReason | None
) -> None:
    """Checks run in the documented order; the first that does not pass names itself."""
    offer = await prepared(registry(("a", "tools", item), rules=rules), **how)
    assert [tool.id for tool in offer.tools] == ([] if reason else ["t"])
    reasons = {key: block.reason for key, block in offer.left_out.items() if isinstance(block, Block)}
    assert reasons == ({"t": reason} if reason else {})


async def test_only_selected_and_context_tools_are_candidates() -> None:
    """A context tool offers itself; a tool nobody selected is not even left out."""
    made = registry(("a", "tools", simple("t")), ("a", "tools", simple("other")),
                    ("a", "tools", simple("ctx", activation=ToolActivation.CONTEXT)))  # fmt: skip
    offer = await prepared(made, selected=["t", "nobody"])
    assert [tool.id for tool in offer.tools] == ["ctx", "t"]
    nobody = offer.left_out["nobody"]
    assert isinstance(nobody, Block)
    assert nobody.reason is R.NOT_AVAILABLE_HERE
    assert "other" not in offer.left_out


@pytest.mark.parametrize("answer", [RuntimeError("broken"), SystemExit(3), "nonsense", 5])
async def test_a_resolution_that_fails_costs_its_own_tool(answer: Any) -> None:
    """Whatever it raises or returns, the other tools are offered, and the failure is named."""
    made = registry(("bad", "tools", resolving("t", answer)), ("good", "tools", simple("fine")))
    offer = await prepared(made, selected=["t", "fine"])
    assert [tool.id for tool in offer.tools] == ["fine"]
    assert "resolve_function failed" in offer.left_out["t"].why
    assert "bad" in offer.left_out["t"].why


async def test_a_resolution_that_hangs_costs_its_own_tool(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is left behind after its deadline, and the request goes on."""
    monkeypatch.setattr("lockgate.registry.preparation.PLUGIN_DEADLINE", 0.05)
    made = registry(("bad", "tools", resolving("t", "hang")), ("good", "tools", simple("fine")))
    offer = await prepared(made, selected=["t", "fine"])
    assert [tool.id for tool in offer.tools] == ["fine"]
    assert made.incidents.incidents[0].what == "resolve_function of t"


async def test_a_resolution_changes_description_and_choices_but_not_the_name() -> None:
    """What is shown is kept with the offer, so that it can be enforced."""
    schema = {"type": "object", "properties": {"ids": {"type": "array", "items": {"type": "string"}}}}
    answer = ToolFunction("Tailored.", schema, {"ids": ("one", "two")})
    offer = await prepared(registry(("a", "tools", resolving("t", answer, "Do it so."))))
    function = offer.tools[0].function
    assert (function.name, function.description, function.strict) == ("t", "Tailored.", True)
    assert cast("Any", function.parameters)["properties"]["ids"]["items"]["enum"] == ["one", "two"]
    assert offer.tools[0].choices == {"ids": ("one", "two")}
    assert "## `t`\n\nDo it so." in offer.instructions


async def test_parameters_that_are_no_object_fall_back_to_the_registered_ones() -> None:
    """The documented fallback, with an incident."""
    made = registry(("a", "tools", resolving("t", ToolFunction("New.", cast("Any", ["x"])))))
    offer = await prepared(made)
    assert offer.tools[0].function.parameters == made.tools[0].definition.parameters
    assert made.incidents.incidents


async def test_the_offer_is_the_same_every_time() -> None:
    """Providers cache a request from its beginning: order and words do not change with the order of plugins."""
    items = [("a", "tools", simple(name, instructions=f"Use {name}.")) for name in ("one", "two", "three")]
    first = await prepared(registry(*items), selected=["one", "two", "three"])
    second = await prepared(registry(*reversed(items)), selected=["three", "two", "one"])
    assert first.functions == second.functions
    assert first.instructions == second.instructions


async def test_equal_instructions_are_said_once() -> None:
    """The tool policy is deduplicated, and there is none without instructions."""
    offer = await prepared(registry(("a", "tools", simple("t", instructions="  "))))
    assert offer.instructions == ""


async def test_explain_shows_every_check_and_who_set_the_rule() -> None:
    """The table is complete; the row that fails says who set it and what would change it."""
    made = registry(("a", "tools", simple("t")), rules=Rules(disabled={"t": BY_USER}))
    answer = await explain(made, Preparation(made, SERVICES), "t", ChatThread(), STANDING, Components.CHAT, ["t"])
    assert [verdict.check for verdict in answer.verdicts] == [name for name, _ in CHECKS]
    failing = [verdict for verdict in answer.verdicts if verdict.block]
    assert [verdict.check for verdict in failing] == ["the tool is switched on"]
    block = failing[0].block
    assert block is not None
    assert block.set_by == BY_USER
    assert str(block.change) == "take 't' out of DataTools.DisabledToolIds"
    assert not answer.offered


async def test_a_problem_with_settings_names_who_set_the_value() -> None:
    """Missing settings are nobody's doing; a wrong one is its author's."""
    made = registry(("a", "tools", configured()))
    block = await made.check("t", STANDING, Components.CHAT, ChatRequirements())
    assert block is not None
    assert (block.why, block.set_by) == ("Its settings cannot be used: base is required and not set.", BUILT_IN)
