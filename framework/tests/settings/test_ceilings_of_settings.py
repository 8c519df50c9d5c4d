"""Ceilings of tool settings: a user may go further the strict way, and not back."""

import math
from datetime import timedelta
from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field, SecretStr

from lockgate.policy import BUILT_IN, BY_USER, SetBy, SetByKind
from lockgate.settings import Effective, Layers, Setting, SetValue, ToolSettings, effective_settings

ORGANIZATION = SetBy(SetByKind.ORGANIZATION)
BY_FILE = SetBy(SetByKind.ORGANIZATION, "Example Inc.", "plugin.lua", 7)


class Limits(ToolSettings):
    """Settings whose numbers have a strict way, and some that have none."""

    seconds: Annotated[float, Setting(tighter="lower")] = 60
    results: Annotated[int, Setting(tighter="lower"), Field(alias="max.results", ge=1)] = 10
    least: Annotated[int, Setting(tighter="higher")] = 5
    unlimited: Annotated[int | None, Setting(tighter="lower")] = None
    made: Annotated[int, Setting(tighter="lower"), Field(default_factory=lambda: 20)]
    endless: Annotated[float, Setting(tighter="lower")] = math.inf
    span: Annotated[timedelta | int, Setting(tighter="lower")] = 3
    mode: str = "open"
    key: Annotated[SecretStr | None, Setting(tighter="lower")] = None


class Needed(ToolSettings):
    """A setting without a default."""

    seconds: Annotated[int, Setting(tighter="lower")]


def effective(name: str, ceiling: object, model: type[ToolSettings] = Limits, **layers: Any) -> Effective:
    """Work out settings with one ceiling; each further layer gives the same setting a value."""
    key = f"t.{name}"
    tables = {layer: {key: value} for layer, value in layers.items()}
    return effective_settings("t", model, Layers(ceilings={key: ceiling}, ceilings_by={key: BY_FILE}, **tables))


def value_of(found: Effective, name: str) -> Any:
    """Return the value that counts."""
    assert found.settings is not None, found.problem_text
    return getattr(found.settings, type(found.settings).outside_names()[name])


@pytest.mark.parametrize(
    ("name", "ceiling", "layers", "value", "set_by"),
    [
        ("seconds", 30, {"user": "90"}, 30, BY_FILE),
        ("seconds", 30, {"user": "20"}, 20, BY_USER),
        ("seconds", 30, {"user": "30"}, 30, BY_USER),
        ("seconds", 30, {"defaults": "90"}, 30, BY_FILE),
        ("seconds", 30, {"defaults": "20"}, 20, ORGANIZATION),
        ("seconds", 30, {"defaults": "20", "user": "90"}, 30, BY_FILE),
        ("seconds", 30, {"defaults": "90", "user": "20"}, 20, BY_USER),
        ("seconds", 30, {"locked": "90", "user": "20"}, 90, ORGANIZATION),
        ("seconds", 30, {}, 30, BY_FILE),
        ("seconds", 90, {}, 60, None),
        ("seconds", 90, {"user": ""}, 60, BY_USER),
        ("seconds", 30, {"user": "  "}, 30, BY_FILE),
        ("seconds", 30, {"user": "", "defaults": "20"}, 30, BY_FILE),
        ("seconds", "30", {"user": 90}, 30, BY_FILE),
        ("seconds", " 29.5 ", {"user": " 29.6 "}, 29.5, BY_FILE),
        ("seconds", "2.5e1", {"user": "26"}, 25, BY_FILE),
        ("seconds", 30.5, {"user": 30}, 30, BY_USER),
        ("max.results", 5, {"user": "7"}, 5, BY_FILE),
        ("max.results", 5, {"user": "3"}, 3, BY_USER),
        ("max.results", "5", {}, 5, BY_FILE),
        ("least", 8, {"user": "3"}, 8, BY_FILE),
        ("least", 8, {"user": "9"}, 9, BY_USER),
        ("least", 8, {}, 8, BY_FILE),
        ("least", 2, {}, 5, None),
        ("least", -3, {"user": "-5"}, -3, BY_FILE),
        ("least", 0, {"user": "-0"}, 0, BY_USER),
    ],
)
def test_of_a_value_and_its_ceiling_the_stricter_counts(
    name: str, ceiling: object, layers: dict[str, Any], value: float, set_by: SetBy | None
) -> None:
    """Whoever set the value, a person, the organization's default or the tool itself; what is locked stays."""
    found = effective(name, ceiling, **layers)
    assert value_of(found, name) == value
    assert (found.by_field[name].set_by if name in found.by_field else None) == set_by


@pytest.mark.parametrize(
    ("name", "value"),
    [("unlimited", 7), ("made", 7), ("endless", 7)],
    ids=["nothing set", "a default that is made", "a default without end"],
)
def test_what_means_as_much_as_there_is_goes_beyond_a_ceiling(name: str, value: int) -> None:
    """Nothing set, or a number without end, is no way around it."""
    found = effective(name, 7)
    assert value_of(found, name) == value
    assert found.by_field == {name: SetValue(7, BY_FILE)}


def test_a_default_that_is_made_and_stricter_stays() -> None:
    """A ceiling is no value of its own: it never loosens what the tool says."""
    found = effective("made", 50)
    assert value_of(found, "made") == 20
    assert found.by_field == {}


@pytest.mark.parametrize("ceiling", [30, "30"])
@pytest.mark.parametrize("layers", [{}, {"user": ""}, {"user": "90"}])
def test_a_setting_without_a_default_takes_the_ceiling(ceiling: object, layers: dict[str, Any]) -> None:
    """So the tool is configured, as strictly as it has to be."""
    found = effective("seconds", ceiling, Needed, **layers)
    assert value_of(found, "seconds") == 30
    assert found.by_field["seconds"] == SetValue(ceiling, BY_FILE)
    assert value_of(effective("seconds", ceiling, Needed, user="20"), "seconds") == 20


@pytest.mark.parametrize(
    ("name", "user"),
    [
        ("seconds", "inf"), ("seconds", "Infinity"), ("seconds", math.inf), ("seconds", "nan"), ("seconds", "1e999"),
        ("seconds", 10**400), ("max.results", 10**400), ("max.results", "9" * 400), ("max.results", 2**53 + 1),
        ("max.results", True), ("least", False), ("least", True), ("span", "P30D"), ("span", "12:00:00"),
        ("unlimited", "9" * 400),
    ],
)  # fmt: skip
def test_no_spelling_of_a_value_leads_around_a_ceiling(name: str, user: object) -> None:
    """What the model would read, yet cannot be compared, counts as too far; a true is no number; a 1 above is above."""
    ceiling = 1 if user is True and name != "least" else 2**53 if user == 2**53 + 1 else 5
    found = effective(name, ceiling, user=user)
    if found.settings is None:
        assert found.problems[name].set_by == BY_USER  # the model itself does not take it
        return
    assert value_of(found, name) == ceiling
    assert found.by_field[name] == SetValue(ceiling, BY_FILE)


@pytest.mark.parametrize(("name", "user"), [("seconds", "many"), ("max.results", "2.5"), ("max.results", [1])])
def test_a_value_that_the_model_refuses_is_told_and_kept(name: str, user: object) -> None:
    """The person learns what is wrong with it, instead of finding another value in its place."""
    found = effective(name, 30, user=user)
    assert found.settings is None
    assert found.by_field[name] == SetValue(user, BY_USER)
    assert found.problems[name].set_by == BY_USER
    assert repr(str(user)) in found.problem_text


@pytest.mark.parametrize("ceiling", ["", "  ", None, "many", "inf", math.inf, math.nan, "nan", True, False, [5], "0x1"])
@pytest.mark.parametrize("name", ["seconds", "max.results", "least", "unlimited"])
@pytest.mark.parametrize("layers", [{}, {"user": "3"}, {"user": ""}, {"defaults": "3"}])
def test_a_ceiling_that_is_no_number_opens_nothing(ceiling: object, name: str, layers: dict[str, Any]) -> None:
    """The tool cannot be used until it is one, and the organization is named, not the user."""
    found = effective(name, ceiling, **layers)
    assert found.settings is None
    assert set(found.problems) == {name}
    assert found.problems[name].set_by == BY_FILE
    assert found.problem_text == f"{name} has the ceiling {str(ceiling)!r}, which is no number"


def test_a_ceiling_the_model_refuses_is_the_organizations_mistake() -> None:
    """A value between ceiling and what the model allows is not there."""
    found = effective("max.results", 0, user="4")
    assert found.settings is None
    assert found.problems["max.results"].set_by == BY_FILE
    assert "max.results has the value '0'" in found.problem_text
    half = effective("max.results", "2.5", user="4")
    assert half.problems["max.results"].set_by == BY_FILE
    assert value_of(effective("max.results", "2.5", user="2"), "max.results") == 2


@pytest.mark.parametrize(("ceiling", "value"), [("closed", "closed"), ("", "open")])
@pytest.mark.parametrize("layers", [{}, {"user": "wide"}, {"defaults": "wide"}, {"user": "wide", "defaults": "wider"}])
def test_where_no_way_is_stricter_a_ceiling_is_a_fixed_value(
    ceiling: str, value: str, layers: dict[str, Any]
) -> None:
    """As one that is locked; a blank one leaves the tool's own."""
    found = effective("mode", ceiling, **layers)
    assert value_of(found, "mode") == value
    assert found.by_field == {"mode": SetValue(ceiling, BY_FILE)}
    assert value_of(effective("mode", ceiling, locked="shut", **layers), "mode") == "shut"


def test_a_way_that_nobody_knows_is_none() -> None:
    """A slip in a pack fixes the value: too strict, and seen at once."""

    class Slip(ToolSettings):
        """A setting with a misspelt direction."""

        seconds: Annotated[int, Setting(tighter="lowr")] = 60

    assert value_of(effective("seconds", 30, Slip, user="20"), "seconds") == 30


def test_a_secret_has_no_ceiling() -> None:
    """Neither its value nor whether there is one is touched, and it is in no problem."""
    layers = Layers(ceilings={"t.key": "5"}, secrets={"t.key": "own"})
    found = effective_settings("t", Limits, layers)
    assert value_of(found, "key").get_secret_value() == "own"
    assert found.by_field["key"] == SetValue("own", BY_USER)
    assert value_of(effective_settings("t", Limits, Layers(ceilings={"t.key": "5"})), "key") is None


def test_a_ceiling_of_another_tool_or_setting_changes_nothing() -> None:
    """Neither one of a name that is no setting."""
    ceilings = {"other.seconds": 1, "t.results": 1, "t.nothing": 1, "seconds": 1}
    found = effective_settings("t", Limits, Layers(ceilings=ceilings, user={"t.seconds": "50"}))
    assert found == effective_settings("t", Limits, Layers(user={"t.seconds": "50"}))


def test_who_set_a_ceiling_is_the_organization_where_no_place_is_known() -> None:
    """It is never the user, nor built in."""
    found = effective_settings("t", Limits, Layers(ceilings={"t.seconds": 30}))
    assert found.by_field["seconds"].set_by == ORGANIZATION
    bad = effective_settings("t", Limits, Layers(ceilings={"t.seconds": "x"}))
    assert bad.problems["seconds"].set_by == ORGANIZATION


def test_problems_of_other_settings_stay_beside_a_ceiling() -> None:
    """A missing setting is nobody's doing, whatever ceilings there are."""

    class Both(ToolSettings):
        """One required setting, and one with a ceiling."""

        base: str
        seconds: Annotated[int, Setting(tighter="lower")] = 60

    found = effective("seconds", "x", Both)
    assert {name: problem.set_by for name, problem in found.problems.items()} == {"base": BUILT_IN, "seconds": BY_FILE}
    given_base = effective_settings("t", Both, Layers(ceilings={"t.seconds": 5}, user={"t.base": "b"}))
    assert value_of(given_base, "seconds") == 5


NUMBERS = st.integers(-100, 100) | st.floats(allow_nan=False, allow_infinity=False, width=16)
SPELT = NUMBERS | NUMBERS.map(str)


@given(st.none() | SPELT, st.none() | SPELT, SPELT, st.sampled_from(["lower", "higher"]))
def test_a_ceiling_bounds_every_value_and_changes_no_stricter_one(
    user: object, default: object, ceiling: object, tighter: str
) -> None:
    """What counts is what would count without it, or the ceiling where that is stricter."""

    class One(ToolSettings):
        """One setting."""

        amount: Annotated[float, Setting(tighter=tighter)] = 7

    found = {"user": user, "defaults": default}
    layers: dict[str, Any] = {name: {"t.amount": value} for name, value in found.items() if value is not None}
    free = value_of(effective_settings("t", One, Layers(**layers)), "amount")
    bound = value_of(effective_settings("t", One, Layers(ceilings={"t.amount": ceiling}, **layers)), "amount")
    most = float(str(ceiling))
    assert bound == (min(free, most) if tighter == "lower" else max(free, most))
