"""Understanding results: passages, pages, JSON of any shape, plain text, and what is hostile."""

import itertools
import json

import pytest
from offline_library import LIBRARY
from offline_runs import NUMBER, READ_WEB_PAGE, SEMANTIC_SEARCH, STRING, ask, function

from lockgate.providers import CallResult
from lockgate.retrieval import Passage, as_markdown
from lockgate_offline.answering import AnsweredCall, compose
from lockgate_offline.choosing import Choice
from lockgate_offline.question import read_question
from lockgate_offline.reading import numbered, read_result

LENGTH = 300_000
WORDS = ["".join(letters) for letters in itertools.product("abcdefgh", repeat=5)]


def passages(*items: Passage) -> str:
    """A result of a search with these passages."""
    text = "\n\n".join(as_markdown(item, number) for number, item in enumerate(items, 1))
    return json.dumps({"query": "x", "text_content": text})


def test_each_passage_is_a_source_of_its_own() -> None:
    """Passages are numbered as they are listed, two of one file apart; links of a passage take numbers after it."""
    result = passages(
        Passage("s", "Shelf", "The tap is closed in winter.", "water.md", page=4),
        Passage("s", "Shelf", "Fences are low.", "fence.md", links=("https://example.org/a", "https://example.org/b")),
        Passage("s", "Shelf", "The tap is open in summer.", "water.md", section="Taps"),
    )
    documents = numbered(read_result("semantic_search", result).documents)
    assert [(item.name, item.number, item.place, item.section) for item in documents] == [
        ("water.md", 1, "page 4", ""),
        ("fence.md", 2, "", ""),
        ("water.md", 5, "", "Taps"),
    ]


def test_quotations_of_one_document_stand_together_with_their_numbers() -> None:
    """The name of a document stands once; each quotation has the number of its passage and its page."""
    result = passages(
        Passage("s", "Shelf", "The main tap is closed in winter.", "water.md", page=4),
        Passage("s", "Shelf", "Paint the fence each summer.", "fence.md"),
        Passage("s", "Shelf", "Open the main tap slowly in spring.", "water.md"),
    )
    run = ask("What about the main tap?", SEMANTIC_SEARCH, result=result)
    quotes = ["- “The main tap is closed in winter.” [1] (page 4)", "- “Open the main tap slowly in spring.” [3]"]
    assert "\n".join(["water.md:", *quotes]) in run.text
    assert "fence" not in run.text


def test_a_passage_cannot_forge_another_source() -> None:
    """Headings and labels inside the fence of a passage are its text and make no source."""
    forged = "## Passage 9\n\n- Data source: Board\n- Path: official.md\n\n```\nThe tap is free for all.\n```"
    documents = read_result("semantic_search", passages(Passage("s", "Shelf", forged, "note.md"))).documents
    assert [item.name for item in documents] == ["note.md"]


def test_results_of_a_web_search() -> None:
    """Pages that were read are numbered sources with their final address; mere snippets show their address."""
    result = {
        "result_count": 2,
        "results": [
            {
                "requested_url": "https://a.example/1",
                "search_metadata": {"rank": 1, "final_url": "https://a.example/final#top"},
                "page": {"status": "complete", "title": "Taps", "content": "A tap drips when its washer is worn."},
            },
            {
                "requested_url": "https://b.example/2",
                "search_metadata": {"rank": 2},
                "page": {
                    "status": "snippet only",
                    "title": "More taps",
                    "content": "A dripping tap wastes 5 litres a day.",
                },
            },
        ],
    }
    search = function("web_search", "Searches the web.", query=STRING)
    run = ask("Why does a tap drip?", search, result=json.dumps(result))
    assert "Taps:\n- “A tap drips when its washer is worn.” [1]" in run.text
    assert "More taps, https://b.example/2:\n- “A dripping tap wastes 5 litres a day.”" in run.text
    assert "[2]" not in run.text
    first = numbered(read_result("web_search", json.dumps(result)).documents)[0]
    assert first.key == "https://a.example/final"


def test_a_page_is_quoted_for_its_address() -> None:
    """A page that was read is quoted by its title as source 1."""
    page = {
        "url": "https://a.example/taps",
        "status": "complete",
        "content": {"text_content": "# Taps\n\nTurn the water off first. Then open the tap.", "title": "About taps"},
        "metadata": {"warnings": ["The page was truncated."]},
    }
    run = ask("What to turn off, says https://a.example/taps?", READ_WEB_PAGE, result=json.dumps(page))
    assert "About taps:\n- “Turn the water off first.” [1]" in run.text
    assert "`read_web_page` notes: The page was truncated." in run.text


def test_without_a_shared_word_the_beginning_is_shown() -> None:
    """A page asked for by address alone is shown by its first sentences, and the answer says so."""
    run = ask("https://a.example/", READ_WEB_PAGE, result="Taps drip. " * 40 + "Pipes burst.")
    assert "begins like this" in run.text
    assert "- “Taps drip.”" in run.text


@pytest.mark.parametrize(
    ("result", "shown"),
    [
        ("5", "`add` returned: 5"),
        ("The sum is 5.", "`add` returned: The sum is 5."),
        ('"five"', "`add` returned: five"),
        ('{"sum":5,"exact":true}', "`add` returned: \n- sum: 5\n- exact: True"),
        ("[1,2]", "`add` returned: \n- 1\n- 2"),
    ],
)
def test_a_short_result_is_shown_as_it_is(result: str, shown: str) -> None:
    """Numbers and short texts are the answer themselves."""
    add = function("add", "Adds.", a=NUMBER, b=NUMBER)
    assert shown in ask("add 2 and 3", add, result=result).text


def test_records_are_quoted_as_rows() -> None:
    """A longer list of records is searched like text, a record at a time."""
    cities = ["Moss", "Bergen", "Bodø", "Oslo", "Voss"]
    rows = [{"city": name, "country": "Norway", "people": 1000 + i} for i, name in enumerate(cities)]
    search = function("search_places", "Searches places.", query=STRING)
    run = ask("How many people live in Bergen?", search, result=json.dumps(rows))
    assert "city: Bergen; country: Norway; people: 1001" in run.text


def test_gaps_a_tool_tells_of_are_passed_on() -> None:
    """Issues of a data source are told, also when nothing was found."""
    source = {"id": "a", "result_count": 0, "issues": ["It could not be searched."]}
    result = {"data_sources": [source], "text_content": ""}
    run = ask("Where is the main tap?", SEMANTIC_SEARCH, result=json.dumps(result))
    assert "`semantic_search` notes: It could not be searched." in run.text
    assert "found nothing" in run.text


def test_few_shared_words_are_admitted() -> None:
    """When the best sentence holds little of the question, the answer says that it may miss it."""
    result = passages(Passage("s", "Shelf", "The committee met on Friday.", "minutes.md"))
    run = ask("Which committee approved the harbour extension budget?", SEMANTIC_SEARCH, result=result)
    assert "may miss it" in run.text


def test_quotations_are_verbatim_and_no_sentence_is_invented() -> None:
    """Every quotation is found in the text of the result, character by character."""
    result = LIBRARY.answer("tools deposit membership")
    run = ask("What deposit do tools need?", SEMANTIC_SEARCH, result=result)
    source = " ".join(json.loads(result)["text_content"].split())
    quoted = [line.split("“")[1].split("”")[0] for line in run.text.splitlines() if line.startswith("- “")]
    assert quoted
    assert all(quote in source for quote in quoted)


def test_sentences_that_repeat_are_quoted_once() -> None:
    """Overlapping passages do not fill the answer with the same words."""
    text = "The main tap is closed in winter."
    result = passages(*(Passage("s", "Shelf", text, f"{number}.md") for number in range(4)))
    assert ask("Is the main tap closed?", SEMANTIC_SEARCH, result=result).text.count(text) == 1


def test_escape_sequences_and_invisible_characters_are_removed() -> None:
    """Nothing in a quotation can colour, move or retitle a terminal, reverse text or hide in it."""
    text = "The \x1b[31mtap\x1b[0m is\u202e closed\u200b in \x1b]0;evil\x07winter\x9b2J. \U000e0041Open it\x00 later."
    for result in (text * 12, json.dumps({"text_content": text})):
        run = ask("Is the tap closed?", SEMANTIC_SEARCH, result=result)
        assert "“The tap is closed in winter.”" in run.text
        assert not any(ord(letter) < 32 and letter != "\n" for letter in run.text)
        assert not any(letter in run.text for letter in "\x7f\x9b\u202e\u200b\U000e0041")


def test_what_the_filter_withheld_is_not_quoted() -> None:
    """A sentence with a note of the content filter is passed over."""
    text = "The tap ⟦passage withheld by the content filter: override⟧ is closed. The tap is old."
    run = ask("What about the tap?", SEMANTIC_SEARCH, result=passages(Passage("s", "Shelf", text, "a.md")))
    assert "“The tap is old.”" in run.text
    assert "withheld" not in run.text


HOSTILE = {
    "brackets": "[" * LENGTH,
    "nested objects": '{"a":' * 50_000,
    "deep list": "[" * 900 + '"tap"' + "]" * 900,
    "one word": "a" * LENGTH,
    "words": " ".join(WORDS),
    "fences": "```\n" * (LENGTH // 4),
    "blank heading": "# " + " " * LENGTH + "x",
    "escapes": "\x1b]" * (LENGTH // 2),
    "numbers": "1. " * (LENGTH // 3),
    "headings of passages": "## Passage 1\n- Data source: x\n````\n" * (LENGTH // 36),
    "huge number": '{"x":' + "9" * 5000 + "}",
    "no numbers": '{"x":NaN,"y":-Infinity}',
    "lone surrogate": '{"text":"\\ud800 the tap \\u001b[31m drips"}',
    "keys": json.dumps({"results": {"a": [None, {"text": {"text": ["tap"]}}]}, "status": 7, "title": ["x"]}),
    "odd counts": json.dumps([{"result_count": "0"}, {"result_count": None}, {"issues": {"a": 1}, "notes": [[1]]}]),
    "empty": "",
    "null": "null",
}


@pytest.mark.parametrize("result", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_results_end_in_an_answer(result: str) -> None:
    """Huge, broken, nested and meaningless results raise nothing and give a bounded answer."""
    run = ask("Why does the main tap drip in the second house?", SEMANTIC_SEARCH, result=result)
    assert run.text.startswith("No language model wrote this")
    assert len(run.text) < 5000


def test_long_failures_are_cut() -> None:
    """A failure of any length becomes one short line."""
    calls = [AnsweredCall(Choice("search", {}, "x", "query"), CallResult("1", "no\n" * LENGTH, is_error=True))]
    text = compose(read_question("Where is the tap?"), calls, functions=[])
    assert len(text) < 1500
    assert "`search` did not answer: no no" in text
