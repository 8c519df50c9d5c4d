"""Names in the settings that nothing answers to are kept and told."""

from typing import Annotated

import pytest
from pydantic import Field, SecretStr
from registry_kit import simple

from lockgate.app import InstanceConfig
from lockgate.app.configuration import Configuration
from lockgate.plugin_host import HostPolicy
from lockgate.policy import BY_USER, ChatRequirements, ConfidenceLevel, ProviderStanding
from lockgate.registry import Minimum, Rules
from lockgate.settings import Kind, Layers, ToolSettings
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
