"""Chats: threads, messages, sources, traces, composition of the prompt, the store's contract."""

from lockgate.chat.prompt import compose, tool_policy
from lockgate.chat.store import ChatStore, ChatSummary, MemoryChatStore
from lockgate.chat.values import (
    MASK,
    Attachment,
    ChatThread,
    DataSourceOptions,
    Message,
    RetrievalMode,
    Role,
    Source,
    SourceOrigin,
    ToolTrace,
    TraceStatus,
    Usage,
    merge_sources,
    new_chat_id,
)

__all__ = [
    "MASK",
    "Attachment",
    "ChatStore",
    "ChatSummary",
    "ChatThread",
    "DataSourceOptions",
    "MemoryChatStore",
    "Message",
    "RetrievalMode",
    "Role",
    "Source",
    "SourceOrigin",
    "ToolTrace",
    "TraceStatus",
    "Usage",
    "compose",
    "merge_sources",
    "new_chat_id",
    "tool_policy",
]
