"""What goes out: requests, histories, headers; and what never does."""

import json
import logging
from dataclasses import replace
from typing import Any

import pytest
from chat_runs import PARAMETERS, PARIS, ROME, TIME, WEATHER, results, talking

from lockgate.chat.values import Attachment, Message, Role
from lockgate.errors import ConfigurationError, UsageError
from lockgate.providers import (
    CallResult,
    Endpoint,
    HttpRequest,
    ModelRequest,
    OfferedFunction,
    ProviderProfile,
    ToolBlock,
    Transport,
)
from lockgate.testing import Call, ChatShape, FakeHost, answer_calls, answer_text
from lockgate_openai.chat_completions import ChatCompletionsAdapter
from lockgate_openai.encoding import address_of, headers_of, to_bytes
from lockgate_openai.profiles import GROQ, HUGGINGFACE, OLLAMA, OPENAI, OPENAI_COMPATIBLE

KEY = "sk-proj-0123456789abcdef"


def tools_of(profile: ProviderProfile, *functions: OfferedFunction) -> list[dict[str, Any]]:
    """The functions of an encoded tool block."""
    block = ChatCompletionsAdapter().tool_block(functions, profile)
    return [tool["function"] for tool in json.loads(block.encoded)]


# --- tools ----------------------------------------------------------------------------------------------------


def test_strict_is_for_hosts_that_bind() -> None:
    """Only where host, definition and schema agree is a function strict, in the converted form."""
    block = ChatCompletionsAdapter().tool_block([WEATHER, TIME], OPENAI)
    assert block.strict == {"get_weather"}
    weather, time = tools_of(OPENAI, WEATHER, TIME)
    assert weather["strict"] is True
    assert weather["parameters"]["required"] == ["city"]
    assert weather["parameters"]["properties"]["city"]["type"] == ["string", "null"]
    assert time == {"name": "get_time", "description": "Tells the time.", "parameters": PARAMETERS, "strict": False}


@pytest.mark.parametrize("profile", [GROQ, OLLAMA, HUGGINGFACE, OPENAI_COMPATIBLE])
def test_elsewhere_the_schema_goes_as_written(profile: ProviderProfile) -> None:
    """Hosts that do not bind the model get the canonical schema, and are told so."""
    assert tools_of(profile, WEATHER)[0] == {
        "name": "get_weather", "description": "Tells the weather.", "parameters": PARAMETERS, "strict": False,
    }  # fmt: skip


def test_a_schema_that_cannot_be_strict_goes_as_written() -> None:
    """A default, for example, keeps a function out of strict mode, and nothing of its schema is lost."""
    odd = replace(WEATHER, parameters={"type": "object", "properties": {"a": {"type": "string", "default": "x"}}})
    (tool,) = tools_of(OPENAI, odd)
    assert (tool["strict"], tool["parameters"]) == (False, odd.parameters)


@pytest.mark.parametrize("enforces", [True, False])
def test_a_host_that_refuses_the_member_never_gets_it(enforces: bool) -> None:
    """Without the member there is no strict mode, and no converted schema either."""
    profile = replace(OPENAI, accepts_strict_member=False, enforces_strict_schemas=enforces)
    assert tools_of(profile, WEATHER)[0]["parameters"] == PARAMETERS
    assert "strict" not in tools_of(profile, WEATHER)[0]


def test_equal_functions_give_equal_bytes() -> None:
    """Encoding is pure, keeps the order and escapes nothing that JSON does not demand."""
    functions = [WEATHER, replace(TIME, description="Sagt die Zeit – „genau“.")]
    first, second = (ChatCompletionsAdapter().tool_block(functions, OPENAI) for _ in range(2))
    assert first == second
    assert "„genau“".encode() in first.encoded
    assert ChatCompletionsAdapter().tool_block([], OPENAI) == ToolBlock(b"")


# --- requests -------------------------------------------------------------------------------------------------


async def test_a_request_says_what_the_card_says() -> None:
    """Model, stream with usage, tools one at a time, the system prompt, the turns with their documents."""
    messages = [
        Message(Role.USER, "Read.", attachments=(Attachment("a.txt", "body"),)),
        Message(Role.ASSISTANT, "Done."),
        Message(Role.USER, "Thanks."),
    ]
    async with talking([answer_text("x")], messages=messages) as (fake, exchange):
        await exchange.round(lambda _: None)
        body = fake.requests[0].body
    assert body["model"] == "fake-model"
    assert (body["stream"], body["stream_options"]) == (True, {"include_usage": True})
    assert body["parallel_tool_calls"] is False
    assert [tool["function"]["name"] for tool in body["tools"]] == ["get_weather", "get_time"]
    assert body["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Read.\n\nAttached document: a.txt\n````\nbody\n````"},
        {"role": "assistant", "content": "Done."},
        {"role": "user", "content": "Thanks."},
    ]
    assert set(body) == {"model", "stream", "stream_options", "parallel_tool_calls", "tools", "messages"}


async def test_without_tools_nothing_speaks_of_them() -> None:
    """`parallel_tool_calls` goes with tools alone; an empty system prompt makes no message."""
    async with talking([answer_text("x")], functions=(), system="") as (fake, exchange):
        await exchange.round(lambda _: None)
        body = fake.requests[0].body
    assert set(body) == {"model", "stream", "stream_options", "messages"}
    assert [message["role"] for message in body["messages"]] == ["user"]


async def test_a_host_that_refuses_parameters_never_gets_them() -> None:
    """What the profile says a host refuses is left out."""
    host = FakeHost(refuses=("parallel_tool_calls", "stream_options"))
    profile = replace(HUGGINGFACE, accepts_stream_options=False, system_role="developer")
    async with talking([answer_text("x")], host=host, profile=profile) as (fake, exchange):
        await exchange.round(lambda _: None)
        assert fake.requests[0].messages[0]["role"] == "developer"


async def test_configured_parameters_go_along_and_never_override() -> None:
    """Sampling and the like are passed on; a null is left out; what is the framework's stays, in any case."""
    taken = {"Model": "evil", "messages": [], "STREAM": False, "stream_options": {}, " tools ": [], "tool_choice": "x",
             "Parallel_Tool_Calls": True, "functions": [], "function_call": "x"}  # fmt: skip
    parameters = taken | {"temperature": 0.5, "seed": None, "max_output_tokens": 7}
    async with talking([answer_text("x")], parameters=parameters, profile=OPENAI) as (fake, exchange):
        await exchange.round(lambda _: None)
        body = fake.requests[0].body
    assert (body["temperature"], body["max_completion_tokens"]) == (0.5, 7)
    assert (body["model"], body["stream"], body["parallel_tool_calls"]) == ("fake-model", True, False)
    names = {name.lower() for name in body}
    assert not names & {"seed", "functions", "function_call", "tool_choice", " tools "}
    assert len(body["tools"]) == 2


def test_each_parameter_left_out_is_told(caplog: pytest.LogCaptureFixture) -> None:
    """Who configured a reserved parameter finds it in the log."""
    request = ModelRequest(
        "m", "", [], ToolBlock(b""), parameters={"Tools": []}, endpoint=Endpoint("http://127.0.0.1:1")
    )
    with caplog.at_level(logging.WARNING):
        ChatCompletionsAdapter().open(request, OPENAI_COMPATIBLE, Transport())
    assert "'Tools' is left out" in caplog.text


@pytest.mark.parametrize(("profile", "name"), [(OPENAI, "max_completion_tokens"), (OLLAMA, "max_tokens")])
@pytest.mark.parametrize("given", ["max_tokens", "max_output_tokens"])
async def test_the_output_limit_has_the_hosts_name(profile: ProviderProfile, name: str, given: str) -> None:
    """One configured limit fits every host."""
    async with talking([answer_text("x")], parameters={given: 9}, profile=profile) as (fake, exchange):
        await exchange.round(lambda _: None)
        assert fake.requests[0].body[name] == 9


def test_a_lone_surrogate_does_not_stop_a_request() -> None:
    """What is no character becomes a question mark, and the rest is sent."""
    assert to_bytes({"a": "x\ud800y"}) == b'{"a":"x?y"}'


# --- rounds ---------------------------------------------------------------------------------------------------


async def test_a_tool_turn_goes_back_as_it_came() -> None:
    """The model's turn and one result per call follow the messages, in order, with arguments to the byte."""
    odd = '{ "city":"Köln\\u00e4" }'
    calls = [Call("get_weather", odd, id="a"), Call("get_time", "", id="b")]
    host = FakeHost(reads_arguments=True)
    async with talking([answer_calls(*calls), answer_text("x")], host=host) as (fake, exchange):
        done = await exchange.round(lambda _: None)
        exchange.answer([CallResult("a", "rain"), CallResult("b", "noon", is_error=True)])
        assert (await exchange.round(lambda _: None)).text == "x"
        added = fake.requests[1].messages[2:]
    assert [call.arguments for call in done.calls] == [odd, "{}"]
    assert added == [
        {"role": "assistant", "content": None, "tool_calls": [
            {"id": "a", "type": "function", "function": {"name": "get_weather", "arguments": odd}},
            {"id": "b", "type": "function", "function": {"name": "get_time", "arguments": "{}"}},
        ]},
        {"role": "tool", "tool_call_id": "a", "content": "rain"},
        {"role": "tool", "tool_call_id": "b", "content": "noon"},
    ]  # fmt: skip


async def test_requests_of_a_run_begin_with_the_same_bytes() -> None:
    """Each request is the one before with messages added, so hosts can use what they kept."""
    script = [
        answer_calls(Call("get_weather", PARIS), text=("Hm.",)),
        answer_calls(Call("get_time", ROME)),
        answer_text("x"),
    ]
    async with talking(script) as (fake, exchange):
        for _ in range(2):
            exchange.answer(results(await exchange.round(lambda _: None)))
        await exchange.round(lambda _: None)
        sent = [request.arrived_bytes for request in fake.requests]
    assert sent[1].startswith(sent[0].removesuffix(b"]}"))
    assert sent[2].startswith(sent[1].removesuffix(b"]}"))
    assert fake.requests[1].messages[2]["content"] == "Hm."


@pytest.mark.parametrize("system", ["Be brief.", ""])
async def test_the_final_round_has_words_and_no_tools(system: str) -> None:
    """The last words stand below the system prompt after a blank line; nothing speaks of tools."""
    script = [answer_calls(Call("get_weather", PARIS)), answer_text("x")]
    async with talking(script, system=system) as (fake, exchange):
        exchange.answer(results(await exchange.round(lambda _: None)))
        await exchange.round(lambda _: None, final="Answer now.")
        body = fake.requests[1].body
    assert not {"tools", "parallel_tool_calls", "tool_choice"} & body.keys()
    assert body["messages"][0] == {"role": "system", "content": "Be brief.\n\nAnswer now." if system else "Answer now."}
    assert [message["role"] for message in body["messages"][-2:]] == ["assistant", "tool"]


async def test_broken_arguments_go_back_as_an_empty_object() -> None:
    """Hosts that parse the history never see what is no JSON, nor a name or ID they would refuse."""
    calls = [
        Call("get_weather", '{"city": "Par', id="a"),
        Call("multi.use", [1], as_object=True, id="a"),
        Call("get_time", json.dumps(json.dumps(PARIS)), id=""),
        Call("get_time", ROME, as_object=True, id="c"),
    ]
    host = FakeHost(reads_arguments=True)
    async with talking([answer_calls(*calls, streamed=False), answer_text("x")], host=host) as (fake, exchange):
        done = await exchange.round(lambda _: None)
        exchange.answer(results(done))
        await exchange.round(lambda _: None)
        sent = fake.requests[1].messages[2]["tool_calls"]
    functions = [call["function"] for call in sent]
    assert [f["arguments"] for f in functions] == ["{}", "{}", '{"city": "Paris"}', '{"city":"Rome"}']
    assert [f["name"] for f in functions] == ["get_weather", "invalid_tool_call", "get_time", "get_time"]
    assert [call["id"] for call in sent] == [call.id for call in done.calls]


async def test_ids_stay_unique_over_a_run() -> None:
    """A host that counts from zero in every turn gets other IDs in the history."""
    script = [answer_calls(Call("get_time", PARIS, id="get_time:0")) for _ in range(3)] + [answer_text("x")]
    async with talking(script) as (fake, exchange):
        for _ in range(3):
            exchange.answer(results(await exchange.round(lambda _: None)))
        await exchange.round(lambda _: None)
        ids = [m["tool_call_id"] for m in fake.requests[-1].messages if m["role"] == "tool"]
    assert ids[0] == "get_time:0"
    assert len(set(ids)) == 3


async def test_a_host_that_wants_nine_characters_gets_them() -> None:
    """IDs of another form are replaced, in the call and in its result alike."""
    profile = replace(OPENAI_COMPATIBLE, tool_call_id_format="nine_alphanumeric")
    script = [answer_calls(Call("get_time", id="chatcmpl-tool-1"), Call("get_time", id="abcDEF123")), answer_text("x")]
    async with talking(script, profile=profile, host=FakeHost(call_ids="[a-zA-Z0-9]{9}")) as (_, exchange):
        done = await exchange.round(lambda _: None)
        assert done.calls[1].id == "abcDEF123"
        exchange.answer(results(done))
        await exchange.round(lambda _: None)


@pytest.mark.parametrize("field", ["reasoning", "reasoning_content", "thoughts"])
@pytest.mark.parametrize("returns", [True, False])
async def test_reasoning_is_no_text_and_goes_back_where_the_profile_says(field: str, returns: bool) -> None:
    """Reasoning is never shown; it returns under the name it came with, to hosts that want it."""
    profile = replace(OPENAI_COMPATIBLE, reasoning_field=field, returns_reasoning=returns)
    first = answer_calls(Call("get_time", PARIS), reasoning=("Let me ", "see."), chat=ChatShape(reasoning_field=field))
    host = FakeHost(accepts_in_messages=(field,))
    async with talking([first, answer_text("x")], profile=profile, host=host) as (fake, exchange):
        heard: list[str] = []
        done = await exchange.round(heard.append)
        assert (done.text, heard) == ("", [])
        exchange.answer(results(done))
        await exchange.round(lambda _: None)
        turn = fake.requests[1].messages[2]
    assert turn.get(field) == ("Let me see." if returns else None)


async def test_details_of_reasoning_go_back_unchanged() -> None:
    """Signed or encrypted pieces of reasoning return in order and to the letter."""
    profile = replace(OPENAI_COMPATIBLE, returns_reasoning=True)
    details = [{"type": "reasoning.encrypted", "data": "x", "index": 0}]
    first = answer_calls(Call("get_time", PARIS), chat=ChatShape(message_extra={"reasoning_details": details}))
    host = FakeHost(accepts_in_messages=("reasoning_details",))
    async with talking([first, answer_text("x")], profile=profile, host=host) as (fake, exchange):
        exchange.answer(results(await exchange.round(lambda _: None)))
        await exchange.round(lambda _: None)
        assert fake.requests[1].messages[2]["reasoning_details"] == details


async def test_signatures_of_calls_go_back() -> None:
    """`extra_content` of a call returns with it (Gemini refuses the history without)."""
    signed = {"google": {"thought_signature": "s"}}
    script = [answer_calls(Call("get_time", PARIS, extra={"extra_content": signed})), answer_text("x")]
    async with talking(script, host=FakeHost(accepts_in_calls=("extra_content",))) as (fake, exchange):
        exchange.answer(results(await exchange.round(lambda _: None)))
        await exchange.round(lambda _: None)
        assert fake.requests[1].messages[2]["tool_calls"][0]["extra_content"] == signed


async def test_results_belong_to_the_calls_in_order() -> None:
    """Too few, too many, strange or swapped results, and none at all, are mistakes of the caller."""
    async with talking([answer_calls(Call("get_time", id="a"), Call("get_time", id="b"))]) as (_, exchange):
        done = await exchange.round(lambda _: None)
        right = results(done)
        for wrong in ([], right[:1], [*right, right[0]], right[::-1], [CallResult("c", "x"), right[1]]):
            with pytest.raises(UsageError, match="One result per call"):
                exchange.answer(wrong)
        with pytest.raises(UsageError, match="results of 2 calls are missing"):
            await exchange.round(lambda _: None)
        exchange.answer(right)


async def test_a_round_without_calls_takes_no_results() -> None:
    """Nothing to answer is answered with nothing."""
    async with talking([answer_text("x"), answer_text("y")]) as (fake, exchange):
        await exchange.round(lambda _: None)
        exchange.answer([])
        with pytest.raises(UsageError):
            exchange.answer([CallResult("a", "x")])
        await exchange.round(lambda _: None)
        assert fake.requests[0].arrived_bytes == fake.requests[1].arrived_bytes


# --- where it goes --------------------------------------------------------------------------------------------


async def test_the_key_goes_in_the_header_and_nowhere_else() -> None:
    """A bearer token opens the host; no representation shows it."""
    async with talking([answer_text("x")], api_key=KEY) as (fake, exchange):
        await exchange.round(lambda _: None)
        assert KEY not in fake.requests[0].arrived_bytes.decode()
        assert KEY not in repr(exchange)
    assert KEY not in repr(Endpoint("http://a:b@h/x?y=z", KEY, {"X-Key": KEY}))
    assert repr(Endpoint("http://a:b@h/x?y=z")) == "Endpoint(base_url='http://h/x', api_key='', headers=[], name='')"


@pytest.mark.parametrize(
    ("scheme", "header", "value"),
    [
        ("bearer", "Authorization", f"Bearer {KEY}"),
        ("none", "Authorization", f"Bearer {KEY}"),
        ("x-api-key", "x-api-key", KEY),
        ("api-key", "api-key", KEY),
    ],
)
def test_the_profile_says_how_the_key_is_sent(scheme: str, header: str, value: str) -> None:
    """Each scheme has its header; no key makes none."""
    profile = replace(OPENAI_COMPATIBLE, authentication=scheme)
    assert headers_of(Endpoint("http://h", KEY), profile)[header] == value
    assert headers_of(Endpoint("http://h", f" {KEY}\n"), profile)[header] == value
    assert header not in headers_of(Endpoint("http://h"), profile)


def test_configured_headers_replace_our_own() -> None:
    """A header of the instance wins, whatever its case."""
    endpoint = Endpoint("http://h", KEY, {"authorization": "Custom x", "X-Team": " a "})
    headers = headers_of(endpoint, OPENAI_COMPATIBLE)
    assert (headers["authorization"], headers["X-Team"]) == ("Custom x", "a")
    assert "Authorization" not in headers


@pytest.mark.parametrize(
    "endpoint",
    [
        Endpoint("http://h", f"{KEY}\nX: y"),
        Endpoint("http://h", f"{KEY}ü"),
        Endpoint("http://h", headers={"X-Key": f"{KEY}\r\nY: z"}),
        Endpoint("http://h", headers={"X Key": KEY}),
        Endpoint("http://h", headers={"": KEY}),
    ],
)
def test_what_http_does_not_allow_is_a_matter_of_configuration(endpoint: Endpoint) -> None:
    """A key or header with line ends is refused before anything is sent, without showing it."""
    with pytest.raises(ConfigurationError) as caught:
        headers_of(endpoint, OPENAI_COMPATIBLE)
    assert KEY not in str(caught.value)


@pytest.mark.parametrize(
    ("base", "address"),
    [
        ("http://h/v1", "http://h/v1/chat/completions"),
        (" https://h/v1/ ", "https://h/v1/chat/completions"),
        ("http://h/v1/chat/completions", "http://h/v1/chat/completions"),
        ("", "https://api.openai.com/v1/chat/completions"),
    ],
)
def test_the_address_is_the_instances_or_else_the_profiles(base: str, address: str) -> None:
    """Blanks and slashes at the end, and the whole address in place of the base, are understood."""
    assert address_of(Endpoint(base), OPENAI) == address


@pytest.mark.parametrize(
    ("base", "words"), [("", "there is none"), ("h/v1", "'h/v1' is none"), ("ftp://h", "'ftp://h'")]
)
def test_a_missing_address_is_told_with_an_example(base: str, words: str) -> None:
    """Where neither instance nor profile has an address, the error shows one."""
    with pytest.raises(ConfigurationError, match="An example: http://localhost:8000/v1") as caught:
        address_of(Endpoint(base, name="mine"), OPENAI_COMPATIBLE)
    assert words in str(caught.value)
    assert "'mine'" in str(caught.value)


def test_a_request_shows_neither_key_nor_text() -> None:
    """The representation of a request is safe to log."""
    request = HttpRequest("POST", "http://h/x?key=1", {"Authorization": KEY}, b"secret text", secrets=(KEY,))
    assert repr(request) == "HttpRequest(POST http://h/x, 11 bytes)"
