"""The commands that list, explain, add and remove."""

import json
from pathlib import Path

from cli_runs import add_fake, lockgate


def test_tools_are_listed_with_what_a_person_needs(tmp_path: Path) -> None:
    """Who needs what, where data goes, whose it is."""
    ran = lockgate(tmp_path, "tools", "list", "--json")
    row = next(row for row in json.loads(ran.out)["tools"] if row["tool"] == "semantic_search")
    assert row["offers_itself"] is True
    assert row["outbound_data"] == "CONFIGURED_SERVICE"
    assert "lockgate-semantic-search" in row["owner"]
    assert "semantic_search" in lockgate(tmp_path, "tools", "list", "--component", "chat").out
    assert lockgate(tmp_path, "tools", "list", "--component", "kitchen").status == 2


def test_explain_shows_who_set_the_rule_and_what_would_change_it(tmp_path: Path) -> None:
    """A tool the user switched off names the settings file."""
    (tmp_path / "settings.toml").write_text('disabled_tool_ids = ["semantic_search"]\n')
    ran = lockgate(tmp_path, "tools", "explain", "semantic_search")
    assert "no  the tool is switched on" in ran.out
    assert "set by user (settings.toml:1)" in ran.out
    assert "what would change it: take 'semantic_search' out of disabled_tool_ids" in ran.out
    assert "It would not be offered." in ran.out
    answer = json.loads(lockgate(tmp_path, "tools", "explain", "semantic_search", "--json").out)
    assert [row["reason"] for row in answer["checks"] if not row["passes"]] == ["TOOL_SWITCHED_OFF"]


def test_explain_tells_what_a_folder_would_change(tmp_path: Path) -> None:
    """Beyond the table: nothing to offer, until there is something to search."""
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "a.md").write_text("Some text.")
    assert "nothing to offer" in lockgate(tmp_path, "tools", "explain", "semantic_search").out
    ran = lockgate(tmp_path, "tools", "explain", "semantic_search", "--docs", folder)
    assert "It would be offered." in ran.out


def test_a_provider_is_added_listed_and_removed(tmp_path: Path) -> None:
    """The key is kept apart, never shown, and gone with the provider; comments in the file stay."""
    settings = tmp_path / "settings.toml"
    settings.write_text("# my own words\n")
    add_fake(tmp_path, "http://127.0.0.1:9/v1", key="sk-CANARY-1")
    assert "CANARY" not in settings.read_text()
    assert "# my own words" in settings.read_text()
    listed = lockgate(tmp_path, "providers", "list")
    assert "stored secret" in listed.out
    assert "CANARY" not in listed.out + listed.err
    assert lockgate(tmp_path, "providers", "remove", "fake").status == 0
    assert "CANARY" not in (tmp_path / "secrets.toml").read_text()
    assert lockgate(tmp_path, "providers", "remove", "fake").status == 2


def test_a_provider_is_written_anew_only_on_demand(tmp_path: Path) -> None:
    """The ID is taken until `--replace` says otherwise; a key that is left out stays."""
    add_fake(tmp_path, "http://127.0.0.1:9/v1", key="sk-CANARY-1")
    again = ("providers", "add", "fake", "--profile", "openai", "--base-url", "http://127.0.0.1:10/v1", "--no-key")
    refused = lockgate(tmp_path, *again)
    assert refused.status == 2
    assert "--replace" in refused.err
    assert lockgate(tmp_path, *again, "--replace").status == 0
    row = json.loads(lockgate(tmp_path, "providers", "list", "--json").out)["providers"][0]
    assert (row["address"], row["key"]) == ("http://127.0.0.1:10/v1", "stored secret")


def test_a_host_on_this_machine_counts_as_self_hosted_and_says_so(tmp_path: Path) -> None:
    """It is the user's entry that states it, and the list shows it."""
    ran = lockgate(tmp_path, "providers", "add", "ollama", "--model", "m", "--default", stdin="\n")
    assert ran.status == 0
    assert "counts as self-hosted" in ran.err
    row = json.loads(lockgate(tmp_path, "providers", "list", "--json").out)["providers"][0]
    assert (row["id"], row["self_hosted"], row["confidence"], row["default"]) == ("ollama", True, "HIGH", True)


def test_a_profile_nobody_brings_is_told(tmp_path: Path) -> None:
    """The nearest name is suggested."""
    ran = lockgate(tmp_path, "providers", "add", "x", "--profile", "olama", "--no-key")
    assert ran.status == 2
    assert "Did you mean 'ollama'?" in ran.err


def test_plugins_are_listed_and_well(tmp_path: Path) -> None:
    """Everything of ours loads through the same entry points as anybody's."""
    rows = json.loads(lockgate(tmp_path, "plugins", "list", "--json").out)
    assert {row["name"]: row["state"] for row in rows} == {
        "local_index": "loaded", "offline": "loaded", "openai": "loaded", "semantic_search": "loaded",
    }  # fmt: skip
    ran = lockgate(tmp_path, "plugins", "doctor")
    assert (ran.status, ran.out.strip()) == (0, "All plugins are well.")


def test_a_disabled_plugin_is_listed_as_such(tmp_path: Path) -> None:
    """It is never imported, and the doctor has nothing to complain of."""
    (tmp_path / "settings.toml").write_text('[plugins]\ndisabled = ["openai"]\n')
    rows = json.loads(lockgate(tmp_path, "plugins", "list", "--json").out)
    assert next(row for row in rows if row["name"] == "openai")["import_ms"] is None


def test_a_wrong_setting_is_told_and_costs_only_itself(tmp_path: Path) -> None:
    """The file is read on the safe side; a file that is no TOML names its line."""
    settings = tmp_path / "settings.toml"
    settings.write_text('[limits]\nmax_tool_calls = "many"\n')
    ran = lockgate(tmp_path, "plugins", "doctor")
    assert ran.status == 1
    assert "max_tool_calls" in ran.out
    settings.write_text("[limits\n")
    ran = lockgate(tmp_path, "plugins", "list")
    assert ran.status == 3
    assert "line 1" in ran.err
    assert settings.read_text() == "[limits\n"


def test_a_misspelt_command_is_told(tmp_path: Path) -> None:
    """The nearest one is suggested."""
    ran = lockgate(tmp_path, "tolls")
    assert ran.status == 2
    assert "Did you mean 'tools'?" in ran.err
