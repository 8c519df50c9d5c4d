"""What the packaged rules find and what they leave alone, example by example."""

import tomllib
from pathlib import Path

import pytest

from lockgate.guard import Guard

DATA = Path(__file__).parent / "data"


def load(name: str) -> dict[str, list[str]]:
    """The lists of examples in a data file, by heading."""
    return tomllib.loads((DATA / name).read_text(encoding="utf-8"))


INJECTIONS = load("injections.toml")
BENIGN = load("benign.toml")
GUARD = Guard()


@pytest.mark.parametrize("text", [text for texts in INJECTIONS.values() for text in texts])
def test_an_order_to_the_model_is_found(text: str) -> None:
    """Every example of an order is reported and no longer stands there."""
    result = GUARD.sanitize(text)
    assert result.findings
    assert result.redactions + result.silent >= 1
    assert result.text != text


@pytest.mark.parametrize("text", [text for texts in BENIGN.values() for text in texts])
def test_an_honest_text_is_left_byte_for_byte(text: str) -> None:
    """Every honest example comes back unchanged, with nothing to report."""
    result = GUARD.sanitize(text)
    assert result.findings == ()
    assert (result.text, result.redactions, result.silent) == (text, 0, 0)


@pytest.mark.parametrize("text", [text for texts in INJECTIONS.values() for text in texts])
def test_filtering_a_result_again_changes_nothing(text: str) -> None:
    """No rule finds anything in what the filter itself has written."""
    once = GUARD.sanitize(text).text
    again = GUARD.sanitize(once)
    assert (again.text, again.findings) == (once, ())


def test_the_examples_are_as_many_as_promised() -> None:
    """At least forty orders, fifteen of them German, and eighty honest texts, all distinct."""
    orders = [text for texts in INJECTIONS.values() for text in texts]
    honest = [text for texts in BENIGN.values() for text in texts]
    assert len(set(orders)) == len(orders) >= 40
    assert len(INJECTIONS["german"]) >= 15
    assert len(set(honest)) == len(honest) >= 80


@pytest.mark.parametrize("heading", ["english", "german"])
def test_an_order_is_found_in_the_middle_of_an_honest_text(heading: str) -> None:
    """Only the sentence of the order is replaced; the text on both sides stays."""
    before, after = "The harbour is open all year. ", " Ferries leave at noon."
    for order in INJECTIONS[heading]:
        sentences = before + order + after if order[-1] in ".!?:" else before + order + "." + after
        result = GUARD.sanitize(sentences)
        if not order.startswith("SYSTEM:"):  # a role label counts at the beginning of a line only
            assert result.text.startswith(before), order
            assert result.text.endswith(after) or "example" in order, order
