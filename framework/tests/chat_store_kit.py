"""A chat with something in every field, and a look at a store as another process has it."""

from datetime import date
from pathlib import Path

from lockgate.chat import (
    Attachment,
    ChatThread,
    DataSourceOptions,
    Message,
    PrefixPart,
    PromptPrefix,
    RetrievalMode,
    Role,
    Source,
    SourceOrigin,
    ToolTrace,
    TraceStatus,
)
from lockgate.policy import (
    ChatRequirements,
    ConfidenceLevel,
    DataSourceSecurity,
    OutboundDataRestriction,
    SetBy,
    SetByKind,
)
from lockgate.storage import SqliteChatStore

MAIL = SetBy(SetByKind.DATA_SOURCE, "Contracts", "plugin.lua", 12)
STRICT = ChatRequirements(
    ConfidenceLevel.MEDIUM, DataSourceSecurity.SELF_HOSTED, OutboundDataRestriction.ONLY_LINKS_FROM_CHAT,
    MAIL, SetBy(SetByKind.USER), SetBy(SetByKind.ORGANIZATION, "Acme"),
)  # fmt: skip
FULL = ChatThread(
    id="full",
    title="A title",
    system_prompt="Be kind.",
    created=date(2026, 2, 3),
    requirements=STRICT,
    selected_tools=("web", "files"),
    data_sources=DataSourceOptions(False, True, ("docs",), RetrievalMode.EVERY_MESSAGE),
    prompt_addresses=frozenset({"https://a.example/"}),
    messages=(
        Message(Role.USER, "q\x00 \ud800 ü", (Attachment("a.txt", "text", frozenset({"https://b.example/"})),)),
        Message(
            Role.ASSISTANT, "answer", (), (Source("S", "https://s.example/", SourceOrigin.RAG),),
            (ToolTrace(1, "t", "T", "c1", TraceStatus.BLOCKED, True, "no", {"q": "*****"}),), True,
        ),
    ),
    include_date=True,
    assistant="reviewer",
    prefix=PromptPrefix("0123456789abcdef", (PrefixPart("t", 12, "aa"),), PrefixPart("system prompt", 8, "bb")),
)  # fmt: skip


async def reloaded(path: Path, chat_id: str) -> ChatThread | None:
    """Load a chat as another process would."""
    other = SqliteChatStore(path)
    try:
        return await other.load(chat_id)
    finally:
        await other.close()


def path_of(tmp_path: Path) -> Path:
    """Return where the tests' store lies."""
    return tmp_path / "data" / "chats.sqlite3"
