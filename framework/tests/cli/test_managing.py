"""Lists, explanations and providers: what a person is told, and what is left when something fails."""

import json
from pathlib import Path

import pytest
from cli_runs import lockgate
from made_packs import make_pack

from lockgate.cli.changing import is_loopback

STATES = '''
from lockgate import ConfidenceLevel, Tool, ToolCollection, ToolDefinition, ToolSettings, ToolTexts, hookimpl

class Needs(ToolSettings):
    api_url: str

class Made(Tool):
    def __init__(self, name, *, available=True, settings=None):
        self.definition = ToolDefinition(name, {"type": "object", "properties": {}}, "Does it.")
        self.available = available
        if settings is not None:
            self.settings_model = settings
    def is_available(self):
        return self.available
    async def execute(self, arguments, context):
        raise NotImplementedError

@hookimpl
def lockgate_tools():
    return [Made("one"), Made("two", settings=Needs), Made("gone", available=False), Made("semantic_search")]

@hookimpl
def lockgate_collections():
    return [ToolCollection("pair", ("one", "two"), "Both.", labels=(("en", ToolTexts("Pair")),))]

@hookimpl
def lockgate_misspelt():
    return []
'''


@pytest.fixture
def packs(tmp_path: Path) -> str:
    """A pack with a collection, a tool without its setting, one that is not available, a taken name, a wrong hook."""
    return make_pack(tmp_path / "packs", "made-tools", STATES, lockgate="made = made_tools")


def test_tools_are_listed_in_every_state(tmp_path: Path, packs: str) -> None:
    """Collection and tool, what is missing, what is not available, who set what, and what was rejected."""
    (tmp_path / "settings.toml").write_text('[minimum_provider_confidence_by_tool_id]\npair = "HIGH"\n')
    ran = lockgate(tmp_path, "tools", "list", PYTHONPATH=packs)
    rows = {line.split()[0]: line for line in ran.out.splitlines()}
    assert "ready" in rows["pair/one"]
    assert "not configured: api_url is required and not set" in rows["pair/two"]
    assert "HIGH, set by user (settings.toml:2)" in rows["pair/two"]
    assert "not available: The tool says it is not available" in rows["gone"]
    assert "made-tools 1.2" in rows["gone"]
    assert "MODEL_CHOSEN_ADDRESSES" in rows["gone"]
    assert "offers itself" in rows["semantic_search"]
    assert "The tool 'semantic_search' of made-tools 1.2 (entry point 'made') was not taken" in ran.err
    assert "It belongs to lockgate-semantic-search" in ran.err


def test_explain_takes_a_collection_and_suggests_near_names(tmp_path: Path, packs: str) -> None:
    """A person knows the collection that was selected, not each tool of it."""
    ran = lockgate(tmp_path, "tools", "explain", "pair", PYTHONPATH=packs)
    assert (ran.status, ran.out.count("It is not selected by the defaults of CHAT")) == (0, 2)
    ran = lockgate(tmp_path, "tools", "explain", "pair", "-t", "pair", PYTHONPATH=packs)
    assert ran.status == 0
    assert ran.out.count("It would be offered.") == 1
    assert "no  the tool is configured" in ran.out
    assert "api_url is required and not set" in ran.out
    ran = lockgate(tmp_path, "tools", "explain", "pairs", PYTHONPATH=packs)
    assert (ran.status, "Did you mean 'pair'?" in ran.err) == (2, True)


def test_the_doctor_finds_what_is_wrong(tmp_path: Path, packs: str) -> None:
    """A hook nobody knows and a name that is taken, each with its owner; the status says that something is wrong."""
    make_pack(tmp_path / "packs", "bad-pack", "raise ValueError('broken')", lockgate="bad = bad_pack")
    ran = lockgate(tmp_path, "plugins", "doctor", PYTHONPATH=packs)
    assert ran.status == 1
    assert "lockgate_misspelt" in ran.out
    assert "'semantic_search'" in ran.out
    assert "ValueError: broken" in ran.out
    assert "raise ValueError" not in ran.out
    shown = lockgate(tmp_path, "plugins", "doctor", "--verbose", PYTHONPATH=packs).out
    assert "raise ValueError('broken')" in shown.replace("Traceback", "")


def test_all_tools_switched_off_is_told(tmp_path: Path) -> None:
    """The list does not look as if they could be used."""
    (tmp_path / "settings.toml").write_text("enable_tools = false\n")
    ran = lockgate(tmp_path, "tools", "list")
    assert "all tools are switched off, set by user (settings.toml:1)" in ran.err
    assert "offers itself" not in ran.out
    assert "switched off" in ran.out.splitlines()[1]


def test_tools_of_a_preview_that_is_off_are_counted(tmp_path: Path, packs: str) -> None:
    """Nobody is told that no plugin brings one."""
    (tmp_path / "settings.toml").write_text("[previews]\nPRE_RAG_2024 = false\n")
    hidden = "1 tool is hidden by the preview PRE_RAG_2024, which is off (set by user (settings.toml:2))"
    for more in ({}, {"PYTHONPATH": packs}):
        ran = lockgate(tmp_path, "tools", "list", **more)
        assert hidden in ran.err
        assert "no installed plugin" not in ran.err


@pytest.mark.parametrize(
    ("url", "is_here"),
    [
        ("http://localhost:11434/v1", True),
        ("http://127.0.0.1:1/v1", True),
        ("http://[::1]:1/v1", True),
        ("http://localhost.example.org/v1", False),
        ("http://10.0.0.1/v1", False),
        ("http://[::1", False),
        ("", False),
    ],
)
def test_what_is_on_this_machine(url: str, *, is_here: bool) -> None:
    """Only loopback counts; a name that begins like it does not."""
    assert is_loopback(url) is is_here


def test_a_host_elsewhere_is_not_self_hosted_until_somebody_says_so(tmp_path: Path) -> None:
    """The profile of self-hosted software proves nothing about who runs it."""
    url = "https://llm.example.org/v1"
    ran = lockgate(tmp_path, "providers", "add", "far", "--profile", "vllm", "--base-url", url, "--no-key")
    assert (ran.status, "counts as self-hosted" in ran.err) == (0, False)
    lockgate(tmp_path, "providers", "add", "ours", "--profile", "vllm", "--base-url", url, "--no-key", "--self-hosted")
    rows = json.loads(lockgate(tmp_path, "providers", "list", "--json").out)["providers"]
    assert {row["id"]: row["self_hosted"] for row in rows} == {"far": False, "ours": True, "offline": True}


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (["bad id", "--profile", "openai"], 2, "is no ID for a provider"),
        (["taken", "--profile", "openai"], 2, "There is a provider 'taken' already"),
        (["x", "--profile", "openai-compatible"], 3, "name one with --base-url"),
        (["x", "--profile", "openai", "--base-url", "ftp://x"], 3, "base_url is no web address"),
        (["x", "--profile", "openai", "--key-from-env", "sk-123"], 3, "has to be the name of an environment variable"),
    ],
)
def test_a_provider_that_cannot_be_added_changes_nothing(
    tmp_path: Path, arguments: list[str], status: int, words: str
) -> None:
    """The file is as it was, and no key was kept."""
    settings = tmp_path / "settings.toml"
    settings.write_text('[providers.taken]\nprofile = "openai"\n')
    ran = lockgate(tmp_path, "providers", "add", *arguments, stdin="sk-CANARY\n")
    assert ran.status == status, ran
    assert words in ran.err
    assert settings.read_text() == '[providers.taken]\nprofile = "openai"\n'
    assert not (tmp_path / "secrets.toml").exists()


def test_a_key_that_cannot_be_kept_takes_the_provider_back(tmp_path: Path) -> None:
    """No provider is left that would ask with another key, or none."""
    (tmp_path / "secrets.toml").write_text("no toml [")
    (tmp_path / "secrets.toml").chmod(0o600)
    ran = lockgate(tmp_path, "providers", "add", "openai", stdin="sk-CANARY\n")
    assert ran.status == 3
    assert "secrets.toml is no valid TOML" in ran.err
    assert "openai" not in (tmp_path / "settings.toml").read_text()


def test_what_a_new_provider_still_needs_is_told(tmp_path: Path) -> None:
    """A model and a key, with the name of the variable; never the key."""
    ran = lockgate(tmp_path, "providers", "add", "groq", "--no-key")
    assert "it has no model yet" in ran.err
    assert "GROQ_API_KEY" in ran.err
    ran = lockgate(tmp_path, "providers", "add", "mine", "--profile", "groq", "--key-from-env", "MY_KEY", MY_KEY="sk-1")
    assert "MY_KEY" not in ran.err
    row = json.loads(lockgate(tmp_path, "providers", "list", "--json", MY_KEY="sk-1").out)["providers"][1]
    assert (row["id"], row["key"]) == ("mine", "environment variable MY_KEY")


def test_a_home_that_is_no_absolute_path_is_told() -> None:
    """Every command needs a home; a relative one would be another in each folder."""
    ran = lockgate(Path("relative"), "chats", "list")
    assert (ran.status, "has to be an absolute path" in ran.err) == (3, True)
