"""Pass rates with intervals: of one arm, of two arms on the same tasks, and of two arms on different tasks.

Counts of tasks are small and rates lie near 0 and 1, where the textbook interval (estimate ± 1.96 standard errors)
covers far less than it says. The intervals here are Wilson's for one rate and Newcombe's for a difference of two; where
a task was tried several times, its rate is a fraction and whole tasks are resampled. Nothing here knows of runs.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist, fmean

from retrial.errors import ConfigError
from retrial.stats.exact import mcnemar, sign_flip

__all__ = ["Difference", "Interval", "newcombe", "paired_difference", "wilson"]

RESAMPLES = 10_000
"""How many times whole tasks are drawn anew for a bootstrap."""


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate between two bounds."""

    estimate: float
    """The rate, or the difference of two rates: -1 to 1."""
    low: float
    """The lower bound."""
    high: float
    """The upper bound."""

    def __str__(self) -> str:
        """Return it as a table shows it: ``0.800 [0.692, 0.877]``."""
        return f"{self.estimate:.3f} [{self.low:.3f}, {self.high:.3f}]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """How two arms differ on the same tasks."""

    tasks: int
    """The number of tasks that both arms tried."""
    first: float
    """The first arm's pass rate, 0 to 1, every task counting once."""
    second: float
    """The second arm's pass rate."""
    interval: Interval
    """The second rate minus the first."""
    p_value: float
    """Two-sided: how likely a difference at least as large is if the arms' labels mean nothing."""
    method: str
    """How interval and p value were found: ``newcombe, mcnemar`` or ``bootstrap, sign flip``."""


def wilson(passed: int, tried: int, level: float = 0.95) -> Interval:
    """Return the interval of one rate; without trials it is all of 0 to 1.

    Wilson's score interval; the numbers are of Newcombe, "Two-sided confidence intervals for the single proportion",
    Statistics in Medicine 17 (1998), 857-872.

    >>> str(wilson(81, 263)), str(wilson(0, 20))
    ('0.308 [0.255, 0.366]', '0.000 [0.000, 0.161]')

    Raises:
        ConfigError: if the counts or the level make no sense.
    """
    if not 0 <= passed <= tried:
        raise ConfigError(f"passed={passed!r} must be between 0 and tried={tried!r}")
    if not tried:
        return Interval(0.0, 0.0, 1.0)
    z, rate = _z(level), passed / tried
    centre = (rate + z * z / (2 * tried)) / (1 + z * z / tried)
    half = z / (1 + z * z / tried) * sqrt(rate * (1 - rate) / tried + (z / (2 * tried)) ** 2)
    # Rounding must not leave the estimate outside at the two ends.
    low = centre - half if passed else 0.0
    return Interval(rate, min(low, rate), max(centre + half, rate) if passed < tried else 1.0)


def newcombe(first: tuple[int, int], second: tuple[int, int], level: float = 0.95) -> Interval:
    """Return the second rate minus the first, each given as (passed, tried), for arms on *different* tasks.

    Newcombe's method 10; the numbers are example (a) of Newcombe, "Interval estimation for the difference between
    independent proportions", Statistics in Medicine 17 (1998), 873-890.

    >>> str(newcombe((48, 80), (56, 70)))
    '0.200 [0.052, 0.334]'
    """
    return _squared_and_added(wilson(*first, level), wilson(*second, level), 0.0)


def paired_difference(pairs: Sequence[tuple[float, float]], *, level: float = 0.95, seed: int = 0) -> Difference:
    """Return how two arms differ, one pair of rates (first arm, second arm) for each task that both tried.

    Where every rate is 0 or 1, the interval is Newcombe's for paired proportions (his method 10) and the test is the
    exact form of McNemar's. Otherwise whole tasks are drawn anew ``RESAMPLES`` times, which keeps trials of one task
    together, and the test flips the signs of the tasks' differences. The same pairs give the same numbers.

    The numbers are of Altman, Machin, Bryant and Gardner, "Statistics with Confidence" (2nd edition, 2000), table 6.2.

    >>> found = paired_difference([(1, 1)] * 14 + [(0, 1)] * 5 + [(0, 0)] * 22)
    >>> str(found.interval), found.p_value
    ('0.122 [0.011, 0.226]', 0.0625)

    Raises:
        ConfigError: if there is no pair, or a rate is outside 0 to 1.
    """
    if not pairs:
        raise ConfigError("no task was tried by both arms, so there is nothing to compare; run both on the same tasks")
    if wrong := [pair for pair in pairs if not all(0 <= rate <= 1 for rate in pair)]:
        raise ConfigError(f"pass rates must be between 0 and 1, not {wrong[0]!r}")
    firsts, seconds = [float(pair[0]) for pair in pairs], [float(pair[1]) for pair in pairs]
    if {*firsts, *seconds} <= {0.0, 1.0}:
        both = sum(1 for pair in pairs if pair == (1, 1))
        lost, gained = int(sum(firsts)) - both, int(sum(seconds)) - both
        interval = _paired(both, lost, gained, len(pairs) - both - lost - gained, level)
        p_value, method = mcnemar(lost, gained), "newcombe, mcnemar"
    else:
        differences = [second - first for first, second in zip(firsts, seconds, strict=True)]
        interval, method = _bootstrap(differences, level, seed), "bootstrap, sign flip"
        p_value = sign_flip(differences, seed=seed)
    return Difference(
        tasks=len(pairs),
        first=fmean(firsts),
        second=fmean(seconds),
        interval=interval,
        p_value=p_value,
        method=method,
    )


def _paired(both: int, lost: int, gained: int, neither: int, level: float) -> Interval:
    """Newcombe's method 10 for paired proportions, with his correction of a positive correlation."""
    total = both + lost + gained + neither
    margins = (both + lost) * (gained + neither) * (both + gained) * (lost + neither)
    product = both * neither - lost * gained
    corrected = product if product < 0 else max(0.0, product - total / 2)
    first, second = wilson(both + lost, total, level), wilson(both + gained, total, level)
    return _squared_and_added(first, second, corrected / sqrt(margins) if margins else 0.0)


def _squared_and_added(first: Interval, second: Interval, correlation: float) -> Interval:
    """Join two intervals into that of their difference, second minus first."""
    change = second.estimate - first.estimate

    def reach(one: float, other: float) -> float:
        return sqrt(max(0.0, one * one - 2 * correlation * one * other + other * other))

    below = reach(second.estimate - second.low, first.high - first.estimate)
    above = reach(second.high - second.estimate, first.estimate - first.low)
    return Interval(change, max(-1.0, change - below), min(1.0, change + above))


def _bootstrap(differences: Sequence[float], level: float, seed: int) -> Interval:
    """Percentiles of the mean difference over tasks drawn anew."""
    chance = random.Random(seed)  # noqa: S311 - resampling, no secret
    count = len(differences)
    means = sorted(fmean(chance.choices(differences, k=count)) for _ in range(RESAMPLES))
    tail = round((1 - level) / 2 * RESAMPLES)
    estimate = fmean(differences)
    return Interval(estimate, min(estimate, means[tail]), max(estimate, means[-1 - tail]))


def _z(level: float) -> float:
    """How many standard errors a two-sided interval of this level reaches."""
    if not 0 < level < 1:
        raise ConfigError(f"level={level!r} must be between 0 and 1, such as 0.95")
    return NormalDist().inv_cdf((1 + level) / 2)
