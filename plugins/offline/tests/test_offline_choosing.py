"""The rules by which a tool is picked and filled in."""

import json
from typing import Any

import pytest
from offline_runs import INTEGER, NUMBER, READ_WEB_PAGE, SEMANTIC_SEARCH, STRING, function

from lockgate.providers import OfferedFunction
from lockgate_offline.choosing import choose
from lockgate_offline.question import MAXIMUM_QUERY_CHARACTERS, read_question

ADD = function("add", "Adds two numbers.", a=NUMBER, b=NUMBER)
SUBTRACT = function("subtract", "Subtracts b from a.", a=INTEGER, b=INTEGER)
WEB_SEARCH = function("web_search", "Searches the open web.", query=STRING)


def chosen(question: str, *functions: OfferedFunction) -> tuple[str, dict[str, Any]] | None:
    """The function a question leads to, with its arguments."""
    choice = choose(read_question(question), functions)
    return (choice.name, json.loads(choice.arguments_text)) if choice else None


@pytest.mark.parametrize(
    ("question", "address"),
    [
        ("Summarize https://example.org/a_(b).", "https://example.org/a_(b)"),
        ("Was steht auf (http://example.org/x?y=1)?", "http://example.org/x?y=1"),
        ("https://example.org", "https://example.org"),
    ],
)
def test_an_address_goes_to_the_function_that_takes_one(question: str, address: str) -> None:
    """An address in the text is handed over verbatim, without the punctuation of its sentence."""
    assert chosen(question, SEMANTIC_SEARCH, READ_WEB_PAGE) == ("read_web_page", {"url": address})


def test_no_address_is_made_up() -> None:
    """Without an address in the text, a function that needs one is not called."""
    assert chosen("Read the page of example.org", READ_WEB_PAGE) is None


@pytest.mark.parametrize(
    ("question", "query"),
    [
        ("How do I restore a backup from last week?", "restore backup last week"),
        ("Wie kann ich denn eigentlich ein Backup wiederherstellen?", "eigentlich Backup wiederherstellen"),
        ("What is the company's e-mail policy in v2.1?", "company e-mail policy v2.1"),
        ("backup backup BACKUP restore", "backup restore"),
        ("two\nlines\tof words", "two lines words"),
    ],
)
def test_a_search_gets_the_key_words_in_order(question: str, query: str) -> None:
    """Stop words go, the others keep their order and spelling, each once, in one line."""
    assert chosen(question, SEMANTIC_SEARCH) == ("semantic_search", {"query": query})


def test_a_long_question_makes_a_query_that_fits() -> None:
    """A query keeps to 500 characters, 32 words and whole words."""
    question = " ".join(f"extraordinarily{number:03}long" for number in range(200))
    outcome = chosen(question, SEMANTIC_SEARCH)
    assert outcome is not None
    words = outcome[1]["query"].split()
    assert len(outcome[1]["query"]) <= MAXIMUM_QUERY_CHARACTERS
    assert 20 <= len(words) <= 32
    assert words == question.split()[: len(words)]


def test_a_query_keeps_to_the_bound_of_the_schema() -> None:
    """A shorter maximum of the argument is kept, at a word's end."""
    short = function("find_notes", "Finds notes.", query={"type": "string", "maxLength": 12})
    assert chosen("garden fence height rules", short) == ("find_notes", {"query": "garden"})


def test_own_documents_come_before_the_web_unless_it_is_named() -> None:
    """Both searches fit; the question's own words decide, and the user's documents come first."""
    assert chosen("How high may a fence be?", WEB_SEARCH, SEMANTIC_SEARCH) == (
        "semantic_search",
        {"query": "high fence"},
    )
    outcome = chosen("Search the web for fence heights", SEMANTIC_SEARCH, WEB_SEARCH)
    assert outcome is not None
    assert outcome[0] == "web_search"


def test_a_function_that_is_no_search_needs_a_shared_word() -> None:
    """A query argument alone does not make a function fit the question."""
    dictionary = function("dictionary", "Defines a word of the dictionary.", term=STRING)
    assert chosen("How high may a fence be?", dictionary) is None
    assert chosen("Dictionary entry of quorum", dictionary) is not None


@pytest.mark.parametrize(
    ("question", "arguments"),
    [
        ("add 2 and 3", {"a": 2, "b": 3}),
        ("What is 2 + 3?", {"a": 2, "b": 3}),
        ("Was ist 2,5 plus 1.000?", {"a": 2.5, "b": 1000}),
        ("Please add -4 and 1,000.5", {"a": -4, "b": 1000.5}),
        ("add two and three", {"a": 2, "b": 3}),
        ("What is 2,5 + 1?", {"a": 2.5, "b": 1}),
        ("Was ist 2.5 plus 1?", {"a": 2.5, "b": 1}),
    ],
)
def test_numbers_go_to_the_arithmetic_the_question_names(question: str, arguments: dict[str, float]) -> None:
    """Numbers are read as the language writes them and placed in order."""
    assert chosen(question, SUBTRACT, ADD) == ("add", arguments)


def test_numbers_beside_the_names_of_arguments_go_there() -> None:
    """Where each argument's name stands beside one number, order does not matter."""
    area = function("room_area", "Computes the area of a room.", width=NUMBER, length=NUMBER)
    assert chosen("area of a room, length 7 and width 3.5", area) == ("room_area", {"width": 3.5, "length": 7})


def test_subtraction_from_something_turns_the_numbers_round() -> None:
    """The words "2 from 5" mean 5 - 2."""
    assert chosen("subtract 2 from 5", ADD, SUBTRACT) == ("subtract", {"a": 5, "b": 2})
    assert chosen("What is 5 - 2?", ADD, SUBTRACT) == ("subtract", {"a": 5, "b": 2})


@pytest.mark.parametrize(
    "question", ["add 2", "add 1, 2 and 3", "multiply 2 and 3", "In 2023 and 2024?", "add 1.2.3 and 4"]
)
def test_numbers_that_do_not_fit_are_not_forced(question: str) -> None:
    """Too few or too many numbers, or an operation nobody named: no call."""
    assert chosen(question, ADD) is None


def test_types_and_bounds_of_numbers_are_kept() -> None:
    """A fraction for an integer, or a number out of range, is not sent."""
    dice = function("roll_dice", "Rolls.", sides={"type": "integer", "minimum": 2, "maximum": 100})
    assert chosen("Roll a dice with 6 sides", dice) == ("roll_dice", {"sides": 6})
    assert chosen("Roll a dice with 1 side", dice) is None
    open_ended = function("roll_dice", "Rolls.", sides={"type": "integer", "exclusiveMinimum": 1})
    assert chosen("Roll a dice with 1 side", open_ended) is None
    assert chosen("Roll a dice with 2 sides", open_ended) == ("roll_dice", {"sides": 2})
    assert chosen("Roll a dice with 2.5 sides", dice) is None


def test_choices_are_filled_only_when_named() -> None:
    """A required choice is taken from the question or the function is not called; an optional one stays out."""
    unit = {"type": "string", "enum": ["metric", "imperial"]}
    search = function("search_recipes", "Searches recipes.", required=["query", "units"], query=STRING, units=unit)
    assert chosen("cake recipes in metric", search) == (
        "search_recipes",
        {"query": "cake recipes metric", "units": "metric"},
    )
    assert chosen("cake recipes", search) is None
    only = function("search_recipes", "Searches.", query=STRING, units={"type": "string", "const": "metric"})
    assert chosen("cake recipes", only) == ("search_recipes", {"query": "cake recipes", "units": "metric"})
    optional = function(
        "search_news", "Searches.", required=["query"], query=STRING, time={"type": "string", "enum": ["week", "month"]}
    )
    assert chosen("Which week was coldest?", optional) == ("search_news", {"query": "week coldest"})
    assert chosen("storm news, time week", optional) == (
        "search_news",
        {"query": "storm news time week", "time": "week"},
    )


def test_a_list_of_choices_is_filled_with_the_named_ones() -> None:
    """IDs that are no everyday words count as named wherever they stand."""
    search = function(
        "semantic_search",
        "Searches.",
        required=["query"],
        query=STRING,
        data_source_ids={"type": "array", "items": {"type": "string", "enum": ["docs-1", "docs-2", "notes"]}},
    )
    outcome = chosen("What do docs-1 and docs-2 say of notes on fences?", search)
    assert outcome is not None
    assert outcome[1]["data_source_ids"] == ["docs-1", "docs-2"]


def test_quoted_words_fill_a_single_text() -> None:
    """A function the question names gets the quoted span as its only text."""
    count = function("count_words", "Counts words.", text=STRING)
    assert chosen('Count the words in "to be or not to be"', count) == ("count_words", {"text": "to be or not to be"})
    assert chosen("Zähle die words in „sein oder nicht“", count) == ("count_words", {"text": "sein oder nicht"})
    assert chosen("Count the words of Hamlet", count) is None
    short = function("count_words", "Counts words.", text={"type": "string", "maxLength": 5})
    assert chosen('Count the words in "to be or not to be"', short) is None


def test_a_function_without_arguments_is_called_when_named() -> None:
    """All telling words of its name have to be in the question."""
    clock = function("current_time", "Tells the time.")
    assert chosen("What time is it?", SEMANTIC_SEARCH, clock) == ("current_time", {})
    assert chosen("What is a fence?", clock) is None


@pytest.mark.parametrize("name", ["delete_notes", "send_mail", "update_index", "notes_delete"])
def test_functions_that_change_something_are_left_alone(name: str) -> None:
    """A reader reads: nothing is deleted, sent or changed, even when the question names it."""
    question = f"{name.replace('_', ' ')} about fences"
    assert chosen(question, function(name, "Does it."), function(name, query=STRING)) is None


def test_arguments_that_cannot_be_filled_prevent_the_call() -> None:
    """A required argument without a rule keeps the function from being called; the next one that fits is."""
    strict = function("search_projects", "Searches projects.", query=STRING, tenant=STRING)
    assert chosen("Search projects about fences", strict) is None
    assert chosen("Search projects about fences", strict, SEMANTIC_SEARCH) is not None


@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"type": "object", "properties": []},
        {"type": "object", "properties": {}, "required": ["query"]},
        {"type": "object", "properties": {"query": True}, "required": ["query"]},
        {"type": "object", "properties": {"query": {"$ref": "#/x"}}, "required": ["query"]},
        {"type": "object", "properties": {"query": {"type": "string"}}, "required": "query"},
        {"type": "object", "properties": {"query": {"type": ["integer", 7]}}, "required": ["query", 3]},
    ],
)
def test_schemas_that_say_nothing_useful_are_left_alone(schema: dict[str, object]) -> None:
    """Odd schemas raise nothing and lead to no call."""
    assert chosen("Search for fences", OfferedFunction("search", "Searches.", schema)) is None


def test_optional_types_are_understood() -> None:
    """A union with null, as optional arguments have it, takes what its other member takes."""
    search = function("search", "Searches.", query={"anyOf": [{"type": "string"}, {"type": "null"}]})
    assert chosen("fence heights", search) == ("search", {"query": "fence heights"})
