"""How often the sentence that answers a question is among those quoted."""

import json

import pytest
from offline_library import DOCUMENTS, LIBRARY, QUESTIONS
from offline_runs import SEMANTIC_SEARCH, Transcript, run_reader

HITS = 36
"""Questions of the set that the reader answers. A change that loses one has to be better elsewhere to be worth it."""


async def answer(question: str) -> Transcript:
    """The reader's answer from the library."""
    return await run_reader(
        question, [SEMANTIC_SEARCH], lambda call: LIBRARY.answer(json.loads(call.arguments)["query"])
    )


async def test_the_right_sentence_is_quoted() -> None:
    """Of 36 questions in two languages on 26 documents, all find the sentence that answers them."""
    assert (len(QUESTIONS), len(DOCUMENTS)) == (36, 26)
    missed = [question for question, words in QUESTIONS if words not in (await answer(question)).text]
    assert len(QUESTIONS) - len(missed) == HITS, missed


async def test_answers_stay_short() -> None:
    """No answer quotes more than five sentences, and on average it is three or fewer."""
    counts = [(await answer(question)).text.count("\n- ") for question, _ in QUESTIONS]
    assert max(counts) <= 5
    assert sum(counts) / len(counts) <= 3


@pytest.mark.parametrize("words", [words for _, words in QUESTIONS])
def test_every_expected_sentence_stands_in_one_document(words: str) -> None:
    """The questions can be answered, each from one document alone."""
    assert sum(words in " ".join(text.split()) for text in DOCUMENTS.values()) <= 1
    assert sum(words in " ".join(text.replace("|", " | ").split()) for text in DOCUMENTS.values()) == 1
