"""Two copies of a chat made one: no turn is lost, each copy keeps its order, an answer stays with its question.

Turns are told apart by their IDs. One without an ID, made by hand or by a version that knew none, is known by its
place in the chat.
"""

from collections.abc import Sequence
from dataclasses import replace
from hashlib import blake2b

from lockgate.chat.values import Message, Role

_ID_BYTES = 8


def identities(chat_id: str, ids: Sequence[str]) -> list[str]:
    """Return an ID for each message of a chat: its own, or one made of its place.

    Args:
        chat_id: The chat.
        ids: The messages' own IDs in their order. Empty, or there before: one of the place is made.

    Returns:
        Different IDs, the same for the same arguments.
    """
    taken = set(ids)
    seen: set[str] = set()
    found = []
    for place, own in enumerate(ids):
        identity = own
        if not own or own in seen:
            identity = _of_place(chat_id, place, taken)
            taken.add(identity)
        seen.add(identity)
        found.append(identity)
    return found


def _of_place(chat_id: str, place: int, taken: set[str]) -> str:
    attempt = 0
    while True:
        key = f"{place} {attempt} {chat_id}".encode("utf-8", "surrogatepass")
        identity = blake2b(key, digest_size=_ID_BYTES).hexdigest()
        if identity not in taken:
            return identity
        attempt += 1


def identified(chat_id: str, messages: Sequence[Message]) -> tuple[Message, ...]:
    """Return the messages of a chat, each with an ID of its own. See :func:`identities`."""
    ids = identities(chat_id, [message.id for message in messages])
    return tuple(
        message if message.id == identity else replace(message, id=identity)
        for message, identity in zip(messages, ids, strict=True)
    )


def merged_order(stored: Sequence[str], messages: Sequence[Message]) -> list[str]:
    """Return the IDs of all turns in the order in which they are stored from now on.

    A new answer comes right behind what it follows in the chat. Any other new message comes behind everything stored,
    or, where the chat goes on with a stored one, right before that.

    Args:
        stored: The IDs of what is stored, in order.
        messages: The chat to be saved; all with different IDs.
    """
    known = set(stored)
    before: dict[str, list[str]] = {}
    behind: dict[str, list[str]] = {}
    end: list[str] = []
    upcoming = _next_known(known, messages)
    place: list[str] | None = None  # where the message before went
    for message, following in zip(messages, upcoming, strict=True):
        if message.id in known:
            place = behind.setdefault(message.id, [])
            continue
        if message.role is not Role.ASSISTANT or place is None:
            place = end if following is None else before.setdefault(following, [])
        place.append(message.id)
    order: list[str] = []
    for stored_id in stored:
        order += (*before.get(stored_id, ()), stored_id, *behind.get(stored_id, ()))
    return order + end


def _next_known(known: set[str], messages: Sequence[Message]) -> list[str | None]:
    """Return for each message the first stored one from there on."""
    found: list[str | None] = []
    following: str | None = None
    for message in reversed(messages):
        if message.id in known:
            following = message.id
        found.append(following)
    return found[::-1]


def goes_further(stored: Message, message: Message) -> bool:
    """Whether what is stored of an answer is whole, or longer, where the chat has only a part of it."""
    if not message.partial:
        return False
    return not stored.partial or (
        stored.text.startswith(message.text)
        and len(stored.traces) >= len(message.traces)
        and len(stored.sources) >= len(message.sources)
    )


def is_begun(chat_id: str, stored: Sequence[str], messages: Sequence[Message]) -> bool:
    """Whether the question a run answers is stored: the last one of its chat.

    Args:
        chat_id: The chat.
        stored: The IDs of what is stored, in order.
        messages: The chat as the run knows it.
    """
    questions = [message.id for message in identified(chat_id, messages) if message.role is Role.USER]
    return bool(questions) and questions[-1] in identities(chat_id, stored)


def merged(chat_id: str, stored: Sequence[Message], messages: Sequence[Message]) -> tuple[Message, ...]:
    """Return what is stored of a chat once it is saved.

    Args:
        chat_id: The chat.
        stored: What is stored of it.
        messages: The chat to be saved, as a run or a process knows it.

    Returns:
        All turns of both, in the order of :func:`merged_order`. Of a turn that both have it is the one of `messages`,
        unless that :func:`goes_further` in the store.
    """
    known = {message.id: message for message in identified(chat_id, stored)}
    arriving = identified(chat_id, messages)
    turns = dict(known)
    for message in arriving:
        if message.id not in known or not goes_further(known[message.id], message):
            turns[message.id] = message
    return tuple(turns[message_id] for message_id in merged_order(list(known), arriving))
