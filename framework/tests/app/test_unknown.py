"""Names in the settings that nothing answers to are kept and told."""

from pathlib import Path
from typing import Annotated

import pytest
from pydantic import Field, SecretStr, field_validator
from registry_kit import simple

from lockgate.app import InstanceConfig
from lockgate.app.configuration import Configuration
from lockgate.app.home import read_configuration
from lockgate.plugin_host import HostPolicy
from lockgate.policy import BY_USER, ChatRequirements, ConfidenceLevel, ProviderStanding
from lockgate.registry import Minimum, Rules
from lockgate.settings import Kind, Layers, ToolSettings
from lockgate.settings.home import Home
from lockgate.testing import PluginOf, lockgate_for
from lockgate.tools import Components, Tool


class Tide(ToolSettings):
    """Settings of a tool."""

    harbour: str = ""
    key: Annotated[SecretStr | None, Field(alias="apiKey")] = None


def tide() -> Tool:
    """Make a tool with settings."""
    made = simple("get_tide")
    made.settings_model = Tide  # type: ignore[misc] # one instance of a test
    return made


@pytest.mark.parametrize(
    ("rules", "words"),
    [
        (Rules(disabled={"get_tyde": BY_USER}), "disabled_tool_ids names the tool or collection 'get_tyde'"),
        (Rules(minimums={"get_tyde": Minimum(ConfidenceLevel.HIGH, BY_USER)}),
         "minimum_provider_confidence_by_tool_id names the tool or collection 'get_tyde'"),
        (Rules(default_tools={"CHAT": ("get_tyde",)}), "default_tool_ids_by_component names the tool or collection"),
        (Rules(trusted_provider_ids=frozenset({"ofice"})), "trusted_provider_ids names the provider 'ofice'"),
        (Rules(layers=Layers(user={"get_tyde.harbour": "x"})), "tools names the tool 'get_tyde'"),
        (Rules(layers=Layers(user={"get_tide.harbor": "x"})), "Did you mean 'harbour'?"),
        (Rules(layers=Layers(user={"get_tide.apiKey": "x"})), "`lockgate tools secret get_tide apiKey`"),
    ],
)  # fmt: skip
async def test_a_misspelt_name_in_a_rule_is_told(rules: Rules, words: str) -> None:
    """A rule about a tool that is not there protects nothing, so silence would be a lie."""
    async with lockgate_for(tools=[tide()], rules=rules) as made:
        assert [problem for problem in made.assembly.problems if words in problem]


async def test_a_misspelt_plugin_or_default_provider_is_told() -> None:
    """The same for what is switched off and for who is asked."""
    async with lockgate_for(tools=[tide()]) as made:
        host = HostPolicy(disabled=frozenset({"tyde"}))
        await made.reconfigure(Configuration(host=host, default_provider="nobody"))
        text = "\n".join(made.assembly.problems)
    assert "plugins.disabled names the plugin 'tyde'" in text
    assert "default_provider names the provider 'nobody'" in text


async def test_a_misspelt_key_of_a_data_source_is_told() -> None:
    """It may be the one that should have protected it."""
    kind = Kind("folder", "data_source", Tide)
    source = InstanceConfig("docs", "folder", "data_source", values={"harbor": "x"})
    async with lockgate_for(plugins=[PluginOf(kinds=[kind])], instances=[source]) as made:
        assert made.assembly.problems == (
            "data_source 'docs' names the setting 'harbor', which is not there. Did you mean 'harbour'?",
        )


async def test_right_names_are_not_told() -> None:
    """Nobody is bothered with what is well."""
    rules = Rules(disabled={"get_tide": BY_USER}, layers=Layers(user={"get_tide.harbour": "x"}))
    async with lockgate_for(tools=[tide()], rules=rules) as made:
        assert made.assembly.problems == ()


@pytest.mark.parametrize("raises", [True, False])
async def test_a_secret_in_what_a_tool_says_of_its_settings_is_masked(*, raises: bool) -> None:
    """Neither the reason why it is not offered nor an incident shows it; who set the value is named."""

    class Telling(type(tide())):  # type: ignore[misc] # a subclass made for one test
        async def validate_settings(self, settings: Tide) -> str | None:
            assert settings.key is not None
            text = f"the service refused {settings.key.get_secret_value()}"
            if raises:
                raise RuntimeError(text)
            return text

    tool = tide()
    tool.__class__ = Telling
    rules = Rules(layers=Layers(user={"get_tide.harbour": "x"}, secrets={"get_tide.apiKey": "CANARY-1"}))
    standing = ProviderStanding("p", "X", ConfidenceLevel.HIGH)
    async with lockgate_for(tools=[tool], rules=rules) as made:
        block = await made.registry.check("get_tide", standing, Components.CHAT, ChatRequirements())
        assert block is not None
        assert block.set_by == BY_USER
        assert "CANARY" not in f"{block} {made.registry.incidents.incidents}"
        assert ("*****" in block.why) is not raises


async def test_a_secret_that_a_program_puts_among_the_settings_is_told() -> None:
    """It is not read from there, and the sentence says where a program puts it."""
    rules = Rules(layers=Layers(user={"get_tide.apiKey": "CANARY"}))
    async with lockgate_for(tools=[tide()], rules=rules) as made:
        (problem,) = made.assembly.problems
    assert "holds 'apiKey', which is a secret" in problem
    assert "Layers.secrets" in problem
    assert "CANARY" not in problem


OF_A_FILE = """
disabled_tool_ids = ["get_tyde"]
[tools.get_tide]
harbor = "x"
[data_sources.docs]
kind = "folder"
place = "here"
[data_sources.other]
kind = "foldr"
[chat_templates.one]
tool_ids = ["nope"]
[limits]
max_tool_calls = "many"
"""


class Folder(ToolSettings):
    """Settings of a data source with a check of its own."""

    place: str

    @field_validator("place")
    @classmethod
    def _absolute(cls, place: str) -> str:
        raise ValueError(f"must be an absolute path ({len(place)})")


async def test_a_problem_names_file_and_line(tmp_path: Path) -> None:
    """Whoever has to correct it finds it; the words are those of the check and nobody else's."""
    (tmp_path / "settings.toml").write_text(OF_A_FILE)
    configuration = read_configuration(Home.at(tmp_path))
    kind = Kind("folder", "data_source", Folder)
    async with lockgate_for(plugins=[PluginOf(kinds=[kind])], tools=[tide()]) as made:
        await made.reconfigure(configuration)
        place = f"In {tmp_path / 'settings.toml'}:"
        told = {problem.removeprefix(place).partition(": ")[0]: problem for problem in made.assembly.problems}
    assert sorted(told, key=int) == ["2", "4", "7", "9", "11", "13"]
    assert told["7"].endswith(
        "data_source 'docs' cannot be used: place has the value 'here': must be an absolute path (4)."
    )
    assert "Did you mean 'harbour'?" in told["4"]
