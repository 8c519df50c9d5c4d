"""Tools that arrive as data: a stranger's schema is admitted once or refused at the door."""

import json
import re
from types import SimpleNamespace
from typing import Any, cast

import pytest

from lockgate.errors import ArgumentRefused
from lockgate.tools import DataTool, SchemaRefused, ToolContext, ToolDefinition, admit_schema
from lockgate.tools.patterns import pattern_problem


def _tool(schema: dict[str, Any]) -> DataTool:
    async def call(arguments: dict[str, Any], context: ToolContext) -> object:
        del context
        return arguments

    return DataTool(ToolDefinition("given", schema, "A tool from elsewhere."), call)


DEEP: dict[str, Any] = {"type": "object"}
for _ in range(40):
    DEEP = {"type": "object", "properties": {"x": DEEP}}


MANY_TIMES: dict[str, Any] = {
    "$defs": {"big": {"enum": ["x" * 10_000]}},
    "properties": {f"p{i}": {"$ref": "#/$defs/big"} for i in range(1_000)},
}
CYCLE: dict[str, Any] = {"type": "object"}
CYCLE["properties"] = {"a": CYCLE}


class Raising(dict[str, Any]):
    """A table that ends the process when it is read."""

    def items(self) -> Any:
        raise SystemExit(2)


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        ({"properties": {"a": {"$ref": "http://127.0.0.1/schema"}}}, "leads outside the schema"),
        ({"properties": {"a": {"$ref": "other.json"}}}, "leads outside the schema"),
        ({"properties": {"a": {"$ref": "#"}}}, "refers to itself"),
        ({"$defs": {"n": {"properties": {"n": {"$ref": "#/$defs/n"}}}}, "properties": {"a": {"$ref": "#/$defs/n"}}},
         "refers to itself"),
        ({"properties": {"a": {"$ref": "#/$defs/missing"}}}, "leads nowhere"),
        ({"properties": {"a": {"$dynamicRef": "#x"}}}, "is not supported"),
        (DEEP, "too large"),
        ({"properties": {"a": {"enum": ["x" * 70_000]}}}, "at most 65536"),
        ({"type": "array"}, "must be 'object'"),
        ({"properties": {"a": {"type": "strin"}}}, "is not valid"),
        ({"properties": {"a": {"type": "string", "pattern": "(a+)+$"}}}, "repeat inside a repeat"),
        ({"properties": {"a": {"type": "string", "pattern": "(a|a)*$"}}}, "alternatives inside a repeat"),
        ({"properties": {"a": {"type": "string", "pattern": "("}}}, "no regular expression"),
        ("not a schema", "must be a JSON Schema object"),
        (MANY_TIMES, "more than 65536 characters once its references are in their place"),
        ({"properties": {"a": {"maximum": 10**5_000}}}, "a whole number of more than 300 digits"),
        ({"properties": {"a": {"default": {1, 2}}}}, "which JSON cannot write"),
        (CYCLE, "refer to themselves"),
        (Raising(), "Reading the schema failed with SystemExit"),
    ],
)  # fmt: skip
def test_a_dangerous_schema_is_refused_at_the_door(schema: Any, message: str) -> None:
    """Nothing is fetched, nothing recurses, nothing backtracks; the reason says where."""
    with pytest.raises(SchemaRefused, match=message):
        admit_schema(schema)


def test_local_references_are_put_in_their_place() -> None:
    """What is admitted is plain and finite."""
    schema = {"$defs": {"id": {"type": "string"}}, "properties": {"a": {"$ref": "#/$defs/id", "description": "x"}}}
    assert admit_schema(schema) == {
        "type": "object", "properties": {"a": {"type": "string", "description": "x"}}, "required": [],
        "additionalProperties": False,
    }  # fmt: skip


SCHEMA = {
    "type": "object",
    "properties": {
        "n": {"type": "integer"},
        "may_be_null": {"type": ["string", "null"]},
        "code": {"type": "string", "pattern": "^[A-Z]{2}[0-9]+$"},
        "list": {"type": "array", "items": {"type": "integer", "maximum": 3}},
    },
    "required": ["n"],
}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"n": 1.0}', 'The argument "n" must be a whole number, but 1.0 arrived.'),
        ('{"n": true}', 'The argument "n" must be a whole number, but true arrived.'),
        ("{}", 'The argument "n" is missing; it must be a whole number.'),
        ('{"n": null}', 'The argument "n" is missing; it must be a whole number.'),
        ('{"n": 1, "m": 2}', 'There is no argument "m".'),
        ('{"n": 1, "code": "x"}', 'The argument "code" must be a text that matches ^[A-Z]{2}[0-9]+$, but "x" arrived.'),
        ('{"n": 1, "list": [1, 5]}', 'The argument "list[1]" must be a whole number of at most 3, but 5 arrived.'),
        ('{"n": 1, "list": [null]}', 'The argument "list[0]" must be a whole number of at most 3, but null arrived.'),
    ],
)
def test_arguments_are_held_against_the_schema(text: str, message: str) -> None:
    """The wording is that of every other tool."""
    with pytest.raises(ArgumentRefused) as refused:
        _tool(SCHEMA).parse(text)
    assert message in str(refused.value)


async def test_null_is_kept_only_where_the_schema_takes_it() -> None:
    """Null is absent, unless the schema itself allows null."""
    made = _tool(SCHEMA)
    read = made.parse('{"n": 1, "may_be_null": null, "code": null}')
    assert read == {"n": 1, "may_be_null": None}
    context = cast("ToolContext", SimpleNamespace())
    assert (await made.execute(read, context)).content == {"n": 1, "may_be_null": None}


def test_a_long_text_is_not_held_against_a_pattern() -> None:
    """A pattern that was admitted meets texts of bounded length only."""
    with pytest.raises(ArgumentRefused, match="at most 2000 characters"):
        _tool(SCHEMA).parse('{"n": 1, "code": "' + "A" * 5_000 + '"}')


PATTERNED = {"type": "string", "pattern": "^a*b?a*c$"}


@pytest.mark.parametrize(
    ("schema", "argument"),
    [
        ({"properties": {"x": {"anyOf": [{"type": "integer"}, PATTERNED]}}}, {"x": "a" * 90_000}),
        ({"properties": {"x": {"allOf": [PATTERNED]}}}, {"x": "a" * 90_000}),
        ({"properties": {"x": {"prefixItems": [PATTERNED]}}}, {"x": ["a" * 90_000]}),
        ({"properties": {"x": {"additionalProperties": PATTERNED}}}, {"x": {"y": "a" * 90_000}}),
        ({"properties": {"x": {"patternProperties": {"^a*b?a*c$": {}}}}}, {"x": {"a" * 90_000: 1}}),
        ({"patternProperties": {"^a*b?a*c$": {}}}, {"a" * 90_000: 1}),
        ({"properties": {"x": {"propertyNames": PATTERNED}}}, {"x": {"a" * 90_000: 1}}),
    ],
)
def test_no_pattern_of_a_stranger_meets_a_long_text(
    schema: dict[str, Any], argument: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever in the schema it stands, a long text or name is refused without being searched."""
    made = _tool(schema)
    searched: list[int] = []
    original = re.search

    def search(pattern: Any, string: str, *flags: Any) -> Any:
        searched.append(len(string))
        return original(pattern, string[:100], *flags)

    monkeypatch.setattr(re, "search", search)
    with pytest.raises(ArgumentRefused):
        made.parse(json.dumps(argument))
    assert max(searched, default=0) <= 2_000


@pytest.mark.parametrize("pattern", ["^[a-z]+$", r"\d{4}-\d{2}-\d{2}", "^(de|en)$", "a{1,5}b", "^x?y?z?$"])
def test_ordinary_patterns_pass(pattern: str) -> None:
    """What people write for IDs, dates and choices is accepted."""
    assert pattern_problem(pattern) == ""
