import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockgate.retrieval import MAX_RESULT_WINDOW, PageOutOfRange, check_page, has_more, last_page, take_turns, window


@pytest.mark.parametrize(("size", "last"), [(1, 99), (10, 9), (33, 3), (50, 1), (99, 1), (100, 1), (5000, 1)])
def test_the_last_page_keeps_its_window_within_the_limit(size: int, last: int) -> None:
    """Pages end where their window would exceed 100 passages; page 1 is always there."""
    assert last_page(size) == last


@given(size=st.integers(1, 99))
def test_the_last_page_is_the_largest_whose_window_fits(size: int) -> None:
    """The window of the last page fits, the one of the page after would not."""
    assert window(last_page(size), size) <= MAX_RESULT_WINDOW
    assert (last_page(size) + 1) * size + 1 > MAX_RESULT_WINDOW


@pytest.mark.parametrize("page", [0, -1, 10])
def test_a_page_out_of_range_names_the_last_one(page: int) -> None:
    """Pages below 1 and beyond the last are refused."""
    with pytest.raises(PageOutOfRange, match=f"Page {page} is out of range: pages go from 1 to 9") as caught:
        check_page(page, 10)
    assert caught.value.last == 9


def test_a_page_without_room_is_a_mistake() -> None:
    """A page size below 1 is refused."""
    with pytest.raises(ValueError, match="at least 1"):
        last_page(0)


@pytest.mark.parametrize(
    ("page", "found", "more"), [(1, 10, False), (1, 11, True), (2, 20, False), (2, 21, True), (9, 91, False)]
)
def test_there_is_more_only_when_found_and_allowed(page: int, found: int, more: bool) -> None:
    """There is more when a channel brought one beyond the page, and never behind the last page."""
    assert has_more(page, 10, found) is more


def test_lists_take_turns_by_rank() -> None:
    """First the best of each list, then the second best of each."""
    turns = take_turns([["a1", "a2", "a3"], ["b1"], ["c1", "c2"]], 100, len)
    assert [item for _, item in turns.taken] == ["a1", "b1", "c1", "a2", "c2", "a3"]
    assert turns.left_out == (0, 0, 0)


def test_what_does_not_fit_is_counted_and_smaller_ones_may_follow() -> None:
    """An item beyond the budget is left out whole; a later one that fits is taken."""
    turns = take_turns([["aaaa", "a"], ["bbbbbbb", "bb"]], 7, len)
    assert turns.taken == ((0, "aaaa"), (0, "a"), (1, "bb"))
    assert turns.left_out == (0, 1)


@given(lists=st.lists(st.lists(st.integers(0, 50), max_size=8), max_size=5), budget=st.integers(0, 200))
def test_the_budget_holds_and_nothing_is_lost(lists: list[list[int]], budget: int) -> None:
    """The costs taken never exceed the budget, and each item is either taken or counted."""
    turns = take_turns(lists, budget, lambda item: item)
    assert sum(item for _, item in turns.taken) <= budget
    for index, items in enumerate(lists):
        assert sum(1 for owner, _ in turns.taken if owner == index) + turns.left_out[index] == len(items)
