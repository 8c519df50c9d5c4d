"""`lockgate ask`, as a person runs it."""

import json
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from cli_runs import add_fake, lockgate

from lockgate.testing import Delivery, FakeProvider, answer_error, answer_text

DOCS = {
    "leave.md": "# Leave\n\nEvery employee has thirty days of paid leave a year.\n",
    "travel.md": "# Travel\n\nTrain journeys are booked through the travel desk.\n",
}


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    """A folder of somebody's documents."""
    folder = tmp_path / "docs"
    folder.mkdir()
    for name, text in DOCS.items():
        (folder / name).write_text(text)
    return folder


def test_a_folder_is_asked_without_key_or_network(tmp_path: Path, docs: Path) -> None:
    """The offline reader calls semantic_search, quotes the sentence, and the sources are numbered."""
    ran = lockgate(tmp_path / "home", "ask", "--docs", docs, "How many days of paid leave does an employee have?")
    assert ran.status == 0, ran.err
    assert "thirty days of paid leave" in ran.out
    assert "No language model wrote this" in ran.out.splitlines()[0]
    assert "[1] leave.md" in ran.out
    assert "← Semantic search done" in ran.err
    assert "\x1b" not in ran.out + ran.err


def test_json_is_one_object_and_nothing_else(tmp_path: Path, docs: Path) -> None:
    """A program reads standard output whole."""
    ran = lockgate(tmp_path / "home", "ask", "--json", "--docs", docs, "Who books train journeys?")
    answer = json.loads(ran.out)
    assert set(answer) == {"text", "sources", "traces", "requirements", "usage", "stopped", "chat", "error"}
    assert "travel desk" in answer["text"]
    assert answer["stopped"] == "answered"
    assert answer["traces"][0]["tool_id"] == "semantic_search"
    assert answer["traces"][0]["status"] == "SUCCESS"
    assert answer["requirements"]["data_security"] == "ALLOW_ANY"
    assert answer["sources"][0]["origin"] == "rag"


def test_a_chat_goes_on(tmp_path: Path) -> None:
    """`--chat last` sends the earlier turns as texts alone."""
    home = tmp_path / "home"
    with FakeProvider([answer_text("Blue."), answer_text("Still blue.")]) as fake:
        add_fake(home, fake.base_url)
        assert lockgate(home, "ask", "-p", "fake", "Which colour?").out.startswith("Blue.")
        assert lockgate(home, "ask", "-p", "fake", "--chat", "last", "Sure?").status == 0
        fake.assert_no_problems()
    system, *turns = fake.requests[1].body["messages"]
    assert (system["role"], "Today" in system["content"] or "today" in system["content"]) == ("system", True)
    assert [message["content"] for message in turns] == ["Which colour?", "Blue.", "Sure?"]
    assert "Which colour?" in lockgate(home, "chats", "list").out


def test_an_attached_document_goes_with_the_question(tmp_path: Path, docs: Path) -> None:
    """Its text is fenced and named."""
    home = tmp_path / "home"
    with FakeProvider([answer_text("Thirty.")]) as fake:
        add_fake(home, fake.base_url)
        assert lockgate(home, "ask", "-p", "fake", "--attach", docs / "leave.md", "How many?").status == 0
    content = fake.requests[0].body["messages"][-1]["content"]
    assert content.startswith("How many?")
    assert "leave.md\n````\n# Leave" in content


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (["--provider", "down", "Hello?"], 4, "cannot be reached"),
        (["--provider", "nobody", "Hello?"], 2, "There is no provider 'nobody'"),
        (["--provider", "openai", "Hello?"], 3, "has no API key"),
        (["--provider", "ollama", "--model", " ", "--docs", "missing", "Hello?"], 6, "missing does not exist"),
        (["--docs", "EMPTY", "Hello?"], 6, "holds no files"),
        (["--docs", "BINARY/one.bin", "Hello?"], 6, "cannot be read"),
        (["--docs", "BINARY", "Hello?"], 6, "holds no text"),
        (["--attach", "BINARY/one.bin", "Hello?"], 6, "one.bin"),
        (["--attach", "missing.txt", "Hello?"], 6, "missing.txt does not exist"),
        (["--tool", "semantic_serch", "Hello?"], 2, "Did you mean 'semantic_search'?"),
        (["--chat", "0123", "Hello?"], 2, "There is no chat"),
        ([], 2, "Ask something"),
        (["--nonsense"], 2, "No such option"),
    ],
)
def test_what_goes_wrong_ends_in_one_sentence_and_its_status(
    tmp_path: Path, arguments: list[str], status: int, words: str
) -> None:
    """Nobody has to read a traceback."""
    home = tmp_path / "home"
    (tmp_path / "EMPTY").mkdir()
    (tmp_path / "BINARY").mkdir()
    (tmp_path / "BINARY" / "one.bin").write_bytes(b"\x00\x01\x02" * 100)
    if "down" in arguments:
        add_fake(home, "http://127.0.0.1:9/v1")
        arguments = [argument.replace("down", "fake") for argument in arguments]
    paths = [str(tmp_path / text) if text.startswith(("EMPTY", "BINARY")) else text for text in arguments]
    ran = lockgate(home, "ask", *paths)
    assert ran.status == status, ran
    assert words in ran.err
    assert len([line for line in ran.err.splitlines() if line.startswith("Error")]) == 1


def test_a_wrong_key_is_told_without_showing_it(tmp_path: Path) -> None:
    """The host's words are kept, the key is not in them."""
    home = tmp_path / "home"
    with FakeProvider([answer_text("never")], api_key="right-key") as fake:
        add_fake(home, fake.base_url, key="wrong-key-12345")
        ran = lockgate(home, "ask", "-p", "fake", "Hello?")
    assert ran.status == 4
    assert "401" in ran.err
    assert "wrong-key-12345" not in ran.out + ran.err


def test_an_error_in_json_is_in_the_object(tmp_path: Path) -> None:
    """Standard output stays one object, and the status tells."""
    home = tmp_path / "home"
    with FakeProvider([answer_error(400, "no such thing")]) as fake:
        add_fake(home, fake.base_url)
        ran = lockgate(home, "ask", "--json", "-p", "fake", "Hello?")
    assert ran.status == 4
    assert "no such thing" in json.loads(ran.out)["error"]


def test_the_question_can_come_through_a_pipe(tmp_path: Path) -> None:
    """`-`, or nothing at all, reads standard input."""
    home = tmp_path / "home"
    with FakeProvider([answer_text("Yes."), answer_text("Yes.")]) as fake:
        add_fake(home, fake.base_url)
        assert lockgate(home, "ask", "-p", "fake", "-", stdin="Is it?\n").status == 0
        assert lockgate(home, "ask", "-p", "fake", stdin="Is it?\n").status == 0
    assert [request.body["messages"][-1]["content"] for request in fake.requests] == ["Is it?", "Is it?"]


def test_a_model_cannot_steer_the_terminal(tmp_path: Path) -> None:
    """Escape sequences in an answer are not passed on."""
    home = tmp_path / "home"
    with FakeProvider([answer_text("a\x1b]0;owned\x07b\u202ec")]) as fake:
        add_fake(home, fake.base_url)
        ran = lockgate(home, "ask", "-p", "fake", "Hello?")
    assert ran.out.startswith("a]0;ownedbc")


def test_ctrl_c_leaves_a_clean_terminal_and_a_kept_chat(tmp_path: Path) -> None:
    """The text so far stays, the status is 130, and the chat holds what there was."""
    home = tmp_path / "home"
    with FakeProvider([answer_text("The beginning ", delivery=Delivery(hang=True))]) as fake:
        add_fake(home, fake.base_url)
        main, other = pty.openpty()
        process = subprocess.Popen(
            [sys.executable, "-c", "from lockgate.cli import main; main()", "ask", "-p", "fake", "Hello?"],
            stdin=other, stdout=other, stderr=other, env={**os.environ, "LOCKGATE_HOME": str(home)},
        )  # fmt: skip
        os.close(other)
        seen = b""
        ends = time.monotonic() + 30
        while b"beginning" not in seen and time.monotonic() < ends:
            seen += os.read(main, 4096)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30) == 130
        try:
            while piece := os.read(main, 4096):
                seen += piece
        except OSError:
            pass  # a terminal whose other side is closed ends like this
        os.close(main)
    text = seen.decode()
    assert "Interrupted. The chat so far is kept" in text
    assert "Traceback" not in text
    assert "\x1b[?25l" not in text or text.rindex("\x1b[?25h") > text.rindex("\x1b[?25l")
    kept = json.loads(lockgate(home, "chats", "list", "--json").out)
    assert kept[0]["messages"] == 2
