"""What a chat is made of: messages, sources, traces. Frozen values; a change makes a new thread."""

import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from enum import Enum

from lockgate.addresses import AddressError, request_key
from lockgate.chat.prefix import PromptPrefix
from lockgate.policy import NOTHING, ChatRequirements


class Role(Enum):
    """Who wrote a message."""

    USER = "user"
    ASSISTANT = "assistant"


class SourceOrigin(Enum):
    """How a source came into an answer; the list below an answer is grouped by it."""

    LLM = "llm"
    TOOL = "tool"
    RAG = "rag"


@dataclass(frozen=True, slots=True)
class Source:
    """Something an answer rests on, for a person to check."""

    title: str
    url: str
    origin: SourceOrigin = SourceOrigin.TOOL


def _same_source_key(url: str) -> str:
    try:
        return request_key(url)
    except AddressError:
        return url


def merge_sources(known: tuple[Source, ...], new: Iterable[Source]) -> tuple[Source, ...]:
    """Append sources whose URL is not there yet. Fragment, case of host and default port make no difference."""
    seen = {_same_source_key(source.url) for source in known}
    merged = list(known)
    for source in new:
        key = _same_source_key(source.url)
        if key not in seen:
            seen.add(key)
            merged.append(source)
    return tuple(merged) if len(merged) > len(known) else known


class TraceStatus(Enum):
    """How a call ended."""

    NONE = "NONE"
    SUCCESS = "SUCCESS"
    ERROR = "ERROR"
    BLOCKED = "BLOCKED"


MASK = "*****"
"""What stands in a trace in place of a sensitive value."""


@dataclass(frozen=True, slots=True)
class ToolTrace:
    """What a person may see of a call.

    Attributes:
        order: Position of the call in its run, from 1.
        tool_id: The tool's ID; the requested name for an unknown tool; empty for an invalid call.
        tool_name: Its display name.
        call_id: The ID the model gave the call.
        status: How it ended.
        was_executed: The tool's own code ran.
        status_message: The error or the reason of the block; empty on success.
        arguments: Top-level arguments as text, sensitive ones masked.
        result: The text the model got; kept for the session only.
        json_result: The JSON result as text, where the tool gave JSON; kept for the session only.
    """

    order: int
    tool_id: str
    tool_name: str
    call_id: str
    status: TraceStatus
    was_executed: bool = False
    status_message: str = ""
    arguments: Mapping[str, str] = field(default_factory=dict)
    result: str = ""
    json_result: str = ""

    def to_json(self) -> dict[str, object]:
        """Return the trace as JSON values, results left out."""
        return {
            "order": self.order, "tool_id": self.tool_id, "tool_name": self.tool_name, "call_id": self.call_id,
            "status": self.status.value, "was_executed": self.was_executed, "status_message": self.status_message,
            "arguments": dict(self.arguments),
        }


@dataclass(frozen=True, slots=True)
class Attachment:
    """A document attached to a user message: its name and the text the model gets, already guarded.

    `addresses` holds the request keys found in it when it was attached: they count as given to the model.
    """

    name: str
    text: str
    addresses: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as a host reports them; None where it does not say."""

    input_tokens: int | None = None
    output_tokens: int | None = None

    def __add__(self, other: "Usage") -> "Usage":
        """Add two reports; a side that does not say counts as nothing."""
        return Usage(_plus(self.input_tokens, other.input_tokens), _plus(self.output_tokens, other.output_tokens))


def _plus(left: int | None, right: int | None) -> int | None:
    return right if left is None else left if right is None else left + right


def new_message_id() -> str:
    """Return a fresh ID for a message: 16 hex digits."""
    return secrets.token_hex(8)


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a chat: the user's text or the model's answer. Tool conversations are not part of it.

    Attributes:
        role: Who wrote it.
        text: What was written.
        attachments: Documents that go with it.
        sources: What an answer rests on.
        traces: The calls made for an answer.
        partial: The answer is not complete.
        id: Tells the same turn in two copies of a chat from another one. Empty before it is part of a chat. Messages
            that differ by it alone are equal.
    """

    role: Role
    text: str
    attachments: tuple[Attachment, ...] = ()
    sources: tuple[Source, ...] = ()
    traces: tuple[ToolTrace, ...] = ()
    partial: bool = False
    id: str = field(default="", compare=False)


class RetrievalMode(Enum):
    """Who searches the data sources of a chat: the model by a tool, or every message by itself."""

    SEMANTIC_SEARCH = "SEMANTIC_SEARCH"
    EVERY_MESSAGE = "EVERY_MESSAGE"


@dataclass(frozen=True, slots=True)
class DataSourceOptions:
    """Which data sources a chat may search.

    Attributes:
        disabled: No data source at all.
        automatic: All data sources the provider may use, instead of those in `selected`.
        selected: IDs of data sources.
        retrieval_mode: Semantic search by default.
    """

    disabled: bool = True
    automatic: bool = False
    selected: tuple[str, ...] = ()
    retrieval_mode: RetrievalMode = RetrievalMode.SEMANTIC_SEARCH

    @property
    def enabled(self) -> bool:
        """Whether anything could be searched."""
        return not self.disabled and (self.automatic or bool(self.selected))


def new_chat_id() -> str:
    """Return a fresh ID for a chat: 16 hex digits."""
    return secrets.token_hex(8)


@dataclass(frozen=True, slots=True)
class ChatThread:
    """A whole chat as of now. Immutable: every change returns a new thread.

    Attributes:
        id: Unique ID.
        system_prompt: The base prompt, without tool instructions.
        messages: The turns so far.
        requirements: What the content reached so far demands; only ever rises.
        selected_tools: IDs of collections; None means never chosen (defaults apply), empty means all off.
        data_sources: Which data sources may be searched.
        created: The day the chat began.
        title: A short name for lists.
        prompt_addresses: Request keys of addresses in the system prompt last sent.
        tool_addresses: Request keys of addresses that tools returned; kept for the session only.
        include_date: The model is told the day, behind the stable parts of the system prompt.
        assistant: ID of the assistant whose rules name the tools; empty for an ordinary chat.
        prefix: The beginning of the request last sent; None before the first.
    """

    id: str = field(default_factory=new_chat_id)
    system_prompt: str = ""
    messages: tuple[Message, ...] = ()
    requirements: ChatRequirements = NOTHING
    selected_tools: tuple[str, ...] | None = None
    data_sources: DataSourceOptions = DataSourceOptions()
    created: date = field(default_factory=date.today)
    title: str = ""
    prompt_addresses: frozenset[str] = frozenset()
    tool_addresses: frozenset[str] = frozenset()
    include_date: bool = False
    assistant: str = ""
    prefix: PromptPrefix | None = None

    def with_message(self, message: Message) -> "ChatThread":
        """Return the thread with one more turn. A message without an ID is given one."""
        known = message if message.id else replace(message, id=new_message_id())
        return replace(self, messages=(*self.messages, known))

    def require(self, requirements: ChatRequirements) -> "ChatThread":
        """Return the thread with requirements joined in; itself when nothing rises."""
        joined = self.requirements.join(requirements)
        return self if joined is self.requirements else replace(self, requirements=joined)

    def with_tool_addresses(self, keys: Iterable[str]) -> "ChatThread":
        """Return the thread knowing further addresses that tools returned."""
        joined = self.tool_addresses.union(keys)
        return self if len(joined) == len(self.tool_addresses) else replace(self, tool_addresses=joined)

    def with_prompt_addresses(self, keys: Iterable[str]) -> "ChatThread":
        """Return the thread knowing the addresses of the system prompt that is about to be sent."""
        return replace(self, prompt_addresses=frozenset(keys))

    def forked(self, messages: int | None = None) -> "ChatThread":
        """Return a new chat that goes on from here, under an ID of its own.

        What the chat demands stays, whatever is cut off: nobody can tell what a shorter history still lets through.
        Messages keep their IDs, which count within one chat only. This is the way to go on without the last messages:
        a store never removes single messages of a chat it keeps.

        Args:
            messages: How many messages are kept, from the first; all when None. A chat that is cut knows no addresses
                of tools any more: they may have come later.

        Raises:
            ValueError: There are not that many messages.
        """
        if messages is None:
            return replace(self, id=new_chat_id(), created=date.today())  # noqa: DTZ011 - the user's own day
        if not 0 <= messages <= len(self.messages):
            raise ValueError(f"{messages} messages cannot be kept; valid are 0 to {len(self.messages)}.")
        kept = self.messages[:messages]
        return replace(self.forked(), messages=kept, tool_addresses=frozenset())
