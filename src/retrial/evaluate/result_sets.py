"""Whether two results of queries are the same, as Spider's official test does it. Pure functions of rows.

Rows are a multiset, and a list where the expected query orders them at its top level. Names of columns do not count,
and columns may come in another order as long as it is the same in every row. Numbers are compared within a tolerance.
"""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from typing import Any

__all__ = ["Row", "first_difference", "orders_rows", "overlap", "same_rows"]

Row = tuple[Any, ...]
"""One row: text, numbers, bytes and None."""

MAX_ARRANGEMENTS = 2000
"""So many orders of columns are tried where several columns hold the same values."""
_QUOTED = re.compile(
    # Each may be unclosed: a text that no database takes must not be gone through from every one of its characters.
    r"'(?:[^']|'')*(?:'|\Z)|\"(?:[^\"]|\"\")*(?:\"|\Z)|`[^`]*(?:`|\Z)|\[[^\]]*(?:\]|\Z)|--[^\n]*|/\*.*?(?:\*/|\Z)",
    re.DOTALL,
)


def orders_rows(query: str) -> bool:
    """Whether a query orders its rows at the top level.

    >>> orders_rows("SELECT a FROM t ORDER BY b"), orders_rows("SELECT a FROM (SELECT a FROM t ORDER BY b)")
    (True, False)
    >>> orders_rows("SELECT 'order by' FROM t")
    False
    """
    bare = _QUOTED.sub(" ", query)
    outside, depth = [""], 0
    for piece in re.split(r"([()])", bare):
        depth = max(0, depth + (piece == "(") - (piece == ")"))
        outside.append(" " if depth or piece == ")" else piece)
    return re.search(r"\border\s+by\b", "".join(outside), re.IGNORECASE) is not None


def same_rows(
    rows: Sequence[Row],
    expected: Sequence[Row],
    *,
    ordered: bool,
    ordered_columns: bool = False,
    ignore_case: bool = False,
) -> bool:
    """Whether two results are the same; ``ordered`` is about the rows, ``ordered_columns`` about the columns.

    >>> same_rows([(1, "a"), (2, "b")], [("b", 2.0), ("a", 1.0)], ordered=False)
    True
    >>> same_rows([(1,), (1,)], [(1,)], ordered=False)
    False
    """
    if len(rows) != len(expected):
        return False
    if not rows:
        return True

    def keys(given: Sequence[Row], columns: Sequence[int]) -> list[tuple[Hashable, ...]]:
        return [_key(tuple(row[column] for column in columns), ignore_case) for row in given]

    as_given = tuple(range(len(rows[0])))
    theirs = keys(expected, range(len(expected[0])))
    for columns in [as_given] if ordered_columns else _arrangements(rows, expected, ignore_case):
        ours = keys(rows, columns)
        if ours == theirs or (not ordered and Counter(ours) == Counter(theirs)):
            return True
    return False


def overlap(rows: Sequence[Row], expected: Sequence[Row], *, ignore_case: bool = False) -> float:
    """Return how much of two results is the same: the rows in common by those in either, columns as they stand.

    >>> overlap([(1,), (2,)], [(2,), (3,)])
    0.3333333333333333
    """
    ours = Counter(_key(row, ignore_case) for row in rows)
    theirs = Counter(_key(row, ignore_case) for row in expected)
    union = (ours | theirs).total()
    return (ours & theirs).total() / union if union else 1.0


def first_difference(rows: Sequence[Row], expected: Sequence[Row], *, ordered: bool) -> tuple[Row | None, Row | None]:
    """Return the first row that should not be there and the first that is missing, or the first place that differs."""
    if ordered:
        for one, other in itertools.zip_longest(rows, expected):
            if one is None or other is None or _key(one, False) != _key(other, False):
                return one, other
        return None, None
    ours, theirs = Counter(_key(row, False) for row in rows), Counter(_key(row, False) for row in expected)
    extra = next((row for row in rows if ours[_key(row, False)] > theirs[_key(row, False)]), None)
    missing = next((row for row in expected if theirs[_key(row, False)] > ours[_key(row, False)]), None)
    return extra, missing


def _arrangements(rows: Sequence[Row], expected: Sequence[Row], ignore_case: bool) -> Iterator[tuple[int, ...]]:
    """The orders of the columns in which each holds the values that it should; the given order first."""
    width = len(expected[0]) if expected else 0
    if not rows or len(rows[0]) != width:
        return
    ours = [Counter(_value(row[column], ignore_case) for row in rows) for column in range(width)]
    theirs = [Counter(_value(row[column], ignore_case) for row in expected) for column in range(width)]
    choices = [
        sorted((c for c in range(width) if ours[c] == theirs[place]), key=lambda c: c != place)
        for place in range(width)
    ]
    tried = itertools.islice(itertools.product(*choices), MAX_ARRANGEMENTS)
    yield from (columns for columns in tried if len({*columns}) == width)


def _key(row: Row, ignore_case: bool) -> tuple[Hashable, ...]:
    return tuple(_value(value, ignore_case) for value in row)


def _value(value: Any, ignore_case: bool) -> Hashable:
    """A value as it is compared: numbers to nine significant digits, whatever their type."""
    if isinstance(value, int | float):
        number = float(value) if abs(value) < 1e300 else math.copysign(math.inf, value)
        return ("number", float(f"{number:.9g}") + 0.0)
    if isinstance(value, str):
        return ("text", value.casefold() if ignore_case else value)
    return ("other", value)
