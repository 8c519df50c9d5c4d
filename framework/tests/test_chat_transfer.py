"""Chats as files: what goes out comes back equal, and nobody gains anything by tampering with a file."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

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
    transfer,
)
from lockgate.chat.addresses import is_given, keys_in
from lockgate.chat.transfer import chat_from_json, chat_to_json
from lockgate.errors import UsageError
from lockgate.policy import (
    NOTHING,
    ChatRequirements,
    ConfidenceLevel,
    DataSourceSecurity,
    OutboundDataRestriction,
    SetBy,
    SetByKind,
)

STRICTEST = ChatRequirements(
    ConfidenceLevel.HIGH, DataSourceSecurity.SELF_HOSTED, OutboundDataRestriction.ONLY_CONFIGURED_SERVICES
)
CONTRACTS = SetBy(SetByKind.DATA_SOURCE, "Contracts", "settings.toml", 12)
LINK = "https://docs.example/page?q=1"
CHAT = ChatThread(
    title="A title",
    system_prompt="Be kind.",
    created=date(2026, 2, 3),
    requirements=ChatRequirements(ConfidenceLevel.MEDIUM, confidence_by=CONTRACTS),
    selected_tools=("web",),
    data_sources=DataSourceOptions(False, True, ("docs",), RetrievalMode.EVERY_MESSAGE),
    messages=(
        Message(Role.USER, "Look there.", (Attachment("a.txt", f"See {LINK}", keys_in(f"See {LINK}")),)),
        Message(
            Role.ASSISTANT, "It says https://made.example/up", (),
            (Source("S", "https://s.example/", SourceOrigin.RAG),),
            (ToolTrace(1, "t", "T", "c1", TraceStatus.BLOCKED, True, "no", {"q": "*****"}),), True,
        ),
    ),
    include_date=True,
    assistant="reviewer",
    prefix=PromptPrefix("0123456789abcdef", (PrefixPart("t", 12, "aa"),), PrefixPart("system prompt", 8, "bb")),
)  # fmt: skip

SLOW = [HealthCheck.too_slow]  # a busy machine is no mistake of the code
# A pair of surrogates is one character in JSON, so texts hold lone ones, as a model can write them.
TEXT = st.one_of(st.text(max_size=30), st.sampled_from(["\ud800", "a\udfff", "\x00\x1b[31m", LINK, f"see {LINK}, too"]))
LINES = st.one_of(st.none(), st.integers(0, 10**6))
SET_BY = st.builds(SetBy, st.sampled_from(SetByKind), TEXT, TEXT, LINES)
REQUIREMENTS = st.builds(
    ChatRequirements,
    st.sampled_from(ConfidenceLevel),
    st.sampled_from(DataSourceSecurity),
    st.sampled_from(OutboundDataRestriction),
    SET_BY, SET_BY, SET_BY,
)  # fmt: skip
ATTACHMENTS = st.builds(lambda name, text: Attachment(name, text, keys_in(text)), TEXT, TEXT)
SOURCES = st.builds(Source, TEXT, TEXT, st.sampled_from(SourceOrigin))
TRACES = st.builds(
    ToolTrace, st.integers(0, 500), TEXT, TEXT, TEXT, st.sampled_from(TraceStatus), st.booleans(), TEXT,
    st.dictionaries(TEXT, TEXT, max_size=3), TEXT, TEXT,
)  # fmt: skip
MESSAGES = st.builds(
    Message,
    st.sampled_from(Role),
    TEXT,
    st.lists(ATTACHMENTS, max_size=2).map(tuple),
    st.lists(SOURCES, max_size=2).map(tuple),
    st.lists(TRACES, max_size=2).map(tuple),
    st.booleans(),
)
NAMES = st.lists(TEXT, max_size=3).map(tuple)
PARTS = st.builds(PrefixPart, TEXT, st.integers(0, 10**6), TEXT)
CHATS = st.builds(
    ChatThread,
    system_prompt=TEXT,
    messages=st.lists(MESSAGES, max_size=3).map(tuple),
    requirements=REQUIREMENTS,
    selected_tools=st.one_of(st.none(), NAMES),
    data_sources=st.builds(DataSourceOptions, st.booleans(), st.booleans(), NAMES, st.sampled_from(RetrievalMode)),
    created=st.dates(),
    title=TEXT,
    prompt_addresses=st.frozensets(TEXT, max_size=2),
    tool_addresses=st.frozensets(TEXT, max_size=2),
    include_date=st.booleans(),
    assistant=TEXT,
    prefix=st.one_of(st.none(), st.builds(PromptPrefix, TEXT, st.lists(PARTS, max_size=2).map(tuple), PARTS)),
)


def lasting(chat: ChatThread, chat_id: str) -> ChatThread:
    """Return what of a chat may be in a file, under another ID."""
    messages = tuple(
        replace(message, traces=tuple(replace(trace, result="", json_result="") for trace in message.traces))
        for message in chat.messages
    )
    return replace(
        chat, id=chat_id, messages=messages, prompt_addresses=frozenset(), tool_addresses=frozenset()
    )


def tampered(change: Callable[[dict[str, Any]], object], chat: ChatThread = CHAT) -> str:
    """Return the file of a chat after somebody changed something in it."""
    stored = json.loads(chat_to_json(chat))
    change(stored)
    return json.dumps(stored)


def put(*path: str | int, value: object) -> Callable[[dict[str, Any]], None]:
    """Return a change that writes a value to a place of the file."""

    def change(stored: Any) -> None:
        for step in path[:-1]:
            stored = stored[step]
        stored[path[-1]] = value

    return change


# --- out and back ----------------------------------------------------------------------------------------------------


@settings(max_examples=150, deadline=None, suppress_health_check=SLOW)
@given(CHATS)
def test_what_goes_out_comes_back_equal(chat: ChatThread) -> None:
    """A round trip changes the ID and leaves out what is for the session; a second one changes nothing more."""
    text = chat_to_json(chat)
    back = chat_from_json(text)
    assert back.id != chat.id
    assert back == lasting(chat, back.id)
    assert chat_to_json(back) == text


@settings(max_examples=50, deadline=None, suppress_health_check=SLOW)
@given(CHATS)
def test_a_file_is_utf_8_whatever_a_model_wrote(chat: ChatThread) -> None:
    """Every file can be written to a disk and read again."""
    assert json.loads(chat_to_json(chat).encode()) == json.loads(chat_to_json(chat))


@pytest.mark.parametrize("selected", [None, (), ("b", "a", "nobody-knows")])
def test_never_chosen_differs_from_all_off(selected: tuple[str, ...] | None) -> None:
    """A selection comes back as what it was, unknown IDs and all."""
    assert chat_from_json(chat_to_json(replace(CHAT, selected_tools=selected))).selected_tools == selected


def test_messages_that_come_in_are_new_ones() -> None:
    """No ID of a message is in a file, and none can be put into it: who made the file does not choose them."""
    chat = ChatThread(messages=tuple(replace(message, id=f"CANARY-{message.role.value}") for message in CHAT.messages))
    text = chat_to_json(chat)
    assert "CANARY" not in text
    ids = [message.id for back in (chat_from_json(text), chat_from_json(text)) for message in back.messages]
    assert len(set(ids)) == 4
    assert all(re.fullmatch("[0-9a-f]{16}", each) for each in ids)
    with pytest.raises(UsageError, match=r"messages\[0\]\.id"):
        chat_from_json(tampered(put("messages", 0, "id", value="0" * 16)))


def test_nothing_of_the_session_is_in_a_file() -> None:
    """Results, their JSON, addresses of tools and prompt, and the ID stay where they are."""
    trace = ToolTrace(1, "t", "T", "c", TraceStatus.SUCCESS, True, "", {}, "CANARY-1", '{"a":"CANARY-2"}')
    chat = replace(
        CHAT, id="CANARY-3", messages=(Message(Role.ASSISTANT, "x", traces=(trace,)),),
        tool_addresses=frozenset({"https://CANARY-4.example/"}),
        prompt_addresses=frozenset({"https://CANARY-5.example/"}),
    )  # fmt: skip
    assert "CANARY" not in chat_to_json(chat)


# --- addresses -------------------------------------------------------------------------------------------------------


def test_addresses_of_attachments_are_found_in_their_text() -> None:
    """What stands in an attached document is given; nothing else of the file is."""
    chat = chat_from_json(chat_to_json(CHAT))
    assert is_given(chat, LINK)
    assert not is_given(chat, "https://made.example/up")


@pytest.mark.parametrize("role", list(Role))
def test_an_attachment_cannot_claim_addresses(role: Role) -> None:
    """A file that lists addresses of its own is refused; texts attached to an answer of the model give none."""
    listed = put("messages", 0, "attachments", 0, "addresses", value=["https://evil.example/"])
    with pytest.raises(UsageError, match=r"messages\[0\]\.attachments\[0\]\.addresses"):
        chat_from_json(tampered(listed))
    chat = chat_from_json(tampered(put("messages", 0, "role", value=role.value)))
    assert is_given(chat, LINK) is (role is Role.USER)


@pytest.mark.parametrize("name", ["tool_addresses", "prompt_addresses", "id"])
def test_what_is_never_in_a_file_is_refused(name: str) -> None:
    """Addresses of tools and of the prompt, and an ID, cannot be smuggled in."""
    with pytest.raises(UsageError, match=f"at {name}: .* wanted is no such member"):
        chat_from_json(tampered(put(name, value=["https://evil.example/"])))


# --- requirements ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "change",
    [
        lambda stored: stored.pop("requirements"),
        put("requirements", value=None),
        put("requirements", value={}),
        put("requirements", value=dict.fromkeys(("confidence", "data_security", "outbound"))),
        put("requirements", value={axis: {} for axis in ("confidence", "data_security", "outbound")}),
        put("requirements", value={
            axis: {"level": "WHATEVER"} for axis in ("confidence", "data_security", "outbound")
        }),
        put("requirements", value={axis: {"level": ""} for axis in ("confidence", "data_security", "outbound")}),
        put("requirements", value={axis: {"level": None} for axis in ("confidence", "data_security", "outbound")}),
    ],
)  # fmt: skip
def test_requirements_nobody_can_read_are_the_strictest(change: Callable[[dict[str, Any]], object]) -> None:
    """Taking requirements out of a file, or giving them unknown names, makes the chat demand everything."""
    found = chat_from_json(tampered(change)).requirements
    assert found.join(STRICTEST) is found


@pytest.mark.parametrize("axis", ["confidence", "data_security", "outbound"])
def test_each_axis_is_the_strictest_by_itself(axis: str) -> None:
    """One missing axis costs that axis; the others say what they said."""
    chat = chat_from_json(tampered(lambda stored: stored["requirements"].pop(axis)))
    assert getattr(chat.requirements, axis) is getattr(STRICTEST, axis)
    for other in {"confidence", "data_security", "outbound"} - {axis}:
        assert getattr(chat.requirements, other) is getattr(CHAT.requirements, other)


def test_who_demanded_it_comes_along() -> None:
    """The name of who demanded a level is kept; a kind nobody knows becomes *built in*."""
    assert chat_from_json(chat_to_json(CHAT)).requirements.confidence_by == CONTRACTS
    chat = chat_from_json(tampered(put("requirements", "confidence", "set_by", "kind", value="KING")))
    assert chat.requirements.confidence_by.kind is SetByKind.BUILT_IN
    assert chat.requirements.confidence is ConfidenceLevel.MEDIUM


# --- files that are none ---------------------------------------------------------------------------------------------

WRONG_VALUES: list[tuple[tuple[str | int, ...], object, str]] = [
    (("title",), 7, r"at title: 7 arrived; wanted is a text"),
    (("created",), "yesterday", r"at created: 'yesterday' arrived; wanted is a day"),
    (("include_date",), 1, r"at include_date: 1 arrived; wanted is true or false"),
    (("selected_tools",), "web", r"at selected_tools: 'web' arrived; wanted is a list"),
    (("selected_tools", 0), None, r"at selected_tools\[0\]: null arrived; wanted is a text"),
    (("assistant",), None, r"at assistant: null"),
    (("messages",), {}, r"at messages: an object arrived; wanted is a list"),
    (("messages", 1), "hello", r"at messages\[1\]: 'hello' arrived; wanted is an object"),
    (("messages", 1, "role"), "system", r"at messages\[1\]\.role: 'system' arrived; wanted is one of 'user', 'assis"),
    (("messages", 1, "role"), ["user"], r"at messages\[1\]\.role: a list of 1 items arrived"),
    (("messages", 0, "text"), [], r"at messages\[0\]\.text: a list of 0 items"),
    (("messages", 0, "partial"), "no", r"at messages\[0\]\.partial: 'no'"),
    (("messages", 1, "sources", 0, "origin"), "gospel", r"sources\[0\]\.origin: 'gospel' arrived; wanted is one of"),
    (("messages", 1, "traces", 0, "status"), "FINE", r"traces\[0\]\.status: 'FINE'"),
    (("messages", 1, "traces", 0, "order"), True, r"traces\[0\]\.order: true arrived; wanted is a whole number"),
    (("messages", 1, "traces", 0, "order"), -1, r"traces\[0\]\.order: -1"),
    (("messages", 1, "traces", 0, "order"), 10**400, r"traces\[0\]\.order: 1000"),
    (("messages", 1, "traces", 0, "order"), 1.5, r"traces\[0\]\.order: 1.5"),
    (("messages", 1, "traces", 0, "arguments", "q"), {}, r"traces\[0\]\.arguments\.q: an object"),
    (("messages", 1, "traces", 0, "result"), "x", r"traces\[0\]\.result: 'x' arrived; wanted is no such member"),
    (("data_sources", "retrieval_mode"), "ALL", r"at data_sources\.retrieval_mode: 'ALL'"),
    (("data_sources", "disabled"), None, r"at data_sources\.disabled: null"),
    (("requirements",), [], r"at requirements: a list"),
    (("requirements", "confidence"), "LOW", r"at requirements\.confidence: 'LOW' arrived; wanted is an object"),
    (("requirements", "outbound", "level"), 0, r"at requirements\.outbound\.level: 0 arrived; wanted is a text"),
    (("requirements", "mood"), {}, r"at requirements\.mood: an object arrived; wanted is no such member"),
    (("prefix", "tools", 0, "size"), -5, r"at prefix\.tools\[0\]\.size: -5"),
    (("prefix",), "x", r"at prefix: 'x'"),
    (("what is \x1b this",), 1, r"at \['what is \\x1b this'\]: 1 arrived; wanted is no such member"),
    (("version",), "1", r"at version: '1' arrived; wanted is a whole number"),
    (("version",), 0, r"at version: 0 arrived; wanted is 1"),
    (("version",), 2, r"newer program: its version is 2"),
    (("format",), "chat", r"This is no chat file"),
]


@pytest.mark.parametrize(("path", "value", "words"), WRONG_VALUES, ids=lambda item: str(item)[:50])
def test_a_wrong_value_is_told_with_its_place(path: tuple[str | int, ...], value: object, words: str) -> None:
    """Whatever was changed, the error says where, what arrived and what would be right."""
    with pytest.raises(UsageError, match=words):
        chat_from_json(tampered(put(*path, value=value)))


@pytest.mark.parametrize("name", sorted(json.loads(chat_to_json(CHAT)).keys() - {"requirements", "format", "version"}))
def test_a_missing_member_is_told(name: str) -> None:
    """Only requirements may be missing, and then they are the strictest."""
    with pytest.raises(UsageError, match=f"wanted is a member '{name}' in it"):
        chat_from_json(tampered(lambda stored: stored.pop(name)))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is no JSON"),
        ("{", "is no JSON"),
        ("[]", "no chat file"),
        ("null", "no chat file"),
        ('"lockgate-chat"', "no chat file"),
        ("{}", "no chat file"),
        ('{"format": ["lockgate-chat"]}', "no chat file"),
        ('{"format": "lockgate-chat"}', "at version: null"),
        ('{"format": "x", "format": "lockgate-chat"}', "'format' is given twice"),
        ('{"format": "lockgate-chat", "version": NaN}', "NaN is no number"),
        ('{"format": "lockgate-chat", "version": -Infinity}', "-Infinity is no number"),
        ("[" * 200_000, "nested too deeply"),
        ('{"a":' * 200_000, "nested too deeply"),
        ("1" * 10_000, "is no JSON"),
    ],
    ids=lambda text: text[:30],
)
def test_a_text_that_is_no_chat_is_told(text: str, words: str) -> None:
    """Anything else than a chat file gives one sentence."""
    with pytest.raises(UsageError, match=words):
        chat_from_json(text)


def test_requirements_given_twice_are_refused() -> None:
    """A second member of the same name, which other readers may prefer, makes the file unreadable."""
    text = chat_to_json(CHAT)
    twice = text.replace('"requirements":', '"requirements":{},"requirements":', 1)
    with pytest.raises(UsageError, match="'requirements' is given twice"):
        chat_from_json(twice)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


def places(value: Any, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """Return the path of every value below a JSON value."""
    steps = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [found for step, inner in steps for found in ((*path, step), *places(inner, (*path, step)))]


PLACES = places(json.loads(chat_to_json(CHAT)))


@settings(max_examples=300, deadline=None, suppress_health_check=SLOW)
@given(st.sampled_from(PLACES), JSON)
def test_any_value_anywhere_is_read_or_told(place: tuple[str | int, ...], value: object) -> None:
    """A value put anywhere gives a chat that goes through a file again, or a UsageError; nothing else is raised."""
    chat, told = None, ""
    try:
        chat = chat_from_json(tampered(put(*place, value=value)))
    except UsageError as error:
        told = str(error)
    assert len(told) < 600
    if chat is None:
        assert told
        return
    again = chat_from_json(chat_to_json(chat))
    assert again == replace(chat, id=again.id)


# --- bounds ----------------------------------------------------------------------------------------------------------


def test_what_is_too_large_goes_neither_out_nor_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that could not be read again is not written, and the sentence says how large is too large."""
    text = chat_to_json(CHAT)
    for name, most, words in (
        ("MAX_CHARACTERS", len(text) - 1, "characters"),
        ("MAX_MESSAGES", 1, "messages|at most 1 items"),
        ("MAX_ITEMS", 0, "most|at most 0"),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(transfer, name, most)
            with pytest.raises(UsageError, match=words):
                chat_to_json(CHAT)
            with pytest.raises(UsageError, match=words):
                chat_from_json(text)
    assert chat_from_json(text).title == CHAT.title


def test_an_empty_chat_goes_through() -> None:
    """A chat nobody wrote in demands nothing, there and back."""
    back = chat_from_json(chat_to_json(ChatThread()))
    assert back.requirements == NOTHING
    assert back.messages == ()
