"""Addresses given to the model: by the system prompt, the user, attached documents, and tools.

What the model wrote itself never counts, its earlier answers included.
"""

from collections.abc import Iterable

from lockgate.addresses import AddressError, find_addresses, request_key
from lockgate.chat.returned_addresses import returned_addresses
from lockgate.chat.values import ChatThread, Message, Role, SourceOrigin
from lockgate.errors import ToolBlocked

NOT_GIVEN = (
    "This address was not given to you: use one that stands word for word in the system prompt, in a message of the "
    "user, in a document attached to it, or in the result of a tool. Ask the user when there is none."
)
"""What a model is told about an address it made up."""


def keys_in(text: str) -> frozenset[str]:
    """Return the request keys of all usable web addresses in a text."""
    return frozenset(key for found in find_addresses(text) if (key := key_of(found)) is not None)


def key_of(address: str) -> str | None:
    """Return the request key of an address, or None for one that cannot be used."""
    try:
        return request_key(address)
    except AddressError:
        return None


def is_given(chat: ChatThread, address: str) -> bool:
    """Tell whether an address was given to the model in this chat, compared by its request key."""
    return address in ChatAddresses(chat)


class ChatAddresses:
    """The addresses given to the model in a chat; what a tool sees as ``context.addresses``.

    Making one costs nothing: texts are searched when somebody asks, each message once.

    Args:
        chat: The chat as of now.
    """

    __slots__ = ("_chat", "_keys_of")

    def __init__(self, chat: ChatThread) -> None:
        self._chat = chat
        self._keys_of: dict[int, tuple[Message, frozenset[str]]] = {}  # by identity; the message is kept alive

    def for_chat(self, chat: ChatThread) -> "ChatAddresses":
        """Return the addresses of a later state of the chat; messages already searched are not searched again."""
        if chat is self._chat:
            return self
        later = ChatAddresses(chat)
        later._keys_of = self._keys_of
        return later

    def __contains__(self, address: object) -> bool:
        if not isinstance(address, str):
            return False
        key = key_of(address)
        if key is None:
            return False
        chat = self._chat
        if key in chat.tool_addresses or key in chat.prompt_addresses:
            return True
        return any(key in self._of_message(message) for message in _given_by_user(chat.messages))

    def require(self, address: str) -> None:
        """Refuse an address that was not given to the model.

        Raises:
            ToolBlocked: It was not given. The message never repeats the address: what the model makes up must not come
                back to it from a tool.
        """
        if address not in self:
            raise ToolBlocked(NOT_GIVEN)

    def _of_message(self, message: Message) -> frozenset[str]:
        known = self._keys_of.get(id(message))
        if known is None:
            attached = (attachment.addresses for attachment in message.attachments)
            known = (message, keys_in(message.text).union(*attached))
            self._keys_of[id(message)] = known
        return known[1]


def written_by_model(chat: ChatThread) -> frozenset[str]:
    """Return the request keys of addresses in the answers and calls of a chat that no tool brought."""
    written: set[str] = set()
    for message in chat.messages:
        if message.role is Role.ASSISTANT:
            calls = [text for trace in message.traces for text in trace.arguments.values()]
            found = frozenset().union(*map(keys_in, (message.text, *calls)))
            written |= found - _brought(message, calls) if found else found
    return frozenset(written)


def _brought(message: Message, calls: list[str]) -> frozenset[str]:
    """Return what tools brought for an answer: sources that are no echo of the calls, and none that the host cites."""
    urls = [source.url for source in message.sources if source.origin is not SourceOrigin.LLM]
    return returned_addresses(urls, calls) if urls else frozenset()


def _given_by_user(messages: Iterable[Message]) -> Iterable[Message]:
    return (message for message in messages if message.role is Role.USER)
