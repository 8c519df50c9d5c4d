"""The chat store on SQLite."""

from lockgate.storage.chats import SqliteChatStore

__all__ = ["SqliteChatStore"]
