import copy
from collections.abc import Callable
from typing import Any

import pytest
from fake_client import ADD_TOOL, Members, post, request, result, turn

from lockgate.testing import FakeHost, FakeProvider, answer_text
from lockgate.testing.fake_chat_rules import check_chat_request
from lockgate.testing.fake_host import Refused

HI: Members = {"role": "user", "content": "Hi"}
OPENAI = FakeHost()


def refusal(body: Members, host: FakeHost = OPENAI) -> Refused:
    """Why a host refuses a request, which it has to."""
    with pytest.raises(Refused) as caught:
        check_chat_request(body, host)
    return caught.value


def tool(**members: object) -> Members:
    """A request with one function, whose members are replaced or added."""
    function = {"name": "f", "parameters": {"type": "object", "properties": {}}} | members
    return request(tools=[{"type": "function", "function": function}])


def without(members: Members, name: str) -> Members:
    """A copy without one member."""
    return {key: value for key, value in members.items() if key != name}


async def test_a_refusal_is_answered_as_openai_does() -> None:
    """400, OpenAI's form, and a problem for the test."""
    async with FakeProvider([answer_text("x")]) as fake:
        answer = await post(fake, request(tools=[]))
    assert answer.status_code == 400
    assert answer.json()["error"] == {
        "message": "Invalid 'tools': empty array. Expected an array with minimum length 1.",
        "type": "invalid_request_error",
        "param": "tools",
        "code": "empty_array",
    }
    assert [problem.param for problem in fake.problems] == ["tools"]


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"stream": True},
        {"stream": False},
        {"stream": True, "stream_options": {"include_usage": True, "include_obfuscation": False}},
        {"tools": [ADD_TOOL]},
        {"tools": [ADD_TOOL], "tool_choice": "required", "parallel_tool_calls": False},
        {"tools": [ADD_TOOL], "tool_choice": {"type": "function", "function": {"name": "add"}}},
        {
            "tools": [ADD_TOOL],
            "tool_choice": {
                "type": "allowed_tools",
                "allowed_tools": {"mode": "auto", "tools": [{"type": "function", "function": {"name": "add"}}]},
            },
        },
        {"temperature": 0.5, "top_p": 1, "max_completion_tokens": 5, "n": 1, "seed": 3, "stop": ["a"]},
        {"reasoning_effort": "low", "max_tokens": 5, "stop": "a", "user": "u", "metadata": {}},
        {"response_format": {"type": "json_object"}},
        {
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "x", "strict": True, "schema": ADD_TOOL["function"]["parameters"]},
            }
        },
        {"messages": [{"role": "system", "content": "Be brief."}, {"role": "developer", "content": "x"}, HI]},
        {"messages": [{"role": "user", "content": ""}, {"role": "user", "content": "b", "name": "n"}]},
        {"messages": [HI, {"role": "assistant", "content": "x"}, HI]},
        {"messages": [HI, {"role": "assistant", "content": None, "refusal": "no"}, HI]},
        {"messages": [HI, {"role": "assistant", "refusal": None, "content": "yes"}, HI]},
        {"messages": [HI, {"role": "assistant", "content": [{"type": "refusal", "refusal": "no"}]}, HI]},
        {
            "messages": [
                {
                    "role": "user",
                    "content": [{"type": "text", "text": "a"}, {"type": "image_url", "image_url": {"url": "data:"}}],
                }
            ]
        },
        {"messages": [*turn("a", "b"), result("a"), result("b")]},
        {"messages": [*turn("a"), result("a", [{"type": "text", "text": "3"}]), *turn("a"), result("a")]},
        {"messages": [without(turn("a")[1], "content"), result("a", "")]},
        {"messages": [turn("a")[1] | {"content": "I look."}, result("a")]},
    ],
)
def test_what_openai_accepts_is_accepted(more: Members) -> None:
    """Each of these is a request that the real host answers."""
    check_chat_request(request(**more), OPENAI)


@pytest.mark.parametrize(
    "body,param",
    [
        (without(request(), "model"), "model"),
        (request(model=""), "model"),
        (request(model=None), "model"),
        (request(model=5), "model"),
        (without(request(), "messages"), "messages"),
        (request(messages=[]), "messages"),
        (request(messages="Hello"), "messages"),
        (request(colour="red"), "colour"),
        (request(functions=[]), "functions"),
        (request(temperature=None), "temperature"),
        (request(temperature="1"), "temperature"),
        (request(temperature=True), "temperature"),
        (request(temperature=2.5), "temperature"),
        (request(top_p=-0.1), "top_p"),
        (request(stream="yes"), "stream"),
        (request(stream=None), "stream"),
        (request(stream_options={"include_usage": True}), "stream_options"),
        (request(stream=False, stream_options={}), "stream_options"),
        (request(stream=True, stream_options=[]), "stream_options"),
        (request(stream=True, stream_options={"include_usage": 1}), "stream_options.include_usage"),
        (request(stream=True, stream_options={"usage": True}), "stream_options.usage"),
        (request(max_tokens=0), "max_tokens"),
        (request(max_tokens=1.5), "max_tokens"),
        (request(n=True), "n"),
        (request(max_tokens=1, max_completion_tokens=1), "max_tokens"),
        (request(reasoning_effort="huge"), "reasoning_effort"),
        (request(seed=1.5), "seed"),
        (request(stop=[]), "stop"),
        (request(stop=["a"] * 5), "stop"),
        (request(stop=[1]), "stop[0]"),
        (request(response_format={"type": "xml"}), "response_format.type"),
        (request(response_format={"type": "text", "schema": {}}), "response_format.schema"),
        (request(response_format={"type": "json_schema"}), "response_format.json_schema"),
        (
            request(response_format={"type": "json_schema", "json_schema": {"name": "x", "schema": {}}}),
            "response_format.json_schema.schema",
        ),
    ],
)
def test_members_that_openai_refuses(body: Members, param: str) -> None:
    """The refusal names the member."""
    assert refusal(body).param == param


@pytest.mark.parametrize(
    "message,param",
    [
        ("Hello", "messages[0]"),
        ({"content": "x"}, "messages[0].role"),
        ({"role": "model", "content": "x"}, "messages[0].role"),
        ({"role": "function", "name": "f", "content": "x"}, "messages[0].role"),
        ({"role": "user"}, "messages[0].content"),
        ({"role": "user", "content": None}, "messages[0].content"),
        ({"role": "user", "content": 5}, "messages[0].content"),
        ({"role": "user", "content": []}, "messages[0].content"),
        ({"role": "user", "content": ["text"]}, "messages[0].content[0]"),
        ({"role": "user", "content": [{"text": "x"}]}, "messages[0].content[0].type"),
        ({"role": "user", "content": [{"type": "text"}]}, "messages[0].content[0].text"),
        ({"role": "user", "content": [{"type": "text", "text": None}]}, "messages[0].content[0].text"),
        ({"role": "user", "content": [{"type": "image_url", "image_url": "u"}]}, "messages[0].content[0].image_url"),
        ({"role": "user", "content": [{"type": "text", "text": "", "x": 1}]}, "messages[0].content[0].x"),
        ({"role": "system", "content": [{"type": "image_url", "image_url": {}}]}, "messages[0].content[0].type"),
        ({"role": "system", "content": None}, "messages[0].content"),
        ({"role": "user", "content": "x", "tool_calls": []}, "messages[0].tool_calls"),
        ({"role": "user", "content": "x", "name": None}, "messages[0].name"),
        ({"role": "assistant", "content": None}, "messages[0].content"),
        ({"role": "assistant"}, "messages[0].content"),
        ({"role": "assistant", "content": "x", "tool_calls": None}, "messages[0].tool_calls"),
        ({"role": "assistant", "content": "x", "tool_calls": []}, "messages[0].tool_calls"),
        ({"role": "assistant", "content": "x", "reasoning_content": "x"}, "messages[0].reasoning_content"),
        ({"role": "tool", "content": "x"}, "messages[0].tool_call_id"),
        ({"role": "tool", "content": "x", "tool_call_id": "call_1"}, "messages[0].role"),
    ],
)
def test_messages_that_openai_refuses(message: object, param: str) -> None:
    """The refusal names the place in the message."""
    assert refusal(request(messages=[message])).param == param


def broken_call(change: Callable[[Members], object]) -> Members:
    """A request whose one call in the history was changed."""
    messages = copy.deepcopy([*turn("call_1"), result("call_1")])
    change(messages[1]["tool_calls"][0])
    return request(messages=messages)


@pytest.mark.parametrize(
    "change,param",
    [
        (lambda call: call.pop("id"), ".id"),
        (lambda call: call.update(id=""), ".id"),
        (lambda call: call.update(id=None), ".id"),
        (lambda call: call.update(id="c" * 41), ".id"),
        (lambda call: call.pop("type"), ".type"),
        (lambda call: call.update(type=None), ".type"),
        (lambda call: call.update(type="tool"), ".type"),
        (lambda call: call.update(index=0), ".index"),
        (lambda call: call.pop("function"), ".function"),
        (lambda call: call.update(function="add"), ".function"),
        (lambda call: call["function"].pop("name"), ".function.name"),
        (lambda call: call["function"].update(name=""), ".function.name"),
        (lambda call: call["function"].update(name="a.b"), ".function.name"),
        (lambda call: call["function"].update(name="a\n"), ".function.name"),
        (lambda call: call["function"].update(name="n" * 65), ".function.name"),
        (lambda call: call["function"].update(description="x"), ".function.description"),
        (lambda call: call["function"].pop("arguments"), ".function.arguments"),
        (lambda call: call["function"].update(arguments={"a": 1}), ".function.arguments"),
        (lambda call: call["function"].update(arguments=None), ".function.arguments"),
    ],
)
def test_calls_that_openai_refuses(change: Callable[[Members], object], param: str) -> None:
    """A call goes back with id, type, name and arguments as text, and nothing else."""
    assert refusal(broken_call(change)).param == f"messages[1].tool_calls[0]{param}"


@pytest.mark.parametrize(
    "messages,words",
    [
        ([*turn("a")], "did not have response messages: a"),
        ([*turn("a", "b"), result("a")], "did not have response messages: b"),
        ([*turn("a", "b"), result("b"), HI, result("a")], "did not have response messages: a"),
        ([*turn("a"), HI, result("a")], "did not have response messages: a"),
        ([*turn("a"), {"role": "assistant", "content": "x"}], "did not have response messages: a"),
        ([*turn("a"), *turn("b"), result("b")], "did not have response messages: a"),
        ([*turn("a"), result("b")], "'b' not found"),
        ([*turn("a"), result("a"), result("a")], "must be a response to a preceding message"),
        ([*turn("a", "b"), result("a"), result("a")], "'a' not found"),
        ([*turn("a"), result("a"), HI, result("a")], "must be a response to a preceding message"),
        ([*turn("a", "a"), result("a")], "Duplicate tool call id 'a'"),
        ([*turn("a"), result("a", None)], "messages[2].content"),
        ([*turn("a"), result("a", {"sum": 3})], "messages[2].content"),
        ([*turn("a"), result("a") | {"name": "add"}], "messages[2].name"),
    ],
)
def test_results_have_to_fit_their_calls(messages: list[Members], words: str) -> None:
    """One tool message for each call, directly behind it, and none without a call."""
    assert words in refusal(request(messages=messages)).message


@pytest.mark.parametrize(
    "body,param",
    [
        (request(tools={}), "tools"),
        (request(tools=None), "tools"),
        (request(tools=["add"]), "tools[0]"),
        (request(tools=[ADD_TOOL["function"]]), "tools[0].name"),
        (request(tools=[{"type": "function"}]), "tools[0].function"),
        (request(tools=[{"type": "custom"}]), "tools[0].type"),
        (request(tools=[without(ADD_TOOL, "type")]), "tools[0].type"),
        (request(tools=[ADD_TOOL, ADD_TOOL]), "tools[1].function.name"),
        (request(tools=[ADD_TOOL] * 129), "tools"),
        (tool(name="a b"), "tools[0].function.name"),
        (tool(name="wörter"), "tools[0].function.name"),
        (tool(name="n" * 65), "tools[0].function.name"),
        (tool(description=None), "tools[0].function.description"),
        (tool(description="d" * 1025), "tools[0].function.description"),
        (tool(strict=None), "tools[0].function.strict"),
        (tool(strict="yes"), "tools[0].function.strict"),
        (tool(returns={}), "tools[0].function.returns"),
        (tool(parameters=None), "tools[0].function.parameters"),
        (tool(parameters=[]), "tools[0].function.parameters"),
        (tool(parameters={}), "tools[0].function.parameters"),
        (tool(parameters={"type": "string"}), "tools[0].function.parameters"),
        (
            request(tools=[{"type": "function", "function": {"name": "f", "strict": True}}]),
            "tools[0].function.parameters",
        ),
        (request(tool_choice="auto"), "tool_choice"),
        (request(parallel_tool_calls=False), "parallel_tool_calls"),
        (tool() | {"tool_choice": None}, "tool_choice"),
        (tool() | {"tool_choice": "any"}, "tool_choice"),
        (tool() | {"tool_choice": "f"}, "tool_choice"),
        (tool() | {"tool_choice": {"type": "tool"}}, "tool_choice.type"),
        (tool() | {"tool_choice": {"type": "function", "name": "f"}}, "tool_choice.name"),
        (tool() | {"tool_choice": {"type": "function", "function": {"name": "g"}}}, "tool_choice"),
        (tool() | {"tool_choice": {"type": "allowed_tools"}}, "tool_choice.allowed_tools"),
        (tool() | {"parallel_tool_calls": "no"}, "parallel_tool_calls"),
    ],
)
def test_tools_that_openai_refuses(body: Members, param: str) -> None:
    """The refusal names the place."""
    assert refusal(body).param == param


def test_allowed_tools_have_to_be_offered() -> None:
    """A named tool that is not in the request is a mistake."""
    named = {"type": "function", "function": {"name": "g"}}
    choice = {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [named]}}
    assert refusal(tool() | {"tool_choice": choice}).param == "tool_choice.allowed_tools.tools[0]"


def test_a_function_may_have_no_parameters() -> None:
    """Parameters are optional when the function is not strict."""
    check_chat_request(request(tools=[{"type": "function", "function": {"name": "f"}}]), OPENAI)


@pytest.mark.parametrize(
    "schema,words",
    [
        ({"type": "object", "properties": []}, "'properties' is not an object"),
        ({"type": "object", "properties": {"a": "string"}}, "at properties.a is not a schema"),
        ({"type": "object", "properties": {"a": {"type": "text"}}}, "'text' is not a type"),
        ({"type": "object", "properties": {"a": {"type": "array"}}}, "array schema missing items"),
        ({"type": "object", "properties": {"a": {"type": ["array", "null"]}}}, "array schema missing items"),
        ({"type": "object", "properties": {"a": {"enum": []}}}, "'enum' is not a list"),
        ({"type": "object", "properties": {"a": {"anyOf": {}}}}, "'anyOf' is not a list"),
        ({"type": "object", "properties": {"a": {"anyOf": [1]}}}, "at anyOf.0 is not a schema"),
        ({"type": "object", "properties": {"a": {"description": 1}}}, "'description' is not a string"),
        ({"type": "object", "required": "a"}, "'required' is not a list of names"),
        ({"type": "object", "required": ["a", "a"]}, "non-unique"),
        ({"type": "object", "$defs": [1]}, "'$defs' is not an object"),
        ({"type": "object", "additionalProperties": {"type": "any"}}, "'any' is not a type"),
    ],
)
def test_what_is_no_schema_is_refused(schema: Members, words: str) -> None:
    """Also for functions that are not strict."""
    problem = refusal(tool(parameters=schema))
    assert words in problem.message
    assert problem.code == "invalid_function_parameters"
    assert problem.message.startswith("Invalid schema for function 'f'")


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object"},
        {"type": "object", "properties": {"a": {"type": "string", "default": "x", "minLength": 1}}},
        {"type": "object", "properties": {"a": {}, "b": {"allOf": [{"type": "string"}]}}, "required": ["a"]},
        {"type": "object", "additionalProperties": {"type": "string"}, "properties": {"a": {"not": {}}}},
    ],
)
def test_lenient_schemas_are_accepted_when_not_strict(schema: Members) -> None:
    """Strict mode is what refuses these, not the host."""
    check_chat_request(tool(parameters=schema), OPENAI)
    assert refusal(tool(parameters=schema, strict=True)).code == "invalid_function_parameters"


def strict_object(**properties: object) -> Members:
    """An object as strict mode wants it."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def nested(levels: int) -> Members:
    """Objects in objects."""
    schema = strict_object(leaf={"type": "string"})
    for _ in range(levels - 1):
        schema = strict_object(inner=schema)
    return schema


TREE = strict_object(child={"anyOf": [{"$ref": "#"}, {"type": "null"}]})
POINT = strict_object(place={"$ref": "#/$defs/place"}) | {"$defs": {"place": strict_object(x={"type": "number"})}}


@pytest.mark.parametrize(
    "schema",
    [
        strict_object(),
        strict_object(a={"type": ["string", "null"], "description": "A."}),
        strict_object(a={"type": "string", "pattern": "^a", "format": "date"}, b={"type": "integer", "minimum": 1}),
        strict_object(a={"type": "array", "items": {"type": "string"}, "minItems": 1}),
        strict_object(a={"enum": ["x", "y", None]}, b={"const": 1}),
        strict_object(a={"enum": [str(number) for number in range(1000)]}),
        TREE,
        POINT,
        nested(10),
    ],
)
def test_what_strict_mode_accepts(schema: Members) -> None:
    """Everything that the guide names as supported."""
    check_chat_request(tool(parameters=schema, strict=True), OPENAI)


@pytest.mark.parametrize(
    "schema,words",
    [
        (without(strict_object(), "additionalProperties"), "'additionalProperties' is required to be supplied"),
        (strict_object() | {"additionalProperties": True}, "'additionalProperties' is required to be supplied"),
        (strict_object(a={"type": "object", "properties": {}}), "In context=('properties', 'a'), 'additional"),
        (strict_object(a={"type": "string"}) | {"required": []}, "Missing 'a'"),
        (without(strict_object(a={"type": "string"}), "required"), "Missing 'a'"),
        (strict_object() | {"required": ["a"]}, "'required' names 'a'"),
        (strict_object(a={"type": "string", "default": "x"}), "'default' is not permitted"),
        (strict_object(a={"allOf": [{"type": "string"}]}), "'allOf' is not permitted"),
        (strict_object(a={"oneOf": [{"type": "string"}]}), "'oneOf' is not permitted"),
        (strict_object(a={"type": "array", "items": {"type": "string"}, "uniqueItems": True}), "'uniqueItems'"),
        (strict_object(a={}), "schema must have a 'type' key"),
        (strict_object(a={"type": "string", "format": "uri"}), "'uri' is not a valid format"),
        (strict_object() | {"anyOf": [strict_object()]}, "the root is an object and not 'anyOf'"),
        (strict_object(a={"$ref": "#/$defs/a", "description": "x"}), "$ref cannot have keywords {'description'}"),
        (strict_object(a={"$ref": "#/$defs/a"}), "leads nowhere"),
        (strict_object(a={"$ref": "https://example.com/a"}), "does not lead into this schema"),
        (nested(11), "nests more than 10 levels"),
        (strict_object(a={"enum": [str(number) for number in range(1001)]}), "1001 enum values"),
        (strict_object(a={"enum": [f"{number:>60}" for number in range(251)]}), "at most 15000 characters"),
        (strict_object(**{f"p{number}": {"type": "null"} for number in range(5001)}), "5001 object properties"),
        (strict_object(a={"const": "x" * 120_000}), "characters in names"),
        ({"type": "object", "$defs": {"a": {"type": "object"}}} | strict_object(), "'$defs', 'a'"),
    ],
)
def test_what_strict_mode_refuses(schema: Members, words: str) -> None:
    """Every rule of the guide, with the way to the place where it is broken."""
    problem = refusal(tool(parameters=schema, strict=True))
    assert words in problem.message
    assert problem.param == "tools[0].function.parameters"


def test_a_host_refuses_members() -> None:
    """What this host's models do not take is refused although OpenAI knows it."""
    host = FakeHost(refuses=("parallel_tool_calls",))
    problem = refusal(tool() | {"parallel_tool_calls": False}, host)
    assert (problem.code, problem.param) == ("unsupported_parameter", "parallel_tool_calls")


def test_a_host_accepts_members_of_its_own() -> None:
    """Top-level members, members of messages, members of calls."""
    host = FakeHost(accepts=("top_k",), accepts_in_messages=("reasoning_content",), accepts_in_calls=("extra",))
    messages: list[Any] = copy.deepcopy([*turn("a"), result("a")])
    messages[1]["reasoning_content"] = "Hm"
    messages[1]["tool_calls"][0]["extra"] = {"signature": "s"}
    check_chat_request(request(messages=messages, top_k=5), host)
    assert refusal(request(messages=messages)).param == "messages[1].reasoning_content"


def test_a_host_wants_ids_of_its_own_form() -> None:
    """Mistral takes nine letters and digits, nothing else."""
    host = FakeHost(call_ids="[a-zA-Z0-9]{9}")
    check_chat_request(request(messages=[*turn("abcDEF123"), result("abcDEF123")]), host)
    problem = refusal(request(messages=[*turn("call_1"), result("call_1")]), host)
    assert problem.message == "Tool call id was call_1 but must match [a-zA-Z0-9]{9}."


@pytest.mark.parametrize("arguments", ['{"a": 1', "", "[1]", "[" * 100_000])
def test_a_host_may_read_the_arguments_of_the_history(arguments: str) -> None:
    """Hosts that parse the history refuse what a model wrote wrong; OpenAI passes it on."""
    body = request(messages=[*turn("a", arguments=arguments), result("a")])
    check_chat_request(body, OPENAI)
    problem = refusal(body, FakeHost(reads_arguments=True))
    assert problem.param == "messages[1].tool_calls[0].function.arguments"


def test_a_host_may_know_its_models() -> None:
    """An unknown model is 404, as with OpenAI."""
    problem = refusal(request(model="gpt-x"), FakeHost(checks_model=True))
    assert (problem.status, problem.code) == (404, "model_not_found")
    check_chat_request(request(), FakeHost(checks_model=True))


def test_a_host_may_take_long_descriptions() -> None:
    """The limits of OpenAI can be lifted."""
    check_chat_request(tool(description="d" * 5000), FakeHost(longest_description=None))
    many = [{"type": "function", "function": {"name": f"f{number}"}} for number in range(129)]
    check_chat_request(request(tools=many), FakeHost(most_tools=200))
