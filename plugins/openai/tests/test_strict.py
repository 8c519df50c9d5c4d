"""From the canonical schema to strict mode."""

import copy
import json
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockgate_openai.strict import MAX_ENUM_VALUES, MAX_LEVELS, MAX_PROPERTIES, to_strict

Json = dict[str, Any]


def an_object(properties: Json, required: Any = None, **more: object) -> Json:
    """A closed object."""
    needed = list(properties) if required is None else required
    return {"type": "object", "properties": properties, "required": needed, "additionalProperties": False} | more


TEXT: Json = {"type": "string"}
NULL: Json = {"type": "null"}
MAYBE: Json = {"type": ["string", "null"]}


def test_a_strict_schema_is_returned_itself() -> None:
    """Where nothing changes nothing is copied."""
    schema = an_object({"a": TEXT, "b": an_object({"c": {"type": "array", "items": TEXT}})})
    assert to_strict(schema) is schema


@pytest.mark.parametrize(
    ("optional", "converted"),
    [
        ({"type": "string"}, MAYBE),
        ({"type": ["string", "integer"]}, {"type": ["string", "integer", "null"]}),
        (MAYBE, MAYBE),
        ({"type": "string", "enum": ["a"]}, {"type": ["string", "null"], "enum": [None, "a"]}),
        ({"type": ["string", "null"], "enum": ["a", None]}, {"type": ["string", "null"], "enum": ["a", None]}),
        ({"type": "string", "const": "a"}, {"anyOf": [{"type": "string", "const": "a"}, NULL]}),
        ({"anyOf": [TEXT, {"type": "integer"}]}, {"anyOf": [TEXT, {"type": "integer"}, NULL]}),
        ({"anyOf": [TEXT, NULL]}, {"anyOf": [TEXT, NULL]}),
        ({"$ref": "#/$defs/d"}, {"anyOf": [{"$ref": "#/$defs/d"}, NULL]}),
        ({"type": "integer", "minimum": 1, "title": "x"}, {"type": ["integer", "null"], "minimum": 1, "title": "x"}),
        (an_object({"x": TEXT}, []), an_object({"x": MAYBE}) | {"type": ["object", "null"]}),
        (
            {"type": "array", "items": an_object({"x": TEXT}, [])},
            {"type": ["array", "null"], "items": an_object({"x": MAYBE})},
        ),
    ],
)  # fmt: skip
def test_an_optional_property_becomes_required_and_may_be_null(optional: Json, converted: Json) -> None:
    """Every form a property can have allows null afterwards, at any depth, and keeps the rest."""
    definitions: Json = {"$defs": {"d": TEXT}}
    schema = an_object({"needed": TEXT, "o": optional}, ["needed"], **definitions)
    before = copy.deepcopy(schema)
    assert to_strict(schema) == an_object({"needed": TEXT, "o": converted}, **definitions)
    assert schema == before


def test_a_property_that_is_required_keeps_its_schema() -> None:
    """Only optional properties change; the untouched parts are the very same objects."""
    needed = an_object({"x": TEXT})
    converted = to_strict(an_object({"n": needed, "o": TEXT}, ["n"]))
    assert converted is not None
    assert converted["properties"]["n"] is needed
    assert converted["required"] == ["n", "o"]


def test_an_object_that_says_nothing_of_further_members_is_closed() -> None:
    """`additionalProperties` left out becomes false: arguments nobody knows are refused anyway."""
    converted = to_strict({"type": "object", "properties": {"a": TEXT}})
    assert converted == an_object({"a": MAYBE})


def test_definitions_and_unions_are_converted() -> None:
    """What lies in `$defs` and in branches of a union becomes strict as well; a schema may refer to itself."""
    tree = an_object({"name": TEXT, "next": {"$ref": "#/$defs/tree"}}, ["name"])
    schema = an_object(
        {"t": {"anyOf": [{"$ref": "#/$defs/tree"}, an_object({"z": TEXT}, [])]}}, **{"$defs": {"tree": tree}}
    )
    converted = to_strict(schema)
    assert converted is not None
    assert converted["$defs"]["tree"]["properties"]["next"] == {"anyOf": [{"$ref": "#/$defs/tree"}, NULL]}
    assert converted["properties"]["t"]["anyOf"][1]["properties"]["z"] == MAYBE
    assert to_strict(an_object({"self": {"$ref": "#"}})) is not None


def test_a_described_reference_stands_alone_in_a_union() -> None:
    """Strict mode takes no members beside a reference."""
    schema = an_object({"a": {"$ref": "#/$defs/d", "description": "x"}}, **{"$defs": {"d": TEXT}})
    converted = to_strict(schema)
    assert converted is not None
    assert converted["properties"]["a"] == {"anyOf": [{"$ref": "#/$defs/d"}], "description": "x"}


def test_remarks_are_dropped() -> None:
    """Keywords that check nothing are no reason to give up strict mode."""
    assert to_strict(an_object({"a": TEXT | {"examples": ["x"]}}, **{"$schema": "x"})) == an_object({"a": TEXT})


@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"type": "object"},
        {"type": "string"},
        {"type": ["object", "null"], "properties": {}},
        {"type": "object", "properties": []},
        {"$ref": "#/$defs/a", "$defs": {"a": an_object({})}},
        an_object({"a": TEXT}, additionalProperties=True),
        an_object({"a": TEXT}, additionalProperties=TEXT),
        an_object({"a": TEXT}, patternProperties={}),
        an_object({"a": TEXT}, anyOf=[an_object({})]),
        an_object({"a": TEXT}, required=["b"]),
        an_object({"a": TEXT}, required="a"),
        an_object({"a": {}}),
        an_object({"a": True}),
        an_object({"a": {"type": "object"}}),
        an_object({"a": {"type": "array"}}),
        an_object({"a": {"type": "array", "items": [TEXT]}}),
        an_object({"a": {"type": "text"}}),
        an_object({"a": TEXT | {"default": "x"}}),
        an_object({"a": TEXT | {"not": {}}}),
        an_object({"a": {"allOf": [TEXT]}}),
        an_object({"a": {"oneOf": [TEXT]}}),
        an_object({"a": {"anyOf": []}}),
        an_object({"a": {"anyOf": [TEXT], "type": "string"}}),
        an_object({"a": TEXT | {"format": "uri"}}),
        an_object({"a": TEXT | {"enum": []}}),
        an_object({"a": TEXT | {"enum": "x"}}),
        an_object({"a": {"type": "array", "items": TEXT, "uniqueItems": True}}),
        an_object({"a": {"$ref": "#/$defs/none"}}),
        an_object({"a": {"$ref": "https://example.com/schema"}}),
        an_object({"a": {"$ref": 5}}),
        an_object({"a": an_object({}, **{"$defs": {}})}),
        an_object({"a": TEXT}, **{"$defs": []}),
    ],
)
def test_what_strict_mode_cannot_express_is_left_alone(schema: Json) -> None:
    """An open map, an unknown keyword, an untyped value, a foreign reference: such a schema is not strict."""
    assert to_strict(schema) is None


def nested(levels: int) -> Json:
    """Objects inside each other."""
    schema: Json = an_object({"end": TEXT})
    for _ in range(levels - 1):
        schema = an_object({"in": schema})
    return schema


def test_the_hosts_limits_are_kept() -> None:
    """Levels, properties, values and characters beyond what the host takes leave a schema as written."""
    assert to_strict(nested(MAX_LEVELS)) is not None
    assert to_strict(nested(MAX_LEVELS + 1)) is None
    assert to_strict(an_object({f"p{number}": TEXT for number in range(MAX_PROPERTIES)})) is not None
    assert to_strict(an_object({f"p{number}": TEXT for number in range(MAX_PROPERTIES + 1)})) is None
    values = [str(number) for number in range(MAX_ENUM_VALUES)]
    assert to_strict(an_object({"a": TEXT | {"enum": values}})) is not None
    assert to_strict(an_object({"a": TEXT | {"enum": values}, "b": TEXT | {"enum": ["x"]}})) is None
    assert to_strict(an_object({"a": TEXT | {"enum": ["x" * 100 + str(n) for n in range(251)]}})) is None
    assert to_strict(an_object({"a" * 120_001: TEXT})) is None


def test_a_hostile_schema_ends_the_walk() -> None:
    """A schema that contains itself, or doubles at every level, costs a bounded number of steps."""
    cyclic = an_object({})
    cyclic["properties"]["self"] = cyclic
    assert to_strict(cyclic) is None
    doubling: Json = {"anyOf": [TEXT, TEXT]}
    for _ in range(25):
        doubling = {"anyOf": [doubling, doubling]}
    assert to_strict(an_object({"a": doubling})) is None


SIMPLE = st.sampled_from([TEXT, {"type": "integer"}, {"type": "string", "enum": ["a", "b"]}, {"type": "boolean"}])
OBJECTS = st.recursive(
    SIMPLE,
    lambda inner: st.one_of(
        inner.map(lambda items: {"type": "array", "items": items}),
        st.tuples(st.dictionaries(st.sampled_from("abcd"), inner, max_size=3), st.sets(st.sampled_from("abcd"))).map(
            lambda pair: an_object(pair[0], sorted(pair[1] & pair[0].keys()))
        ),
    ),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from("abcd"), OBJECTS, max_size=3), st.sets(st.sampled_from("abcd")))
def test_the_strict_form_demands_every_property_of_closed_objects(properties: Json, required: set[str]) -> None:
    """Each object of the result is closed, requires all its properties, and is a valid schema; a second turn changes
    nothing.
    """
    schema = an_object(properties, sorted(required & properties.keys()))
    converted = to_strict(schema)
    assert converted is not None
    jsonschema.Draft202012Validator.check_schema(dict(converted))
    for found in objects_in(json.loads(json.dumps(converted))):
        assert found["additionalProperties"] is False
        assert set(found["required"]) == set(found["properties"])
    assert to_strict(converted) is converted


def objects_in(schema: Json) -> list[Json]:
    """All object schemas below one."""
    found = [schema] if "properties" in schema else []
    below = [*schema.get("properties", {}).values(), *([schema["items"]] if "items" in schema else [])]
    return found + [each for inner in below for each in objects_in(inner)]
