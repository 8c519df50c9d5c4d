"""Definitions that arrive as data: the documented members, refused by the documented rules in their order."""

import itertools
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, cast

import pytest
from registry_kit import reasons, registry

from lockgate.policy import ConfidenceLevel, ToolOutboundData
from lockgate.settings import NoSettings, ToolSettings, read_settings
from lockgate.tools import (
    Components,
    DataTool,
    SchemaRefused,
    ToolActivation,
    ToolContext,
    ToolDefinition,
    Visibility,
    definition_from_data,
)

PARAMETERS: dict[str, Any] = {"type": "object", "properties": {"term": {"type": "string"}}, "required": ["term"]}
LEAST: dict[str, Any] = {"id": "look_up", "function": {"parameters": PARAMETERS}}
FULL: dict[str, Any] = {
    "schemaVersion": 1,
    "id": "look_up",
    "visibleIn": {"chat": False, "assistants": True, "allowedComponents": ["CHAT"], "deniedComponents": ["WRITER"]},
    "systemPromptInstructions": "Look first.",
    "minimumProviderConfidence": "MEDIUM",
    "activation": "CONTEXT",
    "function": {
        "name": "look_up", "descriptionForLLM": "Explains a term.", "strict": False, "parameters": PARAMETERS,
    },
    "outboundData": "CONFIGURED_SERVICE",
    "enforcesOutboundDataRestriction": True,
    "returnsUntrustedExternalContent": True,
    "sensitiveTraceArgumentNames": ["term"],
    "preview": "PRE_RAG_2024",
    "companions": ["other"],
    "repeatable": True,
    "settingsSchema": {"type": "object", "properties": {"key": {"secret": True}}, "required": ["key"]},
}  # fmt: skip


async def _call(arguments: dict[str, Any], context: ToolContext) -> object:
    return {"term": arguments["term"], "settings": context.settings.model_dump(by_alias=True)}


def test_every_documented_member_has_its_meaning() -> None:
    """Nothing of a whole definition is lost."""
    assert definition_from_data(FULL) == ToolDefinition(
        id="look_up", parameters=PARAMETERS, description="Explains a term.", instructions="Look first.", strict=False,
        visible_in=Visibility(
            chat=False, allowed_components=(Components.CHAT,), denied_components=(Components.WRITER,)
        ),
        activation=ToolActivation.CONTEXT, preview="PRE_RAG_2024", outbound_data=ToolOutboundData.CONFIGURED_SERVICE,
        enforces_outbound_restriction=True, minimum_confidence=ConfidenceLevel.MEDIUM, returns_untrusted_content=True,
        sensitive_arguments=("term",), companions=("other",), repeatable=True,
    )  # fmt: skip


def test_what_is_null_counts_as_absent() -> None:
    """A definition whose other members are all null is the shortest definition, at every level."""
    empty = {
        **dict.fromkeys(FULL), "id": "look_up",
        "function": {**dict.fromkeys(FULL["function"]), "parameters": PARAMETERS},
        "visibleIn": dict.fromkeys(FULL["visibleIn"]), "settingsSchema": {"properties": None},
    }  # fmt: skip
    least = definition_from_data(LEAST)
    assert definition_from_data(empty) == least == ToolDefinition("look_up", PARAMETERS, "")
    assert DataTool.from_data(empty, _call).settings_model is NoSettings


async def test_a_tool_of_data_is_registered_and_called_with_its_settings() -> None:
    """Definition, schema and settings come in one object; the tool passes the door of every other."""
    made = DataTool.from_data(FULL, _call)
    found = registry(("a", "tools", made)).get("look_up")
    assert found is not None
    assert found.settings_model.secret_names() == {"key"}
    assert found.definition.sensitive_arguments == ("term",)
    settings, _ = read_settings(made.settings_model, {"key": "hidden"})
    context = cast("ToolContext", SimpleNamespace(settings=settings))
    result = await made.execute(made.parse('{"term": "tea"}'), context)
    assert cast("Any", result.content)["term"] == "tea"
    assert "key" in cast("Any", result.content)["settings"]


async def test_a_data_tool_takes_a_settings_model_or_its_schema() -> None:
    """Both become the tool's settings model; one tool's is not another's."""

    class Given(ToolSettings):
        """Settings of a test."""

        place: str = ""

    definition = definition_from_data(LEAST)
    of_class = DataTool(definition, _call, Given)
    of_schema = DataTool(definition, _call, settings={"properties": {"a.b": {}}})
    assert of_class.settings_model is Given
    assert list(of_schema.settings_model.outside_names()) == ["a.b"]
    assert DataTool(definition, _call).settings_model is NoSettings
    with pytest.raises(SchemaRefused, match="blank name"):
        DataTool(definition, _call, {"properties": {" ": {}}})


OFFENCES: list[tuple[str, Mapping[str, Any], str]] = [
    ("the schema version", {"schemaVersion": 2}, "its schema version is 2; this framework knows 1"),
    ("a blank ID", {"id": " "}, "its ID is blank"),
    ("the function's name", {"function": {"name": "no spaces"}}, "its function name 'no spaces' is none"),
    ("the parameters", {"function": {"parameters": [1]}}, "its parameters are no JSON Schema of an object"),
    ("a component", {"visibleIn": {"deniedComponents": ["KITCHEN"]}}, "the component 'KITCHEN', which does not exist"),
    ("the settings' type", {"settingsSchema": {"type": "array"}}, "the type of the settings is the text 'array'"),
    ("a setting's name", {"settingsSchema": {"properties": {"": {}}}}, "a setting has a blank name"),
    ("a setting's group", {"settingsSchema": {"properties": {"g": {"group": " "}}}}, "'g' has a group made of white"),
    ("two lists", {"settingsSchema": {"properties": {"b": {"optionSource": "safe_search", "enum": ["x"]}}}},
     "'b' has the option source 'safe_search' and spells its values out"),
    ("an unknown source", {"settingsSchema": {"properties": {"c": {"optionSource": "colours"}}}},
     "'c' names the option source 'colours'"),
    ("a blank required name", {"settingsSchema": {"required": [""]}}, "a required setting has a blank name"),
    ("a required name without a setting", {"settingsSchema": {"required": ["d"]}}, "the setting 'd' is required, but"),
]  # fmt: skip
"""The documented offences of a definition, in the documented order."""


def merged(*parts: Mapping[str, Any]) -> dict[str, Any]:
    """Return one object that holds the members of all, at every level; of lists both are kept."""
    made: dict[str, Any] = {}
    for part in parts:
        for name, item in part.items():
            known = made.get(name)
            if isinstance(known, dict) and isinstance(item, Mapping):
                made[name] = merged(known, item)
            elif isinstance(known, list) and isinstance(item, list) and name == "required":
                made[name] = [*known, *item]
            else:
                made[name] = item
    return made


@pytest.mark.parametrize(("first", "second"), list(itertools.combinations_with_replacement(range(len(OFFENCES)), 2)))
@pytest.mark.parametrize("turned", [False, True])
def test_of_two_offences_the_earlier_documented_one_decides(first: int, second: int, *, turned: bool) -> None:
    """A definition that commits both is refused for the earlier, whatever stands first in the data."""
    two = [OFFENCES[first][1], OFFENCES[second][1]]
    given = merged(LEAST, *(reversed(two) if turned else two))
    with pytest.raises(SchemaRefused) as refused:
        definition_from_data(given, option_sources={"safe_search"})
    assert OFFENCES[first][2] in str(refused.value)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"minimumProviderConfidenc": "HIGH"}, "did you mean 'minimumProviderConfidence'?"),
        ({"minimum_provider_confidence": "HIGH"}, "did you mean 'minimumProviderConfidence'?"),
        ({"visibleIn": {"Chat": False}}, "its visibleIn has the unknown member 'Chat'; did you mean 'chat'?"),
        ({"function": {"parameters": {}, "descriptionForLlm": ""}}, "did you mean 'descriptionForLLM'?"),
        ({"x" * 100_000: 1}, "has the unknown member '" + "x" * 40 + "...'"),
        ({"function": {"name": "other", "parameters": {}}}, "its function is named 'other'; right is its ID 'look_up'"),
        ({"function": {}}, "its parameters are no JSON Schema of an object but None"),
        ({"function": {"parameters": {}, "strict": "no"}}, "the strict of its function is the text 'no'"),
        ({"visibleIn": {"chat": 0}}, "the chat of its visibleIn is 0; right is true or false"),
        ({"visibleIn": {"allowedComponents": "CHAT"}}, "the allowedComponents of its visibleIn is the text 'CHAT'"),
        ({"visibleIn": {"allowedComponents": ["chat"]}}, "the component 'chat', which does not exist"),
        ({"visibleIn": []}, "its visibleIn is an object of type list"),
        ({"schemaVersion": True}, "its schema version is True"),
        ({"schemaVersion": 1.0}, "its schema version is 1.0"),
        ({"schemaVersion": 10**400}, "which JSON cannot write"),
        ({"id": 5}, "the id of the definition is 5; right is a text"),
        ({"preview": True}, "the preview of the definition is True"),
        ({"companions": "other"}, "the companions of the definition is the text 'other'; right is a list of texts"),
        ({"sensitiveTraceArgumentNames": [None]}, "one item of sensitiveTraceArgumentNames is None"),
        ({"settingsSchema": 5}, "the schema of settings is 5; right is an object"),
    ],
)
def test_what_cannot_be_understood_is_named(changes: dict[str, Any], words: str) -> None:
    """An unknown member, a wrong kind and a name that differs are refused, never passed over."""
    with pytest.raises(SchemaRefused) as refused:
        definition_from_data({**LEAST, **changes})
    assert words in str(refused.value)


def test_the_schema_version_is_looked_at_before_names_nobody_knows() -> None:
    """A definition of a later version has members of its own; the version is what has to be told."""
    with pytest.raises(SchemaRefused, match="schema version is 2"):
        definition_from_data({**LEAST, "schemaVersion": 2, "novelty": 1})


STRICTEST = {
    "minimumProviderConfidence": ("minimum_confidence", ConfidenceLevel.HIGH),
    "activation": ("activation", ToolActivation.SELECTION),
    "outboundData": ("outbound_data", ToolOutboundData.MODEL_CHOSEN_ADDRESSES),
    "enforcesOutboundDataRestriction": ("enforces_outbound_restriction", False),
    "returnsUntrustedExternalContent": ("returns_untrusted_content", True),
    "repeatable": ("repeatable", False),
}


@pytest.mark.parametrize("member", STRICTEST)
@pytest.mark.parametrize("value", ["", "NOWHERE", "none", "None", 0, 1, 2, -1, 0.0, [], {}, "true", "false", ["NONE"]])
def test_a_level_or_kind_that_nobody_knows_is_the_strictest(member: str, value: object) -> None:
    """A number, another spelling, a truthy text are no members."""
    field, strictest = STRICTEST[member]
    assert getattr(definition_from_data({**LEAST, member: value}), field) is strictest


class Text(str):
    """A text with code of its own."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return hash("look_up")

    def __str__(self) -> str:
        return "other"


class Table(dict[str, Any]):
    """A table that answers differently each time."""

    asked = 0

    def items(self) -> Any:
        self.asked += 1
        return super().items() if self.asked == 1 else {"id": "changed"}.items()

    def get(self, *given: Any) -> Any:
        raise RuntimeError("not to be asked")


def test_texts_and_tables_with_code_of_their_own_become_plain() -> None:
    """Each is read once; what they say afterwards has no effect."""
    given = Table({**LEAST, "id": Text("look_up"), "preview": Text("p")})
    made = definition_from_data(given)
    assert (type(made.id), made.id, type(made.preview)) == (str, "look_up", str)
    assert given.asked == 1


CYCLE: dict[str, Any] = {**LEAST}
CYCLE["function"] = {"parameters": CYCLE}
DEEP: dict[str, Any] = {}
for _ in range(5_000):
    DEEP = {"properties": DEEP}


class Raises(dict[str, Any]):
    """A table that raises what it was made with."""

    def items(self) -> Any:
        raise self["error"]


@pytest.mark.parametrize(
    "given",
    [
        None, 5, "x", [], CYCLE, DEEP, {**LEAST, "function": {"parameters": DEEP}},
        {**LEAST, "companions": ["x"] * 300_000}, {**LEAST, "systemPromptInstructions": "x" * 1_000_000},
        Raises(error=RuntimeError()), Raises(error=SystemExit(1)), Raises(error=RecursionError()),
        {**LEAST, "id": b"look_up"}, {**LEAST, "companions": {"x"}}, {**LEAST, "preview": "\ud800"},
    ],
)  # fmt: skip
def test_a_hostile_definition_costs_itself(given: Any) -> None:
    """Deep, huge, endless, raising: a refusal in words, from every way in."""
    for way in (definition_from_data, lambda value: DataTool.from_data(value, _call)):
        with pytest.raises(SchemaRefused):
            way(given)


def test_what_data_cannot_say_is_found_when_the_tool_is_registered() -> None:
    """An option source that nobody brings and a misspelt sensitive argument cost the tool there, in words."""
    schema = {"properties": {"c": {"optionSource": "colours"}}}
    one = DataTool.from_data({**LEAST, "settingsSchema": schema}, _call)
    two = DataTool.from_data({**LEAST, "sensitiveTraceArgumentNames": ["Term"]}, _call)
    made = registry(("a", "tools", one), ("a", "tools", two))
    assert "'c' names the option source 'colours', which does not exist" in reasons(made)[0]
    assert "the name is 'term'" in reasons(made)[1]
