"""Exact tests for small counts: paired arms, and tables of with and without, stratum by stratum.

Each p value is the chance of a result at least this extreme if the labels mean nothing, counted and not approximated;
the one exception is said where it stands. Small counts are the normal case here, and there approximations mislead.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import comb, sqrt

__all__ = ["Table", "lower_tail", "mcnemar", "shortfall", "sign_flip"]

FLIPS = 10_000
"""How many random flips stand in for all of them where there are too many to count."""

COUNTED_FLIPS = 12
"""Up to this many differences, all of their 2**n flips are counted."""


@dataclass(frozen=True, slots=True)
class Table:
    """Trials that differ in one thing: how many passed with it and without it."""

    passed_with: int
    """Trials with it that passed."""
    tried_with: int
    """Trials with it."""
    passed_without: int
    """Trials without it that passed."""
    tried_without: int
    """Trials without it."""

    @property
    def tried(self) -> int:
        """All trials."""
        return self.tried_with + self.tried_without

    @property
    def passed(self) -> int:
        """All that passed."""
        return self.passed_with + self.passed_without

    @property
    def compares(self) -> bool:
        """Whether there are trials with and without it."""
        return bool(self.tried_with and self.tried_without)

    @property
    def expected(self) -> float:
        """How many with it should pass if it makes no difference."""
        return self.passed * self.tried_with / self.tried if self.tried else 0.0

    @property
    def variance(self) -> float:
        """How far that number varies, as the variance of the hypergeometric distribution."""
        total = self.tried
        if total < 2:
            return 0.0
        spread = self.tried_with * self.tried_without * self.passed * (total - self.passed)
        return spread / (total * total * (total - 1))

    @property
    def weight(self) -> float:
        """What the stratum counts in the common difference (Mantel and Haenszel)."""
        return self.tried_with * self.tried_without / self.tried if self.tried else 0.0

    @property
    def difference(self) -> float:
        """The rate with it minus the rate without it; only where the table compares."""
        return self.passed_with / self.tried_with - self.passed_without / self.tried_without


def lower_tail(tables: Iterable[Table]) -> float:
    """Return how likely it is that so few with it pass, over all strata, if it makes no difference.

    The exact conditional form of the one-sided Cochran-Mantel-Haenszel test: in each stratum the number that passed
    with it is hypergeometric given the margins, and the sum over strata has their convolution as its distribution. One
    stratum is Fisher's exact test; the first number is his tea tasting (The Design of Experiments, 1935), turned round.

    >>> round(lower_tail([Table(1, 4, 3, 4)]) * 70), lower_tail([])
    (17, 1.0)
    >>> lower_tail([Table(0, 1, 1, 1)] * 5) == 0.5**5
    True
    """
    telling = [(table, max(0, table.passed - table.tried_without)) for table in tables if table.variance]
    below = sum(table.passed_with - least for table, least in telling)
    chances = [1.0]
    for table, least in telling:
        # What lies above the observed sum never comes down again, since every stratum adds.
        chances = _convolved(chances, _hypergeometric(table, least), below + 1)
    return min(1.0, sum(chances))


def shortfall(tables: Iterable[Table]) -> float:
    """Return by how many standard deviations fewer passed with it than expected; negative if more did.

    It needs no counting, and so says cheaply where an exact test is worth its while.

    >>> round(shortfall([Table(0, 4, 4, 4)]), 2), shortfall([])
    (2.65, 0.0)
    """
    missing = variance = 0.0
    for table in tables:
        missing += table.expected - table.passed_with
        variance += table.variance
    return missing / sqrt(variance) if variance else 0.0


def mcnemar(lost: int, gained: int) -> float:
    """Return the two-sided exact p value of two arms that differ on ``lost + gained`` tasks.

    The number is of Fagerland, Lydersen and Laake, "The McNemar test for binary matched-pairs data", BMC Medical
    Research Methodology 13:91 (2013), for the data of Bentur and others (7 against 1).

    >>> mcnemar(7, 1), mcnemar(0, 0)
    (0.0703125, 1.0)
    """
    total = lost + gained
    tail = sum(comb(total, count) for count in range(min(lost, gained) + 1))
    return min(1.0, 2 * tail / 2**total)


def sign_flip(differences: Sequence[float], *, seed: int = 0) -> float:
    """Return the two-sided p value of a mean difference, if each task's difference could as well be its negative.

    Up to ``COUNTED_FLIPS`` differences that are not zero it is exact; beyond that, ``FLIPS`` random flips are drawn
    with the seed, and the result counts itself as one of them, so that it is never 0.

    >>> sign_flip([0.5, 0.25, 0.25, 0.5, 1.0])
    0.0625
    """
    left = [abs(value) for value in differences if value]
    # A sum in another order may differ in its last digit, and equal sums must count as equal.
    goal = abs(sum(differences)) - 1e-9
    if len(left) <= COUNTED_FLIPS:
        sums = [0.0]
        for value in left:
            sums = [one + sign for one in sums for sign in (value, -value)]
        return sum(abs(one) >= goal for one in sums) / len(sums)
    chance = random.Random(seed)  # noqa: S311 - a permutation test, no secret
    extreme = 0
    for _ in range(FLIPS):
        signs = chance.getrandbits(len(left))
        total = sum(value if signs >> place & 1 else -value for place, value in enumerate(left))
        extreme += abs(total) >= goal
    return (extreme + 1) / (FLIPS + 1)


def _hypergeometric(table: Table, least: int) -> list[float]:
    """The chances of ``least``, ``least + 1`` and so on passing with it, given the table's margins."""
    most, whole = min(table.tried_with, table.passed), comb(table.tried, table.passed)
    return [
        comb(table.tried_with, count) * comb(table.tried_without, table.passed - count) / whole
        for count in range(least, most + 1)
    ]


def _convolved(left: list[float], right: list[float], length: int) -> list[float]:
    """The beginning of the distribution of the sum of two independent counts."""
    width = len(right) - 1
    padded = [0.0] * width + left + [0.0] * width
    size = min(len(left) + width, length)
    total = [right[0] * chance for chance in padded[width : width + size]]
    for shift, factor in enumerate(right[1:], 1):
        moved = padded[width - shift : width - shift + size]
        total = [one + factor * other for one, other in zip(total, moved, strict=True)]
    return total
