"""What is demanded of a file holds however it gets into a question, also where the entry of its source is wrong."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from cli_runs import add_fake, lockgate

from lockgate.testing import FakeProvider, answer_text

RIGHT = '[data_sources.contracts]\nkind = "local_folder"\npath = "{}"\nconfidence = "HIGH"\n'
BROKEN = {
    "a level nobody knows": RIGHT.replace('"HIGH"', '"HIHG"'),
    "a level that is none": RIGHT.replace('"HIGH"', "3"),
    "a misspelt level": RIGHT.replace("confidence", "confidense"),
    "no kind": RIGHT.replace('kind = "local_folder"\n', ""),
    "a kind nobody knows": RIGHT.replace("local_folder", "local_foldr").replace('"HIGH"', '"UNSURE"'),
    "a date": RIGHT + "since = 2026-01-01\n",
    "a misspelt table": RIGHT.replace("data_sources", "data_source"),
    "a list of tables": RIGHT.replace("[data_sources.contracts]", "[[data_sources]]"),
}


@pytest.fixture
def lease(tmp_path: Path) -> Path:
    """A document in a folder, beside a home without settings."""
    (tmp_path / "home").mkdir()
    (tmp_path / "a, b").mkdir()
    file = tmp_path / "a, b" / "lease.md"
    file.write_text("# Lease\n\nThe deposit is 4711 Euro.\n")
    return file


@pytest.fixture
def fake() -> Iterator[FakeProvider]:
    """A provider below HIGH."""
    with FakeProvider([answer_text("I cannot tell.")] * 3) as made:
        yield made


def home_with(lease: Path, settings: str, fake: FakeProvider) -> Path:
    """Return a home with a data source and a provider below HIGH."""
    home = lease.parents[1] / "home"
    add_fake(home, fake.base_url)
    file = home / "settings.toml"
    file.write_text(file.read_text() + settings.format(lease.parent))
    return home


@pytest.mark.parametrize("settings", [RIGHT, *BROKEN.values()], ids=["right", *BROKEN])
def test_an_attached_file_is_held_to_its_source(lease: Path, fake: FakeProvider, settings: str) -> None:
    """Nothing is sent to a provider below what the source demands; HIGH where the entry is wrong."""
    home = home_with(lease, settings, fake)
    link = lease.parents[1] / "link.md"
    link.symlink_to(lease)
    for path in (lease, link):
        ran = lockgate(home, "ask", "-p", "fake", "--attach", path, "How much is the deposit?")
        assert ran.status == 5, ran
        assert "requires a provider with confidence HIGH" in ran.err
        assert "4711" not in ran.out + ran.err
    assert fake.requests == []


@pytest.mark.parametrize("settings", BROKEN.values(), ids=BROKEN)
def test_a_folder_whose_source_is_wrong_demands_high(lease: Path, fake: FakeProvider, settings: str) -> None:
    """The folder, a file of it, and the folder around it: a provider below HIGH is not offered their texts."""
    home = home_with(lease, settings, fake)
    for place in (lease, lease.parent, lease.parents[1]):
        ran = lockgate(home, "ask", "-p", "fake", "--docs", place, "How much is the deposit?")
        assert ran.status == 0, ran
        assert "cannot be used as it is configured" in ran.err
        assert "tools" not in fake.requests[-1].body
    assert len(fake.requests) == 3


def test_a_chat_keeps_what_an_attached_file_demanded(lease: Path, fake: FakeProvider) -> None:
    """Asked of a provider that may see it, the file stays with the chat, and so does the demand with its source."""
    home = home_with(lease, RIGHT, fake)
    ran = lockgate(home, "ask", "--json", "-p", "offline", "--attach", lease, "How much is the deposit?")
    assert ran.status == 0, ran
    needs = json.loads(ran.out)["requirements"]
    assert (needs["confidence"], needs["confidence_by"]) == ("HIGH", "data source 'contracts'")
    assert lockgate(home, "ask", "-p", "fake", "--chat", "last", "And?").status == 5
    assert fake.requests == []


def test_a_file_elsewhere_demands_nothing(lease: Path, fake: FakeProvider) -> None:
    """A source is no reason to hold back what does not lie in it."""
    home = home_with(lease, RIGHT + '[data_sources.other]\nkind = 3\npath = "/nowhere/at/all"\n', fake)
    other = lease.parents[1] / "other.md"
    other.write_text("Nothing special.\n")
    ran = lockgate(home, "ask", "--json", "-p", "fake", "--attach", other, "What?")
    assert ran.status == 0, ran
    assert json.loads(ran.out)["requirements"]["confidence"] == "NONE"


def test_a_source_whose_id_looks_like_that_of_a_named_folder_counts(lease: Path, fake: FakeProvider) -> None:
    """What `--docs` calls its own sources is no way around a configured one."""
    home = home_with(lease, RIGHT.replace("contracts", "docs-contracts"), fake)
    ran = lockgate(home, "ask", "-p", "fake", "--docs", lease.parent, "How much is the deposit?")
    assert "belongs to the data source 'docs-contracts'" in ran.err
    assert "tools" not in fake.requests[-1].body
