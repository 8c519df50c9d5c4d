"""Chat templates and assistants on the command line, and what a new chat is begun with."""

import io
import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from cli_runs import add_fake, lockgate
from made_packs import make_pack
from presets_kit import PACK
from rich.console import Console

from lockgate.calling.events import PromptPrefixChanged
from lockgate.chat.prefix import Moved, PrefixChange
from lockgate.cli import rendering
from lockgate.cli.rendering import Renderer
from lockgate.testing import FakeProvider, answer_text

SETTINGS = """
[chat_templates.wiki]
name = "Wiki"
system_prompt = "Search the wiki first."
tool_ids = ["search_wiki", "gone"]

[chat_templates.plain]

[assistants.minutes]
name = "Minutes"
description = "Turns notes\\u001b[2J into minutes."
system_prompt = "Write minutes."
tool_ids = ["count_words"]
provider = "fake"

[assistants.free]
provider = "nobody"

[assistants.none]
tool_ids = []
component = "CHAT"
"""


@pytest.fixture
def packs(tmp_path: Path) -> str:
    """A pack with a tool that brings another along."""
    return make_pack(tmp_path / "packs", "wiki-tools", PACK, lockgate="wiki = wiki_tools")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with templates and assistants."""
    found = tmp_path / "home"
    found.mkdir()
    (found / "settings.toml").write_text(SETTINGS)
    return found


def offered(fake: FakeProvider, number: int = 0) -> list[str]:
    """Return the names of the tools in a request."""
    return [tool["function"]["name"] for tool in fake.requests[number].body.get("tools", [])]


def prompt(fake: FakeProvider, number: int = 0) -> str:
    """Return the system prompt of a request."""
    first = fake.requests[number].body["messages"][0]
    assert first["role"] == "system"
    return str(first["content"])


def stored(home: Path) -> Sequence[object]:
    """Return the IDs of kept chats, the latest first."""
    return [row["id"] for row in json.loads(lockgate(home, "chats", "list", "--json").out)]


def test_templates_are_listed_with_the_tools_that_come(home: Path, packs: str) -> None:
    """Companions are there, names nobody knows are marked, no rule is not the same as no tool."""
    rows = json.loads(lockgate(home, "templates", "list", "--json", PYTHONPATH=packs).out)
    assert [(row["id"], row["name"], row["tools"], row["unknown_tools"]) for row in rows] == [
        ("wiki", "Wiki", ["gone", "read_page", "search_wiki"], ["gone"]), ("plain", "plain", None, []),
    ]  # fmt: skip
    assert rows[0]["set_by"] == f"user ({home / 'settings.toml'}:2)"
    ran = lockgate(home, "templates", "list", PYTHONPATH=packs)
    assert "gone (not installed), read_page, search_wiki" in ran.out
    assert "the defaults" in ran.out


def test_assistants_are_listed_with_their_rules(home: Path, packs: str) -> None:
    """Component, tools, provider; one whose provider is not there is told."""
    rows = json.loads(lockgate(home, "assistants", "list", "--json", PYTHONPATH=packs).out)
    assert [(row["id"], row["component"], row["tools"], row["provider"], row["provider_known"]) for row in rows] == [
        ("minutes", "META_ASSISTANT", ["count_words"], "fake", False),
        ("free", "META_ASSISTANT", None, "nobody", False), ("none", "CHAT", [], None, True),
    ]  # fmt: skip
    ran = lockgate(home, "assistants", "list", PYTHONPATH=packs)
    assert "Turns notes[2J into minutes." in ran.out
    assert "the assistant 'free' asks the provider 'nobody', which is not there" in ran.err
    assert "\x1b" not in ran.out + ran.err


@pytest.mark.parametrize("command", ["templates", "assistants"])
def test_a_home_without_any_says_how_one_is_made(tmp_path: Path, command: str) -> None:
    """An empty list is no mistake."""
    ran = lockgate(tmp_path, command, "list")
    assert (ran.status, ran.out) == (0, "")
    assert "in settings.toml makes one" in ran.err
    assert lockgate(tmp_path, command, "list", "--json").out == "[]\n"


def test_a_chat_begins_with_a_template_and_goes_on_with_it(home: Path, packs: str) -> None:
    """Prompt and tools stay with the chat; the companion is told once, the tool that is not there with its reason."""
    with FakeProvider([answer_text("One."), answer_text("Two.")]) as fake:
        add_fake(home, fake.base_url)
        ran = lockgate(home, "ask", "-p", "fake", "--template", "wiki", "What?", PYTHONPATH=packs)
        assert ran.status == 0, ran
        assert "note: read_page comes with search_wiki" in ran.err
        assert "not offered: gone: " in ran.err
        again = lockgate(home, "ask", "-p", "fake", "--chat", "last", "And?", PYTHONPATH=packs)
        assert "comes with" not in again.err
        fake.assert_no_problems()
    for number in (0, 1):
        assert "Search the wiki first." in prompt(fake, number)
        assert sorted(offered(fake, number)) == ["read_page", "search_wiki"]


def test_an_assistant_is_asked_with_its_prompt_tools_and_provider(home: Path, packs: str) -> None:
    """Its provider counts in the chat's later questions, too, unless another is named."""
    with FakeProvider([answer_text("One."), answer_text("Two.")]) as fake:
        add_fake(home, fake.base_url)
        assert lockgate(home, "ask", "--assistant", "minutes", "Notes", PYTHONPATH=packs).out.startswith("One.")
        assert lockgate(home, "ask", "--chat", "last", "More", PYTHONPATH=packs).out.startswith("Two.")
        ran = lockgate(home, "ask", "--chat", "last", "-p", "offline", "More", PYTHONPATH=packs)
        assert "Two." not in ran.out
    assert len(fake.requests) == 2
    for number in (0, 1):
        assert "Write minutes." in prompt(fake, number)
        assert offered(fake, number) == ["count_words"]


def test_an_assistant_whose_provider_is_not_there_is_told(home: Path) -> None:
    """Nobody else gets the question instead; a provider that is named does."""
    ran = lockgate(home, "ask", "--assistant", "free", "Well?")
    assert (ran.status, "There is no provider 'nobody'" in ran.err) == (2, True)
    assert lockgate(home, "ask", "--assistant", "free", "-p", "offline", "Well?").status == 0


def test_no_tools_stays_with_the_chat(home: Path, packs: str) -> None:
    """The defaults do not come back with the next question."""
    with (home / "settings.toml").open("a") as settings:
        settings.write('\n[default_tool_ids_by_component]\nCHAT = ["count_words"]\n')
    with FakeProvider([answer_text("One."), answer_text("Two."), answer_text("Three.")]) as fake:
        add_fake(home, fake.base_url)
        for arguments in (["--no-tools"], ["--chat", "last"], []):
            assert lockgate(home, "ask", "-p", "fake", *arguments, "Well?", PYTHONPATH=packs).status == 0
    assert [offered(fake, number) for number in range(3)] == [[], [], ["count_words"]]


def test_a_companion_of_a_tool_that_was_named_is_told_but_not_beside_json(home: Path, packs: str) -> None:
    """Who reads JSON asks for it with --verbose."""
    with FakeProvider([answer_text("Yes.")] * 3) as fake:
        add_fake(home, fake.base_url)
        ask = ("ask", "-p", "fake", "-t", "search_wiki", "Well?")
        assert lockgate(home, *ask, PYTHONPATH=packs).err.count("read_page comes with search_wiki") == 1
        assert "comes with" not in lockgate(home, *ask, "--json", PYTHONPATH=packs).err
        assert "comes with" not in lockgate(home, *ask, "-t", "read_page", PYTHONPATH=packs).err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--template", "wiki", "--chat", "last"], "--template begins a new chat"),
        (["--template", "wiki", "--assistant", "none"], "both bring a prompt"),
        (["--no-tools", "-t", "count_words"], "--no-tools selects no tool"),
        (["--template", "wikki"], "Did you mean 'wiki'?"),
        (["--assistant", "kitchen"], "There is no assistant 'kitchen'. There are: free, minutes, none."),
    ],
)
def test_what_does_not_go_together_or_is_not_there_is_told(home: Path, arguments: list[str], words: str) -> None:
    """One sentence, status 2, and no chat is kept."""
    ran = lockgate(home, "ask", *arguments, "Well?")
    assert (ran.status, words in ran.err) == (2, True), ran
    assert stored(home) == []


def test_the_day_is_told_to_the_model_of_a_new_chat(home: Path) -> None:
    """It stands behind everything that is stable."""
    with FakeProvider([answer_text("Yes.")]) as fake:
        add_fake(home, fake.base_url)
        lockgate(home, "ask", "-p", "fake", "--template", "wiki", "Which day?")
    from datetime import date

    year = str(date.today().year)  # noqa: DTZ011 - the user's own day, as the prompt has it
    assert prompt(fake).rindex(year) > prompt(fake).index("Search the wiki first.")


def test_what_moved_at_the_beginning_of_a_request_is_told_on_demand(monkeypatch: pytest.MonkeyPatch) -> None:
    """One line with each change; nothing without --verbose; a tool's name cannot steer the terminal."""
    out = io.StringIO()
    monkeypatch.setattr(rendering, "notes", lambda: Console(file=out, width=300))
    event = PromptPrefixChanged((
        PrefixChange("we\x1bather\n", Moved.CHANGED, 12), PrefixChange("system prompt", Moved.REMOVED, -3),
    ))  # fmt: skip
    Renderer(verbose=False).on(event)
    assert out.getvalue() == ""
    Renderer(verbose=True).on(event)
    told = "the beginning of the request is not that of the last one: "
    assert out.getvalue() == f"{told}weather changed (+12 bytes), system prompt removed (-3 bytes)\n"
