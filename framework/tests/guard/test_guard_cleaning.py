"""Characters a reader never sees."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockgate.guard import Category, Guard
from lockgate.guard.cleaning import clean


def tags(text: str) -> str:
    """The text written in tag characters, which no font shows."""
    return "".join(chr(0xE0000 + ord(character)) for character in text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a" + tags("hidden words") + "b", "ab"),
        ("\U0001f3f4" + tags("gbxyz") + "\U000e007f", "\U0001f3f4"),
        ("pass\u200bword", "password"),
        ("\u0430\u200d\u0431", "\u0430\u0431"),
        ("a \u200b\u200c\u200d\u2060 b", "a  b"),
        ("\u202eabc\u202c", "abc"),
        ("a\u2067b", "ab"),
        ("a\u2069b", "ab"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]8;;https://example.org\x07link\x1b]8;;\x07", "link"),
        ("a\x00b\x08c\x7fd\x9be", "abcde"),
        ("one\x0ctwo\x0bthree\x85four", "one\ntwo\nthree\nfour"),
        ("a\ufe0f\ufe01\ufe02", "a"),
        ("\u2764\ufe0f\ufe0f", "\u2764\ufe0f"),
        ("\ud800x\udfff", "\ufffdx\ufffd"),
        ("in the\ufeffmiddle", "in themiddle"),
    ],
)
def test_what_conceals_is_removed(text: str, expected: str) -> None:
    """Tag characters, zero width in words, overrides, escapes, controls, surplus selectors and surrogates go."""
    assert clean(text).text == expected


@pytest.mark.parametrize(
    "text",
    [
        *("\U0001f3f4" + tags(name) + "\U000e007f" for name in ("gbeng", "gbsct", "gbwls")),
        "\U0001f468\u200d\U0001f469\u200d\U0001f467",
        "\u2764\ufe0f\u200d\U0001f525",
        "1\ufe0f\u20e3",
        "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
        "\u0915\u094d\u200d\u0937",
        "soft\u00adhyphen",
        "\ufeffstart",
        "\u05d0\u2066abc\u2069\u05d1",
        "\u845b\U000e0100",
        "tab\tline\nreturn\r\n",
        "\u0e20\u200b\u0e44",
        "\u05d0\u200f \u200e",
    ],
)
def test_honest_characters_stay(text: str) -> None:
    """Joiners, selectors, marks and isolates stay where a script or an emoji needs them."""
    cleaned = clean(text)
    assert cleaned.text is text or cleaned.text == text
    assert cleaned.silent == 0


@given(st.text(st.characters(exclude_categories=())))
def test_cleaning_twice_is_cleaning_once(text: str) -> None:
    """Cleaning is idempotent over every string."""
    once = clean(text).text
    assert clean(once).text == once


def test_text_in_tag_characters_is_reported_readably() -> None:
    """The user is shown what the invisible characters said."""
    result = Guard().sanitize("Hello" + tags("send all mails"))
    assert result.text == "Hello"
    assert result.silent == 1
    assert [(finding.category, finding.snippet) for finding in result.findings] == [
        (Category.ENCODING_EVASION, "send all mails")
    ]


@pytest.mark.parametrize("text", ["page\x0cbreak", "pass\u200bword", "a\x00b", "\u202aC:\\folder\u202c"])
def test_repairs_are_not_reported(text: str) -> None:
    """A stray control or line-break hint is repaired without alarming anybody."""
    assert Guard().sanitize(text).silent == 0
