"""`lockgate settings check`."""

import json
from pathlib import Path

from cli_runs import lockgate

WRONG = """disabled_tool_ids = ["nothing"]
odd = 1

[assistants.bad]
tool_ids = 3

[data_sources.gone]
kind = "local_folder"
path = "/nowhere/at/all"

[data_sources.other]
kind = "local_foldr"
path = "/nowhere"
"""


def test_everything_that_is_wrong_is_told_with_its_line(tmp_path: Path) -> None:
    """Wrong values, keys and names nobody knows, folders that are not there; nothing changes."""
    settings = tmp_path / "settings.toml"
    settings.write_text(WRONG)
    ran = lockgate(tmp_path, "settings", "check", "--json")
    found = {row["text"].split(" ")[0] + str(row["line"]) for row in json.loads(ran.out)["problems"]}
    assert ran.status == 3
    assert {"disabled_tool_ids1", "odd2", "The7"} <= found
    assert len(found) == 5
    ran = lockgate(tmp_path, "settings", "check")
    assert ran.status == 3
    assert ran.out.startswith(f"{settings}: 5 problems\n  line 1: disabled_tool_ids names ")
    assert "line 7: The data source 'gone' cannot be searched: /nowhere/at/all does not exist." in ran.out
    assert settings.read_text() == WRONG
    assert lockgate(tmp_path, "plugins", "doctor").out.count("The data source 'gone' cannot be searched") == 1
    assert "5 problems" not in lockgate(tmp_path, "tools", "list").err
    told = lockgate(tmp_path, "chats", "list").err
    assert "`lockgate settings check` and `lockgate plugins doctor` show them" in told


def test_all_is_well_without_and_with_a_file(tmp_path: Path) -> None:
    """Nothing is written for it."""
    ran = lockgate(tmp_path / "home", "settings", "check")
    assert (ran.status, ran.out) == (0, "All is well.\n")
    assert "is not there, so the defaults hold" in ran.err
    assert not (tmp_path / "home").exists()
    (tmp_path / "settings.toml").write_text("enable_tools = true\n")
    assert lockgate(tmp_path, "settings", "check").out == "All is well.\n"


def test_another_file_is_checked_in_its_place(tmp_path: Path) -> None:
    """Before it is put where it counts; one that is not there, or no TOML, is told."""
    other = tmp_path / "new.toml"
    other.write_text("\nodd = 1\n")
    ran = lockgate(tmp_path, "settings", "check", other)
    assert (ran.status, ran.out.splitlines()[0]) == (3, f"{other}: 1 problem")
    assert "  line 2: odd is a key nobody knows" in ran.out
    assert lockgate(tmp_path, "settings", "check", tmp_path / "missing.toml").status == 6
    assert lockgate(tmp_path, "settings", "check", tmp_path).status == 6
    other.write_text("a = [\n")
    assert lockgate(tmp_path, "settings", "check", other).status == 3
