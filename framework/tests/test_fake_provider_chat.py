import json
from datetime import UTC, datetime
from typing import Any, cast

import pytest
from fake_client import ADD_TOOL, call_deltas, chunks, deltas, post, request

from lockgate.testing import (
    ABSENT,
    AUTO,
    Answer,
    Call,
    ChatShape,
    FakeProvider,
    ModelAnswer,
    StreamError,
    Usage,
    answer_calls,
    answer_error,
    answer_text,
)
from lockgate.testing.fake_answers import ErrorForm

ASK = request(stream=True, tools=[ADD_TOOL])
SUM = Call("add", {"a": 1, "b": 2}, id="call_1")


async def stream(answer: Answer, ask: object = ASK) -> str:
    """The text of the answer to one request for a stream."""
    async with FakeProvider([answer]) as fake:
        got = await post(fake, ask)
    assert got.status_code == 200
    assert not fake.problems
    return got.text


async def whole(answer: Answer) -> Any:
    """The JSON of the answer to one request that wants no stream."""
    async with FakeProvider([answer]) as fake:
        got = await post(fake)
    assert not fake.problems
    return got.json()


async def test_a_stream_of_text() -> None:
    """Role first, one delta a piece, the finish in a chunk of its own, `[DONE]` last."""
    body = await stream(answer_text("The sum", " is 3."))
    assert deltas(body) == [
        {"role": "assistant", "content": "", "refusal": None},
        {"content": "The sum"},
        {"content": " is 3."},
        {},
    ]
    assert [chunk["choices"][0]["finish_reason"] for chunk in chunks(body)[:-1]] == [None, None, None, "stop"]
    assert chunks(body)[-1] == "[DONE]"
    assert "usage" not in chunks(body)[0]


async def test_every_chunk_has_its_envelope() -> None:
    """Id, kind, time and the model that was asked for."""
    for chunk in chunks(await stream(answer_text("x")))[:-1]:
        assert chunk["id"] == "chatcmpl-fake0"
        assert chunk["object"] == "chat.completion.chunk"
        assert chunk["model"] == "fake-model"
        assert isinstance(chunk["created"], int)


async def test_a_stream_of_calls() -> None:
    """As OpenAI sends them: id and name with empty arguments, then fragments by index."""
    second = Call("add", {"a": 30}, id="call_2")
    body = await stream(answer_calls(SUM, second))
    assert deltas(body)[0] == {"role": "assistant", "content": None, "refusal": None}
    assert call_deltas(body) == [
        {"index": 0, "id": "call_1", "type": "function", "function": {"name": "add", "arguments": ""}},
        {"index": 0, "function": {"arguments": '{"a":1,"'}},
        {"index": 0, "function": {"arguments": 'b":2}'}},
        {"index": 1, "id": "call_2", "type": "function", "function": {"name": "add", "arguments": ""}},
        {"index": 1, "function": {"arguments": '{"a":30}'}},
    ]
    assert chunks(body)[-2]["choices"][0]["finish_reason"] == "tool_calls"


async def test_usage_comes_when_asked_for() -> None:
    """A last chunk without choices; the chunks before it say null."""
    body = await stream(answer_text("x"), ASK | {"stream_options": {"include_usage": True}})
    *before, last, done = chunks(body)
    assert last["choices"] == []
    assert last["usage"] == {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
    assert all(chunk["usage"] is None for chunk in before)
    assert done == "[DONE]"


async def test_an_answer_in_one_body() -> None:
    """Message, finish and usage of an answer that is not streamed."""
    body = await whole(answer_text("The sum", " is 3.", usage=Usage(5, 6)))
    assert body["object"] == "chat.completion"
    choice = body["choices"][0]
    assert choice["message"] == {"role": "assistant", "content": "The sum is 3.", "refusal": None}
    assert choice["finish_reason"] == "stop"
    assert body["usage"] == {"prompt_tokens": 5, "completion_tokens": 6, "total_tokens": 11}


async def test_calls_in_one_body() -> None:
    """Calls with null content, as OpenAI sends them."""
    message = (await whole(answer_calls(SUM)))["choices"][0]["message"]
    assert message["content"] is None
    assert message["tool_calls"] == [
        {"id": "call_1", "type": "function", "function": {"name": "add", "arguments": '{"a":1,"b":2}'}}
    ]


async def test_text_beside_calls() -> None:
    """A model may speak before it calls."""
    answer = answer_calls(SUM, text=("Let me see.",))
    assert (await whole(answer))["choices"][0]["message"]["content"] == "Let me see."
    said = deltas(await stream(answer))
    assert said[0]["content"] == ""
    assert said[1] == {"content": "Let me see."}
    assert "tool_calls" in said[2]


async def test_reasoning_comes_before_the_text_in_any_field() -> None:
    """Hosts call the field differently."""
    for field in ("reasoning_content", "reasoning"):
        answer = answer_text("x", reasoning=("Hm", "m."), chat=ChatShape(reasoning_field=field))
        assert deltas(await stream(answer))[1:4] == [{field: "Hm"}, {field: "m."}, {"content": "x"}]
        assert (await whole(answer))["choices"][0]["message"][field] == "Hmm."


async def test_content_may_be_a_list_of_parts() -> None:
    """Mistral's reasoning models send thinking and text as parts."""
    answer = answer_text("x", reasoning=("Hm",), chat=ChatShape(content_parts=True))
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "Hm"}]}
    assert deltas(await stream(answer))[1:3] == [
        {"content": [thinking]},
        {"content": [{"type": "text", "text": "x"}]},
    ]
    parts = (await whole(answer))["choices"][0]["message"]["content"]
    assert parts == [thinking, {"type": "text", "text": "x"}]


async def test_a_refusal() -> None:
    """A refusal has its own field and leaves content null."""
    answer = ModelAnswer(refusal=("I cannot", " help."))
    assert deltas(await stream(answer))[1:3] == [{"refusal": "I cannot"}, {"refusal": " help."}]
    message = (await whole(answer))["choices"][0]["message"]
    assert (message["content"], message["refusal"]) == (None, "I cannot help.")


@pytest.mark.parametrize("finish", ["length", "content_filter", "", None])
async def test_any_finish_reason(finish: str | None) -> None:
    """Whatever a host says, empty and null too."""
    answer = answer_calls(SUM, finish=finish)
    assert chunks(await stream(answer))[-2]["choices"][0]["finish_reason"] == finish
    assert (await whole(answer))["choices"][0]["finish_reason"] == finish


async def test_a_missing_finish_reason() -> None:
    """The member is in no chunk and in no body."""
    answer = answer_text("x", finish=ABSENT)
    assert "finish_reason" not in await stream(answer)
    assert "finish_reason" not in (await whole(answer))["choices"][0]


@pytest.mark.parametrize("call_id", ["", None])
async def test_a_call_with_an_empty_id(call_id: str | None) -> None:
    """Empty and null ids are sent as they are."""
    body = await stream(answer_calls(Call("add", id=call_id)))
    assert call_deltas(body)[0]["id"] == call_id


async def test_a_call_without_an_id() -> None:
    """The member is left out, streamed or not."""
    answer = answer_calls(Call("add", id=ABSENT))
    assert "id" not in call_deltas(await stream(answer))[0]
    assert "id" not in (await whole(answer))["choices"][0]["message"]["tool_calls"][0]


async def test_calls_with_one_id() -> None:
    """A constant id repeats."""
    body = await stream(answer_calls(SUM, SUM))
    assert [entry["id"] for entry in call_deltas(body) if "id" in entry] == ["call_1", "call_1"]


@pytest.mark.parametrize(
    "arguments,as_object,expected",
    [
        ('{"a": 1', False, '{"a": 1'),
        ("", False, ""),
        ([1], False, "[1]"),
        ({"a": "ä"}, False, '{"a":"ä"}'),
        ({"a": 1}, True, {"a": 1}),
        (None, False, None),
    ],
)
async def test_arguments_of_any_kind(arguments: object, as_object: bool, expected: object) -> None:
    """Broken text, an object, null: each arrives as scripted, streamed or not."""
    answer = answer_calls(Call("add", arguments, as_object=as_object), chat=ChatShape(fragments=None))
    assert call_deltas(await stream(answer))[0]["function"]["arguments"] == expected
    called = (await whole(answer))["choices"][0]["message"]["tool_calls"][0]
    assert called["function"]["arguments"] == expected


async def test_arguments_that_are_an_object_are_not_cut() -> None:
    """What is no text comes in one delta even when texts come in fragments."""
    body = await stream(answer_calls(Call("add", {"a": 1}, as_object=True)))
    assert [entry["function"]["arguments"] for entry in call_deltas(body)] == [{"a": 1}]


async def test_missing_arguments() -> None:
    """The member is left out."""
    body = await stream(answer_calls(Call("add", ABSENT)))
    assert [entry["function"] for entry in call_deltas(body)] == [{"name": "add"}]


async def test_a_missing_function() -> None:
    """A call without its function object, and one with null."""
    body = await stream(answer_calls(Call("add", function="absent"), Call("add", function="null")))
    first, second = call_deltas(body)
    assert "function" not in first
    assert second["function"] is None


@pytest.mark.parametrize("name", [None, "", " add ", "add()", "multi_tool_use.parallel", "n" * 100])
async def test_names_of_any_kind(name: str | None) -> None:
    """A model may call what no tool can be called."""
    body = await stream(answer_calls(Call(name)))
    assert call_deltas(body)[0]["function"]["name"] == name


async def test_a_missing_name() -> None:
    """The member is left out."""
    assert "name" not in call_deltas(await stream(answer_calls(Call(ABSENT))))[0]["function"]


async def test_a_name_in_pieces() -> None:
    """The pieces come before the arguments, the whole in a body."""
    answer = answer_calls(Call(("ad", "d"), {"a": 1}))
    assert [entry["function"] for entry in call_deltas(await stream(answer))] == [
        {"name": "ad", "arguments": ""},
        {"name": "d"},
        {"arguments": '{"a":1}'},
    ]
    assert (await whole(answer))["choices"][0]["message"]["tool_calls"][0]["function"]["name"] == "add"


@pytest.mark.parametrize(
    "index,expected", [("counted", [0, 1]), ("zero", [0, 0]), ("null", [None, None]), ("absent", [7, 7])]
)
async def test_the_index_of_calls(index: Any, expected: list[int | None]) -> None:
    """Counted, always zero, null, or left out (7 stands for nothing)."""
    body = await stream(answer_calls(SUM, SUM, chat=ChatShape(index=index, fragments=None)))
    assert [entry.get("index", 7) for entry in call_deltas(body)] == expected


async def test_a_whole_call_in_one_delta() -> None:
    """Name, id and all arguments at once."""
    body = await stream(answer_calls(SUM, chat=ChatShape(fragments=None)))
    assert [entry["function"] for entry in call_deltas(body)] == [{"name": "add", "arguments": '{"a":1,"b":2}'}]


@pytest.mark.parametrize(
    "continuation,expected",
    [
        ("bare", {"index": 0, "function": {"arguments": "{}"}}),
        ("id", {"index": 0, "id": "call_1", "function": {"arguments": "{}"}}),
        (
            "id_and_name",
            {"index": 0, "id": "call_1", "type": "function", "function": {"name": "add", "arguments": "{}"}},
        ),
        ("empty", {"index": 0, "id": "", "type": "function", "function": {"name": "", "arguments": "{}"}}),
        ("null", {"index": 0, "id": None, "type": None, "function": {"name": None, "arguments": "{}"}}),
    ],
)
async def test_what_later_deltas_carry(continuation: Any, expected: object) -> None:
    """Id and name are repeated, emptied or nulled in the deltas that go on with a call."""
    body = await stream(answer_calls(Call("add", id="call_1"), chat=ChatShape(continuation=continuation)))
    assert call_deltas(body)[1] == expected


async def test_first_arguments_may_be_null_or_missing() -> None:
    """A call begins with null (vLLM) or without the member."""
    for first in (None, ABSENT):
        body = await stream(answer_calls(SUM, chat=ChatShape(first_arguments=first)))
        assert call_deltas(body)[0]["function"].get("arguments", ABSENT) is first


async def test_fragments_of_calls_may_take_turns() -> None:
    """Deltas of parallel calls come mixed, one of each at a time."""
    longer = Call("add", {"a": 1, "b": 2, "c": 3}, id="call_2")
    body = await stream(answer_calls(SUM, longer, chat=ChatShape(interleaved=True)))
    assert [entry["index"] for entry in call_deltas(body)] == [0, 1, 0, 1, 0, 1, 1]


async def test_further_members_of_a_call() -> None:
    """Signatures and the like come with the first delta of a call."""
    extra = {"extra_content": {"google": {"thought_signature": "abc"}}}
    answer = answer_calls(Call("add", {"a": 1, "b": 20}, extra=extra))
    assert [entry.get("extra_content") for entry in call_deltas(await stream(answer))] == [
        extra["extra_content"],
        None,
        None,
    ]
    called = (await whole(answer))["choices"][0]["message"]["tool_calls"][0]
    assert called["extra_content"] == extra["extra_content"]


async def test_a_call_of_another_type() -> None:
    """The type can be anything, null, or left out; a custom tool has its own member."""
    custom = Call(None, type="custom", function="absent", extra={"custom": {"name": "sql", "input": "select"}})
    entries = call_deltas(await stream(answer_calls(custom, Call("add", type=None), Call("add", type=ABSENT))))
    assert entries[0]["type"] == "custom"
    assert entries[0]["custom"]["name"] == "sql"
    assert [entry.get("type", 7) for entry in entries if "id" in entry] == ["custom", None, 7]


async def test_content_beside_calls() -> None:
    """Empty text, null or nothing, as hosts differ."""
    for content in ("", None, ABSENT):
        answer = answer_calls(SUM, chat=ChatShape(content_beside_calls=content))
        assert deltas(await stream(answer))[0].get("content", ABSENT) == content
        assert (await whole(answer))["choices"][0]["message"].get("content", ABSENT) == content


@pytest.mark.parametrize(
    "where,expected", [("chunk", [False, True]), ("finish", [True]), ("both", [True, True]), ("none", [False])]
)
async def test_where_usage_is(where: Any, expected: list[bool]) -> None:
    """In a chunk of its own, beside the finish, in both, in none, whatever was asked."""
    body = await stream(answer_text("x", chat=ChatShape(usage_at=where)))
    assert [bool(chunk.get("usage")) for chunk in chunks(body)[2:-1]] == expected


async def test_usage_may_be_unknown() -> None:
    """No usage anywhere, also when asked for."""
    ask = ASK | {"stream_options": {"include_usage": True}}
    assert all(not chunk.get("usage") for chunk in chunks(await stream(answer_text("x", usage=None), ask))[:-1])
    assert "usage" not in await whole(answer_text("x", usage=None))
    assert "usage" not in await whole(answer_text("x", chat=ChatShape(usage_at="none")))


async def test_the_end_marker_may_be_missing() -> None:
    """A stream that ends after its finish, without `[DONE]`."""
    body = await stream(answer_text("x", chat=ChatShape(done=False)))
    assert chunks(body)[-1]["choices"][0]["finish_reason"] == "stop"


async def test_a_stream_may_stop_without_a_finish() -> None:
    """HTTP ends as it should, and the answer does not."""
    shape = ChatShape(finish_chunk=False, done=False, finish_with_last=True)
    body = await stream(answer_calls(SUM, chat=shape), ASK | {"stream_options": {"include_usage": True}})
    assert all(chunk["choices"][0]["finish_reason"] is None for chunk in chunks(body))
    assert call_deltas(body)[-1]["function"]["arguments"] == 'b":2}'


async def test_the_finish_may_ride_on_the_last_delta() -> None:
    """Mistral sends the whole call in the chunk that ends the answer."""
    body = await stream(answer_calls(SUM, chat=ChatShape(finish_with_last=True, fragments=None)))
    last = chunks(body)[-2]["choices"][0]
    assert last["delta"]["tool_calls"][0]["id"] == "call_1"
    assert last["finish_reason"] == "tool_calls"


@pytest.mark.parametrize("where", ["alone", "beside_choices", "event"])
async def test_an_error_in_a_stream(where: Any) -> None:
    """With status 200 and after some text, in each of its three forms."""
    error = StreamError(message="Overloaded", code=502, where=where)
    body = await stream(answer_text("x", error=error, chat=ChatShape(done=False)))
    last = body.removesuffix("\n\n").split("\n\n")[-1]
    assert last.startswith("event: error\n") == (where == "event")
    value = json.loads(last.split("data: ")[1])
    assert value["error"]["message"] == "Overloaded"
    assert value["error"]["code"] == 502
    assert ("choices" in value) == (where == "beside_choices")
    if where == "beside_choices":
        assert value["choices"][0]["finish_reason"] == "error"
    assert '"finish_reason":"stop"' not in body


async def test_an_error_in_a_body_with_status_200() -> None:
    """An error object in place of choices, or beside them."""
    alone = await whole(answer_text("x", error=StreamError()))
    assert list(alone) == ["error"]
    beside = await whole(answer_text("x", error=StreamError(where="beside_choices")))
    assert beside["error"]["message"] == "Internal server error"
    assert beside["choices"][0]["finish_reason"] == "error"


async def test_choices_may_be_null() -> None:
    """In a body, and in a chunk before the others; the delta of the next is null."""
    shape = ChatShape(choices_null=True)
    assert (await whole(answer_text("x", chat=shape)))["choices"] is None
    first, second, third, *_ = chunks(await stream(answer_text("x", chat=shape)))
    assert first["choices"] is None
    assert second["choices"][0]["delta"] is None
    assert third["choices"][0]["delta"]["role"] == "assistant"


async def test_further_chunks() -> None:
    """Azure begins with a chunk of its filter; others add chunks behind the finish."""
    azure = {"choices": [], "prompt_filter_results": [{"prompt_index": 0}]}
    shape = ChatShape(chunks_before=(azure,), chunks_after=({"ping": 1},), usage_at="chunk")
    values = chunks(await stream(answer_text("x", chat=shape)))
    assert values[0] == azure
    assert values[-3] == {"ping": 1}
    assert values[-2]["usage"]["total_tokens"] == 18


async def test_unknown_members_everywhere() -> None:
    """Chunks, choices and messages carry what nobody knows, and replace what is known."""
    shape = ChatShape(
        chunk_extra={"obfuscation": "xyz", "model": "other"},
        choice_extra={"native_finish_reason": "STOP"},
        message_extra={"reasoning_details": [{"type": "reasoning.text"}]},
    )
    body = await whole(answer_text("x", chat=shape))
    assert (body["obfuscation"], body["model"]) == ("xyz", "other")
    assert body["choices"][0]["native_finish_reason"] == "STOP"
    assert body["choices"][0]["message"]["reasoning_details"] == [{"type": "reasoning.text"}]
    first = chunks(await stream(answer_text("x", chat=shape)))[0]
    assert (first["obfuscation"], first["model"]) == ("xyz", "other")
    assert first["choices"][0]["delta"]["reasoning_details"] == [{"type": "reasoning.text"}]


async def test_json_although_a_stream_was_asked_for() -> None:
    """And the other way round."""
    async with FakeProvider([answer_text("x", streamed=False), answer_text("x", streamed=True)]) as fake:
        plain = await post(fake, ASK)
        streamed = await post(fake)
    assert plain.headers["content-type"] == "application/json"
    assert plain.json()["choices"][0]["message"]["content"] == "x"
    assert streamed.headers["content-type"].startswith("text/event-stream")
    assert streamed.text.endswith("data: [DONE]\n\n")


async def test_headers_of_an_answer() -> None:
    """An answer brings any headers along."""
    async with FakeProvider([answer_text("x", headers=(("x-ratelimit-remaining-tokens", "5"),))]) as fake:
        answer = await post(fake)
    assert answer.headers["x-ratelimit-remaining-tokens"] == "5"


@pytest.mark.parametrize(
    "form,expected",
    [
        ("native", {"error": {"message": "No.", "type": "invalid_request_error", "param": None, "code": "c", "x": 1}}),
        (
            "mistral",
            {"object": "error", "message": "No.", "type": "invalid_request_error", "param": None, "code": "c", "x": 1},
        ),
        ("detail", {"detail": [{"type": "value_error", "loc": ["body", "messages"], "msg": "No."}]}),
        ("gemini", [{"error": {"code": "c", "message": "No.", "status": "INVALID_ARGUMENT", "x": 1}}]),
        ("ollama", {"error": "No.", "x": 1}),
        ("watsonx", {"errors": [{"code": "c", "message": "No."}], "trace": "fake-trace", "status_code": 400, "x": 1}),
    ],
)
async def test_errors_in_the_forms_of_hosts(form: ErrorForm, expected: object) -> None:
    """Each host writes an error its own way."""
    async with FakeProvider([answer_error(400, "No.", code="c", form=form, extra={"x": 1})]) as fake:
        answer = await post(fake)
    assert answer.status_code == 400
    assert answer.json() == expected
    assert fake.problems == []


async def test_an_error_of_plain_text() -> None:
    """Azure's front answers without JSON."""
    async with FakeProvider([answer_error(503, "upstream connect error", form="text")]) as fake:
        answer = await post(fake)
    assert answer.text == "upstream connect error"
    assert answer.headers["content-type"].startswith("text/plain")


@pytest.mark.parametrize(
    "given,sent",
    [(3, "3"), (datetime(2026, 12, 1, 8, 30, tzinfo=UTC), "Tue, 01 Dec 2026 08:30:00 GMT"), ("soon", "soon")],
)
async def test_retry_after_in_its_forms(given: int | str | datetime, sent: str) -> None:
    """Seconds, an HTTP date, and nonsense."""
    async with FakeProvider([answer_error(429, retry_after=given, retry_after_ms=94)]) as fake:
        answer = await post(fake)
    assert answer.headers["retry-after"] == sent
    assert answer.headers["retry-after-ms"] == "94"


def test_scripts_that_mean_nothing_are_refused() -> None:
    """Mistakes of a test's author are told where they are made."""
    with pytest.raises(TypeError, match="text is a tuple of pieces"):
        ModelAnswer(text=cast("tuple[str, ...]", "abc"))
    with pytest.raises(ValueError, match="only the id of a call can be AUTO"):
        Call(AUTO)
    with pytest.raises(ValueError, match="at least one character"):
        ChatShape(fragments=0)
    with pytest.raises(ValueError, match="400 to 599"):
        answer_error(200)
