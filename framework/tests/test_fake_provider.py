import asyncio
import socket
import subprocess
import sys
from typing import cast

import httpx
import pytest
from fake_client import ADD_TOOL, post, raw_post, request, result, turn

import lockgate.testing
from lockgate.testing import (
    Answer,
    Call,
    FakeHost,
    FakeProvider,
    FakeRequest,
    answer_calls,
    answer_error,
    answer_raw,
    answer_text,
)


async def test_a_question_is_answered_by_way_of_a_tool() -> None:
    """A call, its result and the answer go over the wire as with a real host."""
    script = [answer_calls(Call("add", {"a": 1, "b": 2})), answer_text("The sum is 3.")]
    async with FakeProvider(script) as fake:
        first = (await post(fake, request(tools=[ADD_TOOL]))).json()["choices"][0]
        called = first["message"]
        messages = [{"role": "user", "content": "Hello"}, called, result(called["tool_calls"][0]["id"])]
        called.pop("refusal")
        second = (await post(fake, request(tools=[ADD_TOOL], messages=messages))).json()["choices"][0]
    assert first["finish_reason"] == "tool_calls"
    assert called["tool_calls"][0]["function"] == {"name": "add", "arguments": '{"a":1,"b":2}'}
    assert second["message"]["content"] == "The sum is 3."
    assert second["finish_reason"] == "stop"
    fake.assert_no_problems()


async def test_requests_are_kept_as_they_arrived() -> None:
    """Method, path, query, headers, body and the very bytes of the body are there to look at."""
    async with FakeProvider([answer_text("x")]) as fake:
        sent = await post(fake, path="/chat/completions?api-version=1", headers={"X-Chat": "7"})
    seen = fake.requests[0]
    assert (seen.method, seen.path, seen.query) == ("POST", "/v1/chat/completions", "api-version=1")
    assert seen.headers["x-chat"] == "7"
    assert seen.body == request()
    assert seen.arrived_bytes == sent.request.content
    assert seen.number == 0


async def test_a_request_names_its_messages_and_tools() -> None:
    """Behaving models read messages and tool names without digging."""
    async with FakeProvider([answer_text("x")]) as fake:
        await post(fake, request(tools=[ADD_TOOL]))
    assert fake.requests[0].tool_names == ["add"]
    assert fake.requests[0].messages == [{"role": "user", "content": "Hello"}]


async def test_an_exhausted_script_is_an_error_and_a_problem() -> None:
    """A loop that asks too often is told so and cannot go on unseen."""
    async with FakeProvider([answer_text("only")]) as fake:
        await post(fake)
        late = await post(fake)
    assert late.status_code == 500
    assert "has 1 answers; this is request 2" in late.json()["error"]["message"]
    assert [(problem.request, problem.status) for problem in fake.problems] == [(1, 500)]
    with pytest.raises(AssertionError, match="request 1: 500 The script"):
        fake.assert_no_problems()


async def test_a_refused_request_takes_no_answer_from_the_script() -> None:
    """The model behind a host never sees what the host refuses."""
    async with FakeProvider([answer_text("x")]) as fake:
        refused = await post(fake, {"messages": []})
        accepted = await post(fake)
    assert refused.status_code == 400
    assert accepted.status_code == 200
    assert len(fake.requests) == 2
    assert [problem.request for problem in fake.problems] == [0]


async def test_answers_nobody_asked_for_are_counted() -> None:
    """A test that ends too early can notice it."""
    async with FakeProvider([answer_text("x"), answer_text("y")]) as fake:
        await post(fake)
    assert fake.unused == 1
    with pytest.raises(AssertionError, match="1 answers of the script were not asked for"):
        fake.assert_no_problems()


async def test_a_function_behaves() -> None:
    """A function makes each answer from its request."""

    def behave(seen: FakeRequest) -> Answer:
        return answer_text(seen.messages[-1]["content"].upper())

    async with FakeProvider(behave) as fake:
        answer = await post(fake)
    assert answer.json()["choices"][0]["message"]["content"] == "HELLO"
    assert fake.unused == 0


async def test_an_async_function_behaves() -> None:
    """A behaving model may wait, and other requests are answered meanwhile."""
    second_came = asyncio.Event()

    async def behave(seen: FakeRequest) -> Answer:
        if seen.number == 0:
            await second_came.wait()
        second_came.set()
        return answer_text(str(seen.number))

    async with FakeProvider(behave) as fake, asyncio.timeout(20):
        answers = await asyncio.gather(post(fake), post(fake))
    assert {answer.json()["choices"][0]["message"]["content"] for answer in answers} == {"0", "1"}


async def test_a_function_that_raises_is_a_problem() -> None:
    """A mistake in a test's own model is shown and not lost in a task."""

    def behave(seen: FakeRequest) -> Answer:
        raise LookupError(f"no answer to {seen.number}")

    async with FakeProvider(behave) as fake:
        answer = await post(fake)
    assert answer.status_code == 500
    assert "LookupError: no answer to 0" in fake.problems[0].message


async def test_a_function_that_returns_no_answer_is_a_problem() -> None:
    """What is no answer is named."""
    async with FakeProvider(lambda _: cast("Answer", "text")) as fake:
        await post(fake)
    assert "not 'text'" in fake.problems[0].message


async def test_an_answer_that_is_no_json_is_a_problem() -> None:
    """A value that cannot be written is named instead of breaking the connection."""
    async with FakeProvider([answer_calls(Call("add", {1, 2}))]) as fake:
        answer = await post(fake)
    assert answer.status_code == 500
    assert "TypeError" in fake.problems[0].message


async def test_an_answer_of_a_strange_kind_is_a_problem() -> None:
    """What the provider cannot send is named."""

    class Strange(Answer):
        pass

    async with FakeProvider([Strange()]) as fake:
        await post(fake)
    assert "nobody knows how to send Strange" in fake.problems[0].message


def test_a_script_of_something_else_is_refused() -> None:
    """A text in place of an answer is a mistake that is told at once."""
    with pytest.raises(TypeError, match="a script is made of answers"):
        FakeProvider([cast("Answer", "The sum is 3.")])


def test_the_address_is_known_only_inside_the_block() -> None:
    """Outside the block nothing listens, and the address says so."""
    with pytest.raises(RuntimeError, match="listens only inside"):
        _ = FakeProvider().base_url


async def test_a_key_is_asked_for() -> None:
    """With a key, only its own bearer form is let in."""
    async with FakeProvider([answer_text("x")], api_key="secret") as fake:
        missing = await post(fake)
        wrong = await post(fake, headers={"Authorization": "Bearer guess"})
        bare = await post(fake, headers={"Authorization": "secret"})
        right = await post(fake, headers={"Authorization": "Bearer secret"})
    assert [answer.status_code for answer in (missing, wrong, bare, right)] == [401, 401, 401, 200]
    assert missing.json()["error"]["code"] is None
    assert wrong.json()["error"]["code"] == "invalid_api_key"
    assert wrong.json()["error"]["type"] == "invalid_request_error"
    assert "secret" not in wrong.text
    assert [problem.status for problem in fake.problems] == [401, 401, 401]


async def test_models_are_listed() -> None:
    """GET /v1/models names what the host has, behind the same key."""
    host = FakeHost(models=("small", "large"))
    async with FakeProvider(host=host, api_key="k") as fake, httpx.AsyncClient(trust_env=False) as client:
        listed = await client.get(f"{fake.base_url}/models", headers={"Authorization": "Bearer k"})
        closed = await client.get(f"{fake.base_url}/models")
    assert [model["id"] for model in listed.json()["data"]] == ["small", "large"]
    assert listed.json()["object"] == "list"
    assert closed.status_code == 401


async def test_other_paths_are_not_found() -> None:
    """A wrong address ends in a JSON error with 404."""
    async with FakeProvider() as fake:
        answer = await post(fake, path="/completions")
    assert answer.status_code == 404
    assert answer.json()["error"]["message"] == "Invalid URL (POST /v1/completions)"
    assert fake.problems[0].status == 404


async def test_other_methods_are_refused() -> None:
    """A GET on a path that wants POST ends with 405."""
    async with FakeProvider() as fake, httpx.AsyncClient(trust_env=False) as client:
        answer = await client.get(f"{fake.base_url}/chat/completions")
    assert answer.status_code == 405
    assert "GET" in answer.json()["error"]["message"]


@pytest.mark.parametrize(
    "content,why",
    [
        (b"", "it is empty"),
        (b"{", "Expecting property name"),
        (b"[1]", "it is not an object"),
        (b'{"model": NaN}', "NaN is no JSON number"),
        (b'{"model": "a", "model": "b"}', "two members of one name"),
        (b'{"model": "\xff"}', "can't decode"),
        (b"[" * 100_000, "recursion"),
    ],
)
async def test_a_body_that_is_no_json_object_is_refused(content: bytes, why: str) -> None:
    """Each way to be no JSON object is named."""
    async with FakeProvider() as fake, httpx.AsyncClient(trust_env=False) as client:
        headers = {"Content-Type": "application/json"}
        answer = await client.post(f"{fake.base_url}/chat/completions", content=content, headers=headers)
    assert answer.status_code == 400
    assert why in answer.json()["error"]["message"]
    assert fake.requests[0].body == {}
    assert fake.requests[0].arrived_bytes == content


async def test_another_media_type_is_refused() -> None:
    """A body has to be called JSON."""
    async with FakeProvider() as fake, httpx.AsyncClient(trust_env=False) as client:
        answer = await client.post(f"{fake.base_url}/chat/completions", content=b"{}")
    assert answer.status_code == 400
    assert "Content-Type" in answer.json()["error"]["message"]


async def test_the_problem_says_what_the_answer_says() -> None:
    """What the client reads and what the test reads are the same refusal."""
    async with FakeProvider() as fake:
        error = (await post(fake, request(colour="red"))).json()["error"]
    problem = fake.problems[0]
    assert error == {
        "message": "Unknown parameter: 'colour'.",
        "type": "invalid_request_error",
        "param": "colour",
        "code": "unknown_parameter",
    }
    assert (problem.message, problem.param, problem.code) == (error["message"], "colour", "unknown_parameter")
    assert str(problem) == "request 0: 400 Unknown parameter: 'colour'. (colour)"


def test_it_runs_beside_a_test_that_is_not_async() -> None:
    """`with` runs the same server in a thread of its own."""
    with FakeProvider([answer_text("x")]) as fake:
        answer = httpx.post(f"{fake.base_url}/chat/completions", json=request(), trust_env=False)
    assert answer.json()["choices"][0]["message"]["content"] == "x"
    fake.assert_no_problems()


def test_a_child_process_can_talk_to_it() -> None:
    """A program started by a test reaches the provider in the thread."""
    program = (
        "import sys, urllib.request\n"
        "head = {'Content-Type': 'application/json'}\n"
        "asked = urllib.request.Request(sys.argv[1], sys.argv[2].encode(), head)\n"
        "print(urllib.request.urlopen(asked).read().decode())"
    )
    body = '{"model": "m", "messages": [{"role": "user", "content": "Hi"}]}'
    with FakeProvider([answer_raw(b"plain", content_type="text/plain")]) as fake:
        command = [sys.executable, "-c", program, f"{fake.base_url}/chat/completions", body]
        printed = subprocess.run(command, capture_output=True, text=True, check=True, env={"no_proxy": "*"})
    assert printed.stdout == "plain\n"
    assert fake.requests[0].body["model"] == "m"


def test_the_thread_ends_while_a_client_still_waits() -> None:
    """Leaving the block ends connections in the middle of a request."""
    with FakeProvider() as fake:
        port = int(fake.base_url.split(":")[2].split("/")[0])
        client = socket.create_connection(("127.0.0.1", port), timeout=20)
        client.sendall(raw_post()[:40])
    with client:
        assert client.recv(10) == b""


async def test_an_error_comes_in_its_turn() -> None:
    """A refusal of the host can be scripted between answers."""
    script = [answer_error(429, "Slow down.", code="rate_limit_exceeded", retry_after=1), answer_text("x")]
    async with FakeProvider(script) as fake:
        limited, served = await post(fake), await post(fake)
    assert limited.status_code == 429
    assert limited.headers["retry-after"] == "1"
    assert limited.json()["error"]["type"] == "requests"
    assert served.status_code == 200
    assert fake.problems == []


async def test_ids_of_calls_never_repeat_by_themselves() -> None:
    """AUTO ids differ within an answer and between answers."""
    answer = answer_calls(Call("add"), Call("add"))
    async with FakeProvider([answer, answer]) as fake:
        bodies = [(await post(fake)).json() for _ in range(2)]
    ids = [call["id"] for body in bodies for call in body["choices"][0]["message"]["tool_calls"]]
    assert len(set(ids)) == 4
    assert all(len(call_id) == len("call_") + 24 for call_id in ids)


async def test_a_history_that_the_host_accepts_is_no_problem() -> None:
    """Two calls and their results in any order are a whole turn."""
    messages = [*turn("call_1", "call_2"), result("call_2"), result("call_1"), {"role": "user", "content": "?"}]
    async with FakeProvider([answer_text("x")]) as fake:
        answer = await post(fake, request(messages=messages))
    assert answer.status_code == 200


def test_public_names_can_all_be_loaded() -> None:
    """Every name of `__all__` leads to something, and the list is sorted."""
    names = lockgate.testing.__all__
    assert all(getattr(lockgate.testing, name) is not None for name in names)
    assert names == sorted(names)
    assert dir(lockgate.testing) == names
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = lockgate.testing.nothing  # type: ignore[attr-defined]  # a name that does not exist


def test_the_package_loads_nothing_by_itself() -> None:
    """Importing `lockgate.testing` costs no server and no client."""
    program = (
        "import sys, lockgate.testing; print([name for name in sys.modules if 'fake_' in name or name == 'httpx'])"
    )
    path = str(lockgate.testing.__file__).rsplit("/lockgate/", 1)[0]
    printed = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, env={"PYTHONPATH": path}
    )
    assert printed.stdout == "[]\n"
