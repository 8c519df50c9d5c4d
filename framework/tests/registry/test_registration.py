"""Registration in phases: what is rejected, and who keeps a name."""

from dataclasses import replace
from typing import Any, cast

import pytest
from registry_kit import reasons, registry, simple

from lockgate.policy import ConfidenceLevel, ToolOutboundData
from lockgate.registry import Rules
from lockgate.registry.catalog import catalog, catalog_item
from lockgate.settings import FixedOptions, Setting, ToolSettings
from lockgate.tools import Components, Tool, ToolActivation, ToolCollection, ToolDefinition, Visibility


def broken(**changes: Any) -> Tool:
    """Make a tool whose definition is wrong in some way."""
    made = simple("broken")
    made.definition = replace(made.definition, **changes)
    return made


class BadGroup(ToolSettings):
    """A settings group made of white space."""

    a: str = ""


class NoDefinition(Tool):
    """Forgets its definition."""


def _with_settings(setting: Setting) -> Tool:
    from typing import Annotated

    from pydantic import create_model

    made = simple("configured")
    model = create_model("Made", __base__=ToolSettings, a=(Annotated[str, setting], ""))
    made.settings_model = model  # type: ignore[misc] # one instance of a test
    return made


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("no tool", "it is no Tool but a str"),
        (NoDefinition(), "no definition of type ToolDefinition"),
        (broken(schema_version=2), "schema version is 2"),
        (broken(id="  "), "ID is blank"),
        (broken(id="no spaces"), "is no function name"),
        (broken(id="x" * 65), "is no function name"),
        (broken(parameters=[1]), "parameters are no JSON Schema"),
        (broken(visible_in=Visibility(allowed_components=cast("Any", ("KITCHEN",)))), "component 'KITCHEN'"),
        (_with_settings(Setting(group="  ")), "group made of white space"),
        (_with_settings(Setting(options="colours")), "option source 'colours'"),
    ],
)
def test_a_tool_that_cannot_be_registered_is_told_with_the_offender(value: object, words: str) -> None:
    """A wrong definition costs itself, in words that name what is wrong and whose it is."""
    made = registry(("pack", "tools", value), ("pack", "tools", simple("fine")))
    assert [item.id for item in made.tools] == ["fine"]
    assert words in reasons(made)[0]
    assert "pack 1.0" in reasons(made)[0]


def test_of_two_tools_with_one_name_the_first_distribution_stays() -> None:
    """Order is by distribution, not by arrival; both owners are shown; an organization can pin the other."""
    mine, theirs = simple("search"), simple("search")
    items = (("zebra", "tools", mine), ("apple", "tools", theirs))
    made = registry(*items)
    assert made.get("search") is not None
    assert cast("Any", made.get("search")).tool is theirs
    assert "zebra 1.0" in reasons(made)[0]
    assert "apple 1.0" in reasons(made)[0]
    pinned = registry(*items, rules=Rules(pins={"search": "zebra"}))
    assert cast("Any", pinned.get("search")).tool is mine


def test_option_sources_are_there_before_tools() -> None:
    """A tool may name an option source of a plugin that loads later."""
    source = FixedOptions("colours", ("RED",), (("en", ("Red",)),))
    made = registry(
        ("a", "tools", _with_settings(Setting(options="colours"))), ("b", "option_sources", source)
    )
    assert [item.id for item in made.tools] == ["configured"]


def test_a_built_in_option_source_cannot_be_replaced() -> None:
    """`common_languages` stays the framework's."""
    made = registry(("a", "option_sources", FixedOptions("common_languages", ("x",), (("en", ("X",)),))))
    assert made.option_sources["common_languages"].options("en")[0].value == "all"
    assert "lockgate-framework" in reasons(made)[0]


def test_what_is_not_stated_properly_is_read_as_the_strictest() -> None:
    """An unknown sink is the most open one; an unknown minimum is the highest."""
    made = registry(("a", "tools", broken(outbound_data="NOWHERE", minimum_confidence="LOW")))
    definition = made.tools[0].definition
    assert definition.outbound_data is ToolOutboundData.MODEL_CHOSEN_ADDRESSES
    assert definition.minimum_confidence is ConfidenceLevel.HIGH


def test_a_collection_is_rejected_by_every_documented_rule() -> None:
    """Its ID, its name taken, unknown and foreign tools, context tools, tools claimed first, nothing left."""
    made = registry(
        ("a", "tools", simple("one")), ("a", "tools", simple("two")),
        ("a", "tools", simple("ctx", activation=ToolActivation.CONTEXT)), ("b", "tools", simple("foreign")),
        ("a", "collections", ToolCollection("one", ("two",))),
        ("a", "collections", ToolCollection("  ", ("two",))),
        ("a", "collections", ToolCollection("both", ("one", "one", "missing", "ctx", "foreign"))),
        ("b", "collections", ToolCollection("both", ("foreign",))),
        ("a", "collections", ToolCollection("late", ("one",))),
    )  # fmt: skip
    text = "\n".join(reasons(made))
    assert "its ID is the ID of a tool" in text
    assert "non-blank ID" in text
    assert "'missing' of a 1.0 (entry point 'a') was not taken into the collection 'both': it is not registered" in text
    assert "cannot be selected" in text
    assert "tools of its own distribution only" in text
    assert "there is a collection of that name already" in text
    assert "has claimed it first" in text
    assert "no tool is left in it" in text
    assert made.get_collection_id("one") == "both"
    assert made.get_collection_id("two") == "two"
    assert made.get_collection_id("foreign") == "foreign"


async def test_the_catalog_lists_by_display_name() -> None:
    """One entry per collection, ordered by name, context tools only on demand."""
    made = registry(
        ("a", "tools", simple("b_tool", name="Zed")), ("a", "tools", simple("a_tool", name="alpha")),
        ("a", "tools", simple("ctx", activation=ToolActivation.CONTEXT)),
        ("a", "tools", simple("elsewhere", visible_in=Visibility(chat=False))),
    )  # fmt: skip
    assert [item.id for item in await catalog(made, Components.CHAT)] == ["a_tool", "b_tool"]
    everything = await catalog(made, None, context_tools=True)
    assert [item.id for item in everything] == ["a_tool", "ctx", "elsewhere", "b_tool"]


def test_a_definition_is_a_value() -> None:
    """Definitions can be compared and copied; nothing is hidden in them."""
    assert replace(simple("x").definition) == simple("x").definition
    assert isinstance(simple("x").definition, ToolDefinition)


async def test_the_entry_of_a_list_is_found_by_its_collection_or_any_of_its_tools() -> None:
    """One entry a collection; a tool that offers itself has one, too, and a name nobody knows has none."""
    made = registry(
        ("a", "tools", simple("one")), ("a", "tools", simple("two")),
        ("a", "tools", simple("ctx", activation=ToolActivation.CONTEXT)),
        ("a", "collections", ToolCollection("both", ("two", "one"))),
    )  # fmt: skip
    for name in ("both", "one", "two"):
        item = await catalog_item(made, name)
        assert item is not None
        assert (item.id, [tool.registered.id for tool in item.tools]) == ("both", ["two", "one"])
    offering = await catalog_item(made, "ctx")
    assert offering is not None
    assert offering.id == "ctx"
    assert await catalog_item(made, "nobody") is None
