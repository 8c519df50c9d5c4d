"""Chats: threads, messages, sources, traces, composition of the prompt, the store's contract."""

from lockgate.chat.prefix import Moved, PrefixChange, PrefixPart, PromptPrefix, prefix_changes, prompt_prefix
from lockgate.chat.prompt import compose, date_line, tool_policy
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
    "Moved",
    "PrefixChange",
    "PrefixPart",
    "PromptPrefix",
    "RetrievalMode",
    "Role",
    "Source",
    "SourceOrigin",
    "ToolTrace",
    "TraceStatus",
    "Usage",
    "compose",
    "date_line",
    "merge_sources",
    "new_chat_id",
    "prefix_changes",
    "prompt_prefix",
    "tool_policy",
]
