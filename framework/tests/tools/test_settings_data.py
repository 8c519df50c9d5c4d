"""Settings that arrive as data: a schema becomes a settings model, or is refused by the documented rules in order."""

import itertools
import keyword
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from pydantic import SecretStr

from lockgate.errors import UsageError
from lockgate.settings import NoSettings, ToolSettings, read_settings
from lockgate.settings.options import BUILT_IN_OPTION_SOURCES
from lockgate.tools import SchemaRefused, settings_from_data
from lockgate.tools.settings_data import MAX_SETTING_NAME, MAX_SETTING_VALUES, MAX_SETTINGS

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "searxng.baseUrl": {"type": "string", "title": "Address", "description": "Where it is.", "group": "searxng"},
        "language": {"type": "STRING", "optionSource": "common_languages", "enum": None},
        "mode": {"enum": ["FAST", "GOOD"]},
        "apiKey": {"secret": True},
    },
    "required": ["searxng.baseUrl"],
}
KNOWN = {source.id for source in BUILT_IN_OPTION_SOURCES}


def by_outside_name(settings: ToolSettings | None) -> dict[str, Any]:
    """Return the values of settings by their outside names."""
    assert settings is not None
    return settings.model_dump(by_alias=True)


def test_every_documented_member_of_a_setting_is_understood() -> None:
    """Names with dots, groups, option sources, spelled-out values, secrets and titles have their meaning."""
    model = settings_from_data(SCHEMA, option_sources=KNOWN)
    assert list(model.outside_names()) == ["searxng.baseUrl", "language", "mode", "apiKey"]
    assert model.secret_names() == {"apiKey"}
    assert model.setting_of("searxng.baseUrl").group == "searxng"
    assert model.setting_of("language").options == "common_languages"
    info = model.model_fields[model.outside_names()["searxng.baseUrl"]]
    assert (info.title, info.description) == ("Address", "Where it is.")
    settings, wrong = read_settings(model, {"searxng.baseUrl": "http://x", "mode": " FAST ", "apiKey": "k"})
    assert wrong == {}
    assert by_outside_name(settings) == {
        "searxng.baseUrl": "http://x", "language": None, "mode": "FAST", "apiKey": SecretStr("k"),
    }  # fmt: skip
    assert settings is not None
    assert list(settings.secret_values()) == ["k"]
    assert settings.mode == "FAST"  # type: ignore[attr-defined]  # made at run time


def test_what_is_stored_is_held_against_the_schema() -> None:
    """A required setting that is missing and a value that is not spelled out are named, with what is valid."""
    settings, wrong = read_settings(settings_from_data(SCHEMA), {"mode": "SLOW"})
    assert settings is None
    assert wrong["searxng.baseUrl"] == "is required and not set"
    assert "'SLOW'" in wrong["mode"]
    assert "'FAST' or 'GOOD'" in wrong["mode"]


@pytest.mark.parametrize(("stored", "read"), [(60, "60"), (60.0, "60"), (1.5, "1.5"), (True, "true"), ("60", "60")])
def test_a_stored_number_or_boolean_is_the_text_it_stands_for(stored: object, read: str) -> None:
    """Every setting that arrives as data is a text; Lua may store it as something else."""
    settings, wrong = read_settings(settings_from_data({"properties": {"limit": {}}}), {"limit": stored})
    assert wrong == {}
    assert by_outside_name(settings) == {"limit": read}


def test_null_counts_as_absent_everywhere() -> None:
    """A schema of nulls is the empty schema, and a setting that is null is not there."""
    assert settings_from_data({"type": None, "properties": None, "required": None}) is NoSettings
    field = dict.fromkeys(("type", "title", "description", "enum", "optionSource", "secret", "group"))
    assert list(settings_from_data({"properties": {"a": field, "b": None}}).outside_names()) == ["a"]


OFFENCES: list[tuple[str, Mapping[str, Any], str]] = [
    ("the type of the schema", {"type": "array"}, "the type of the settings is the text 'array'; right is 'object'"),
    ("a blank name", {"properties": {" ": {}}}, "a setting has a blank name"),
    ("the type of a setting", {"properties": {"count": {"type": "integer"}}},
     "the type of the setting 'count' is the text 'integer'; right is 'string'"),
    ("a blank group", {"properties": {"grouped": {"group": " \t"}}}, "'grouped' has a group made of white space"),
    ("two lists", {"properties": {"both": {"optionSource": "safe_search", "enum": ["x"]}}},
     "'both' has the option source 'safe_search' and spells its values out"),
    ("an unknown source", {"properties": {"colour": {"optionSource": "colours"}}},
     "'colour' names the option source 'colours', which does not exist"),
    ("a blank required name", {"required": ["\n"]}, "a required setting has a blank name"),
    ("a required name without a setting", {"required": ["nowhere"]},
     "the setting 'nowhere' is required, but there is no setting of that name"),
]  # fmt: skip
"""The documented offences of a schema of settings, in the documented order."""


def merged(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema that commits both offences."""
    return {
        **first, **second,
        "properties": {**first.get("properties", {}), **second.get("properties", {})},
        "required": [*first.get("required", []), *second.get("required", [])],
    }  # fmt: skip


@pytest.mark.parametrize(("first", "second"), list(itertools.combinations_with_replacement(range(len(OFFENCES)), 2)))
@pytest.mark.parametrize("turned", [False, True])
def test_of_two_offences_the_earlier_documented_one_decides(first: int, second: int, *, turned: bool) -> None:
    """Whatever stands first in the data, the order of the rules decides, and the offender is named."""
    one, two = OFFENCES[first][1], OFFENCES[second][1]
    schema = merged(two, one) if turned else merged(one, two)
    with pytest.raises(SchemaRefused) as refused:
        settings_from_data({**schema, "type": (one.get("type") or two.get("type"))}, option_sources=KNOWN)
    if {first, second} == {1, 2}:  # one rule of the documents: whichever setting comes first
        assert any(OFFENCES[index][2] in str(refused.value) for index in (1, 2))
    else:
        assert OFFENCES[first][2] in str(refused.value)
    assert isinstance(refused.value, UsageError)


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ("x", "it is the text 'x'; right is an object"),
        ({"propertys": {}}, "has the unknown member 'propertys'; did you mean 'properties'?"),
        ({"properties": {"a": {"option_source": "x"}}}, "unknown member 'option_source'; did you mean 'optionSource'?"),
        ({"properties": {"a": {"Secret": True}}}, "did you mean 'secret'?"),
        ({"properties": {"a": 5}}, "the setting 'a' is 5; right is an object"),
        ({"properties": []}, "the table of settings is an object of type list; right is an object"),
        ({"properties": {"a": {"secret": "yes"}}}, "the secret of the setting 'a' is the text 'yes'; right is true or"),
        ({"properties": {"a": {"enum": "RED"}}}, "the enum of the setting 'a' is the text 'RED'; right is a list"),
        ({"properties": {"a": {"enum": [1]}}}, "one item of enum is 1; right is a text"),
        ({"properties": {"a": {"title": []}}}, "the title of the setting 'a' is an object of type list"),
        ({"required": "a"}, "the required of the schema of settings is the text 'a'; right is a list of texts"),
        ({"properties": {"k": {"secret": True, "enum": ["x"]}}}, "'k' is a secret and is chosen from a list"),
        ({"properties": {"k": {"secret": True, "optionSource": "x"}}}, "'k' is a secret and is chosen from a list"),
        ({"properties": {f"s{i}": {} for i in range(MAX_SETTINGS + 1)}}, f"at most {MAX_SETTINGS} are accepted"),
        ({"properties": {"n" * (MAX_SETTING_NAME + 1): {}}}, f"at most {MAX_SETTING_NAME} are accepted"),
        ({"properties": {"a": {"enum": [str(i) for i in range(MAX_SETTING_VALUES + 1)]}}}, "are accepted"),
        ({"properties": {"a": {"title": "x" * 300_000}}}, "hold more characters than are accepted"),
        ({"properties": {"a\x00b": {}}}, "characters that cannot be seen"),
        ({"properties": {"a\u202eb": {}}}, "characters that cannot be seen"),
        ({"properties": {"a\u200b": {}}}, "characters that cannot be seen"),
        ({"properties": {" a": {}}}, "white space around it"),
        ({"properties": {"\ud800": {}}}, "lone surrogate"),
        ({"properties": {1: {}}}, "one name is 1; right is a text"),
    ],
)
def test_what_no_file_could_hold_is_refused_in_words(schema: Any, words: str) -> None:
    """Shapes, sizes and names that make no sense name the offender."""
    with pytest.raises(SchemaRefused) as refused:
        settings_from_data(schema)
    assert words in str(refused.value)


HOSTILE_NAMES = [
    "model_config", "model_fields", "model_dump", "__class__", "__init__", "_private", "copy", "json", "validate",
    "outside_names", "secret_values", "setting_of", "schema", "dict", "fields", "self", "cls", "__base__", "__config__",
    "setting_1", "setting_2", "a.b", "a-b", "a_b", "ｂ", "ﬁle", "file", "İ", "1st", "{x}", "A" * MAX_SETTING_NAME,
    *keyword.kwlist,
]  # fmt: skip


@pytest.mark.parametrize("order", [1, -1])
def test_a_name_that_means_something_else_in_python_is_a_name_like_any_other(order: int) -> None:
    """Each keeps its own value, and nothing of the model is replaced."""
    names = HOSTILE_NAMES[::order]
    model = settings_from_data({"properties": {name: {} for name in names}, "required": names})
    assert list(model.outside_names()) == names
    inside = list(model.outside_names().values())
    assert len(set(inside)) == len(names)
    assert all(name.isascii() and name.isidentifier() and not keyword.iskeyword(name) for name in inside)
    settings, wrong = read_settings(model, {name: f"value of {name}" for name in names})
    assert wrong == {}
    assert by_outside_name(settings) == {name: f"value of {name}" for name in names}
    assert model.setting_of.__func__ is ToolSettings.setting_of.__func__  # type: ignore[attr-defined]  # of a method
    assert model.model_config["extra"] == "ignore"


def test_a_value_stored_under_the_inner_name_is_not_taken() -> None:
    """The names that stand in for impossible ones are no second way to set them."""
    model = settings_from_data({"properties": {"a.b": {}, "setting_2": {}}})
    inside = model.outside_names()["a.b"]
    assert inside not in model.outside_names()
    assert inside.isidentifier()


class Endless(Mapping[str, Any]):
    """A table without an end."""

    def __getitem__(self, key: str) -> Any:
        return {}

    def __iter__(self) -> Iterator[str]:
        return (f"s{i}" for i in itertools.count())

    def __len__(self) -> int:
        return 1


class Raising(dict[str, Any]):
    """A table that ends the process when it is read."""

    def items(self) -> Any:
        raise SystemExit(2)


class Lying:
    """Claims to be a table."""

    @property  # type: ignore[misc]  # the lie is what is tested
    def __class__(self) -> Any:
        return dict


CYCLE: dict[str, Any] = {"type": "object"}
CYCLE["properties"] = {"a": CYCLE}


@pytest.mark.parametrize("hostile", [Endless(), Raising(), Lying(), CYCLE, {"properties": Endless()}, None, 5, b"x"])
def test_a_hostile_schema_costs_itself(hostile: Any) -> None:
    """Whatever it does when it is read, the answer is a refusal."""
    with pytest.raises(SchemaRefused):
        settings_from_data(hostile)
