"""Paging without state: every call brings its query and its page again, and no total is ever told."""

from typing import Final

MAX_RESULT_WINDOW: Final = 100
"""How deep a search may be paged, in passages: every page fetches its whole window again."""


class PageOutOfRange(ValueError):
    """A page beyond the last one, or below 1.

    Args:
        page: What was asked for.
        last: The last page there is.
    """

    def __init__(self, page: int, last: int) -> None:
        super().__init__(f"Page {page} is out of range: pages go from 1 to {last}.")
        self.page, self.last = page, last


def last_page(page_size: int) -> int:
    """Return the last page that may be asked for; page 1 always may, whatever its size.

    The window of a page is one passage more than the pages up to it hold, and has to fit
    :data:`MAX_RESULT_WINDOW`.

    Raises:
        ValueError: The page size is below 1.
    """
    if page_size < 1:
        raise ValueError(f"A page holds at least 1 passage; got {page_size}.")
    return max(1, (MAX_RESULT_WINDOW - 1) // page_size)


def check_page(page: int, page_size: int) -> None:
    """Accept a page in range.

    Raises:
        PageOutOfRange: It is not.
    """
    last = last_page(page_size)
    if not 1 <= page <= last:
        raise PageOutOfRange(page, last)


def window(page: int, page_size: int) -> int:
    """Return how many passages a channel has to bring for a page: all up to it, and one that tells of more."""
    check_page(page, page_size)
    return page * page_size + 1


def has_more(page: int, page_size: int, found: int) -> bool:
    """Tell whether a further page may be asked for and has something.

    Args:
        page: The page that was asked for.
        page_size: Passages of a page.
        found: How many passages the fullest channel brought, at most :func:`window`.
    """
    return page < last_page(page_size) and found > page * page_size
