"""Addresses given to the model in a chat."""

import pytest

from lockgate.chat import Attachment, ChatThread, Message, Role
from lockgate.chat import addresses as chat_addresses
from lockgate.chat.addresses import ChatAddresses, is_given, keys_in

ADDRESS = "https://a.example/x?y=1"


def test_keys_in_a_text() -> None:
    """Usable addresses give their request keys; others are passed over."""
    text = "HTTPS://A.example:443/x#y, http://user@a.example/ and http://127.1/"
    assert keys_in(text) == {"https://a.example/x"}
    assert keys_in("no address") == frozenset()


GIVEN = {
    "prompt": ChatThread().with_prompt_addresses({ADDRESS}),
    "tool": ChatThread().with_tool_addresses({ADDRESS}),
    "user": ChatThread(messages=(Message(Role.USER, f"Read {ADDRESS}."),)),
    "earlier user": ChatThread(messages=(Message(Role.USER, ADDRESS), Message(Role.ASSISTANT, "done"))),
    "attachment": ChatThread(messages=(Message(Role.USER, "", (Attachment("a", "", frozenset({ADDRESS})),)),)),
}


@pytest.mark.parametrize("chat", GIVEN.values(), ids=GIVEN)
def test_where_an_address_is_given(chat: ChatThread) -> None:
    """Prompt, tools, user messages and their attachments give addresses, compared by request key."""
    assert is_given(chat, ADDRESS)
    assert is_given(chat, "HTTPS://A.EXAMPLE:443/x?y=1#z")
    assert not is_given(chat, "https://a.example/x?y=2")
    assert not is_given(chat, "https://a.example/")
    assert not is_given(chat, "http://127.1/")


def test_the_model_gives_no_address() -> None:
    """What stands in an answer, or in a document on the model's side, never counts."""
    attachment = Attachment("a", "", frozenset({ADDRESS}))
    chat = ChatThread(messages=(Message(Role.ASSISTANT, f"Read {ADDRESS}", (attachment,)),))
    assert not is_given(chat, ADDRESS)
    assert ADDRESS not in ChatAddresses(chat)
    assert 7 not in ChatAddresses(chat)


def test_messages_are_searched_once_and_only_when_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Making the object searches nothing; a later state of the chat searches new messages only."""
    searched: list[str] = []

    def counted(text: str) -> frozenset[str]:
        searched.append(text)
        return keys_in(text)

    monkeypatch.setattr(chat_addresses, "keys_in", counted)
    chat = ChatThread(messages=(Message(Role.USER, "one"), Message(Role.USER, "two")))
    addresses = ChatAddresses(chat)
    assert searched == []
    assert ADDRESS not in addresses
    assert searched == ["one", "two"]
    later = addresses.for_chat(chat.with_message(Message(Role.USER, ADDRESS)))
    assert ADDRESS in later
    assert ADDRESS not in addresses
    assert searched == ["one", "two", ADDRESS]
    assert addresses.for_chat(chat) is addresses
