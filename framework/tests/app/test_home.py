"""From the files of a home to a configuration."""

from pathlib import Path

import pytest

from lockgate.app.configuration import Configuration
from lockgate.app.home import LazySecrets, configuration_from, open_lockgate
from lockgate.app.templates import Assistant, ChatTemplate
from lockgate.chat import ChatThread
from lockgate.errors import ConfigurationError, UnknownNameError, UsageError
from lockgate.policy import BUILT_IN, ConfidenceLevel, ConfidenceScheme, Minimum, SetBy, SetByKind
from lockgate.registry.rules import MAX_TOOL_CALLS
from lockgate.settings.file_reading import settings_from_table
from lockgate.settings.files import UserSettings
from lockgate.settings.home import Home
from lockgate.settings.secrets import provider_secret_name, tool_secret_name
from lockgate.testing import FakeProvider, answer_text
from lockgate.tools.definition import Components

SETTINGS = """
enable_tools = false
disabled_tool_ids = ["web_search"]
trusted_provider_ids = ["Office"]
default_provider = "office"
visible_tool_selection_components = ["WRITER"]

[confidence]
scheme = "CUSTOM"
custom = { MISTRAL = "HIGH" }
enforce_global_minimum = true
global_minimum = "LOW"

[minimum_provider_confidence_by_tool_id]
read_mail = "MEDIUM"

[default_tool_ids_by_component]
CHAT = ["web_search"]

[previews]
PRE_MAILBOXES_2026 = false

[limits]
max_tool_calls = 4
max_restricted_calls = 0

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

[chat_templates.research]
name = "Research"
system_prompt = "Name sources."
tool_ids = ["web_search"]

[assistants.minutes]
description = "Turns notes into minutes."
system_prompt = "Write minutes."
component = "writer"
tool_ids = []
provider = "office"
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
    place = str(home.settings_file)
    assert str(rules.tools_enabled_by) == f"user ({place}:2)"
    assert {name: str(by) for name, by in rules.disabled.items()} == {"web_search": f"user ({place}:3)"}
    assert rules.minimums["read_mail"].level is ConfidenceLevel.MEDIUM
    assert str(rules.minimums["read_mail"].set_by) == f"user ({place}:15)"
    assert (rules.scheme, rules.custom_scheme) == (ConfidenceScheme.CUSTOM, {"MISTRAL": ConfidenceLevel.HIGH})
    assert str(rules.scheme_by) == f"user ({place}:9)"
    assert rules.global_minimum == Minimum(ConfidenceLevel.LOW, SetBy(SetByKind.USER, file=place, line=12))
    assert {name: (found.is_on, found.set_by.line) for name, found in rules.previews.items()} == {
        "PRE_MAILBOXES_2026": (False, 21)
    }
    assert rules.visible_selection_components == {"WRITER"}
    assert rules.max_restricted_calls == 0
    assert rules.trusted_provider_ids == {"office"}
    assert rules.default_tools == {"CHAT": ("web_search",)}
    assert str(rules.default_tools_by) == f"user ({place}:17)"
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


def test_templates_and_assistants_are_taken_whole(home: Home) -> None:
    """Every fact of an entry is there, with the line it stands on."""
    made = configuration_from(UserSettings(home.settings_file).read(), home, LazySecrets(home))
    place = str(home.settings_file)
    lines = SETTINGS.splitlines()
    by = {
        name: SetBy(SetByKind.USER, file=place, line=lines.index(f"[{table}.{name}]") + 1)
        for table, name in (("chat_templates", "research"), ("assistants", "minutes"))
    }
    assert made.chat_templates == {
        "research": ChatTemplate("research", "Research", "Name sources.", ("web_search",), by["research"])
    }
    assert made.assistants == {
        "minutes": Assistant(
            "minutes", "minutes", "Write minutes.", Components.WRITER, (), "office", "Turns notes into minutes.",
            by["minutes"],
        )
    }  # fmt: skip


def configured(home: Home, table: dict[str, object]) -> Configuration:
    """Return the configuration of a table that no file was read for."""
    return configuration_from(settings_from_table(table), home, LazySecrets(home))


@pytest.mark.parametrize(
    ("table", "level"),
    [
        ({}, None),
        ({"global_minimum": "HIGH"}, None),
        ({"enforce_global_minimum": False}, None),
        ({"enforce_global_minimum": True}, ConfidenceLevel.HIGH),
        ({"enforce_global_minimum": True, "global_minium": "LOW"}, ConfidenceLevel.HIGH),
        ({"enforce_global_minium": True, "global_minimum": "LOW"}, ConfidenceLevel.HIGH),
        ({"global_min": "LOW"}, ConfidenceLevel.HIGH),
        ({"schema": "LOCAL_TRUST_ONLY"}, ConfidenceLevel.HIGH),
        ({"enforce_global_minimum": True, "global_minimum": "LOW"}, ConfidenceLevel.LOW),
        ({"enforce_global_minimum": True, "global_minimum": "LOW", "global_minium": "HIGH"}, ConfidenceLevel.LOW),
        ({"enforce_global_minimum": True, "global_minimum": "NONE"}, None),
        ({"enforce_global_minimum": False, "global_minimum": "LOW"}, None),
        ({"enforce_global_minimum": "no", "global_minimum": "LOW"}, ConfidenceLevel.HIGH),
        ({"enforce_global_minimum": True, "global_minimum": 3}, ConfidenceLevel.HIGH),
    ],
)
def test_the_global_minimum_counts_only_while_it_is_enforced(
    tmp_path: Path, table: dict[str, object], level: ConfidenceLevel | None
) -> None:
    """A wrong switch, a wrong level, no level and a misspelt key all mean HIGH; NONE on purpose demands nothing."""
    found = configured(Home.at(tmp_path), {"confidence": table}).rules.global_minimum
    assert (None if found is None else found.level) == level


def test_a_table_of_confidence_that_is_none_lets_nobody_in_by_a_scheme(tmp_path: Path) -> None:
    """Nobody knows what was meant, so a provider needs a level of its own, and HIGH."""
    made = configured(Home.at(tmp_path), {"confidence": "high"})
    assert made.rules.scheme is ConfidenceScheme.CUSTOM
    assert made.rules.custom_scheme == {}
    assert made.rules.global_minimum is not None
    assert made.rules.global_minimum.level is ConfidenceLevel.HIGH
    assert len(made.problems) == 1
    assert "[confidence]; until it is right, every provider needs" in made.problems[0]


def test_a_table_of_previews_that_is_none_switches_those_of_the_framework_off(tmp_path: Path) -> None:
    """Nobody knows which were meant to be off."""
    made = configured(Home.at(tmp_path), {"previews": False})
    assert {name for name, switch in made.rules.previews.items() if not switch.is_on} == {
        "PRE_RAG_2024", "PRE_MAILBOXES_2026",
    }  # fmt: skip
    assert len(made.problems) == 1


def test_what_the_file_does_not_say_was_set_by_nobody(tmp_path: Path) -> None:
    """An absent scheme and absent defaults are built in, not the user's."""
    rules = configured(Home.at(tmp_path), {"enable_tools": True}).rules
    assert (rules.scheme_by, rules.default_tools_by) == (BUILT_IN, BUILT_IN)
    said = configured(Home.at(tmp_path), {"confidence": {"scheme": "TRUST_ALL"}}).rules
    assert said.scheme_by == SetBy(SetByKind.USER, file=str(Home.at(tmp_path).settings_file))


def test_a_component_nobody_knows_costs_its_entry_alone(tmp_path: Path) -> None:
    """The assistant is left out, the name among visible components is dropped, each with a problem and a hint."""
    made = configured(Home.at(tmp_path), {
        "visible_tool_selection_components": ["WRITTER", "CHAT"],
        "assistants": {
            "a": {"component": "KITCHEN\x1b[2J"}, "b": {"component": " writer "}, "c": {}, "d": {"component": "none"},
        },
    })  # fmt: skip
    assert made.rules.visible_selection_components == {"CHAT"}
    assert {name: found.component for name, found in made.assistants.items()} == {
        "b": Components.WRITER, "c": Components.META_ASSISTANT,
    }  # fmt: skip
    visible, left_out, nowhere = made.problems
    assert "assistants.d is left out: it names the component 'NONE'" in nowhere
    assert "'WRITTER', which does not exist. Did you mean 'WRITER'?" in visible
    assert "assistants.a is left out" in left_out
    assert "\x1b" not in left_out


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


@pytest.mark.parametrize(
    "text",
    [
        'default_provider = "openai"\n[providers.openai]\nprofile = "openai"\nself_hosted = "yes"\n',
        'default_provider = "openai"\n[provider.openai]\nprofile = "openai"\n',
        'default_provider = "openai"\nproviders = "openai"\n',
        'default_provider = "openai"\nproviders = 3\n',
        'default_provider = 3\n',
        'default_provder = "openai"\n',
        'default_provider = "opneai"\n',
    ],
)
async def test_a_provider_that_is_configured_wrong_is_refused_and_nobody_asked_instead(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    """Neither a profile of the same name, whose host is another one, nor the offline reader."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-x")
    home = Home.at(tmp_path)
    home.settings_file.write_text(text)
    async with open_lockgate(home) as gate:
        with pytest.raises(UsageError, match=r"settings\.toml(:[12])?: |There is no provider 'opneai'"):
            gate.provider()
        assert len(gate.assembly.problems) == 1
        assert gate.provider("offline").config.id == "offline"


async def test_a_profile_can_be_the_default_provider(tmp_path: Path) -> None:
    """It needs no entry."""
    home = Home.at(tmp_path)
    home.settings_file.write_text('default_provider = "offline"\n')
    async with open_lockgate(home) as gate:
        assert gate.provider().config.id == "offline"
        assert gate.assembly.problems == ()


async def test_overrides_win(tmp_path: Path) -> None:
    """What a program hands over counts instead of what lies in the home."""
    async with open_lockgate(Home.at(tmp_path), plugins=[], data_dir=tmp_path / "elsewhere") as gate:
        assert gate.assembly.host.records == ()
        assert gate.assembly.services.data_dir == tmp_path / "elsewhere"
        with pytest.raises(UnknownNameError, match="There is no provider 'offline'"):
            gate.provider()
