"""The chat store between processes, and when one of them is killed."""

import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from lockgate.chat import ChatThread, Message, Role
from lockgate.policy import (
    NOTHING,
    ChatRequirements,
    ConfidenceLevel,
    DataSourceSecurity,
    OutboundDataRestriction,
)
from lockgate.storage import SqliteChatStore

RAISER = """
import asyncio, random, sys
from pathlib import Path
from lockgate.policy import *
from lockgate.chat import ChatThread, Message, Role
from lockgate.storage import SqliteChatStore

async def main(path, seed, count):
    store, dice = SqliteChatStore(Path(path)), random.Random(seed)
    print("ready", flush=True)
    for number in range(count):
        requirements = ChatRequirements(
            dice.choice(list(ConfidenceLevel)), dice.choice(list(DataSourceSecurity)),
            dice.choice(list(OutboundDataRestriction)))
        chat = f"c{dice.randrange(200)}"
        joined = await store.raise_requirements(chat, requirements)
        assert joined.join(requirements) is joined
        print(chat, joined.confidence.name, joined.data_security.name, joined.outbound.name, flush=True)
        await store.save(ChatThread(id=chat, messages=(Message(Role.USER, "x" * 20000),) * dice.randrange(4)))
    await store.close()

asyncio.run(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
"""


def start_raiser(path: Path, seed: int, count: int) -> "subprocess.Popen[str]":
    """Start a process that raises and saves chats, and reports each raise once it is acknowledged."""
    return subprocess.Popen(
        [sys.executable, "-c", RAISER, str(path), str(seed), str(count)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def acknowledged(lines: list[str]) -> dict[str, ChatRequirements]:
    """Return the join of everything a raiser reported, by chat."""
    levels: dict[str, ChatRequirements] = {}
    for line in lines:
        if line.endswith("\n") and len(words := line.split()) == 4:
            level = ChatRequirements(
                ConfidenceLevel[words[1]], DataSourceSecurity[words[2]], OutboundDataRestriction[words[3]]
            )
            levels[words[0]] = levels.get(words[0], NOTHING).join(level)
    return levels


async def check_not_lower(path: Path, levels: dict[str, ChatRequirements]) -> None:
    """Assert that no chat demands less than was acknowledged."""
    store = SqliteChatStore(path)
    for chat, level in levels.items():
        stored = await store.raise_requirements(chat, NOTHING)
        assert stored.join(level) is stored, f"{chat}: {stored} is lower than the acknowledged {level}"
    await store.close()


ASKER = """
import asyncio, sys
from pathlib import Path
from lockgate.chat import Message, Role
from lockgate.storage import SqliteChatStore

async def main(path, name, turns):
    store = SqliteChatStore(Path(path))
    chat = await store.load("c")
    print("ready", flush=True)
    sys.stdin.readline()
    for turn in range(turns):
        chat = chat.with_message(Message(Role.USER, f"{name}{turn}?"))
        await store.save(chat)
        for text, partial in ((f"{name}", True), (f"{name}{turn}.", False)):
            answer = Message(Role.ASSISTANT, text, partial=partial, id=f"{name}-{turn}")
            await store.save(chat.with_message(answer))
        chat = chat.with_message(answer)
    await store.close()

asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
"""


def start_asker(path: Path, name: str, turns: int) -> "subprocess.Popen[str]":
    """Start a process that asks and answers in the chat it loaded, once it is told to, as runs save."""
    return subprocess.Popen(
        [sys.executable, "-c", ASKER, str(path), name, str(turns)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


async def test_processes_that_answer_in_one_chat_lose_no_turn(tmp_path: Path) -> None:
    """Each knows only its own turns while it asks; all are stored once, in each one's order, answers with questions."""
    path, turns = tmp_path / "chats.sqlite3", 12
    store = SqliteChatStore(path)
    await store.save(ChatThread(id="c").with_message(Message(Role.USER, "one")))
    askers = [start_asker(path, name, turns) for name in "ab"]
    for asker in askers:
        assert asker.stdout is not None
        assert asker.stdout.readline() == "ready\n"
    for asker in askers:
        assert asker.stdin is not None
        asker.stdin.write("go\n")
        asker.stdin.flush()
    for asker in askers:
        _, errors = asker.communicate(timeout=120)
        assert asker.returncode == 0, errors
    chat = await store.load("c")
    await store.close()
    assert chat is not None
    texts = [message.text for message in chat.messages]
    for name in "ab":
        own = [text for text in texts if text.startswith(name)]
        assert own == [f"{name}{turn}{mark}" for turn in range(turns) for mark in "?."]
    assert len(texts) == 1 + 2 * 2 * turns
    assert all(answer[:-1] == question[:-1] for question, answer in zip(texts[1::2], texts[2::2], strict=True))
    assert not any(message.partial for message in chat.messages)


async def test_processes_raise_together(tmp_path: Path) -> None:
    """Three processes that raise and save the same chats of a new file lose nothing of each other."""
    path = tmp_path / "chats.sqlite3"
    raisers = [start_raiser(path, seed, 40) for seed in range(3)]
    lines: list[str] = []
    for raiser in raisers:
        output, errors = raiser.communicate(timeout=120)
        assert raiser.returncode == 0, errors
        lines += output.splitlines(keepends=True)
    assert len(lines) == 3 * 41
    await check_not_lower(path, acknowledged(lines))


@pytest.mark.parametrize("seed", range(4))
async def test_a_killed_process_leaves_what_it_acknowledged(tmp_path: Path, seed: int) -> None:
    """Killed in the middle of writing, the file opens and no requirement is lower than the last one reported."""
    path = tmp_path / "chats.sqlite3"
    raiser = start_raiser(path, seed, 100_000)
    assert raiser.stdout is not None
    lines = [raiser.stdout.readline() for _ in range((5, 17, 38, 61)[seed])]
    raiser.send_signal(signal.SIGKILL)
    lines += raiser.stdout.readlines()
    raiser.stdout.close()
    assert raiser.stderr is not None
    raiser.stderr.close()
    assert raiser.wait() == -signal.SIGKILL
    levels = acknowledged(lines)
    assert levels
    await check_not_lower(path, levels)
    with sqlite3.connect(path) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()
