"""What a refusal says is valid, for every kind of schema."""

import pytest

from lockgate.tools.schema import allows_null, without_nulls
from lockgate.tools.wording import describe, echo, path_name


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({}, "any JSON value"),
        (True, "any JSON value"),
        ({"enum": ["a"]}, '"a"'),
        ({"enum": ["a", 2, None]}, 'one of "a", 2, null'),
        ({"anyOf": [{"type": "string"}, {"type": "boolean"}]}, "a text or true or false"),
        ({"oneOf": [{"type": "null"}, {"type": "object"}]}, "null or an object"),
        ({"type": ["integer", "null"], "minimum": 1}, "a whole number of at least 1 or null"),
        ({"type": "number", "maximum": 2.5}, "a number of at most 2.5"),
        ({"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}, "a number greater than 0 less than 1"),
        ({"type": "integer", "multipleOf": 5}, "a whole number that is a multiple of 5"),
        ({"type": "string", "minLength": 1}, "a text that is not empty"),
        ({"type": "string", "minLength": 3}, "a text of at least 3 characters"),
        ({"type": "string", "minLength": 3, "maxLength": 3}, "a text of 3 characters"),
        ({"type": "string", "format": "date"}, "a date such as 2026-12-31"),
        ({"type": "string", "format": "date-time"}, "a date and time such as 2026-12-31T18:00:00Z"),
        ({"type": "array", "maxItems": 2, "items": {"type": "string"}},
         "a list with at most 2 items whose items are each a text"),
        ({"type": "array"}, "a list whose items are each any JSON value"),
    ],
)  # fmt: skip
def test_every_kind_of_schema_reads_as_words(schema: object, words: str) -> None:
    """A model learns what would be right without reading a schema."""
    assert describe(schema) == words


def test_a_value_that_is_no_json_is_echoed_by_its_kind() -> None:
    """An echo never fails."""
    assert echo({1}) == "set"
    assert echo("\ud800") == '"?"'


def test_a_path_reads_as_people_write_it() -> None:
    """Names with dots, positions in brackets."""
    assert path_name(("filter", "kinds", 2, "name")) == "filter.kinds[2].name"


@pytest.mark.parametrize(
    ("schema", "allowed"),
    [
        ({"type": "null"}, True), ({"type": ["string", "null"]}, True), ({"type": "string"}, False),
        ({"enum": ["a", None]}, True), ({"enum": ["a"], "type": ["string", "null"]}, True), ({}, True), (True, True),
        (False, False), ({"anyOf": [{"type": "string"}, {"type": "null"}]}, True), ({"properties": {}}, False),
        ({"const": 1}, False),
    ],
)  # fmt: skip
def test_null_is_a_value_only_where_the_schema_says_so(schema: object, *, allowed: bool) -> None:
    """Everywhere else it means left out."""
    assert allows_null(schema) is allowed


def test_nulls_inside_lists_stay() -> None:
    """Only members are left out; an item that is null is refused later."""
    schema = {"properties": {"a": {"items": {"properties": {"b": {"type": "string"}}}}}}
    assert without_nulls({"a": [None, {"b": None}], "z": None}, schema) == {"a": [None, {}], "z": None}
    assert without_nulls([1], True) == [1]
