"""`lockgate chats`, as a person uses it."""

import asyncio
import json
import os
import sqlite3
import stat
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from cli_runs import Ran, add_fake, lockgate
from terminal_runs import OnTerminal

from lockgate.chat import Attachment, ChatThread, Message, Role, Source, SourceOrigin, ToolTrace, TraceStatus
from lockgate.policy import ChatRequirements, ConfidenceLevel, DataSourceSecurity, SetBy, SetByKind
from lockgate.settings.home import Home
from lockgate.storage import SqliteChatStore
from lockgate.testing import FakeProvider, answer_text

CONTRACTS = SetBy(SetByKind.DATA_SOURCE, "Contracts", "settings.toml", 12)
DEMANDS = ChatRequirements(
    ConfidenceLevel.MEDIUM, DataSourceSecurity.SELF_HOSTED, confidence_by=CONTRACTS, data_security_by=CONTRACTS
)
CHAT = ChatThread(
    id="c1",
    title="Leave \x1b[31mand\u202e travel",
    created=date(2026, 2, 3),
    requirements=DEMANDS,
    selected_tools=("nobody_knows",),
    messages=(
        Message(Role.USER, "How many days?", (Attachment("leave.md", "Thirty days."),)),
        Message(
            Role.ASSISTANT, "Thirty\x1b]0;evil\x07 days.", (),
            (Source("Leave", "https://intra.example/leave", SourceOrigin.TOOL),),
            (ToolTrace(1, "read", "Read page", "a", TraceStatus.BLOCKED, False, "a rule", {"url": "*****"}),), True,
        ),
    ),
)  # fmt: skip


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home in which one chat is kept."""
    keep(tmp_path / "home", CHAT)
    return tmp_path / "home"


def chats_file(home: Path) -> Path:
    """Return where a home keeps chats."""
    return Home.at(home).chats_file


def store_of(home: Path) -> SqliteChatStore:
    """Open the chats of a home."""
    return SqliteChatStore(chats_file(home))


def keep(home: Path, chat: ChatThread) -> None:
    """Keep a chat in a home."""

    async def work() -> None:
        store = store_of(home)
        await store.save(chat)
        await store.close()

    asyncio.run(work())


def loaded(home: Path, chat_id: str) -> ChatThread | None:
    """Return a kept chat of a home."""

    async def work() -> ChatThread | None:
        store = store_of(home)
        try:
            return await store.load(chat_id)
        finally:
            await store.close()

    return asyncio.run(work())


def ids(home: Path) -> list[str]:
    """Return the IDs of the kept chats, the latest first."""

    async def work() -> list[str]:
        store = store_of(home)
        try:
            return [row.id for row in await store.list_chats()]
        finally:
            await store.close()

    return asyncio.run(work())


# --- show ------------------------------------------------------------------------------------------------------------


def test_show_says_all_a_person_may_ask(home: Path) -> None:
    """Title, day, selection, demands with who made them, messages, calls, sources, and that an answer is cut off."""
    ran = lockgate(home, "chats", "show", "c1")
    assert ran.status == 0, ran.err
    lines = ran.out.splitlines()
    assert lines[:6] == [
        "Leave [31mand travel",
        "chat c1, begun 2026-02-03, 2 messages",
        "tools: nobody_knows (unknown here: nobody_knows)",
        "data sources: none",
        "demands confidence MEDIUM, set by data source 'Contracts' (settings.toml:12)",
        "demands data security SELF_HOSTED, set by data source 'Contracts' (settings.toml:12)",
    ]
    assert "  attached: leave.md (12 characters)" in lines
    assert "Answer (not complete)" in lines
    assert "  call Read page blocked: a rule  url: *****" in lines
    assert "  [1] Leave  https://intra.example/leave" in lines
    assert "\x1b" not in ran.out
    assert lockgate(home, "chats", "show", "last").out == ran.out


def test_show_prints_json(home: Path) -> None:
    """One object with the same, the words of the file kept."""
    shown: dict[str, Any] = json.loads(lockgate(home, "chats", "show", "last", "--json").out)
    assert (shown["id"], shown["selected_tools"], shown["unknown_tools"]) == ("c1", ["nobody_knows"], ["nobody_knows"])
    assert shown["requirements"]["confidence"] == "MEDIUM"
    assert shown["requirements"]["confidence_by"] == "data source 'Contracts' (settings.toml:12)"
    assert [message["partial"] for message in shown["messages"]] == [False, True]
    assert shown["messages"][0]["attachments"] == [{"name": "leave.md", "characters": 12}]
    assert shown["messages"][1]["traces"][0]["status"] == "BLOCKED"


@pytest.mark.parametrize(
    ("selected", "words"), [(None, "never chosen, so the defaults apply"), ((), "all off")], ids=["none", "off"]
)
def test_show_tells_never_chosen_from_all_off(home: Path, selected: tuple[str, ...] | None, words: str) -> None:
    """The two are different things, in words and in JSON."""
    keep(home, replace(CHAT, selected_tools=selected))
    assert f"tools: {words}\n" in lockgate(home, "chats", "show", "c1").out
    shown = json.loads(lockgate(home, "chats", "show", "c1", "--json").out)
    assert shown["selected_tools"] == (None if selected is None else [])


@pytest.mark.parametrize(
    ("tools", "words"),
    [
        ("tool_ids = []", "none at all, by the assistant 'helper'"),
        ('tool_ids = ["gone_tool"]', "gone_tool (not installed), by the assistant 'helper'"),
        ("", "all off"),
        (None, "none at all, by the assistant 'helper', which is no longer configured"),
    ],
    ids=["empty rules", "rules", "no rules", "gone"],
)
def test_show_tells_when_an_assistant_decides(home: Path, tools: str | None, words: str) -> None:
    """What the chat itself keeps counts only where no rules of an assistant stand before it."""
    keep(home, replace(CHAT, selected_tools=(), assistant="helper"))
    if tools is not None:
        (home / "settings.toml").write_text(f"[assistants.helper]\n{tools}\n")
    assert f"tools: {words}\n" in lockgate(home, "chats", "show", "c1").out


def test_show_is_coloured_on_a_terminal(home: Path) -> None:
    """A person sees who wrote what by colour; nothing of the chat gives an escape."""
    with OnTerminal(home, "chats", "show", "c1") as run:
        assert run.end() == 0
        assert "\x1b[1;36mYou" in run.text
        assert "evil\x07" not in run.text
        assert "\x1b[31mand" not in run.text


@pytest.mark.parametrize(
    "words", [("show", "c2"), ("fork", "c2"), ("export", "c2"), ("remove", "c2", "--yes")], ids=lambda words: words[0]
)
def test_an_unknown_chat_is_told(home: Path, words: tuple[str, ...]) -> None:
    """The chats there are get named, and nothing happens."""
    ran = lockgate(home, "chats", *words)
    assert ran.status == 2
    assert "no chat 'c2'" in ran.err
    assert "There are: c1." in ran.err
    assert ran.out == ""
    assert ids(home) == ["c1"]


# --- fork ------------------------------------------------------------------------------------------------------------


def test_a_fork_goes_on_from_a_message_and_demands_all(home: Path) -> None:
    """The first N messages, all requirements, an ID of its own; the old chat stays as it was."""
    ran = lockgate(home, "chats", "fork", "c1", "--at", "1")
    assert ran.status == 0, ran.err
    forked = loaded(home, ran.out.strip())
    assert forked is not None
    assert forked.messages == CHAT.messages[:1]
    assert forked.requirements == DEMANDS
    assert forked.selected_tools == CHAT.selected_tools
    assert loaded(home, "c1") == CHAT


def test_a_fork_keeps_all_messages_unless_told(home: Path) -> None:
    """Without `--at` it is the whole chat; with 0 nothing of it but what it demands."""
    whole = loaded(home, lockgate(home, "chats", "fork", "last").out.strip())
    nothing = loaded(home, lockgate(home, "chats", "fork", "c1", "--at", "0").out.strip())
    assert whole is not None
    assert nothing is not None
    assert whole.messages == CHAT.messages
    assert (nothing.messages, nothing.requirements) == ((), DEMANDS)


@pytest.mark.parametrize("at", ["3", "-1", "x"])
def test_a_fork_at_no_message_is_told(home: Path, at: str) -> None:
    """More messages than there are, fewer than none, and no number."""
    ran = lockgate(home, "chats", "fork", "c1", "--at", at)
    assert (ran.status, ran.out) == (2, "")
    assert ids(home) == ["c1"]


async def test_a_fork_demands_what_another_process_added(tmp_path: Path) -> None:
    """A store that was open before sees what was raised meanwhile, and the fork made there demands it."""
    home = tmp_path / "home"
    store = store_of(home)
    await store.save(replace(CHAT, requirements=ChatRequirements()))
    assert await store.load("c1") is not None
    other = store_of(home)
    await other.raise_requirements("c1", DEMANDS)
    await other.close()
    ran = await asyncio.to_thread(lockgate, home, "chats", "fork", "c1", "--at", "1")
    forked = await store.load(ran.out.strip())
    assert forked is not None
    assert forked.requirements == DEMANDS
    await store.close()


def test_a_fork_goes_on_only_with_whom_it_admits(home: Path) -> None:
    """A question in the fork is denied to a provider that the old chat denied; nothing is sent."""
    with FakeProvider([answer_text("Yes.")]) as fake:
        add_fake(home, fake.base_url)
        forked = lockgate(home, "chats", "fork", "c1", "--at", "0").out.strip()
        ran = lockgate(home, "ask", "--provider", "fake", "--chat", forked, "Go on.")
        assert ran.status == 5, ran.err
        assert "Contracts" in ran.err
        assert fake.requests == []


# --- export and import -----------------------------------------------------------------------------------------------


def exported(home: Path, file: Path) -> Ran:
    """Export the chat into a file."""
    ran = lockgate(home, "chats", "export", "c1", "-o", file)
    assert ran.status == 0, ran.err
    return ran


def test_a_chat_goes_into_another_home(home: Path, tmp_path: Path) -> None:
    """Exported to a file for the user alone and imported elsewhere, it is the same under a new ID."""
    file, other = tmp_path / "chat.json", tmp_path / "other"
    assert exported(home, file).out == ""
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    ran = lockgate(other, "chats", "import", file)
    assert ran.status == 0, ran.err
    chat_id = ran.out.strip()
    assert chat_id != "c1"
    assert loaded(other, chat_id) == replace(CHAT, id=chat_id)
    assert "nobody_knows" in ran.err
    assert "demands confidence MEDIUM, data security SELF_HOSTED" in ran.err


def test_a_chat_goes_through_a_pipe(home: Path) -> None:
    """What is printed without `-o` can be read with `-`; no byte of it steers a terminal."""
    ran = lockgate(home, "chats", "export", "last")
    assert "\x1b" not in ran.out
    assert "\u202e" not in ran.out
    again = lockgate(home, "chats", "import", "-", stdin=ran.out)
    assert again.status == 0, again.err
    assert loaded(home, again.out.strip()) == replace(CHAT, id=again.out.strip())


def test_a_file_that_is_there_is_not_written_over(home: Path, tmp_path: Path) -> None:
    """Only on demand."""
    file = tmp_path / "notes.txt"
    file.write_text("mine")
    ran = lockgate(home, "chats", "export", "c1", "-o", file)
    assert ran.status == 2
    assert "--replace" in ran.err
    assert file.read_text() == "mine"
    assert lockgate(home, "chats", "export", "c1", "-o", file, "--replace").status == 0
    assert json.loads(file.read_text())["format"] == "lockgate-chat"


@pytest.mark.parametrize("more", [[], ["--replace"]], ids=["new", "replace"])
@pytest.mark.parametrize("kind", ["device", "folder", "pipe", "link to a device", "link to a file", "link to nothing"])
def test_what_is_no_file_is_not_written_to(home: Path, tmp_path: Path, kind: str, more: list[str]) -> None:
    """A device stays a device; a link is not written through, and not replaced by a file."""
    place, real = tmp_path / "place", tmp_path / "real"
    if kind == "device":
        place = Path(os.devnull)
    elif kind == "folder":
        place.mkdir()
    elif kind == "pipe":
        os.mkfifo(place)
    else:
        ends = {"a device": Path(os.devnull), "a file": real, "nothing": tmp_path / "none"}
        place.symlink_to(ends[kind.removeprefix("link to ")])
        real.write_text("mine")
    before = place.lstat().st_mode
    ran = lockgate(home, "chats", "export", "c1", "-o", place, *more)
    assert ran.status == 2, ran
    assert ("is a link to" if "link" in kind else "a folder" if kind == "folder" else "no regular file") in ran.err
    assert place.lstat().st_mode == before
    assert not (tmp_path / "none").exists()
    assert not real.exists() or real.read_text() == "mine"


def test_an_export_makes_no_folder_and_leaves_a_read_only_file(home: Path, tmp_path: Path) -> None:
    """The folder is named; what is read-only stays as it is."""
    ran = lockgate(home, "chats", "export", "c1", "-o", tmp_path / "some" / "chat.json")
    assert (ran.status, f"There is no folder {tmp_path / 'some'}." in ran.err) == (2, True)
    assert not (tmp_path / "some").exists()
    kept = tmp_path / "kept.json"
    kept.write_text("mine")
    kept.chmod(0o444)
    ran = lockgate(home, "chats", "export", "c1", "-o", kept, "--replace")
    assert (ran.status, "read-only (mode 0444)" in ran.err, kept.read_text()) == (3, True, "mine")


def test_an_export_over_a_file_that_others_could_read_is_private(home: Path, tmp_path: Path) -> None:
    """It holds all that the chat holds."""
    file = tmp_path / "chat.json"
    file.write_text("old")
    file.chmod(0o644)
    assert lockgate(home, "chats", "export", "c1", "-o", file, "--replace").status == 0
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_file_somebody_tampered_with(home: Path, tmp_path: Path) -> None:
    """Requirements taken out become the strictest; addresses put in are refused, and nothing is kept."""
    file = tmp_path / "chat.json"
    exported(home, file)
    stored = json.loads(file.read_text())
    del stored["requirements"]
    file.write_text(json.dumps(stored))
    ran = lockgate(home, "chats", "import", file)
    chat = loaded(home, ran.out.strip())
    assert chat is not None
    assert (chat.requirements.confidence.name, chat.requirements.outbound.name) == ("HIGH", "ONLY_CONFIGURED_SERVICES")
    stored["messages"][1]["attachments"] = [{"name": "x", "text": "", "addresses": ["https://evil.example/"]}]
    file.write_text(json.dumps(stored))
    before = ids(home)
    ran = lockgate(home, "chats", "import", file)
    assert (ran.status, ran.out) == (2, "")
    assert "messages[1].attachments[0].addresses" in ran.err
    assert ids(home) == before


@pytest.mark.parametrize(
    ("content", "status", "words"),
    [(None, 6, "cannot be read"), (b"\xff\xfe", 6, "no UTF-8"), (b"", 2, "no JSON"), (b"{}", 2, "no chat file")],
    ids=["absent", "binary", "empty", "other"],
)
def test_what_is_no_chat_file_is_told(tmp_path: Path, content: bytes | None, status: int, words: str) -> None:
    """One sentence, and no file of chats comes of it."""
    file = tmp_path / "x.json"
    if content is not None:
        file.write_bytes(content)
    ran = lockgate(tmp_path / "home", "chats", "import", file)
    assert ran.status == status
    assert words in ran.err
    assert not chats_file(tmp_path / "home").exists()


# --- remove ----------------------------------------------------------------------------------------------------------


def test_a_chat_is_removed_when_it_is_said(home: Path) -> None:
    """With `--yes` at once; where nobody can be asked, not without it."""
    keep(home, replace(CHAT, id="other"))
    refused = lockgate(home, "chats", "remove", "c1", stdin="y\n")
    assert refused.status == 2
    assert "--yes" in refused.err
    assert ids(home) == ["other", "c1"]
    ran = lockgate(home, "chats", "remove", "c1", "--yes")
    assert (ran.status, ran.out) == (0, "Removed c1.\n")
    assert ids(home) == ["other"]


@pytest.mark.parametrize(("answer", "left"), [("y", []), ("n", ["c1"]), ("", ["c1"])])
def test_a_person_is_asked(home: Path, answer: str, left: list[str]) -> None:
    """With what would be removed; anything but a yes leaves it."""
    with OnTerminal(home, "chats", "remove", "last") as run:
        run.wait_for("[y/N]")
        assert "with 2 messages" in run.text
        run.type(f"{answer}\n")
        assert run.end() == 0
    assert ids(home) == left


def test_a_chat_that_cannot_be_read_can_be_removed(home: Path) -> None:
    """A damaged message costs its chat, and the chat can be got rid of."""
    with sqlite3.connect(chats_file(home)) as connection:
        connection.execute("UPDATE messages SET body = '{'")
    connection.close()
    assert lockgate(home, "chats", "show", "c1").status == 3
    ran = lockgate(home, "chats", "remove", "c1", "--yes")
    assert ran.status == 0, ran.err
    assert ids(home) == []
