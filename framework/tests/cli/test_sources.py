"""Folders and configured data sources on the command line, and the secrets of tools."""

import json
from pathlib import Path

import pytest
from cli_runs import add_fake, lockgate

from lockgate.testing import FakeProvider, answer_text


@pytest.fixture
def contracts(tmp_path: Path) -> Path:
    """A folder that is configured to need HIGH, and the home that says so."""
    folder = tmp_path / "contracts"
    (folder / "2026").mkdir(parents=True)
    (folder / "lease.md").write_text("# Lease\n\nThe deposit is 4711 Euro.\n")
    (folder / "2026" / "new.md").write_text("# New\n\nThe new deposit is 4712 Euro.\n")
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "settings.toml").write_text(
        f'[data_sources.contracts]\nkind = "local_folder"\npath = "{folder}"\nconfidence = "HIGH"\n'
    )
    return folder


@pytest.mark.parametrize("place", [".", "2026", "lease.md", ".."])
def test_a_folder_keeps_what_is_demanded_of_it_however_it_is_named(contracts: Path, place: str) -> None:
    """A part of it, a file of it, or a folder around it: a provider below HIGH is not offered its texts."""
    home = contracts.parent / "home"
    with FakeProvider([answer_text("I cannot tell.")]) as fake:
        add_fake(home, fake.base_url)
        ran = lockgate(home, "ask", "-p", "fake", "--docs", contracts / place, "How much is the deposit?")
        assert "tools" not in fake.requests[0].body
    assert "belongs to the data source 'contracts'" in ran.err
    assert "no tool can search" in ran.err


def test_a_configured_source_is_searched_by_its_id(contracts: Path) -> None:
    """`--source`, once for each or `all`; an unknown one is told."""
    home = contracts.parent / "home"
    for name in ("contracts", "all"):
        ran = lockgate(home, "ask", "--source", name, "How much is the deposit in the lease?")
        assert "4711" in ran.out, ran
    ran = lockgate(home, "ask", "--source", "contract", "How much?")
    assert ran.status == 2
    assert "Did you mean 'contracts'?" in ran.err


def test_several_folders_are_searched_together(tmp_path: Path) -> None:
    """`--docs` may be repeated."""
    for name, text in (("a", "The cat is black."), ("b", "The dog is white.")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "text.md").write_text(text)
    ran = lockgate(tmp_path / "home", "ask", "--json", "--docs", tmp_path / "a", "--docs", tmp_path / "b",
                   "Which colour has the cat and the dog?")  # fmt: skip
    text = json.loads(ran.out)["text"]
    assert "The cat is black." in text
    assert "The dog is white." in text


def test_a_secret_of_a_tool_that_has_none_is_told(tmp_path: Path) -> None:
    """Neither a tool nor a setting is guessed."""
    ran = lockgate(tmp_path, "tools", "secret", "semantic_search", "api_key", stdin="x\n")
    assert ran.status == 2
    assert "There is no secret setting of semantic_search" in ran.err
    assert lockgate(tmp_path, "tools", "secret", "nothing", "api_key", stdin="x\n").status == 2
