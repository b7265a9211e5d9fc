"""Many tests at once, and one test looked at again and again: both find something by chance unless it is counted in."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

__all__ = ["at_look", "benjamini_hochberg", "looks_until"]

FIRST_LOOK = 4
"""After how many observations a growing record is looked at first."""

GROWTH = 1.25
"""How much a record must have grown until it is looked at again."""


def benjamini_hochberg(p_values: Sequence[float], total: int | None = None) -> list[float]:
    """Return each p value adjusted: refusing those at or below q keeps the false discovery rate at q at most.

    The false discovery rate is the expected share of wrong ones among those picked. It holds for tests that are
    independent or positively dependent. ``total`` is how many were tested, where only some are given.

    The numbers are of Benjamini and Hochberg, Journal of the Royal Statistical Society B 57 (1995), 289-300, section 3:
    of these fifteen, four are picked at 0.05.

    >>> fifteen = [.0001, .0004, .0019, .0095, .0201, .0278, .0298, .0344, .0459, .324, .4262, .5719, .6528, .759, 1.0]
    >>> sum(q <= 0.05 for q in benjamini_hochberg(fifteen))
    4
    """
    count = max(len(p_values), total or 0)
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    adjusted, lowest = [1.0] * len(p_values), 1.0
    for rank in range(len(order), 0, -1):
        index = order[rank - 1]
        lowest = min(lowest, p_values[index] * count / rank)
        adjusted[index] = lowest
    return adjusted


def looks_until(count: int, first: int = FIRST_LOOK, growth: float = GROWTH) -> list[int]:
    """Return the sizes, up to ``count``, at which a growing record is looked at: fixed before anything is seen.

    >>> looks_until(30)
    [4, 5, 7, 9, 12, 15, 19, 24, 30]
    """
    found: list[int] = []
    size = first
    while size <= count:
        found.append(size)
        size = ceil(size * growth)
    return found


def at_look(p_value: float, look: int) -> float:
    """Return a p value that pays for being the ``look``-th one, counted from 1, of endlessly many.

    Look n has the share 1 / (n (n + 1)) of the error; the shares add up to 1. So the smallest of the results is a valid
    p value, whatever the dependence between looks and whenever one stops looking.

    >>> at_look(0.01, 1), at_look(0.01, 3), at_look(0.5, 9)
    (0.02, 0.12, 1.0)
    """
    return min(1.0, p_value * look * (look + 1))
