"""Forking, exporting, importing and removing kept chats."""

import json
import stat
import sys
from pathlib import Path

import click

from lockgate.app.home import open_lockgate
from lockgate.app.lockgate import Lockgate
from lockgate.chat.transfer import MAX_CHARACTERS
from lockgate.chat.values import ChatThread
from lockgate.cli.chat_view import demanded, kept, selection_of
from lockgate.cli.exit_status import ExitStatus
from lockgate.cli.running import run
from lockgate.cli.terminal import console, note, notes, one_line, safe, write_json
from lockgate.errors import ConfigurationError, DocumentError, StorageError, UnknownNameError, UsageError
from lockgate.settings.private_files import PRIVATE, mode_of, replace_text, write_new

_MOST_BYTES_A_CHARACTER = 4


async def fork(wanted: str, at: int | None) -> int:
    """Fork a chat and print the ID of the new one.

    Raises:
        UnknownNameError: There is no such chat.
        UsageError: It has fewer messages than are to be kept.
    """
    async with open_lockgate() as gate:
        chat = await kept(gate, wanted)
        forked = await gate.fork(chat.id, at)
        console().print(safe(forked.id))
        notes().print(f"go on with --chat {safe(forked.id)}", style="dim")
    return ExitStatus.OK


async def export(wanted: str, output: Path | None, *, replace: bool) -> int:
    """Write a chat into a file for the user alone, or print it.

    Raises:
        UnknownNameError: There is no such chat.
        UsageError: Something else is there already, there is no such folder, or the chat is too large for a file.
        ConfigurationError: The file cannot be written.
    """
    if output is not None:
        _check_place(output, replace=replace)
    async with open_lockgate() as gate:
        chat = await kept(gate, wanted)
        text = await gate.export_chat(chat.id)
    if output is None:
        write_json(json.loads(text))  # the same object, and nothing in it steers a terminal
    else:
        if _check_place(output, replace=replace):
            replace_text(output, text + "\n", PRIVATE)
        else:
            write_new(output, text + "\n")
        notes().print(f"Exported to {safe(str(output))}. It holds all that the chat holds.", style="dim")
    return ExitStatus.OK


def _check_place(output: Path, *, replace: bool) -> bool:
    """Tell whether a file is there that is to be replaced.

    Raises:
        UsageError: What is there is not to be replaced, or is no file; or its folder is not there.
        ConfigurationError: It is read-only, or the place cannot be looked at.
    """
    try:
        if not output.parent.is_dir():
            raise UsageError(f"There is no folder {output.parent}. Make it first, or name another place.")
        found = output.lstat().st_mode
        if stat.S_ISLNK(found):
            raise UsageError(f"{output} is a link to {output.readlink()}. Name the file itself, or another one.")
        if not stat.S_ISREG(found):
            what = "a folder" if stat.S_ISDIR(found) else "no regular file"
            raise UsageError(f"{output} is {what}, and nothing is written there. Name a file.")
        if not replace:
            raise UsageError(f"There is a file {output} already. Name another one, or say --replace.")
        mode_of(output)
    except FileNotFoundError:
        return False
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ConfigurationError(f"The file {output} cannot be written: {reason}.") from error
    return True


async def import_from(file: str) -> int:
    """Keep the chat of a file and print its ID.

    Raises:
        DocumentError: The file cannot be read.
        UsageError: It is no chat file.
    """
    text = _read(file)
    async with open_lockgate() as gate:
        chat = await gate.import_chat(text)
        _tell_imported(gate, chat)
        console().print(safe(chat.id))
    return ExitStatus.OK


def _read(file: str) -> str:
    most = MAX_CHARACTERS * _MOST_BYTES_A_CHARACTER + 1
    try:
        if file == "-":
            content = sys.stdin.buffer.read(most) if sys.stdin is not None else b""
        else:
            with Path(file).open("rb") as opened:
                content = opened.read(most)
    except OSError as error:
        raise DocumentError(f"The file {file} cannot be read: {error.strerror or error}.") from error
    if len(content) == most:
        raise DocumentError(f"The file {file} is larger than any chat file.")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DocumentError(f"The file {file} is no UTF-8 text, so it is no chat file.") from error


def _tell_imported(gate: Lockgate, chat: ChatThread) -> None:
    """Say what a person should know before going on with a chat that came from elsewhere."""
    unknown = [name for name in selection_of(gate, chat) or () if not gate.registry.is_known(name)]
    if unknown:
        note(f"it selects tools that are not there: {', '.join(one_line(name) for name in unknown)}")
    if chat.assistant:
        try:
            gate.assistant(chat.assistant)
        except UnknownNameError:
            name = one_line(chat.assistant)
            note(f"it was begun with the assistant {name!r}, which is not configured here, so no tool runs in it")
    if demands := demanded(chat.requirements):
        note(f"it demands {', '.join(f'{axis} {level}' for axis, level, _ in demands)}")
    notes().print(f"Look at it with `lockgate chats show {safe(chat.id)}`.", style="dim")


def remove(wanted: str, *, yes: bool) -> int:
    """Remove a chat, asking first; while a person is asked, nothing is open.

    Raises:
        UnknownNameError: There is no such chat.
        UsageError: Nobody can be asked.
    """
    chat_id, words = run(_named(wanted))
    if not yes and not _agreed(words):
        notes().print("Nothing was removed.")
        return ExitStatus.OK
    removed = run(_remove(chat_id))
    console().print(f"Removed {safe(chat_id)}." if removed else f"{safe(chat_id)} was removed meanwhile.")
    return ExitStatus.OK


async def _remove(chat_id: str) -> bool:
    async with open_lockgate() as gate:
        return await gate.store.delete(chat_id)


async def _named(wanted: str) -> tuple[str, str]:
    """Return the ID of a chat and words for it. One that cannot be read any more can still be removed."""
    async with open_lockgate() as gate:
        try:
            chat = await kept(gate, wanted)
        except StorageError as error:
            rows = await gate.store.list_chats()
            note(str(error))
            chat_id = rows[0].id if wanted == "last" and rows else wanted
            return chat_id, f"the chat {chat_id}, which cannot be read"
    count = "1 message" if len(chat.messages) == 1 else f"{len(chat.messages)} messages"
    return chat.id, f"the chat {chat.id}, {one_line(chat.title)!r} with {count}"


def _agreed(words: str) -> bool:
    if sys.stdin is None or not sys.stdin.isatty():
        raise UsageError("Nobody can be asked here. Say --yes to remove it all the same.")
    return click.confirm(f"Remove {safe(words)}? It cannot be brought back.", default=False, err=True)
