"""`lockgate previews`, as a person runs it."""

import json
from pathlib import Path

import pytest
from cli_runs import lockgate
from made_packs import make_pack
from presets_kit import PACK

from lockgate.cli.previewing import outcome
from lockgate.policy import BY_USER, SetBy, SetByKind
from lockgate.registry.previews import Preview, PreviewSwitch

ORGANIZATION = SetBy(SetByKind.ORGANIZATION, file="plugin.lua", line=3)
REGISTERED = (Preview("A"), Preview("B", requires=("A",)), Preview("C", requires=("B", "GONE")))


@pytest.fixture
def packs(tmp_path: Path) -> str:
    """A pack with two previews."""
    return make_pack(tmp_path / "packs", "map-tools", PACK, lockgate="maps = map_tools")


def test_previews_are_listed_with_state_origin_and_tools(tmp_path: Path, packs: str) -> None:
    """On by default; off with the one it stands on; the file and the line that say so; one nobody registered is off."""
    (tmp_path / "settings.toml").write_text("[previews]\nPRE_RAG_2024 = true\nPRE_MAPS = false\nPRE_OLD = true\n")
    ran = lockgate(tmp_path, "previews", "list", "--json", PYTHONPATH=packs)
    assert (ran.status, ran.err) == (0, "")
    answer = json.loads(ran.out)
    rows = {row["preview"]: row for row in answer["previews"]}
    place = f"user ({tmp_path / 'settings.toml'}:"
    assert {name: (row["on"], row["off_through"], row["set_by"], row["tools"]) for name, row in rows.items()} == {
        "PRE_RAG_2024": (True, None, f"{place}2)", rows["PRE_RAG_2024"]["tools"]),
        "PRE_MAILBOXES_2026": (True, None, "built in", []),
        "PRE_MAPS": (False, "PRE_MAPS", f"{place}3)", ["show_map"]),
        "PRE_SATELLITES": (False, "PRE_MAPS", f"{place}3)", ["look_down"]),
        "PRE_NOBODY": (False, "PRE_NOBODY", "built in", ["lost"]),
    }
    assert rows["PRE_SATELLITES"]["requires"] == ["PRE_MAPS"]
    assert [name for name, row in rows.items() if not row["registered"]] == ["PRE_NOBODY"]
    assert answer["unknown"] == ["PRE_OLD"]


def test_the_table_says_the_same_in_words(tmp_path: Path, packs: str) -> None:
    """A title cannot steer the terminal; a switch that nothing answers to is told."""
    (tmp_path / "settings.toml").write_text('[previews]\nPRE_MAPS = false\n"PRE_\\u001bOLD" = true\n')
    ran = lockgate(tmp_path, "previews", "list", PYTHONPATH=packs)
    rows = {line.split()[0]: " ".join(line.split()) for line in ran.out.splitlines()}
    assert rows["PRE_MAPS"].startswith("PRE_MAPS Maps[2J off user (")
    assert rows["PRE_SATELLITES"].startswith("PRE_SATELLITES Satellites off, with PRE_MAPS PRE_MAPS user (")
    assert rows["PRE_NOBODY"].startswith("PRE_NOBODY off: nobody has registered it")
    assert rows["PRE_MAILBOXES_2026"] == "PRE_MAILBOXES_2026 Searching mailboxes on PRE_RAG_2024 built in"
    assert "which nobody has registered" in ran.err
    assert "\x1b" not in ran.out + ran.err


def test_a_preview_is_switched_and_its_tools_go_and_come_back(tmp_path: Path, packs: str) -> None:
    """The file says so, with its comments kept; lists have the tools or not; what stands on it goes along."""
    settings = tmp_path / "settings.toml"
    settings.write_text("# mine\n")

    def listed() -> set[str]:
        rows = json.loads(lockgate(tmp_path, "tools", "list", "--json", PYTHONPATH=packs).out)["tools"]
        return {row["tool"] for row in rows} & {"show_map", "look_down", "lost", "read_page"}

    assert listed() == {"show_map", "look_down", "read_page"}
    ran = lockgate(tmp_path, "previews", "off", "PRE_MAPS", PYTHONPATH=packs)
    assert (ran.status, ran.out) == (0, f"Switched PRE_MAPS off in {settings}.\n")
    assert "off with it: PRE_SATELLITES" in ran.err
    assert listed() == {"read_page"}
    stays = lockgate(tmp_path, "previews", "on", "PRE_SATELLITES", PYTHONPATH=packs)
    assert stays.status == 0
    assert "PRE_SATELLITES stays off: it stands on PRE_MAPS, which user (settings.toml:" in stays.err
    ran = lockgate(tmp_path, "previews", "on", "PRE_MAPS", PYTHONPATH=packs)
    assert "on with it: PRE_SATELLITES" in ran.err
    assert listed() == {"show_map", "look_down", "read_page"}
    assert settings.read_text().startswith("# mine\n")
    assert "PRE_MAPS = true" in settings.read_text()


@pytest.mark.parametrize("word", ["on", "off"])
def test_a_preview_nobody_has_registered_is_not_switched(tmp_path: Path, word: str) -> None:
    """What there is, is named; nothing is written, not even a file."""
    ran = lockgate(tmp_path, "previews", word, "zzz")
    assert ran.status == 2
    assert "There is no preview 'zzz'. There are: PRE_MAILBOXES_2026, PRE_RAG_2024." in ran.err
    assert "Did you mean 'PRE_RAG_2024'?" in lockgate(tmp_path, "previews", word, "PRE_RAG").err
    assert not (tmp_path / "settings.toml").exists()


def test_a_file_that_cannot_be_changed_is_left(tmp_path: Path) -> None:
    """A table that is none is not replaced behind the person's back."""
    (tmp_path / "settings.toml").write_text("previews = 1\n")
    ran = lockgate(tmp_path, "previews", "on", "PRE_RAG_2024")
    assert (ran.status, "previews has to be a table" in ran.err) == (3, True)
    assert (tmp_path / "settings.toml").read_text() == "previews = 1\n"


def by(set_by: SetBy, *, is_on: bool) -> PreviewSwitch:
    """Return a switch."""
    return PreviewSwitch(is_on, set_by)


@pytest.mark.parametrize(
    ("before", "name", "is_on", "told"),
    [
        ({}, "A", True, []),
        ({}, "A", False, ["off with it: B"]),
        ({}, "B", False, []),
        ({"A": by(BY_USER, is_on=False)}, "A", True, ["on with it: B"]),
        ({"A": by(BY_USER, is_on=False)}, "B", True, ["B stays off: it stands on A, which user switched off"]),
        ({}, "C", True, ["C stays off: it stands on GONE, which nobody has registered"]),
        ({"A": by(ORGANIZATION, is_on=False)}, "A", True,
         ["A stays off: organization (plugin.lua:3) holds it off"]),
        ({"A": by(ORGANIZATION, is_on=False)}, "B", True,
         ["B stays off: it stands on A, which organization (plugin.lua:3) switched off"]),
        ({"A": by(ORGANIZATION, is_on=True)}, "A", False, ["A stays on: organization (plugin.lua:3) holds it on"]),
        ({"A": by(ORGANIZATION, is_on=True)}, "A", True, []),
        ({"A": by(ORGANIZATION, is_on=False)}, "A", False, []),
    ],
)  # fmt: skip
def test_a_switch_that_has_another_effect_than_it_seems_says_so(
    before: dict[str, PreviewSwitch], name: str, told: list[str], *, is_on: bool
) -> None:
    """Held by the organization either way, without what it stands on, or with others that follow."""
    assert outcome(REGISTERED, before, name, is_on=is_on) == told
