import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockgate_local_index.words import MAX_WORDS, fold, queries_for, words_of


def test_words_are_distinct_and_bounded() -> None:
    """Words are letters, digits and underscores, each once whatever its case, at most 32."""
    assert words_of("Foo_1, foo_1 BAR-bar? Ünï 2") == ["foo_1", "bar", "ünï", "2"]
    assert words_of("__ _") == []
    assert len(words_of(" ".join(f"w{number}" for number in range(100)))) == MAX_WORDS


def test_all_telling_words_are_asked_for_first() -> None:
    """Stop words of both languages are left out, and the strictest query comes first."""
    assert queries_for("Wie ist der Preis 2024?").strict[0] == '"preis" AND "2024"'
    assert queries_for("what is the price of apt").strict[0] == '"price" AND "apt"'


def test_one_word_needs_no_second_list() -> None:
    """A word without other forms is asked for once."""
    queries = queries_for("apt")
    assert (queries.strict, queries.loose) == (('"apt"',), "")


@pytest.mark.parametrize(
    ("question", "part"),
    [("Packages", '"packag" *'), ("Kuendigung", '"kundigung"'), ("Straße", '"strasse"'), ("Strasse", '"straße"')],
)
def test_other_forms_are_asked_for_too(question: str, part: str) -> None:
    """Other endings and spellings are in the wider query."""
    assert part in queries_for(question).strict[-1]


@given(st.text(max_size=200))
def test_everything_of_a_question_is_quoted(question: str) -> None:
    """Outside quotation marks a query holds operators of ours and nothing else."""
    queries = queries_for(question)
    for step in (*queries.strict, queries.loose):
        outside = " ".join(step.split('"')[::2])
        assert set(re.split(r"[ ()*]+", outside)) <= {"AND", "OR", ""}


@pytest.mark.parametrize(
    ("word", "text", "is_in"),
    [
        ("kuendigung", "Die KÜNDIGUNG.", True),
        ("straße", "Strassen und Wege", True),
        ("strasse", "Eine Straße", True),
        ("packages", "packaging", True),
        ("apt", "apt-get", True),
        ("apt", "chapter aptitude", False),
        ("snake_case", "a snake_case name", True),
    ],
)
def test_a_word_is_recognised_in_a_text_as_the_index_does(word: str, text: str, is_in: bool) -> None:
    """Case, marks, spellings and endings are seen through; a part of another word is no match."""
    (term,) = queries_for(word).terms
    assert term.is_in(fold(text)) is is_in
