"""From the files of a home to a configuration."""

from pathlib import Path

import pytest

from lockgate.app.home import LazySecrets, configuration_from, open_lockgate
from lockgate.chat import ChatThread
from lockgate.errors import ConfigurationError, UnknownNameError
from lockgate.policy import ConfidenceLevel, ConfidenceScheme
from lockgate.registry.rules import MAX_TOOL_CALLS
from lockgate.settings.files import UserSettings
from lockgate.settings.home import Home
from lockgate.settings.secrets import provider_secret_name, tool_secret_name
from lockgate.testing import FakeProvider, answer_text

SETTINGS = """
enable_tools = false
disabled_tool_ids = ["web_search"]
trusted_provider_ids = ["Office"]
default_provider = "office"

[confidence]
scheme = "CUSTOM"
custom = { MISTRAL = "HIGH" }

[minimum_provider_confidence_by_tool_id]
read_mail = "MEDIUM"

[default_tool_ids_by_component]
CHAT = ["web_search"]

[limits]
max_tool_calls = 4

[plugins]
disabled = ["some-plugin"]
allowed = ["lockgate-openai"]

[tools.web_search]
language = "de"

[providers.office]
profile = "vllm"
name = "Office"
base_url = "http://127.0.0.1:9/v1"
model = "m"
self_hosted = true
can_call_tools = false
confidence = "LOW"
parameters = { temperature = 0.5 }

[data_sources.handbook]
kind = "local_folder"
name = "Handbook"
path = "/srv/handbook"
"""


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A home with settings of every kind."""
    found = Home.at(tmp_path)
    found.settings_file.write_text(SETTINGS)
    return found


def test_every_setting_of_the_file_reaches_the_rules_with_who_set_it(home: Home) -> None:
    """Nothing is lost between file and rules, and each rule names the file."""
    made = configuration_from(UserSettings(home.settings_file).read(), home, LazySecrets(home))
    rules = made.rules
    assert not rules.tools_enabled
    assert str(rules.tools_enabled_by) == f"user ({home.settings_file})"
    assert {name: str(by) for name, by in rules.disabled.items()} == {"web_search": f"user ({home.settings_file})"}
    assert rules.minimums["read_mail"].level is ConfidenceLevel.MEDIUM
    assert str(rules.minimums["read_mail"].set_by) == f"user ({home.settings_file})"
    assert (rules.scheme, rules.custom_scheme) == (ConfidenceScheme.CUSTOM, {"MISTRAL": ConfidenceLevel.HIGH})
    assert rules.trusted_provider_ids == {"office"}
    assert rules.default_tools == {"CHAT": ("web_search",)}
    assert rules.max_tool_calls == 4
    assert rules.layers.user == {"web_search.language": "de"}
    assert made.host.disabled == {"some-plugin"}
    assert made.host.allowed == frozenset({"lockgate-openai"})
    assert made.default_provider == "office"
    assert made.problems == ()


def test_providers_and_data_sources_are_taken_whole(home: Home) -> None:
    """Every fact of an entry is there."""
    made = configuration_from(UserSettings(home.settings_file).read(), home, LazySecrets(home))
    office, source = made.providers["office"], made.instances[0]
    assert (office.profile, office.name, office.base_url, office.model) == (
        "vllm", "Office", "http://127.0.0.1:9/v1", "m",
    )  # fmt: skip
    assert (office.self_hosted, office.can_call_tools, office.confidence) == (True, False, ConfidenceLevel.LOW)
    assert office.parameters == {"temperature": 0.5}
    assert (source.id, source.kind, source.family, source.name) == (
        "handbook", "local_folder", "data_source", "Handbook",
    )  # fmt: skip
    assert source.values == {"path": "/srv/handbook"}


def test_an_empty_home_means_the_defaults_and_writes_nothing(tmp_path: Path) -> None:
    """Looking is no reason to make folders."""
    home = Home.at(tmp_path / "none")
    made = configuration_from(UserSettings(home.settings_file).read(), home, LazySecrets(home))
    assert made.rules.tools_enabled
    assert made.rules.max_tool_calls == MAX_TOOL_CALLS
    assert made.providers == {}
    assert not home.config_dir.exists()


def test_problems_are_sentences_that_name_the_file(tmp_path: Path) -> None:
    """A wrong value costs itself, a component nobody knows is told as well."""
    home = Home.at(tmp_path)
    home.settings_file.write_text('enable_tools = "yes"\n[default_tool_ids_by_component]\nKITCHEN = ["x"]\n')
    made = configuration_from(UserSettings(home.settings_file).read(), home, LazySecrets(home))
    assert not made.rules.tools_enabled
    assert len(made.problems) == 2
    assert all(str(home.settings_file) in problem for problem in made.problems)
    assert any("'KITCHEN'" in problem for problem in made.problems)


def test_a_file_that_is_no_toml_opens_nothing(tmp_path: Path) -> None:
    """Rules that cannot be read are no reason to go on without them."""
    home = Home.at(tmp_path)
    home.settings_file.write_text("enable_tools = \n")
    with pytest.raises(ConfigurationError, match="line 1"):
        open_lockgate(home)


def test_secrets_are_read_when_they_are_needed_and_once(tmp_path: Path) -> None:
    """The keyring may ask the person: nobody who needs no secret is asked."""
    home = Home.at(tmp_path)
    secrets = LazySecrets(home)
    secrets.store.set(tool_secret_name("wiki", "token"), "t-1")
    assert list(secrets) == []
    assert "wiki.token" in secrets
    assert secrets["wiki.token"] == "t-1"
    assert secrets.get("wiki.other") is None
    assert (list(secrets), len(secrets)) == (["wiki.token"], 1)
    secrets.store.set(tool_secret_name("wiki", "token"), "t-2")
    assert secrets["wiki.token"] == "t-1"


async def test_a_question_uses_settings_secret_and_store_of_the_home(tmp_path: Path) -> None:
    """The key of the secret store goes to the host, the chat into the home's file."""
    home = Home.at(tmp_path)
    LazySecrets(home).store.set(provider_secret_name("mine"), "sk-stored")
    async with FakeProvider([answer_text("Yes.")], api_key="sk-stored") as fake:
        home.settings_file.write_text(
            'default_provider = "mine"\n[providers.mine]\nprofile = "openai"\nmodel = "m"\n'
            f'base_url = "{fake.base_url}"\n'
        )
        async with open_lockgate(home) as gate:
            async with gate.ask(None, "Really?") as run:
                await run.wait()
            chat_id = run.chat.id
        fake.assert_no_problems()
    async with open_lockgate(home) as gate:
        kept = await gate.store.load(chat_id)
        assert isinstance(kept, ChatThread)
        assert [message.text for message in kept.messages] == ["Really?", "Yes."]
    assert home.chats_file.is_file()


async def test_overrides_win(tmp_path: Path) -> None:
    """What a program hands over counts instead of what lies in the home."""
    async with open_lockgate(Home.at(tmp_path), plugins=[], data_dir=tmp_path / "elsewhere") as gate:
        assert gate.assembly.host.records == ()
        assert gate.assembly.services.data_dir == tmp_path / "elsewhere"
        with pytest.raises(UnknownNameError, match="There is no provider 'offline'"):
            gate.provider()
