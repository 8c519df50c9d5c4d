"""The documented rules for a definition hold in the documented order, and what nobody knows is the strictest."""

import itertools
from collections.abc import Callable
from dataclasses import fields, replace
from enum import Enum, IntEnum
from typing import Annotated, Any, Literal, NewType, Optional, Union, cast

import pytest
from pydantic import Field, SecretStr, create_model
from registry_kit import reasons, registry, simple

from lockgate.policy import ConfidenceLevel, ToolOutboundData
from lockgate.settings import Setting, ToolSettings
from lockgate.tools import Components, Tool, ToolActivation, ToolCollection, ToolDefinition, Visibility
from lockgate.tools.strictness import STRICTEST

Fields = dict[str, Any]


def _defined(**changes: Any) -> Callable[[Tool, Fields], None]:
    def commit(tool: Tool, settings: Fields) -> None:
        del settings
        tool.definition = replace(tool.definition, **changes)

    return commit


def _set(name: str, annotation: Any) -> Callable[[Tool, Fields], None]:
    def commit(tool: Tool, settings: Fields) -> None:
        del tool
        settings[name] = (annotation, None)

    return commit


def _no_model(tool: Tool, settings: Fields) -> None:
    del settings
    tool.settings_model = cast("Any", dict)  # type: ignore[misc]  # one object of a test


class Colour(Enum):
    """Values spelled out in a type."""

    RED = "RED"


OFFENCES: list[tuple[str, Callable[[Tool, Fields], None], str]] = [
    ("the schema version", _defined(schema_version=2), "its schema version is 2; this framework knows 1"),
    ("a blank ID", _defined(id=" "), "its ID is blank"),
    ("no function name", _defined(id="no spaces"), "its ID 'no spaces' is no function name"),
    ("the parameters", _defined(parameters=[1]), "its parameters are no JSON Schema of an object"),
    ("a component", _defined(visible_in=Visibility(denied_components=cast("Any", ("KITCHEN",)))),
     "it names the component 'KITCHEN', which does not exist"),
    ("no settings model", _no_model, "its settings_model is no ToolSettings"),
    ("a blank setting", _set("blank", "blank"), "a setting has a blank name"),
    ("a blank group", _set("grouped", Annotated[str | None, Setting(group=" \t")]),
     "the setting 'grouped' has a group made of white space"),
    ("two lists", _set("both", Annotated[Colour | None, Setting(options="safe_search")]),
     "the setting 'both' has the option source 'safe_search' and spells its values out; right is one of the two"),
    ("an unknown source", _set("unknown", Annotated[str | None, Setting(options="colours")]),
     "the setting 'unknown' names the option source 'colours', which does not exist"),
]  # fmt: skip
"""The documented offences that a definition in code can commit, in the documented order."""

UNDOCUMENTED: list[tuple[str, Callable[[Tool, Fields], None]]] = [
    ("the description", _defined(description=None)),
    ("the instructions", _defined(instructions=5)),
    ("strictness", _defined(strict="yes")),
    ("a flag of visible_in", _defined(visible_in=Visibility(chat=cast("Any", 1)))),
    ("the preview", _defined(preview=5)),
    ("sensitive arguments", _defined(sensitive_arguments=("nowhere",))),
    ("companions", _defined(companions="other")),
    ("a secret from a list", _set("secret", Annotated[SecretStr | None, Setting(options="safe_search")])),
]


def _offending(*commits: Callable[[Tool, Fields], None]) -> str:
    """Register a tool that commits all of it and a fine one; return why the first was not taken."""
    made, settings = simple("bad"), cast("Fields", {})
    for commit in commits:
        commit(made, settings)
    if "blank" in settings:
        settings["blank"] = (Annotated[str | None, Field(alias=" ")], None)
    if settings and made.settings_model is not cast("Any", dict):
        made.settings_model = create_model(  # type: ignore[misc]  # one object of a test
            "Made", __base__=ToolSettings, **settings
        )
    found = registry(("pack", "tools", made), ("pack", "tools", simple("fine")))
    assert [item.id for item in found.tools] == ["fine"]
    return reasons(found)[0]


@pytest.mark.parametrize(("first", "second"), list(itertools.combinations_with_replacement(range(len(OFFENCES)), 2)))
@pytest.mark.parametrize("turned", [False, True])
def test_of_two_offences_the_earlier_documented_one_decides(first: int, second: int, *, turned: bool) -> None:
    """A definition that commits both is refused for the earlier; the message names the offender and its owner."""
    commits = [OFFENCES[first][1], OFFENCES[second][1]]
    same_field = {OFFENCES[first][0], OFFENCES[second][0]} == {"a blank ID", "no function name"}
    words = _offending(*(reversed(commits) if turned or same_field else commits))
    assert OFFENCES[first][2] in words
    assert "pack 1.0" in words


@pytest.mark.parametrize("offence", UNDOCUMENTED, ids=lambda offence: offence[0])
@pytest.mark.parametrize("documented", OFFENCES, ids=lambda offence: offence[0])
def test_what_the_documents_leave_open_is_told_after_what_they_say(
    documented: tuple[str, Any, str], offence: tuple[str, Any]
) -> None:
    """A documented offence decides over every other one."""
    commits = [offence[1], documented[1]]
    assert documented[2] in _offending(*commits)
    assert "was not taken" in _offending(offence[1])


type_of_text = NewType("type_of_text", Colour)


@pytest.mark.parametrize(
    "annotation",
    [
        Literal["a", "b"], Literal["a"] | None, Optional[Literal["a"]], Colour, Colour | None, list[Colour],  # noqa: UP045 - both spellings are tested
        Union[int, Colour], tuple[Literal["a"], ...], Annotated[Colour, "more"] | None, list[Annotated[Colour, "x"]],  # noqa: UP007 - both spellings are tested
        dict[str, Literal["a"]], type_of_text, list[list[Colour | None]],
    ],
    ids=str,
)  # fmt: skip
def test_values_in_a_type_and_an_option_source_exclude_each_other(annotation: Any) -> None:
    """However deep the values are spelled out in the type."""
    words = _offending(_set("both", Annotated[annotation, Setting(options="safe_search")]))
    assert "the setting 'both' has the option source 'safe_search' and spells its values out" in words


@pytest.mark.parametrize("annotation", [str, str | None, list[str], int, bool | None, tuple[str, ...]], ids=str)
def test_an_option_source_alone_or_spelled_out_values_alone_are_fine(annotation: Any) -> None:
    """Each of the two is a way to offer a choice."""
    made = simple("chosen")
    settings: Fields = {"a": (Annotated[annotation, Setting(options="safe_search")], None), "b": (Colour | None, None)}
    model = create_model("Made", __base__=ToolSettings, **settings)
    made.settings_model = model  # type: ignore[misc]  # one object of a test
    assert reasons(registry(("a", "tools", made))) == []


@pytest.mark.parametrize("annotation", [SecretStr, SecretStr | None, list[SecretStr], Annotated[SecretStr, "x"] | None])
def test_a_secret_is_not_chosen_from_a_list(annotation: Any) -> None:
    """To say that a value is not in the list would show it."""
    words = _offending(_set("key", Annotated[annotation, Setting(options="safe_search")]))
    assert "the setting 'key' is a secret and has an option source" in words


@pytest.mark.parametrize("setting", [Setting(group=cast("Any", 5)), Setting(options=cast("Any", []))])
def test_a_fact_of_a_setting_of_the_wrong_kind_is_named(setting: Setting) -> None:
    """A group that is a number and an option source that is a list are told with the setting."""
    assert "of the setting 'odd' is" in _offending(_set("odd", Annotated[str | None, setting]))


def test_a_preview_that_nobody_registered_does_not_make_a_definition_invalid() -> None:
    """Its tool is there, and off: the name may come with another plugin."""
    made = simple("early")
    made.definition = replace(made.definition, preview="PRE_NOT_YET")
    found = registry(("a", "tools", made))
    assert reasons(found) == []
    assert found.tools[0].definition.preview == "PRE_NOT_YET"


class Sink(IntEnum):
    """Another program's list of sinks; its members equal ours."""

    NONE = 0
    MODEL_CHOSEN_ADDRESSES = 3


class Activation(Enum):
    """Another program's list of activations."""

    SELECTION = "SELECTION"
    CONTEXT = "CONTEXT"


class Level(IntEnum):
    """Another program's list of levels."""

    NONE = 0
    HIGH = 300


class Truthy(int):
    """Equals True."""


FORGED: dict[str, list[Any]] = {
    "outbound_data": [Sink.NONE, int.__new__(ToolOutboundData, 0), int.__new__(ToolOutboundData, -9)],
    "minimum_confidence": [Level.NONE, int.__new__(ConfidenceLevel, 0), int.__new__(ConfidenceLevel, 100)],
    "activation": [Activation.CONTEXT, object.__new__(ToolActivation)],
    "enforces_outbound_restriction": [Truthy(1), 1, "True"],
    "returns_untrusted_content": [Truthy(0), 0, "", []],
    "repeatable": [Truthy(1), 1, "yes"],
}
ANYWAY: list[Any] = [
    None, "", "NONE", "CONTEXT", "NOWHERE", 0, 1, -1, 0.0, 300, [], {}, object(), ToolDefinition, b"NONE",
]  # fmt: skip


def test_the_table_of_what_is_read_as_the_strictest_is_complete() -> None:
    """Each enum and each obligation of a definition stands in it; what else there is is refused, not guessed."""
    refused = {
        "id", "parameters", "description", "instructions", "strict", "visible_in", "preview", "sensitive_arguments",
        "companions", "schema_version",
    }  # fmt: skip
    assert {field.name for field in fields(ToolDefinition)} == refused | set(STRICTEST)
    assert set(FORGED) == set(STRICTEST)


@pytest.mark.parametrize(
    ("field", "value"), [(field, value) for field, forged in FORGED.items() for value in (*forged, *ANYWAY)],
    ids=[f"{field}-{number}" for field, forged in FORGED.items() for number in range(len(forged) + len(ANYWAY))],
)
def test_a_value_that_is_no_member_is_read_as_the_strictest(field: str, value: Any) -> None:
    """A name, a number, a member of another enum that equals ours, an object forged around it: none counts."""
    made = simple("odd")
    made.definition = replace(made.definition, **{field: value})
    found = registry(("a", "tools", made))
    assert getattr(found.tools[0].definition, field) is STRICTEST[field]


@pytest.mark.parametrize("field", sorted(STRICTEST))
def test_a_member_is_taken_as_it_is(field: str) -> None:
    """What a definition states properly counts."""
    strictest = STRICTEST[field]
    members: list[Any] = [True, False] if isinstance(strictest, bool) else [*cast("Any", type(strictest))]
    for member in members:
        made = simple("plain")
        made.definition = replace(made.definition, **{field: member})
        assert getattr(registry(("a", "tools", made)).tools[0].definition, field) is member


@pytest.mark.parametrize("value", [Level.NONE, int.__new__(ConfidenceLevel, 0), None, "NONE", 0], ids=range(5))
def test_a_collection_with_a_minimum_that_is_no_level_needs_the_highest(value: Any) -> None:
    """The same holds for the one minimum of a collection."""
    collection = ToolCollection("both", ("one",), minimum_confidence=value)
    found = registry(("a", "tools", simple("one")), ("a", "collections", collection))
    assert found.minimum_confidence("one")[0] is ConfidenceLevel.HIGH


@pytest.mark.parametrize(
    "component", [object.__new__(Components), "CHAT", None, 5, ToolActivation.CONTEXT], ids=range(5)
)
@pytest.mark.parametrize("name", ["allowed_components", "denied_components"])
def test_a_component_that_is_no_member_makes_a_definition_invalid(name: str, component: Any) -> None:
    """A list of components cannot be read on the safe side: neither showing nor hiding is safe."""
    words = _offending(_defined(visible_in=Visibility(**cast("Any", {name: (Components.CHAT, component)}))))
    assert "it names the component" in words
    assert "which does not exist" in words
