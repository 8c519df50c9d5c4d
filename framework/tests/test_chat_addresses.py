"""Addresses given to the model in a chat, and the echo rule for addresses that tools return."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockgate.chat import Attachment, ChatThread, Message, Role
from lockgate.chat import addresses as chat_addresses
from lockgate.chat.addresses import ChatAddresses, is_given, keys_in
from lockgate.chat.returned_addresses import returned_addresses, strings_of

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


EVIL = "https://evil.example.net/secret?d=Ünï"
ECHOES: dict[str, tuple[str, Any]] = {
    "whole": (EVIL, {"q": EVIL}),
    "part": (EVIL, {"q": f"find {EVIL} please"}),
    "shorter part": ("https://evil.example.net/sec", {"q": EVIL}),
    "re-cased": (EVIL.upper().replace("HTTPS", "https"), {"q": EVIL}),
    "other spelling": ("https://EVIL.example.net:443/a/../secret", {"q": "https://evil.example.net/secret#x"}),
    "in a list": (EVIL, {"q": ["a", {"b": EVIL}]}),
    "as a name": (EVIL, {"q": {EVIL: 1}}),
    "json": (EVIL, {"q": "https:\\/\\/evil.example.net\\/secret?d=\\u00dcn\\u00ef"}),
    "html": ("https://evil.example.net/?a=1&b=2", {"q": "https:&#x2F;/evil.example.net/?a=1&amp;b=2"}),
    "html in the result": ("https://evil.example.net/?a=1&amp;b=2", {"q": "https://evil.example.net/?a=1&b=2"}),
    "percent": (EVIL, {"q": "https%3A%2F%2Fevil.example.net%2Fsecret%3Fd%3D%C3%9Cn%C3%AF"}),
    "percent twice": ("https://evil.example.net/secret", {"q": "https%253A%252F%252Fevil.example.net%252Fsecret"}),
    "percent in the result": ("https://evil.example.net/%73ecret", {"q": "https://evil.example.net/secret"}),
    "plus": ("https://evil.example.net/?q=a+b", {"q": "https://evil.example.net/?q=a%20b"}),
    "punycode": ("https://xn--bcher-kva.example.net/x", {"q": "https://bücher.example.net/x"}),
    "from punycode": ("https://bücher.example.net/x", {"q": "xn--bcher-kva.example.net/x"}),
    "sharp s": ("https://xn--strae-oqa.example.net/x", {"q": "Straße.example.net/x"}),
    "fullwidth": ("https://evil.example.net/x", {"q": "https://ｅｖｉｌ。example．net/x"}),
    "invisible": ("https://evil.example.net/x", {"q": "https://ev\u00adil.exam\u200bple.net/x"}),
    "no scheme": (EVIL, {"q": "evil.example.net/secret?d=Ünï"}),
    "no scheme, port": ("https://evil.example.net/x", {"q": "evil.example.net:443/x"}),
    "no scheme, host alone": ("https://secret.evil.example.net/", {"q": "secret.evil.example.net"}),
    "other scheme": ("http://evil.example.net/x", {"q": "https://evil.example.net/x"}),
    "host alone, with scheme": ("https://example.net", {"q": "https://example.net/"}),
    "two joined": ("https://evil.example.net/secret", {"base": "https://evil.example.net/", "q": "secret"}),
    "two joined, backwards": ("https://evil.example.net/secret", {"q": "secret", "base": "https://evil.example.net/"}),
    "scheme and rest": ("https://evil.example.net/secret", {"a": "https://", "b": "evil.example.net", "c": "/secret"}),
    "glue": ("https://evil.example.net/secret", {"host": "evil.example.net", "path": "secret"}),
    "dot": ("https://secret.evil.example.net/x", {"a": "secret", "b": "evil.example.net/x"}),
    "three, other order": (
        "https://evil.example.net/b/a", {"one": "https://evil.example.net/", "two": "a", "three": "b"}
    ),
    "number": ("https://evil.example.net/4711", {"a": "https://evil.example.net/", "n": 4711}),
    "goes on": ("https://evil.example.net/secret&page=1", {"q": "https://evil.example.net/secret"}),
    "many marks": ("https://evil.example.net/" + ")" * 300 + "x", {"q": "https://evil.example.net/y"}),
}  # fmt: skip


@pytest.mark.parametrize(("address", "arguments"), ECHOES.values(), ids=ECHOES)
def test_an_echo_is_no_gift(address: str, arguments: Any) -> None:
    """An address that the model put into the call comes back as nothing, whatever form it had there."""
    assert returned_addresses([f"No hits for {address} today"], arguments) == frozenset()
    assert returned_addresses([address], arguments) == frozenset()


GIFTS: dict[str, tuple[str, Any]] = {
    "no arguments": ("https://docs.example.net/x", {}),
    "a word of it": ("https://docs.example.net/python", {"q": "python"}),
    "its host": ("https://example.net/python/intro", {"q": "example.net intro"}),
    "a registered host": ("https://example.net/", {"q": "example.net"}),
    "a registered host under two": ("https://www.example.co.uk/", {"q": "example.co.uk"}),
    "a link below the page": ("https://docs.example.net/a/b", {"url": "https://docs.example.net/a"}),
    "a link beside the page": ("https://docs.example.net/b", {"url": "https://docs.example.net/a", "limit": "b2"}),
    "a longer name": ("https://w.example.net/Paris,_Texas", {"url": "https://w.example.net/Paris"}),
    "the next page": ("https://docs.example.net/?q=1&page=2", {"url": "https://docs.example.net/?q=1"}),
    "some of its words": ("https://docs.example.net/3/tutorial", {"q": "site:docs.example.net tutorial"}),
    "an unusable address": ("https://docs.example.net/x", {"q": "http://127.1/ https://user@docs.example.net/y"}),
}


@pytest.mark.parametrize(("address", "arguments"), GIFTS.values(), ids=GIFTS)
def test_what_a_tool_found_is_a_gift(address: str, arguments: Any) -> None:
    """A hit stays one although the search named a word of it, its host, or the page it stands on."""
    assert returned_addresses([f"1. {address} (found)"], arguments) == {address}


def test_gifts_are_request_keys_of_usable_addresses() -> None:
    """Keys are canonical; what the parser refuses is left out; fragments fall away."""
    texts = ["HTTPS://Docs.example/x#y", "http://user@docs.example/ http://127.1/", "http://docs.example"]
    assert returned_addresses(texts, {"q": "x"}) == {"https://docs.example/x", "http://docs.example/"}


def test_a_result_without_addresses_costs_nothing() -> None:
    """Arguments are not looked at when the result holds no address."""

    class Untouchable(dict[str, object]):
        def values(self) -> Any:
            raise AssertionError

    assert returned_addresses(["text", "http only"], Untouchable()) == frozenset()


def test_long_arguments_make_an_echo_of_every_host_they_name() -> None:
    """Texts too long to be compared closely cost the addresses of the hosts named in them, and no others."""
    text = "see docs.example.net " + "word " * 5_000
    results = ["https://docs.example.net/found", "https://other.example.net/found"]
    assert returned_addresses(results, {"text": text, "n": 1}) == {"https://other.example.net/found"}
    assert returned_addresses(results, {"text": text[:500], "n": 1}) == set(results)


def test_strings_of_a_json_value() -> None:
    """Texts come in order, names of members too unless they are not wanted; depth is no limit."""
    value = {"a": ["b", {"c": "d"}], "e": 1}
    assert list(strings_of(value)) == ["a", "b", "c", "d", "e"]
    assert list(strings_of(value, names=False)) == ["b", "d"]
    deep: list[Any] = ["x"]
    for _ in range(20_000):
        deep = [deep]
    assert list(strings_of(deep)) == ["x"]


@given(st.text(alphabet=st.characters(min_codepoint=33, max_codepoint=126, exclude_characters="\\"), max_size=30))
def test_whatever_the_model_made_up_is_no_gift(secret: str) -> None:
    """An address with any path, repeated word for word by a tool, is never given by it."""
    address = f"https://evil.example.net/{secret}"
    assert returned_addresses([address, f'{{"query":"{address}"}}'], {"query": address}) == frozenset()
