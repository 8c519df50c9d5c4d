"""Arguments of a model are hostile: refused in words it can correct itself from, never repaired."""

import contextlib
from enum import Enum
from typing import Annotated, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field

from lockgate.errors import ArgumentRefused
from lockgate.tools.arguments import (
    MAX_ARGUMENT_CHARACTERS,
    Line,
    PositiveInt,
    ToolArguments,
    parameters_of,
    parse_arguments,
    read_object,
)


class Colour(Enum):
    """Colours of the test."""

    RED = "red"
    BLUE = "blue"


class Inner(ToolArguments):
    """A nested object."""

    size: int | None = None


class Arguments(ToolArguments):
    """Every kind of argument there is."""

    query: Annotated[str, Line(20)] = Field(description="what to look for")
    page: PositiveInt | None = Field(None, description="the page")
    ids: list[Literal["a", "b"]] | None = Field(None, description="where", min_length=1)
    exact: bool | None = Field(None, description="whether")
    colour: Colour | None = Field(None, description="the colour")
    inner: Inner | None = Field(None, description="more")
    spaceKey: str | None = Field(None, description="a key")  # noqa: N815 - the documented spelling


def test_the_schema_is_plain() -> None:
    """No null branches, titles, defaults or references; an optional argument is absent from `required`."""
    schema = parameters_of(Arguments)
    assert schema["required"] == ["query"]
    assert schema["additionalProperties"] is False
    assert schema["properties"]["page"] == {
        "type": "integer", "minimum": 1, "maximum": 2147483647, "description": "the page",
    }  # fmt: skip
    assert schema["properties"]["ids"]["items"] == {"type": "string", "enum": ["a", "b"]}
    assert schema["properties"]["colour"] == {"enum": ["red", "blue"], "type": "string", "description": "the colour"}
    text = str(schema)
    assert not any(word in text for word in ("$ref", "$defs", "title", "default", "null"))


NAMES = "query, page, ids, exact, colour, inner, spaceKey."
OPTIONAL = " Leave it out if you do not need it."


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"query":"a","page":0}',
         'The argument "page" must be a whole number from 1 to 2147483647, but 0 arrived.' + OPTIONAL),
        ('{"query":"a","page":"2"}',
         'The argument "page" must be a whole number from 1 to 2147483647, but "2" arrived.' + OPTIONAL),
        ('{"query":"a","page":2.0}',
         'The argument "page" must be a whole number from 1 to 2147483647, but 2.0 arrived.' + OPTIONAL),
        ('{"query":"a","page":true}',
         'The argument "page" must be a whole number from 1 to 2147483647, but true arrived.' + OPTIONAL),
        ('{"query":"a","exact":"true"}',
         'The argument "exact" must be true or false, but "true" arrived.' + OPTIONAL),
        ('{"query":"a","ids":["a","c"]}',
         'The argument "ids[1]" must be one of "a", "b", but "c" arrived.' + OPTIONAL),
        ('{"query":"a","ids":[]}',
         'The argument "ids" must be a list with at least 1 items whose items are each one of "a", "b", but [] arrived.'
         + OPTIONAL),
        ('{"query":"a","colour":"green"}',
         'The argument "colour" must be one of "red", "blue", but "green" arrived.' + OPTIONAL),
        ('{"query":"a","inner":{"size":"x"}}',
         'The argument "inner.size" must be a whole number, but "x" arrived.' + OPTIONAL),
        ('{}', 'The argument "query" is missing; it must be a text of 1 to 20 characters.'),
        ('{"query":null}', 'The argument "query" is missing; it must be a text of 1 to 20 characters.'),
        ('{"query":"   "}', 'The argument "query" must be a text of 1 to 20 characters, but "   " arrived.'),
        ('{"query":"123456789012345678901234567890"}',
         'The argument "query" must be a text of 1 to 20 characters, but 30 characters arrived.'),
        ('{"query":"a\\nb"}',
         'The argument "query" must be one line without control characters, but "a\\nb" arrived.'),
        ('{"query":"a","pagee":1}',
         'There is no argument "pagee". Did you mean "page"? Valid arguments are: ' + NAMES),
        ("[1]", "The arguments must be one JSON object, but [1] arrived."),
        ("null", "The arguments must be one JSON object, but null arrived."),
        ("{bad", "The arguments are not valid JSON; they must be one JSON object."),
        ('{"query":NaN}', "The arguments are not valid JSON; they must be one JSON object."),
        ("[" * 100_000, "The arguments are not valid JSON; they must be one JSON object."),
    ],
)  # fmt: skip
def test_a_wrong_argument_is_refused_in_full_words(text: str, message: str) -> None:
    """The refusal names the argument, what is valid, what arrived, and that an optional one can be left out."""
    with pytest.raises(ArgumentRefused) as refused:
        parse_arguments(Arguments, text)
    assert str(refused.value) == message


def test_a_long_value_is_echoed_cut() -> None:
    """What arrived is cut to 40 characters and three dots."""
    with pytest.raises(ArgumentRefused) as refused:
        parse_arguments(Arguments, '{"query":"a","colour":"' + "x" * 100 + '"}')
    assert ', but "' + "x" * 39 + "... arrived." in str(refused.value)


def test_null_is_absent_at_any_depth() -> None:
    """A model may send null for what it leaves out."""
    read = parse_arguments(Arguments, '{"query":" a ","page":null,"inner":{"size":null},"ids":null}')
    assert read.model_dump(exclude_none=True) == {"query": "a", "inner": {}}


def test_a_required_text_must_not_be_blank() -> None:
    """Even a text without limits has to hold something."""

    class Plain(ToolArguments):
        text: str

    with pytest.raises(ArgumentRefused, match=r'"text" must be a text that is not empty, but "  " arrived'):
        parse_arguments(Plain, '{"text":"  "}')


def test_sensitive_values_stay_out_of_the_text_for_traces() -> None:
    """The model reads what it wrote; a trace shows five asterisks."""
    with pytest.raises(ArgumentRefused) as refused:
        parse_arguments(Arguments, '{"query":"secret\\tword"}', ["query"])
    assert "secret" in str(refused.value)
    assert "secret" not in refused.value.trace_message
    assert "*****" in refused.value.trace_message


def test_arguments_have_a_size_limit() -> None:
    """A huge call is refused before it is read."""
    with pytest.raises(ArgumentRefused, match="at most 100000"):
        read_object("x" * (MAX_ARGUMENT_CHARACTERS + 1))


def test_a_model_that_refers_to_itself_is_no_tool() -> None:
    """A schema for tools has to be finite."""

    class Node(ToolArguments):
        next: "Node | None" = None

    Node.model_rebuild(_types_namespace={"Node": Node})
    with pytest.raises(TypeError, match="refer to themselves"):
        parameters_of(Node)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["query", "page", "ids", "inner", "x"]), inner),
    max_leaves=10,
)


@given(JSON | st.text())
def test_any_text_is_read_or_refused(value: object) -> None:
    """Nothing but `ArgumentRefused` ever leaves the reader."""
    import json

    text = value if isinstance(value, str) else json.dumps(value)
    with contextlib.suppress(ArgumentRefused):
        assert isinstance(parse_arguments(Arguments, text), Arguments)
