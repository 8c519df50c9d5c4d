"""The chat store's contract: what is stored already is never lost by a save.

Requirements rise by a join of their own, and turns that others stored meanwhile stay.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from lockgate.chat.merging import is_begun, merged
from lockgate.chat.values import ChatThread
from lockgate.policy import ChatRequirements


@dataclass(frozen=True, slots=True)
class ChatSummary:
    """A row of the list of chats."""

    id: str
    title: str
    updated: str
    messages: int


class ChatStore(Protocol):
    """Where chats are kept between runs."""

    async def load(self, chat_id: str) -> ChatThread | None:
        """Return a chat, or None for an unknown ID."""

    async def save(self, chat: ChatThread) -> None:
        """Write a chat: requirements are joined in, never lowered, and messages are merged by their IDs, at once.

        Stored messages that the chat does not have stay where they are: another run may have stored them. To go on
        without them, fork the chat; to be rid of them, delete it. Of a message that both have, the chat's version is
        kept, unless it is the beginning of an answer that is stored further. A new answer comes right behind its
        question, any other new message behind everything stored. See :func:`lockgate.chat.merging.merged`.

        What else a chat has, such as title and selection, is written as this copy has it.
        """

    async def save_answer(self, chat: ChatThread) -> None:
        """Write a chat at the end of a run: as :meth:`save` does, but of what else it has only what the run changed.

        These are the beginning of the request last sent and the addresses in its system prompt. The rest was written
        when the run began. Somebody may have chosen otherwise since, and that stays. A run whose question is not
        stored has saved nothing yet, or its chat was deleted: it is saved whole.
        """

    async def raise_requirements(self, chat_id: str, requirements: ChatRequirements) -> ChatRequirements:
        """Join requirements into the stored ones, atomically and durably. Return what the chat demands now.

        Works for a chat that was never saved: its requirements are kept under the ID.
        """

    async def delete(self, chat_id: str) -> bool:
        """Remove a chat with all its messages, and only together with them what it demands: all of it or nothing.

        A run that still answers in the chat saves it again when it ends. It then demands what that run knows, which
        covers all the run has read.

        Returns:
            Whether there was such a chat. For one that was never saved nothing is removed.
        """

    async def list_chats(self, limit: int = 50) -> Sequence[ChatSummary]:
        """Return the latest chats, newest first."""

    async def close(self) -> None:
        """Release what the store holds."""


class MemoryChatStore:
    """A store for one process and for tests."""

    def __init__(self) -> None:
        self._chats: dict[str, ChatThread] = {}
        self._requirements: dict[str, ChatRequirements] = {}

    async def load(self, chat_id: str) -> ChatThread | None:
        """Return a chat, or None for an unknown ID."""
        chat = self._chats.get(chat_id)
        return None if chat is None else chat.require(self._requirements.get(chat_id, ChatRequirements()))

    async def save(self, chat: ChatThread) -> None:
        """Keep a chat, with the turns of it that others kept meanwhile."""
        await self.raise_requirements(chat.id, chat.requirements)
        kept = self._chats.pop(chat.id, None)  # the latest stands last
        messages = merged(chat.id, kept.messages if kept else (), chat.messages)
        self._chats[chat.id] = replace(chat, messages=messages)

    async def save_answer(self, chat: ChatThread) -> None:
        """Keep what a run has added to a chat."""
        kept = self._chats.get(chat.id)
        if kept is not None and is_begun(chat.id, [message.id for message in kept.messages], chat.messages):
            chat = replace(
                chat, title=kept.title, system_prompt=kept.system_prompt, created=kept.created,
                selected_tools=kept.selected_tools, data_sources=kept.data_sources, include_date=kept.include_date,
                assistant=kept.assistant,
            )  # fmt: skip
        await self.save(chat)

    async def raise_requirements(self, chat_id: str, requirements: ChatRequirements) -> ChatRequirements:
        """Join requirements into the stored ones."""
        joined = self._requirements.get(chat_id, ChatRequirements()).join(requirements)
        self._requirements[chat_id] = joined
        return joined

    async def delete(self, chat_id: str) -> bool:
        """Forget a chat with what it demands. Return whether there was one."""
        if self._chats.pop(chat_id, None) is None:
            return False
        self._requirements.pop(chat_id, None)
        return True

    async def list_chats(self, limit: int = 50) -> Sequence[ChatSummary]:
        """Return the latest chats, newest first."""
        rows = [ChatSummary(c.id, c.title, c.created.isoformat(), len(c.messages)) for c in self._chats.values()]
        return rows[::-1][: max(0, limit)]

    async def close(self) -> None:
        """Nothing to release."""
