"""Layers of a tool's settings, and who set what."""

from typing import Annotated

import pytest
from pydantic import Field, SecretStr, field_validator

from lockgate.policy import BUILT_IN, BY_USER, SetBy, SetByKind
from lockgate.settings import (
    COMMON_LANGUAGES,
    NO_SETTINGS,
    Layers,
    NoSettings,
    Setting,
    ToolSettings,
    effective_settings,
    read_settings,
)
from lockgate.settings.effective import Problem

ORGANIZATION = SetBy(SetByKind.ORGANIZATION)
BY_FILE = SetBy(SetByKind.ORGANIZATION, file="plugin.lua", line=7)


class Search(ToolSettings):
    """Settings of a search."""

    base: str = Field("", alias="searxng.baseUrl")
    results: int = 5
    language: Annotated[str, Setting(group="general", options="common_languages")] = "all"
    key: SecretStr | None = Field(None, alias="tavily.apiKey")


SOURCES = {"common_languages": COMMON_LANGUAGES}


@pytest.mark.parametrize(
    ("layers", "value", "set_by"),
    [
        (Layers(), 5, None),
        (Layers(defaults={"s.results": "6"}), 6, ORGANIZATION),
        (Layers(defaults={"s.results": "6"}, user={"s.results": "7"}), 7, BY_USER),
        (Layers(locked={"s.results": 8.0}, user={"s.results": "7"}, locked_by={"s.results": BY_FILE}), 8, BY_FILE),
        (Layers(defaults={"s.results": "6"}, user={"s.results": ""}), 5, BY_USER),
        (Layers(user={"other.results": "9"}), 5, None),
    ],
)
def test_the_highest_layer_wins_and_is_named(layers: Layers, value: int, set_by: SetBy | None) -> None:
    """Locked, user, organization default, the tool's own; a blank text masks what lies below."""
    effective = effective_settings("s", Search, layers, SOURCES)
    assert isinstance(effective.settings, Search)
    assert effective.settings.results == value
    found = effective.by_field.get("results")
    assert (found.set_by if found else None) == set_by


def test_a_locked_secret_wins_even_when_it_is_blank() -> None:
    """The user's own key is then not used instead, and no default counts for a secret."""
    secrets = {"s.tavily.apiKey": "own"}
    own = effective_settings("s", Search, Layers(secrets=secrets, defaults={"s.tavily.apiKey": "x"}))
    locked = effective_settings("s", Search, Layers(secrets=secrets, locked={"s.tavily.apiKey": ""}))
    assert isinstance(own.settings, Search)
    assert isinstance(locked.settings, Search)
    assert own.settings.key is not None
    assert own.settings.key.get_secret_value() == "own"
    assert list(own.settings.secret_values()) == ["own"]
    assert locked.settings.key is None


@pytest.mark.parametrize(
    ("user", "words"),
    [
        ({"s.results": "many"}, "results has the value 'many': it has to be a valid integer"),
        ({"s.language": "klingon"}, "language has the value 'klingon'; valid are all, en-US"),
    ],
)
def test_a_value_that_does_not_fit_is_named_and_kept(user: dict[str, object], words: str) -> None:
    """It makes the tool unconfigured; nothing raises."""
    effective = effective_settings("s", Search, Layers(user=user), SOURCES)
    assert effective.settings is None
    assert words in effective.problem_text
    assert next(iter(effective.problems.values())).set_by == BY_USER


def test_a_missing_setting_is_nobodys_doing() -> None:
    """It is required and not set."""

    class Required(ToolSettings):
        """One required setting."""

        base: str

    effective = effective_settings("s", Required, Layers())
    assert effective.problem_text == "base is required and not set"
    assert effective.problems["base"].set_by == BUILT_IN


def test_the_problem_of_a_secret_never_shows_its_value() -> None:
    """Not in the text, not in the repr."""

    class Pin(ToolSettings):
        """A secret with a rule."""

        pin: Annotated[SecretStr, Field(min_length=30)]

    settings, problems = read_settings(Pin, {"pin": "CANARY"})
    assert settings is None
    assert problems == {"pin": "has a value that cannot be used"}
    assert Pin.secret_names() == {"pin"}


def test_outside_names_are_the_documented_spelling() -> None:
    """The alias is what files and Lua say."""
    assert list(Search.outside_names()) == ["searxng.baseUrl", "results", "language", "tavily.apiKey"]
    assert Search.setting_of("language").options == "common_languages"
    assert Search.setting_of("results") == Setting()
    assert effective_settings("s", NoSettings, Layers(user={"s.x": "1"})) is NO_SETTINGS


def test_option_sources_speak_the_persons_language() -> None:
    """English stands in for a language that is missing."""
    assert COMMON_LANGUAGES.options("de-CH")[0].label == "Jede Sprache"
    assert COMMON_LANGUAGES.options("fr")[0].label == "Any language"


class Checked(ToolSettings):
    """Settings with checks of their own."""

    path: str = ""
    number: int = 0

    @field_validator("path")
    @classmethod
    def _absolute(cls, path: str) -> str:
        if not path.startswith("/"):
            raise ValueError("must be an absolute path")
        return path

    @field_validator("number")
    @classmethod
    def _even(cls, number: int) -> int:
        assert number % 2 == 0, "must be even"
        return number


def test_the_words_of_a_check_stand_alone() -> None:
    """No name of a kind of error comes before them; who set the value is named with its line where that is known."""
    line = SetBy(SetByKind.USER, file="settings.toml", line=7)
    layers = Layers(user={"t.path": "docs", "t.number": 3}, user_by={"t.path": line})
    problems = effective_settings("t", Checked, layers).problems
    assert problems["path"] == Problem("has the value 'docs': must be an absolute path", line)
    assert problems["number"].set_by == BY_USER
    assert problems["number"].text.startswith("has the value '3': must be even")
