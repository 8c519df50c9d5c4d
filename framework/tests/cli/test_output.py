"""What is printed where: safe text, colours, pipes that close, errors nobody expected."""

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from cli_runs import add_fake, lockgate
from made_packs import make_pack
from terminal_runs import OnTerminal

from lockgate.cli.exit_status import ExitStatus, status_of
from lockgate.cli.terminal import one_line, safe, to_json
from lockgate.errors import (
    ConfigurationError,
    DocumentError,
    FailureKind,
    LockgateError,
    ProviderDenied,
    ProviderError,
    StorageError,
    ToolBlocked,
    UnknownNameError,
    UsageError,
)
from lockgate.testing import FakeProvider, answer_error, answer_text


def test_safe_text_keeps_lines_and_letters_and_drops_what_steers() -> None:
    """Controls of both kinds, escapes and overrides of the reading direction go; umlauts, tabs and emoji stay."""
    assert safe("ä\t€\n🙂") == "ä\t€\n🙂"
    assert safe("a\x1b[31mb\x9b0mc\rd\x07e\x08f\x7fg\u202eh\u2066i\u2028j") == "a[31mb0mcdefghij"


def test_one_line_is_cut_and_has_no_breaks() -> None:
    """A name of a tool cannot fake a second line."""
    assert one_line("a\nb\t c") == "a b c"
    assert one_line("x" * 300) == "x" * 199 + "…"


def test_json_is_safe_on_a_terminal_and_means_the_same() -> None:
    """What could steer a terminal is escaped; reading it gives the text back."""
    text = "ä\x1b\x9b\u202e\ud800"
    written = to_json({"text": text})
    assert not any(character in written for character in "\x1b\x9b\u202e\ud800")
    assert "ä" in written
    assert json.loads(written) == {"text": text}


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (UnknownNameError("tool", "x", []), 2),
        (UsageError("x"), 2),
        (ConfigurationError("x"), 3),
        (ProviderError("x", kind=FailureKind.TIMEOUT), 4),
        (ProviderDenied("x"), 5),
        (ToolBlocked("x"), 5),
        (DocumentError("x"), 6),
        (StorageError("x"), 3),
        (LockgateError("x"), 1),
    ],
)
def test_every_error_has_its_status(error: LockgateError, status: int) -> None:
    """A script can tell what went wrong without reading."""
    assert status_of(error) == status
    assert status in list(ExitStatus)


def test_a_terminal_gets_colours_unless_it_must_not(tmp_path: Path) -> None:
    """NO_COLOR means none at all; what is not a terminal never gets any."""
    with OnTerminal(tmp_path, "plugins", "doctor") as run:
        assert run.end() == 0
        assert "\x1b[32m" in run.text
    with OnTerminal(tmp_path, "plugins", "doctor", NO_COLOR="1") as run:
        assert run.end() == 0
        assert "All plugins are well." in run.text
        assert "\x1b" not in run.text


def test_a_reader_that_leaves_early_gets_no_words_about_it(tmp_path: Path) -> None:
    """`lockgate ask … | head -1` ends quietly, and the chat is kept."""
    home = tmp_path / "home"
    with FakeProvider([answer_text(*[f"line {number}\n" * 200 for number in range(400)])]) as fake:
        add_fake(home, fake.base_url)
        process = subprocess.Popen(
            [sys.executable, "-m", "lockgate", "ask", "-p", "fake", "Long?"], text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, "LOCKGATE_HOME": str(home)},
        )  # fmt: skip
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == "line 0\n"
        process.stdout.close()
        errors = process.stderr.read()
        process.stderr.close()
        assert process.wait(timeout=60) == 1
    assert errors == ""
    assert json.loads(lockgate(home, "chats", "list", "--json").out)[0]["messages"] == 2


def test_an_encoding_that_knows_no_umlaut_is_no_error(tmp_path: Path) -> None:
    """What cannot be written is a question mark."""
    home = tmp_path / "home"
    with FakeProvider([answer_text("Größe → 5")]) as fake:
        add_fake(home, fake.base_url)
        ran = lockgate(home, "ask", "-p", "fake", "Size?", PYTHONIOENCODING="ascii")
    assert ran.status == 0
    assert ran.out.startswith("Gr??e ? 5")


def test_verbose_adds_the_kind_of_failure(tmp_path: Path) -> None:
    """The sentence comes first, details below it."""
    home = tmp_path / "home"
    with FakeProvider([answer_error(400, "bad thing", code="odd_code")]) as fake:
        add_fake(home, fake.base_url)
        ran = lockgate(home, "ask", "-v", "-p", "fake", "Hello?")
    assert ran.status == 4
    assert "kind: bad_request, status 400" in ran.err


BROKEN_COMMAND = """
import click

@click.command("crash")
def command():
    raise RuntimeError("something \\x1b[31m odd")

@click.command("greet")
@click.argument("name")
def greet(name):
    click.echo(f"Hello {name}")
"""


@pytest.fixture
def packs(tmp_path: Path) -> str:
    """Packs that bring commands: one that crashes, one that greets, one that cannot be imported, one that is none."""
    folder = tmp_path / "packs"
    lines = "crash = some_commands:command\ngreet = some_commands:greet\nask = some_commands:greet\nnone = os:sep"
    make_pack(folder, "some-commands", BROKEN_COMMAND, lockgate_commands=lines)
    return make_pack(folder, "bad-command", "raise SystemExit(9)", lockgate_commands="bad = bad_command:command")


def test_commands_of_packs_are_listed_without_importing_them(tmp_path: Path, packs: str) -> None:
    """A pack whose import ends the process costs nothing in the help; it cannot take a name of ours."""
    ran = lockgate(tmp_path, "--help", PYTHONPATH=packs)
    assert ran.status == 0
    assert "bad         A command of bad-command." in ran.out
    assert "greet       A command of some-commands." in ran.out
    assert "ask         Ask a question" in ran.out


def test_a_command_of_a_pack_runs(tmp_path: Path, packs: str) -> None:
    """It is an ordinary click command."""
    assert lockgate(tmp_path, "greet", "you", PYTHONPATH=packs).out == "Hello you\n"


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("bad", "The command 'bad' of bad-command cannot be loaded: SystemExit: 9"),
        ("none", "is no click command"),
        ("crash", "Something unexpected happened (RuntimeError: something [31m odd)"),
    ],
)
def test_a_broken_command_costs_itself_alone(tmp_path: Path, packs: str, command: str, words: str) -> None:
    """One sentence, status 1, no traceback."""
    ran = lockgate(tmp_path, command, PYTHONPATH=packs)
    assert ran.status == 1
    assert words in ran.err


def test_a_command_of_a_disabled_pack_is_not_imported(tmp_path: Path, packs: str) -> None:
    """What the settings switch off does not get in through this door."""
    (tmp_path / "settings.toml").write_text('[plugins]\ndisabled = ["bad-command"]\n')
    ran = lockgate(tmp_path, "bad", PYTHONPATH=packs)
    assert (ran.status, "is switched off in the settings" in ran.err) == (3, True)
    (tmp_path / "settings.toml").write_text('[plugins]\nallowed = ["lockgate-openai"]\n')
    ran = lockgate(tmp_path, "bad", PYTHONPATH=packs)
    assert (ran.status, "is not on the allow list" in ran.err) == (3, True)


def test_a_traceback_is_for_who_asks_for_it(tmp_path: Path, packs: str) -> None:
    """LOCKGATE_DEBUG shows where it happened, escape sequences left out."""
    done = subprocess.run(
        [sys.executable, "-m", "lockgate", "crash"], capture_output=True, text=True, check=False,
        env={**os.environ, "LOCKGATE_HOME": str(tmp_path), "PYTHONPATH": packs, "LOCKGATE_DEBUG": "1"},
    )  # fmt: skip
    assert done.returncode == 1
    assert 'raise RuntimeError("something' in done.stderr
    assert "\x1b" not in done.stderr


def test_a_progress_bar_stays_away_where_there_is_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    """A log file is not filled with it."""
    from lockgate.cli.progress import IndexProgress

    assert isinstance(sys.stderr, io.TextIOBase)
    with IndexProgress("docs") as progress:
        for number in range(3):
            progress.on(number, 3, "a.md")
    assert capsys.readouterr() == ("", "")
