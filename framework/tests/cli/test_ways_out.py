"""What a person is told about a question that could not be asked as it was meant, and what is kept of it."""

import json
from pathlib import Path

import pytest
from cli_runs import add_fake, lockgate
from made_packs import make_pack

from lockgate.testing import FakeProvider, answer_error, answer_text

TIDES = '''
from lockgate import ToolCollection, ToolTexts, hookimpl, tool

@tool
def get_tide(place: str) -> str:
    """Returns the tide.

    Args:
        place: Where.
    """
    return "high"

@tool
def get_moon(day: str) -> str:
    """Returns the moon.

    Args:
        day: When.
    """
    return "new"

@hookimpl
def lockgate_tools():
    return [get_tide, get_moon]

@hookimpl
def lockgate_collections():
    return [ToolCollection("tides", ("get_tide", "get_moon"), "Both.", labels=(("en", ToolTexts("Tides")),))]
'''


@pytest.fixture
def packs(tmp_path: Path) -> str:
    """A pack with a collection of two tools."""
    return make_pack(tmp_path / "packs", "tide-tools", TIDES, lockgate="tides = tide_tools")


@pytest.fixture
def folders(tmp_path: Path) -> Path:
    """A home with one data source that is there and one that is not."""
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "a.txt").write_text("The harbour opens at six.\n")
    (tmp_path / "settings.toml").write_text(
        f'[data_sources.there]\nkind = "local_folder"\npath = "{tmp_path / "there"}"\n'
        f'[data_sources.gone]\nkind = "local_folder"\npath = "{tmp_path / "gone"}"\n'
        '[data_sources.odd]\nkind = 3\n[assistants.odd]\ntool_ids = 3\n[chat_templates.odd]\ntool_ids = 3\n'
    )
    return tmp_path


def test_a_data_source_that_is_not_there_costs_itself_alone(folders: Path) -> None:
    """The note has its ID, its path and the line; the others are searched; without any other it is an error."""
    told = f"The data source 'gone' cannot be searched: The folder 'gone' does not exist. It is {folders / 'gone'}, "
    ran = lockgate(folders, "ask", "--source", "all", "When does the harbour open?")
    assert ran.status == 0, ran
    assert "opens at six" in ran.out
    assert f"{told}set by user (settings.toml:4)." in ran.err
    ran = lockgate(folders, "ask", "--source", "gone", "When does the harbour open?")
    assert (ran.status, f"Error: {told}" in ran.err) == (6, True)


@pytest.mark.parametrize(("option", "what"), [("--source", "data source"), ("--assistant", "assistant"),
                                              ("--template", "chat template")])  # fmt: skip
def test_an_entry_that_is_left_out_is_not_called_unknown(folders: Path, option: str, what: str) -> None:
    """The reason is told, for a question and for an explanation."""
    for command in (["ask", option, "odd", "Well?"], ["tools", "explain", "semantic_search", option, "odd"]):
        ran = lockgate(folders, *command)
        assert (ran.status, f"The {what} 'odd' is not there. " in ran.err, "left out: " in ran.err) == (3, True, True)


def test_explain_takes_sources_assistants_and_templates(folders: Path) -> None:
    """As `ask` does, and refuses what `ask` refuses."""
    with (folders / "settings.toml").open("a") as settings:
        settings.write('[assistants.minutes]\ntool_ids = []\n[chat_templates.wiki]\ntool_ids = ["semantic_search"]\n')
    explain = ("tools", "explain", "semantic_search")
    assert "It would be offered." in lockgate(folders, *explain, "--source", "there").out
    assert "It would be offered." in lockgate(folders, *explain, "--template", "wiki", "-s", "there").out
    ran = lockgate(folders, *explain, "--assistant", "minutes", "--source", "there")
    assert "asked of offline in META_ASSISTANT" in ran.out
    assert "It would not be offered." in ran.out
    for more in (["--template", "wiki", "--chat", "last"], ["--template", "wiki", "--assistant", "minutes"]):
        assert lockgate(folders, *explain, *more).status == 2


def test_explain_says_how_a_tool_is_selected_and_when_all_are_off(tmp_path: Path, packs: str) -> None:
    """`--tool` with the collection; a chat of `--no-tools` has them off on purpose."""
    ran = lockgate(tmp_path, "tools", "explain", "get_tide", PYTHONPATH=packs)
    assert "choose a selection that names 'tides' (`--tool tides`)" in ran.out
    lockgate(tmp_path, "ask", "--no-tools", "Well?", PYTHONPATH=packs)
    ran = lockgate(tmp_path, "tools", "explain", "get_tide", "--chat", "last", PYTHONPATH=packs)
    assert "All tools that can be selected are switched off in this chat" in ran.out
    assert "not selected by the chat" not in ran.out


def test_a_tool_of_a_collection_selects_it_as_a_whole(tmp_path: Path, packs: str) -> None:
    """That is told; naming the collection needs no word."""
    ran = lockgate(tmp_path, "ask", "-t", "get_tide", "Well?", PYTHONPATH=packs)
    assert "get_tide belongs to the collection tides, which is selected as a whole, so with get_moon" in ran.err
    assert "selected as a whole" not in lockgate(tmp_path, "ask", "-t", "tides", "Well?", PYTHONPATH=packs).err


def test_no_tools_still_searches_what_is_named(folders: Path) -> None:
    """A tool that offers itself goes by the chat's data sources, and that is told."""
    ran = lockgate(folders, "ask", "--no-tools", "--source", "there", "When does the harbour open?")
    assert "what --docs and --source name is still searched" in ran.err
    assert "opens at six" in ran.out
    assert "still searched" not in lockgate(folders, "ask", "--no-tools", "Well?").err


def test_a_denied_question_tells_who_may_have_the_chat(tmp_path: Path) -> None:
    """The way out is another provider that is configured; the new chat is not kept."""
    (tmp_path / "settings.toml").write_text('[confidence]\nenforce_global_minimum = true\nglobal_minimum = "HIGH"\n')
    with FakeProvider([]) as fake:
        add_fake(tmp_path, fake.base_url)
        ran = lockgate(tmp_path, "ask", "-p", "fake", "Well?")
        assert ran.status == 5, ran
        assert "with --provider: offline may have this chat" in ran.err
        assert "go on with" not in ran.err
        ran = lockgate(tmp_path, "ask", "--json", "-p", "fake", "Well?")
        assert (json.loads(ran.out)["chat"], json.loads(ran.out)["stopped"]) == (None, "denied")
    assert json.loads(lockgate(tmp_path, "chats", "list", "--json").out) == []


def test_a_denied_question_names_the_key_where_no_provider_is_left(tmp_path: Path) -> None:
    """Somebody can then change it, or not."""
    (tmp_path / "settings.toml").write_text(
        '[confidence]\nenforce_global_minimum = true\nglobal_minimum = "HIGH"\n'
        '[plugins]\ndisabled = ["lockgate-offline"]\n'
    )
    with FakeProvider([]) as fake:
        add_fake(tmp_path, fake.base_url)
        ran = lockgate(tmp_path, "ask", "-p", "fake", "Well?")
    assert ran.status == 5, ran
    assert "no configured provider may have this chat; confidence.global_minimum in settings.toml demands it" in ran.err


def test_a_failed_question_leaves_no_new_chat_and_keeps_an_old_one(tmp_path: Path) -> None:
    """`last` is the chat somebody got an answer in."""
    with FakeProvider([answer_text("Yes."), answer_error(400, "no"), answer_error(400, "no")]) as fake:
        add_fake(tmp_path, fake.base_url)
        assert lockgate(tmp_path, "ask", "-p", "fake", "First?").status == 0
        assert lockgate(tmp_path, "ask", "-p", "fake", "Second?").status == 4
        rows = json.loads(lockgate(tmp_path, "chats", "list", "--json").out)
        assert [row["title"] for row in rows] == ["First?"]
        assert lockgate(tmp_path, "ask", "-p", "fake", "--chat", "last", "Third?").status == 4
        rows = json.loads(lockgate(tmp_path, "chats", "list", "--json").out)
        assert [row["title"] for row in rows] == ["First?"]


def test_the_allow_list_is_named_where_it_leaves_the_reader_out(tmp_path: Path) -> None:
    """Nobody has to guess why the default is not there."""
    (tmp_path / "settings.toml").write_text('[plugins]\nallowed = ["lockgate-openai"]\n')
    for command in (["ask", "Well?"], ["ask", "-p", "offline", "Well?"]):
        ran = lockgate(tmp_path, *command)
        assert (ran.status, "plugins.allowed in settings.toml leaves out its plugin" in ran.err) == (3, True), ran


HARBOUR = '''
from lockgate import Tool, ToolActivation, ToolDefinition, Visibility, hookimpl

class Rules(Tool):
    definition = ToolDefinition(
        "harbour_rules", {"type": "object", "properties": {}}, "Rules.", activation=ToolActivation.CONTEXT,
    )
    async def resolve_function(self, context):
        return None
    async def execute(self, arguments, context):
        raise NotImplementedError

@hookimpl
def lockgate_tools():
    return [Rules()]
'''


def test_a_tool_that_has_nothing_to_offer_is_told_on_demand(folders: Path) -> None:
    """Nobody asked for it, and nothing is wrong."""
    packs = make_pack(folders / "packs", "harbour-pack", HARBOUR, lockgate="harbour = harbour_pack")
    ask = ("ask", "--source", "there", "When does the harbour open?")
    assert "harbour_rules" not in lockgate(folders, *ask, PYTHONPATH=packs).err
    assert "not offered: harbour_rules: It passed every check" in lockgate(folders, *ask, "-v", PYTHONPATH=packs).err


def test_show_tells_what_is_really_demanded_and_which_folder_was_searched(folders: Path) -> None:
    """A level that every provider passes is no demand; the hash of a folder says nothing to anybody."""
    assert lockgate(folders, "ask", "--docs", folders / "there", "When does the harbour open?").status == 0
    ran = lockgate(folders, "chats", "show", "last")
    assert "demands nothing" in ran.out
    assert "data sources: there (" in ran.out
    (folders / "else").mkdir()
    (folders / "else" / "a.txt").write_text("The harbour closes at ten.\n")
    assert lockgate(folders, "ask", "--docs", folders / "else", "When does the harbour close?").status == 0
    assert "data sources: a folder named by --docs before (" in lockgate(folders, "chats", "show", "last").out


def test_presets_tell_which_tools_run(folders: Path) -> None:
    """A tool that offers itself, none at all, and a selection that counts or does not."""
    (folders / "settings.toml").write_text(
        '[assistants.search]\ntool_ids = ["semantic_search"]\n[assistants.bare]\ntool_ids = []\n[assistants.free]\n'
        '[assistants.chatty]\ncomponent = "CHAT"\n[chat_templates.search]\ntool_ids = ["semantic_search"]\n'
    )
    rows = {line.split()[0]: line for line in lockgate(folders, "assistants", "list").out.splitlines()}
    assert "semantic_search (offers itself)" in rows["search"]
    assert "none at all" in rows["bare"]
    assert "the user's selection (not shown in META_ASSISTANT, so none)" in rows["free"]
    assert "the user's selection" in rows["chatty"]
    assert "not shown" not in rows["chatty"]
    assert "semantic_search (offers itself)" in lockgate(folders, "templates", "list").out


def test_an_imported_chat_of_an_assistant_that_is_not_here_is_told(folders: Path) -> None:
    """No tool runs in it, so that is said before it goes on."""
    with (folders / "settings.toml").open("a") as settings:
        settings.write("[assistants.minutes]\ntool_ids = []\n")
    assert lockgate(folders, "ask", "--assistant", "minutes", "Well?").status == 0
    exported = lockgate(folders, "chats", "export", "last").out
    told = "it was begun with the assistant 'minutes', which is not configured here"
    assert told not in lockgate(folders, "chats", "import", "-", stdin=exported).err
    assert told in lockgate(folders / "home", "chats", "import", "-", stdin=exported).err


def test_counts_are_said_as_they_are(tmp_path: Path) -> None:
    """One of a thing has no plural."""
    out = lockgate(tmp_path, "plugins", "list").out
    assert "1 provider adapter, 1 provider profile" in out
    assert "1 provider adapters" not in out
