"""Splitting text into sentences, and stems."""

import pytest

from lockgate_offline.sentences import MAXIMUM_SENTENCE, split
from lockgate_offline.words import base_form, guess_language, kinship, stem


def texts(text: str) -> list[str]:
    """The sentences of a text."""
    return [sentence.text for sentence in split(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It works. It really does!", ["It works.", "It really does!"]),
        ("Ask Dr. Smith, e.g. on Monday. He knows.", ["Ask Dr. Smith, e.g. on Monday.", "He knows."]),
        ("See fig. 3 and J. R. Doe. Then stop.", ["See fig. 3 and J. R. Doe.", "Then stop."]),
        ("Version v2.1. The next is 3.0. Done here.", ["Version v2.1.", "The next is 3.0.", "Done here."]),
        ("Das gilt z. B. für Boote. Auch d. h. hier.", ["Das gilt z. B. für Boote.", "Auch d. h. hier."]),
        ("Fällig am 3. Januar. Danach nicht.", ["Fällig am 3. Januar.", "Danach nicht."]),
        ("Sie fuhr in der 2. Klasse. Er nicht.", ["Sie fuhr in der 2. Klasse.", "Er nicht."]),
        ("It was 12. The door shut.", ["It was 12.", "The door shut."]),
        ('She said "Go." Then she left.', ['She said "Go."', "Then she left."]),
        ("Er rief „Los!“ Dann ging er.", ["Er rief „Los!“", "Dann ging er."]),
        ("One line\nand its rest. Next\none.", ["One line and its rest.", "Next one."]),
    ],
)
def test_sentences_end_where_they_end(text: str, expected: list[str]) -> None:
    """Abbreviations, initials, ordinals, numbers and quotation marks do not split a sentence wrongly."""
    assert texts(text) == expected


def test_headings_lists_and_code() -> None:
    """Headings are context and not quoted, items stand alone with what introduces them, code is left out."""
    found = split(
        "# Setup\n\nYou need:\n\n- a hammer and\n  some nails\n- a saw blade\n\n"
        "```\nmake all of it\n```\nThen begin work.\n"
    )
    assert [(item.text, item.heading) for item in found] == [
        ("You need:", "Setup"),
        ("a hammer and some nails", "Setup You need:"),
        ("a saw blade", "Setup You need:"),
        ("Then begin work.", "Setup"),
    ]


def test_underlined_headings_and_rules() -> None:
    """A line underlined with dashes is a heading; a rule between blank lines is nothing."""
    found = split("Fees\n----\nThey are low.\n\n---\n\nThey may rise.\n")
    assert [(item.text, item.heading) for item in found] == [("They are low.", "Fees"), ("They may rise.", "Fees")]


def test_rows_of_tables_know_their_columns() -> None:
    """A row is quoted as it stands; the names of the columns are its context."""
    found = split("| Member | Fee |\n|---|---|\n| Adult | 240 euros |\n| Student | 90 euros |\n")
    assert [(item.text, item.heading) for item in found] == [
        ("Adult | 240 euros", "Member | Fee"),
        ("Student | 90 euros", "Member | Fee"),
    ]


def test_what_is_no_prose_is_left_out() -> None:
    """Bare addresses, dotted lines, rows of signs and sentences with a note of the content filter are not quoted."""
    text = (
        "https://example.org/a\n\nChapter one ..... 7\n\n== -- == | 12 34 56 78\n\n"
        "⟦passage withheld by the content filter: override⟧ and so on.\n\nThis one stays.\n"
    )
    assert texts(text) == ["This one stays."]


def test_a_run_without_an_end_is_cut_at_words() -> None:
    """Text without punctuation comes in pieces of bounded length that are marked as cut and lose nothing."""
    words = [f"word{number}" for number in range(500)]
    found = split(" ".join(words))
    assert all(len(item.text) <= MAXIMUM_SENTENCE and item.is_cut for item in found)
    assert " ".join(item.text for item in found).split() == words


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("batteries", "battery"), ("restoring", "restored"), ("planned", "plans"), ("addresses", "address"),
        ("Versicherungen", "Versicherung"), ("Häuser", "Haus"), ("läuft", "laufen"), ("Größe", "größe"),
        ("kostet", "kosten"), ("keys", "key"),
    ],
)  # fmt: skip
def test_inflected_forms_share_a_stem(left: str, right: str) -> None:
    """Forms of one word meet in their stem."""
    assert stem(left) == stem(right)


def test_kinship_of_compounds_and_families() -> None:
    """A compound holds its parts, a family shares its beginning, short and foreign words are strangers."""
    assert kinship("kundigungsfrist", "frist") == kinship("configur", "configuration") == 0.6
    assert kinship("same", "same") == 1
    assert kinship("cat", "catalog") == kinship("harbour", "harvest") == kinship("decid", "december") == 0


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("How do I renew a book?", "en"),
        ("Wie verlängere ich ein Buch?", "de"),
        ("Kündigungsfrist Pachtvertrag", "de"),
        ("Backup", "en"),
        ("Was the war long?", "en"),
    ],
)
def test_the_language_of_a_question(text: str, language: str) -> None:
    """Function words and umlauts tell; English is what is left."""
    assert guess_language(text) == language


def test_base_forms_are_plainer() -> None:
    """Plurals become singular where the ending is plain; other words stay."""
    assert [base_form(word) for word in ("batteries", "tools", "glass", "Batterien")] == [
        "battery", "tool", "glass", "Batteri",
    ]  # fmt: skip
