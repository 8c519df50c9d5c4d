"""Chats between runs. Requirements have a table of their own and only ever rise there; turns are merged."""

import sqlite3
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TypeVar

from lockgate.chat import encoding
from lockgate.chat.merging import goes_further, identified, identities, is_begun, merged_order
from lockgate.chat.store import ChatSummary
from lockgate.chat.values import ChatThread, Message
from lockgate.errors import StorageError
from lockgate.policy import NOTHING, ChatRequirements, requirements_from_stored
from lockgate.storage.database import Database, damaged

_AXES = ("confidence", "data_security", "outbound")
_UNREADABLE = (ValueError, KeyError, TypeError, AttributeError, RecursionError)  # of what is stored

T = TypeVar("T")


class SqliteChatStore:
    """The chat store in one SQLite file: for several event loops of a process, and for several processes.

    Every method raises :class:`~lockgate.errors.StorageError`, in words for a person, when the file cannot be used; a
    damaged file is never deleted or replaced.

    Args:
        path: The file; made by the first write, readable for the user alone.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._database = Database(path)

    async def load(self, chat_id: str) -> ChatThread | None:
        """Return a chat, or None for an unknown ID. Results of tools and the addresses they gave are not kept."""
        return await self._database.read(lambda connection: self._load(connection, chat_id), None)

    async def save(self, chat: ChatThread) -> None:
        """Write a chat: join its requirements into the stored ones, and merge its messages with the stored ones.

        One transaction: two runs that save the same chat at once both find what the other has stored.
        """
        await self._save(chat, is_answer=False)

    async def save_answer(self, chat: ChatThread) -> None:
        """Write what a run has added to a chat, in one transaction. What somebody else chose meanwhile stays."""
        await self._save(chat, is_answer=True)

    async def raise_requirements(self, chat_id: str, requirements: ChatRequirements) -> ChatRequirements:
        """Join requirements into the stored ones, atomically and durably. Return what the chat demands now."""
        stored = await self._database.read(lambda connection: _requirements(connection, chat_id), None)
        if (stored or NOTHING).join(requirements) is (stored or NOTHING):
            return stored or NOTHING  # nothing to write: what is stored never falls
        return await self._database.write(lambda connection: _raise(connection, chat_id, requirements))

    async def delete(self, chat_id: str) -> bool:
        """Remove a chat, its messages and what it demands, in one transaction. Return whether there was one.

        What it held is overwritten in the file as well, unless other programs keep it busy: then by the next one that
        closes it.
        """
        known = await self._database.read(lambda connection: _is_known(connection, chat_id), False)
        return known and await self._database.erase(lambda connection: _delete(connection, chat_id))

    async def list_chats(self, limit: int = 50) -> Sequence[ChatSummary]:
        """Return the latest chats, newest first."""
        nothing: list[tuple[object, ...]] = []
        rows = await self._database.read(
            lambda connection: connection.execute(
                "SELECT id, title, updated, (SELECT count(*) FROM messages WHERE chat_id = id) FROM chats "
                "ORDER BY updated DESC, id LIMIT ?",
                (max(0, limit),),
            ).fetchall(),
            nothing,
        )
        return [self._summary(*row) for row in rows]

    async def close(self) -> None:
        """Finish what is under way and close the file."""
        await self._database.close()

    def _load(self, connection: sqlite3.Connection, chat_id: str) -> ChatThread | None:
        row = connection.execute(
            "SELECT title, system_prompt, created, selected_tools, data_sources, prompt_addresses, include_date, "
            "assistant, prefix FROM chats WHERE id = ?",
            (chat_id,),
        ).fetchone()
        if row is None:
            return None
        bodies = connection.execute("SELECT body FROM messages WHERE chat_id = ? ORDER BY position", (chat_id,))
        requirements = _requirements(connection, chat_id)
        try:
            messages = identified(chat_id, [encoding.message_from_json(body) for (body,) in bodies])
            return ChatThread(
                id=chat_id,
                title=_column(str, row[0]),
                system_prompt=_column(str, row[1]),
                created=date.fromisoformat(row[2]),
                selected_tools=None if row[3] is None else encoding.texts_from_json(row[3]),
                data_sources=encoding.data_sources_from_json(row[4]),
                prompt_addresses=frozenset(encoding.texts_from_json(row[5])),
                messages=messages,
                requirements=requirements or NOTHING,
                include_date=bool(_column(int, row[6])),
                assistant=_column(str, row[7]),
                prefix=None if row[8] is None else encoding.prefix_from_json(row[8]),
            )
        except _UNREADABLE as error:
            raise self._damaged(chat_id, error) from error

    def _summary(self, chat_id: object, title: object, updated: object, messages: object) -> ChatSummary:
        try:
            return ChatSummary(
                _column(str, chat_id), _column(str, title), _column(str, updated), _column(int, messages)
            )
        except TypeError as error:
            raise self._damaged(chat_id, error) from error

    def _damaged(self, chat_id: object, error: Exception) -> StorageError:
        return damaged(self._path, f"chat {chat_id!r}: {type(error).__name__}")

    async def _save(self, chat: ChatThread, *, is_answer: bool) -> None:
        """Write a chat in one transaction: two runs that save it at once both find what the other has stored."""
        messages = identified(chat.id, chat.messages)
        bodies = {message.id: encoding.message_to_json(message) for message in messages}

        def saving(connection: sqlite3.Connection) -> None:
            _raise(connection, chat.id, chat.requirements)
            stored: list[tuple[int, str]] = connection.execute(
                "SELECT position, body FROM messages WHERE chat_id = ? ORDER BY position", (chat.id,)
            ).fetchall()
            try:
                known = [encoding.id_of_message(body) for _, body in stored]
                turns = _merged(chat.id, known, [body for _, body in stored], messages, bodies)
            except _UNREADABLE as error:
                raise self._damaged(chat.id, error) from error
            if is_answer and is_begun(chat.id, known, messages):
                _update_request(connection, chat)
            else:
                _save_chat(connection, chat)
            _write_turns(connection, chat.id, stored, turns)

        await self._database.write(saving)


def _column(kind: type[T], value: object) -> T:
    """Return a stored value of the type that is written; the file takes any in any column."""
    if type(value) is not kind:
        raise TypeError(f"{type(value).__name__} where {kind.__name__} is right")
    return value


def _write_turns(
    connection: sqlite3.Connection, chat_id: str, stored: Sequence[tuple[int, str]], turns: Sequence[str]
) -> None:
    """Make the stored messages these, and write only those that are not there."""
    there = set(stored)
    connection.executemany(
        "INSERT INTO messages (chat_id, position, body) VALUES (?, ?, ?) ON CONFLICT (chat_id, position) "
        "DO UPDATE SET body = excluded.body",
        [(chat_id, position, body) for position, body in enumerate(turns) if (position, body) not in there],
    )
    connection.execute("DELETE FROM messages WHERE chat_id = ? AND position >= ?", (chat_id, len(turns)))


def _merged(
    chat_id: str, known: Sequence[str], stored: Sequence[str], messages: Sequence[Message], bodies: Mapping[str, str]
) -> list[str]:
    """Merge a chat with what is stored of it. Stored messages without an ID are given theirs, as they may move now."""
    turns = {
        identity: body if identity == own else encoding.with_message_id(body, identity)
        for identity, own, body in zip(identities(chat_id, known), known, stored, strict=True)
    }
    order = merged_order(list(turns), messages)
    for message in messages:
        before = turns.get(message.id) if message.partial else None
        if before is None or not goes_further(encoding.message_from_json(before), message):
            turns[message.id] = bodies[message.id]
    return [turns[message_id] for message_id in order]


def _save_chat(connection: sqlite3.Connection, chat: ChatThread) -> None:
    """Write what a chat has beside its messages and requirements: the last one who saves it is right."""
    selected = None if chat.selected_tools is None else encoding.to_json(chat.selected_tools)
    connection.execute(
        "INSERT INTO chats (id, title, system_prompt, created, updated, selected_tools, data_sources, "
        "prompt_addresses, include_date, assistant, prefix) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
        "ON CONFLICT (id) DO UPDATE SET title = excluded.title, "
        "system_prompt = excluded.system_prompt, created = excluded.created, updated = excluded.updated, "
        "selected_tools = excluded.selected_tools, data_sources = excluded.data_sources, "
        "prompt_addresses = excluded.prompt_addresses, include_date = excluded.include_date, "
        "assistant = excluded.assistant, prefix = excluded.prefix",
        (
            chat.id,
            _storable(chat.title),
            _storable(chat.system_prompt),
            chat.created.isoformat(),
            _now(),
            selected,
            encoding.data_sources_to_json(chat.data_sources),
            _addresses(chat),
            int(chat.include_date),
            _storable(chat.assistant),
            _prefix(chat),
        ),
    )


def _update_request(connection: sqlite3.Connection, chat: ChatThread) -> None:
    """Write what a run itself changes of a chat, beside its messages and requirements."""
    connection.execute(
        "UPDATE chats SET updated = ?, prompt_addresses = ?, prefix = ? WHERE id = ?",
        (_now(), _addresses(chat), _prefix(chat), chat.id),
    )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds")


def _addresses(chat: ChatThread) -> str:
    return encoding.to_json(sorted(chat.prompt_addresses))


def _prefix(chat: ChatThread) -> str | None:
    return None if chat.prefix is None else encoding.to_json(encoding.prefix_values(chat.prefix))


def _delete(connection: sqlite3.Connection, chat_id: str) -> bool:
    """Remove a chat. Requirements of a chat that was never saved stay: a run holds them that is not done."""
    if not _is_known(connection, chat_id):
        return False
    connection.execute("DELETE FROM messages WHERE chat_id = ?", (chat_id,))
    connection.execute("DELETE FROM chats WHERE id = ?", (chat_id,))
    connection.execute("DELETE FROM requirements WHERE chat_id = ?", (chat_id,))
    return True


def _is_known(connection: sqlite3.Connection, chat_id: str) -> bool:
    return connection.execute("SELECT 1 FROM chats WHERE id = ?", (chat_id,)).fetchone() is not None


def _storable(text: str) -> str:
    """Replace lone surrogates, which have no place in a database."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _requirements(connection: sqlite3.Connection, chat_id: str) -> ChatRequirements | None:
    row = connection.execute(
        "SELECT confidence, data_security, outbound, confidence_by, data_security_by, outbound_by FROM requirements "
        "WHERE chat_id = ?",
        (chat_id,),
    ).fetchone()
    if row is None:
        # A saved chat always has a row. A lost one is read as the strictest, like a name nobody knows.
        return requirements_from_stored("?", "?", "?") if _is_known(connection, chat_id) else None
    confidence_by, data_security_by, outbound_by = map(encoding.set_by_from_json, row[3:])
    return requirements_from_stored(*map(str, row[:3]), by=(confidence_by, data_security_by, outbound_by))


def _raise(connection: sqlite3.Connection, chat_id: str, requirements: ChatRequirements) -> ChatRequirements:
    stored = _requirements(connection, chat_id)
    if stored is None:
        connection.execute(
            "INSERT INTO requirements VALUES (?, ?, ?, ?, ?, ?, ?)",
            (
                chat_id,
                *(getattr(requirements, axis).name for axis in _AXES),
                *(encoding.set_by_to_json(getattr(requirements, f"{axis}_by")) for axis in _AXES),
            ),
        )
        return requirements
    joined = stored.join(requirements)
    for axis in _AXES:
        # Only what rises is written: a name of a newer version, read as the strictest here, stays for that version.
        if getattr(joined, axis) != getattr(stored, axis):
            connection.execute(
                f"UPDATE requirements SET {axis} = ?, {axis}_by = ? WHERE chat_id = ?",  # noqa: S608 (own names)
                (getattr(joined, axis).name, encoding.set_by_to_json(getattr(joined, f"{axis}_by")), chat_id),
            )
    return joined
