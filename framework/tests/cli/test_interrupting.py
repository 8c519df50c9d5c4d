"""Ctrl-C, and ends that nothing may hold up."""

import json
from pathlib import Path

import pytest
from cli_runs import add_fake, lockgate
from made_packs import HANGING_TOOLS, make_pack
from terminal_runs import OnTerminal

from lockgate.testing import Call, Delivery, FakeProvider, answer_calls, answer_text


@pytest.fixture
def packs(tmp_path: Path) -> str:
    """A folder for ``PYTHONPATH`` that holds a pack of tools which never end."""
    return make_pack(tmp_path / "packs", "hanging-tools", HANGING_TOOLS, lockgate="hanging = hanging_tools")


@pytest.mark.parametrize("tool", ["sleep", "sleep_elsewhere"])
def test_a_tool_that_hangs_in_a_thread_is_left_behind(tmp_path: Path, packs: str, tool: str) -> None:
    """Ctrl-C ends the process although the thread sleeps on, and the chat is kept with its call."""
    home = tmp_path / "home"
    with FakeProvider([answer_calls(Call(tool, {}))]) as fake:
        add_fake(home, fake.base_url)
        with OnTerminal(home, "ask", "-p", "fake", "--tool", tool, "Sleep?", PYTHONPATH=packs) as run:
            run.wait_for("→ Sleep")
            run.press_ctrl_c()
            assert run.end() == 130
            assert "Interrupted. The chat so far is kept" in run.text
            assert "Traceback" not in run.text
    assert json.loads(lockgate(home, "chats", "list", "--json").out)[0]["title"] == "Sleep?"


def test_a_second_ctrl_c_leaves_at_once(tmp_path: Path, packs: str) -> None:
    """A tool that blocks the event loop cannot be cancelled; the person can leave all the same."""
    home = tmp_path / "home"
    with FakeProvider([answer_calls(Call("block", {}))]) as fake:
        add_fake(home, fake.base_url)
        with OnTerminal(home, "ask", "-p", "fake", "--tool", "block", "Block?", PYTHONPATH=packs) as run:
            run.wait_for("→ Block")
            run.press_ctrl_c()
            run.press_ctrl_c()
            while run.process.poll() is None:  # two signals that arrive together are one
                run.press_ctrl_c()
            assert run.end() == 130
            assert "Traceback" not in run.text


def test_an_interrupted_question_prints_its_object(tmp_path: Path) -> None:
    """With --json the object is there on every way out."""
    home = tmp_path / "home"
    with FakeProvider([answer_text("The beginning", delivery=Delivery(hang=True))]) as fake:
        add_fake(home, fake.base_url)
        with OnTerminal(home, "ask", "-p", "fake", "--json", "--verbose", "Hello?") as run:
            run.wait_for("offered: no tool")
            run.press_ctrl_c()
            assert run.end() == 130
    printed = next(line for line in run.text.splitlines() if line.startswith("{"))
    assert json.loads(printed)["stopped"] == "cancelled"


def test_ctrl_c_at_the_question_for_a_key_writes_nothing(tmp_path: Path) -> None:
    """One is enough, the echo of the terminal is on again, and no provider is left behind half made."""
    home = tmp_path / "home"
    with OnTerminal(home, "providers", "add", "groq") as run:
        run.wait_for("API key for Groq")
        run.press_ctrl_c()
        assert run.end() == 130
        assert "Interrupted." in run.text
    assert not (home / "settings.toml").exists()


def test_a_key_is_typed_without_echo(tmp_path: Path) -> None:
    """It appears nowhere on the terminal."""
    home = tmp_path / "home"
    with OnTerminal(home, "providers", "add", "groq", "--model", "m") as run:
        run.wait_for("API key for Groq")
        run.type("gsk-CANARY\n")
        assert run.end() == 0
        assert "CANARY" not in run.text
    assert "CANARY" in (home / "secrets.toml").read_text()


def test_ctrl_c_while_a_folder_is_read_leaves_a_clean_terminal(tmp_path: Path) -> None:
    """The bar is gone, the cursor is there, and the next question goes on with what was read."""
    folder = tmp_path / "many"
    folder.mkdir()
    for number in range(3_000):
        (folder / f"{number}.md").write_text(f"# Part {number}\n" + "The number of this part is unusual. " * 100)
    with OnTerminal(tmp_path / "home", "ask", "--docs", folder, "Which part?") as run:
        run.wait_for("reading many")
        run.press_ctrl_c()
        assert run.end() == 130
        assert run.text.rindex("\x1b[?25h") > run.text.rindex("\x1b[?25l")
        assert run.text.rstrip().endswith("Interrupted.")
    ran = lockgate(tmp_path / "home", "ask", "--docs", folder, "What is unusual of part 77?")
    assert ran.status == 0
    assert "3000 documents" in ran.err
