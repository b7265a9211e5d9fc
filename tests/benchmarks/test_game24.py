"""Game of 24: the exact checker, and the tree driven by what a recorded search proposed and scored."""

from __future__ import annotations

import json
from fractions import Fraction

import game24
import pytest

here = pytest.mark.skipif(not game24.RECORDED.exists(), reason=f"the project's data is not at {game24.RECORDED}")


@pytest.mark.parametrize(
    ("puzzle", "output", "right"),
    [
        ("3 3 8 8", "8 / 3 = ...\nAnswer: 8 / (3 - 8 / 3) = 24", True),
        ("3 3 8 8", "8 / (3 - 8 / 3)", True),
        ("3 3 8 8", "Answer: 3 * 8 = 24", False),
        ("3 3 8 8", "Answer: 3 + 3 + 8 + 8 = 24", False),
        ("1 1 3 8", "Answer: 1 ** 1 * 3 * 8", False),
        ("1 1 1 24", "Answer: 24 / (1 - 1) + 1", False),
        ("1 2 3 4", "Answer: __import__('os') or 1 2 3 4", False),
        ("1 2 3 4", "", False),
    ],
)
def test_an_answer_is_right_if_it_makes_exactly_24_of_exactly_the_numbers(puzzle, output, right):
    """Fractions are exact, only the four operations count, and nothing is ever executed."""
    assert game24.makes_24(puzzle, output) is right


def test_values_are_exact():
    """A third times three is one."""
    assert game24.value_of("1 / 3 * 3") == Fraction(1)


@here
def test_the_checker_agrees_with_recorded_labels():
    """A sample of real outputs of all three methods is judged as the record says."""
    rows = [json.loads(line) for line in game24.RECORDED.read_text().splitlines()][::5]
    seen = [
        (game24.makes_24(row["puzzle"], one["text"]), bool(one["recorded"])) for row in rows for one in row["outputs"]
    ]
    assert len(seen) > 500
    assert {label for _, label in seen} == {True, False}
    assert [mine for mine, _ in seen] == [label for _, label in seen]


@here
@pytest.mark.parametrize("limit", [6, pytest.param(None, marks=pytest.mark.slow)])
def test_the_tree_finds_what_the_recorded_beam_found(limit):
    """With the recorded candidates and values it keeps the same scores level by level and comes to the same answers."""
    rows = [json.loads(line) for line in game24.RECORDED.read_text().splitlines()]
    searches = [row for row in rows if row["method"] == "tot_b5"][:limit]
    assert [line for row in searches for line in game24.compare(row)] == []
