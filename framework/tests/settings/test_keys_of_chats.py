"""Keys of the settings file that say what chats begin with, what is a preview, and what every provider needs."""

from pathlib import Path
from typing import Any

import pytest

from lockgate.errors import ConfigurationError
from lockgate.policy import ConfidenceLevel
from lockgate.settings.file_reading import settings_from_table
from lockgate.settings.file_values import AssistantEntry, ChatTemplateEntry
from lockgate.settings.files import UserSettings


def test_entries_have_their_values() -> None:
    """An absent list of tools is no empty one; names are stripped and stand once; prompts stay as they are."""
    file = settings_from_table({
        "chat_templates": {"t": {"system_prompt": "  Two\n lines ", "tool_ids": [" b", "a", "b "]}, "u": {}},
        "assistants": {"a": {"name": "A", "component": "chat", "tool_ids": []}, "b": {"provider": "p"}},
    })  # fmt: skip
    assert file.problems == ()
    assert file.chat_templates == {
        "t": ChatTemplateEntry("t", "t", "  Two\n lines ", ("b", "a")), "u": ChatTemplateEntry("u", "u", "", None),
    }  # fmt: skip
    assert file.assistants == {
        "a": AssistantEntry("a", "A", component="CHAT", tool_ids=()), "b": AssistantEntry("b", "b", provider="p"),
    }  # fmt: skip


WRONG: dict[str, tuple[dict[str, Any], str, dict[str, Any]]] = {
    "enforced by a text": (
        {"confidence": {"enforce_global_minimum": "false"}},
        "valid are true and false, without quotes; until it is right, every provider needs the confidence HIGH",
        {"enforce_global_minimum": True, "global_minimum": ConfidenceLevel.HIGH},
    ),
    "a level nobody knows": (
        {"confidence": {"global_minimum": "HIHG", "enforce_global_minimum": True}},
        "Did you mean 'HIGH'? Until it is right, every provider needs the confidence HIGH",
        {"enforce_global_minimum": True, "global_minimum": ConfidenceLevel.HIGH},
    ),
    "a level that is no demand": (
        {"confidence": {"global_minimum": "UNKNOWN"}},
        "it counts as HIGH when enforced",
        {"enforce_global_minimum": False, "global_minimum": ConfidenceLevel.NONE},
    ),
    "a preview by a text": (
        {"previews": {"A": "on", "B": True, "C": 1.5}},
        "A has the value 'on'; valid are true and false, without quotes; until it is right, the preview is off",
        {"previews": {"A": False, "B": True, "C": False}},
    ),
    "previews that are no table": ({"previews": ["A"]}, "[previews]", {"previews": {}, "all_previews_off": True}),
    "components as a text": (
        {"visible_tool_selection_components": "CHAT"},
        "no component shows it through this key",
        {"visible_selection_components": frozenset()},
    ),
    "too many restricted calls": (
        {"limits": {"max_restricted_calls": 1001}}, "from 0 to 1000", {"max_restricted_calls": 0},
    ),
    "a switch for a number": ({"limits": {"max_restricted_calls": False}}, "false", {"max_restricted_calls": 0}),
    "a template that is no table": ({"chat_templates": {"t": "x"}}, "[chat_templates.NAME]", {"chat_templates": {}}),
    "templates that are no table": ({"chat_templates": 3}, "[chat_templates]", {"chat_templates": {}}),
    "tools as a text": (
        {"assistants": {"a": {"tool_ids": "web_search"}}}, 'assistants.a is left out: tool_ids has the value \'web_s',
        {"assistants": {}},
    ),
    "a tool that is no name": (
        {"chat_templates": {"t": {"tool_ids": ["a", {}]}}}, "chat_templates.t is left out: tool_ids holds the item",
        {"chat_templates": {}},
    ),
    "a prompt of numbers": ({"assistants": {"a": {"system_prompt": 5}}}, "system_prompt", {"assistants": {}}),
    "a component of numbers": ({"assistants": {"a": {"component": 5}}}, "component", {"assistants": {}}),
    "a blank name": ({"chat_templates": {" ": {}}}, '[chat_templates.NAME]', {"chat_templates": {}}),
}  # fmt: skip


@pytest.mark.parametrize(("table", "words", "left"), WRONG.values(), ids=WRONG)
def test_a_wrong_value_is_told_and_the_strict_side_counts(
    table: dict[str, Any], words: str, left: dict[str, Any]
) -> None:
    """What arrived, what is valid, what counts meanwhile."""
    file = settings_from_table(table)
    assert words in " ".join(map(str, file.problems))
    assert {name: getattr(file, name) for name in left} == left


@pytest.mark.parametrize("kind", ["chat_templates", "assistants"])
def test_a_bad_entry_costs_itself_alone(kind: str) -> None:
    """The others are there."""
    file = settings_from_table({kind: {"bad": {"name": []}, "good": {"name": "Good"}}})
    assert list(getattr(file, kind)) == ["good"]
    assert [problem.key for problem in file.problems] == [f"{kind}.bad"]


@pytest.mark.parametrize("kind", ["chat_templates", "assistants"])
def test_a_misspelt_key_of_an_entry_is_told(kind: str) -> None:
    """The entry is there all the same."""
    file = settings_from_table({kind: {"a": {"system_promt": "x"}}})
    assert list(getattr(file, kind)) == ["a"]
    assert "Did you mean 'system_prompt'?" in str(file.problems[0])


@pytest.mark.parametrize("kind", ["chat_templates", "assistants", "providers"])
@pytest.mark.parametrize("name", ["a\x1b[2J", "a\nb", "a\u202eb", "a\u2028b", "\x00", "\U000e0041"])
def test_an_entry_whose_name_cannot_be_shown_is_left_out(kind: str, name: str) -> None:
    """The problem writes the name as TOML does, escaped."""
    entry = {"profile": "x"} if kind == "providers" else {}
    file = settings_from_table({kind: {name: entry, "b": entry}})
    assert list(getattr(file, kind)) == ["b"]
    told = str(file.problems[0])
    assert told.isprintable()
    assert "holds a character that cannot be shown" in told


def test_names_in_any_script_are_names() -> None:
    """Joiners belong to words of some scripts and to pictures."""
    names = ["Übersicht", "نمی\u200cخواهم", "会议", "👩\u200d🔬"]
    assert list(settings_from_table({"assistants": {name: {} for name in names}}).assistants) == names


def test_a_long_list_of_nonsense_is_told_in_short() -> None:
    """Three items and how many more there are, not a hundred thousand problems."""
    file = settings_from_table({"visible_tool_selection_components": [*range(100_000), "CHAT"]})
    assert file.visible_selection_components == {"CHAT"}
    assert len(file.problems) == 4
    assert "99997 more items" in str(file.problems[3])


def test_a_long_list_of_tools_is_kept() -> None:
    """Each name once, in order."""
    names = [f"tool_{number % 50_000}" for number in range(100_000)]
    file = settings_from_table({"assistants": {"a": {"tool_ids": names}}})
    assert file.assistants["a"].tool_ids == tuple(names[:50_000])


def test_lines_come_with_the_file(tmp_path: Path) -> None:
    """A file that is read knows where its keys stand; a table without its text knows what there is."""
    path = tmp_path / "settings.toml"
    path.write_text("\n[previews]\nA = true\n")
    assert UserSettings(path).read().lines == {("previews",): 2, ("previews", "A"): 3}
    assert settings_from_table({"previews": {"A": True}}).lines == {("previews",): None, ("previews", "A"): None}


def test_a_preview_is_switched_in_the_file(tmp_path: Path) -> None:
    """Comments stay; a wrong value is corrected by switching; what is no table is left to the person."""
    user = UserSettings(tmp_path / "settings.toml")
    user.path.write_text('# mine\n[previews]\nA = "yes" # hm\n')
    user.set_value(("previews", "A"), True)
    user.set_value(("previews", "B"), False)
    assert user.read().previews == {"A": True, "B": False}
    assert "# mine" in user.path.read_text()
    user.path.write_text("previews = 1\n")
    with pytest.raises(ConfigurationError, match="previews has to be a table"):
        user.set_value(("previews", "A"), True)
    assert user.path.read_text() == "previews = 1\n"
