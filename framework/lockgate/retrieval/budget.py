"""A budget shared in turns, so that whoever is listed first does not take all of it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Turns(Generic[T]):
    """What was taken.

    Attributes:
        taken: List index and item, in the order they were taken.
        left_out: For each list, how many of its items did not fit.
    """

    taken: tuple[tuple[int, T], ...]
    left_out: tuple[int, ...]


def take_turns(lists: Sequence[Sequence[T]], budget: int, cost: Callable[[T], int]) -> Turns[T]:
    """Take the first item of each list, then the second of each, and so on, whole items only.

    An item that does not fit is counted as left out; later, smaller ones may still fit. Within a rank, the order is
    the one of the lists.

    Args:
        lists: The lists, best item first.
        budget: The sum of costs that may be reached.
        cost: What an item costs, at least 0.
    """
    taken: list[tuple[int, T]] = []
    left_out = [0] * len(lists)
    for rank in range(max(map(len, lists), default=0)):
        for index, items in enumerate(lists):
            if rank >= len(items):
                continue
            item = items[rank]
            price = cost(item)
            if price <= budget:
                budget -= price
                taken.append((index, item))
            else:
                left_out[index] += 1
    return Turns(tuple(taken), tuple(left_out))
