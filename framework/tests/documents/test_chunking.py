from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lockgate.documents import Chunk, Document, DocumentKind, Heading, chunk, find_headings
from lockgate.documents.headings import heading_paths


def cut(text: str, limit: int = 100, overlap: int = 0, kind: DocumentKind = DocumentKind.MARKDOWN) -> list[Chunk]:
    """Cut a text with small limits."""
    return chunk(Document("x", text, kind), limit, overlap)


def test_a_short_text_is_one_chunk() -> None:
    """A text below the limit stays whole, less the white space around it."""
    assert cut("\n  Hello there.\n\nBye.\n") == [Chunk("Hello there.\n\nBye.", 0, "", 3)]


@pytest.mark.parametrize("text", ["", "   \n\n\t\n"])
def test_nothing_gives_no_chunks(text: str) -> None:
    """An empty or blank text has no chunks."""
    assert cut(text) == []


def test_headings_begin_chunks_and_name_their_path() -> None:
    """A section long enough begins a chunk of its own, named by the headings above it."""
    body = "word " * 12
    chunks = cut(f"# Manual\n\n{body}\n\n## Install\n\n{body}\n\n### Linux\n\n{body}\n\n## Use\n\n{body}")
    assert [item.heading for item in chunks] == [
        "Manual", "Manual > Install", "Manual > Install > Linux", "Manual > Use"
    ]  # fmt: skip
    assert chunks[1].text.startswith("## Install")


def test_small_sections_share_a_chunk() -> None:
    """Sections much shorter than the limit are not cut into crumbs."""
    assert len(cut("# A\n\nx\n\n# B\n\ny\n\n# C\n\nz")) == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a" * 60 + "\n\n" + "b" * 60, ["a" * 60, "b" * 60]),
        ("a" * 60 + "\n" + "b" * 60, ["a" * 60, "b" * 60]),
        ("a" * 59 + ". " + "b" * 60, ["a" * 59 + ".", "b" * 60]),
        ('"' + "a" * 57 + '." ' + "b" * 60, ['"' + "a" * 57 + '."', "b" * 60]),
        ("a" * 60 + " " + "b" * 60, ["a" * 60, "b" * 60]),
        ("あ" * 59 + "。" + "い" * 60, ["あ" * 59 + "。", "い" * 60]),
        ("a" * 150, ["a" * 100, "a" * 50]),
    ],
    ids=["paragraph", "line", "sentence", "quoted sentence", "word", "Japanese", "hard"],
)
def test_cuts_fall_at_the_largest_unit_that_fits(text: str, expected: list[str]) -> None:
    """Paragraphs are kept whole if they fit, else lines, sentences, words; only a word too long is cut anywhere."""
    assert [item.text for item in cut(text)] == expected


def test_a_chunk_repeats_whole_units_of_the_one_before() -> None:
    """The overlap begins at a sentence where one fits, and never exceeds its limit."""
    sentences = [f"This is sentence number {number:02}." for number in range(12)]
    chunks = cut(" ".join(sentences), 100, 40)
    assert len(chunks) > 3
    for before, after in pairwise(chunks):
        assert after.text.startswith("This is sentence")
        assert after.start < before.start + len(before.text)
        assert before.start + len(before.text) - after.start <= 40


def test_overlap_does_not_cross_a_heading() -> None:
    """A chunk that a heading begins repeats nothing of the section before."""
    chunks = cut("# One\n\n" + "word " * 30 + "\n\n# Two\n\n" + "more " * 30, 100, 50)
    first = next(item for item in chunks if item.heading == "Two")
    assert first.text.startswith("# Two")


@given(
    text=st.text(st.sampled_from("ab .!\n\t#=-`\f。äß"), max_size=600),
    limit=st.integers(20, 120),
    overlap=st.integers(0, 200),
    kind=st.sampled_from(DocumentKind),
)
@settings(max_examples=300, deadline=None)
def test_every_character_is_in_a_chunk_and_no_chunk_is_too_long(
    text: str, limit: int, overlap: int, kind: DocumentKind
) -> None:
    """For any text: chunks are pieces of it, in order, within the limit, and only white space is in none."""
    chunks = cut(text, limit, overlap, kind)
    covered = [False] * len(text)
    for number, item in enumerate(chunks):
        assert item.index == number
        assert 0 < len(item.text) <= limit
        assert text[item.start : item.start + len(item.text)] == item.text
        covered[item.start : item.start + len(item.text)] = [True] * len(item.text)
    assert all(done or character.isspace() for done, character in zip(covered, text, strict=True))
    assert [item.start for item in chunks] == sorted({item.start for item in chunks})


@pytest.mark.parametrize(
    "unit", ["a", "\n", "a ", ".\n ", "x" + " " * 400 + "\n", "#", "# \n", "```\n", "a\n=\n", "(a.)' ", "\f", "- "]
)
def test_work_grows_with_the_text_and_not_with_its_shape(unit: str) -> None:
    """Twice the text gives about twice the chunks; a shape that made the work quadratic would not end here."""
    once, twice = unit * (400_000 // len(unit)), unit * (800_000 // len(unit))
    assert len(cut(twice, 1200, 150)) <= 2 * len(cut(once, 1200, 150)) + 2


@pytest.mark.parametrize(("limit", "overlap"), [(19, 0), (100, -1)])
def test_limits_out_of_range_are_refused(limit: int, overlap: int) -> None:
    """A chunk too small to hold a word and a negative overlap are mistakes of the caller."""
    with pytest.raises(ValueError, match="max_characters must be at least 20"):
        cut("x", limit, overlap)


def test_markdown_headings_are_told_from_code_and_lists() -> None:
    """Both ways of Markdown count; code blocks, lists, rules, and a number sign without a blank do not."""
    text = (
        "# One #\n\nSetext\n======\n\n```sh\n# comment\n```\n\n#hashtag\n\n- item\n---\n\n## Two `x` ##\n"
        "~~~~\n# no\n~~~\n# no\n~~~~\nThree\n---\n"
    )
    found = [(item.level, item.title) for item in find_headings(text, DocumentKind.MARKDOWN)]
    assert found == [(1, "One"), (1, "Setext"), (2, "Two `x`"), (2, "Three")]


def test_underlined_headings_rank_in_the_order_their_style_appears() -> None:
    """In reStructuredText and plain text a line of punctuation at least as long as the title makes a heading."""
    text = "=====\nTitle\n=====\n\nPart\n----\n\ntext\n\nSub\n~~~\n\nNext\n----\n\nToo long for it\n---\n"
    found = [(item.level, item.title, item.start) for item in find_headings(text, DocumentKind.RESTRUCTURED_TEXT)]
    assert found == [(1, "Title", 0), (2, "Part", 19), (3, "Sub", 36), (2, "Next", 45)]


def test_source_code_has_no_headings() -> None:
    """Comments with a number sign in source code are no headings."""
    assert find_headings("# comment\n\n=====\nTitle\n=====\n", DocumentKind.SOURCE_CODE) == []


@pytest.mark.parametrize(
    ("line", "title"),
    [
        ("# foo ##", "foo"),
        ("# foo#", "foo#"),
        ("## foo # bar ##  \t", "foo # bar"),
        ("#\tfoo", "foo"),
        ("   #   foo   ", "foo"),
        ("# foo \t ####", "foo"),
        ("#foo", ""),
        ("####### foo", ""),
        ("## ##", ""),
        ("#", ""),
        ("# a" + " " * 300 + "b", "a b"),
    ],
)
def test_the_title_of_a_heading_ends_before_its_closing_signs(line: str, title: str) -> None:
    """Closing number signs count only after a blank; a heading without text is none (CommonMark 0.31, 4.2)."""
    assert [heading.title for heading in find_headings(line, DocumentKind.MARKDOWN)] == ([title] if title else [])


def test_the_way_to_a_heading_is_cut_at_its_beginning() -> None:
    """However deep headings lie, a way keeps its last 200 characters, as if it were cut once in the end."""
    titles = [letter * 60 for letter in "abcdef"]
    headings = [Heading(0, level, title) for level, title in enumerate(titles, 1)]
    paths = heading_paths([*headings, Heading(0, 2, "z")])
    assert paths[:6] == [" > ".join(titles[: depth + 1])[-200:] for depth in range(6)]
    assert paths[6] == "a" * 60 + " > z"
