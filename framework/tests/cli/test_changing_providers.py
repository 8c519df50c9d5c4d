"""Changing a provider that is there: nothing is lost, another host is said loudly, a key is kept by itself."""

import tomllib
from pathlib import Path

import pytest
from cli_runs import lockgate

ENTRY = """
# mine
[providers.cloud]
profile = "openai"  # as they speak
base_url = "https://llm.example.org/v1"
model = "our-model"
can_call_tools = true
confidence = "HIGH"
parameters = { temperature = 0.2 }
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with one provider that has most keys."""
    (tmp_path / "settings.toml").write_text(ENTRY)
    return tmp_path


def entry(home: Path) -> dict[str, object]:
    """Return what the file says of the provider."""
    table: dict[str, object] = tomllib.loads((home / "settings.toml").read_text())["providers"]["cloud"]
    return table


def add(home: Path, *more: str, stdin: str = "") -> tuple[int, str]:
    """Change the provider; return the status and what was said."""
    ran = lockgate(home, "providers", "add", "cloud", "--replace", *more, stdin=stdin)
    return ran.status, ran.out + ran.err


def test_replacing_keeps_what_no_option_names(home: Path) -> None:
    """The same profile and a key: the entry is what it was, to the letter, and its host is asked."""
    status, told = add(home, "--profile", "openai", stdin="sk-CANARY\n")
    assert (status, (home / "settings.toml").read_text()) == (0, ENTRY)
    assert "stays: profile = openai, base_url = https://llm.example.org/v1, model = our-model" in told
    assert "ANOTHER HOST" not in told
    assert "sk-CANARY" not in told
    assert "sk-CANARY" in (home / "secrets.toml").read_text()


def test_an_option_changes_one_key_and_comments_stay(home: Path) -> None:
    """Without --profile the profile stays as well; old and new value are said."""
    status, told = add(home, "--model", "other", "--no-key")
    assert status == 0
    assert "changes: model from our-model to other" in told
    assert (home / "settings.toml").read_text() == ENTRY.replace("our-model", "other")


def test_an_empty_value_takes_a_key_out(home: Path) -> None:
    """Otherwise nothing could be undone but in an editor."""
    assert add(home, "--model", "", "--no-key")[0] == 0
    assert "model" not in entry(home)


@pytest.mark.parametrize("options", [("--base-url", "https://other.example.net/v1"), ("--base-url", "")])
def test_another_host_is_said_loudly_and_is_not_trusted_as_the_old_one(home: Path, options: tuple[str, str]) -> None:
    """Also where taking the address out means the host of the profile; the stored key is named."""
    text = ENTRY.replace('confidence = "HIGH"', 'confidence = "HIGH"\nself_hosted = true')
    (home / "settings.toml").write_text('trusted_provider_ids = ["Cloud"]\n' + text)
    add(home, stdin="sk-CANARY\n")
    status, told = add(home, *options, "--no-key")
    assert status == 0
    assert "ANOTHER HOST: what 'cloud' is asked goes to https://" in told
    assert "not to https://llm.example.org/v1" in told
    assert "The key that is stored for it goes there, too" in told
    assert "trusted_provider_ids" in told
    assert "changes: confidence from HIGH to nothing" in told
    assert "changes: self_hosted from true to nothing" in told
    assert not {"confidence", "self_hosted"} & entry(home).keys()


def test_a_host_that_is_stated_as_self_hosted_is(home: Path) -> None:
    """What an option says counts for the new host."""
    add(home, "--profile", "vllm", "--base-url", "https://ours.example.org", "--self-hosted", "--no-key")
    assert entry(home)["self_hosted"] is True


def test_a_path_or_the_usual_port_is_no_other_host(home: Path) -> None:
    """Who answers is the same."""
    status, told = add(home, "--base-url", "https://llm.example.org:443/v2", "--no-key")
    assert (status, "ANOTHER HOST" in told, entry(home)["confidence"]) == (0, False, "HIGH")


def test_a_key_that_cannot_be_kept_leaves_the_entry_as_it_was(home: Path) -> None:
    """The old key does not go to a new host because keeping the new one failed."""
    (home / "secrets.toml").write_text("no toml [")
    (home / "secrets.toml").chmod(0o600)
    before = entry(home)
    status, told = add(home, "--base-url", "https://other.example.net/v1", stdin="sk-CANARY\n")
    assert (status, "secrets.toml is no valid TOML" in told) == (3, True)
    assert entry(home) == before


def test_a_wrong_value_changes_nothing(home: Path) -> None:
    """Neither the entry nor a key."""
    status, told = add(home, "--base-url", "ftp://x", stdin="sk-CANARY\n")
    assert (status, "base_url is no web address" in told) == (3, True)
    assert (home / "settings.toml").read_text() == ENTRY
    assert not (home / "secrets.toml").exists()


def test_an_entry_that_cannot_be_used_is_written_anew_and_that_is_said(home: Path) -> None:
    """Nobody knows what its values were meant to be."""
    (home / "settings.toml").write_text('[providers.cloud]\nprofile = 3\nmodel = "m"\n')
    status, told = add(home, "--profile", "openai", "--no-key")
    assert (status, entry(home)) == (0, {"profile": "openai"})
    assert "nothing of it is kept" in told


def test_a_key_is_kept_by_itself(home: Path) -> None:
    """The entry is not touched; a profile's name that is used as a provider takes a key, too."""
    for name in ("cloud", "groq"):
        ran = lockgate(home, "providers", "key", name, stdin=f"sk-{name}\n")
        assert (ran.status, ran.out) == (0, f"Kept the key of {name!r}.\n")
        assert f"sk-{name}" in (home / "secrets.toml").read_text()
    assert (home / "settings.toml").read_text() == ENTRY
    assert '"key": "stored secret' in lockgate(home, "providers", "list", "--json").out


@pytest.mark.parametrize(
    ("name", "line", "stdin", "words"),
    [
        ("clowd", "", "sk-1\n", "Did you mean 'cloud'?"),
        ("cloud", "", "\n", "No key was given."),
        ("offline", "", "sk-1\n", "needs no key"),
        ("cloud", 'api_key_variable = "MY_KEY"\n', "sk-1\n", "environment variable MY_KEY and from nowhere else"),
    ],
)
def test_a_key_that_would_not_be_used_is_not_kept(home: Path, name: str, line: str, stdin: str, words: str) -> None:
    """Nobody has that name, nothing was given, none is needed, or it is taken from elsewhere."""
    (home / "settings.toml").write_text(ENTRY + line)
    ran = lockgate(home, "providers", "key", name, stdin=stdin)
    assert ran.status == 2
    assert words in ran.err
    assert not (home / "secrets.toml").exists()


def test_the_way_back_to_a_stored_key_works(home: Path) -> None:
    """What the refusal advises takes the variable out and asks."""
    (home / "settings.toml").write_text(ENTRY + 'api_key_variable = "MY_KEY"\n')
    assert add(home, "--key-from-env", "", stdin="sk-CANARY\n")[0] == 0
    assert (home / "settings.toml").read_text() == ENTRY
    assert "sk-CANARY" in (home / "secrets.toml").read_text()
