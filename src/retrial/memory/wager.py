"""A wager against a lesson, on coins that nobody can know: which of its recalls were left out by chance.

Where a lesson makes no difference, outcomes tell nothing about its coins: knowing that a trial failed, one cannot guess
better than before whether the lesson was in its prompt. Whoever makes fairly priced bets on such guesses wins nothing
in the long run, and the chance that a stake ever grows to n times its size, at any time whatsoever, is at most 1 / n
(Ville, 1939; Ramdas, Grünwald, Vovk and Shafer, "Game-theoretic statistics and safe anytime-valid inference",
Statistical Science 38, 2023). So a stake that grew to n is evidence of harm with p = 1 / n, however often one looks,
whatever else was in the prompts and however tasks differ. Each bet supposes that a task passes as often as it (and
every task) passed before, and with the lesson a quarter, half or three quarters as often; where a lesson helps, such
bets lose.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from retrial.core.trials import Tried
from retrial.stats.exact import Table

__all__ = ["Wager", "wagers_on"]

REMAINING = (0.25, 0.5, 0.75)
"""What share of its passes a task keeps with the lesson, as the bets suppose; the stake is split among them evenly."""

TRIALS_OF_ALL = 2.0
"""How many trials of its own the rate of all tasks counts for in the expected rate of one task."""

SURELY = 0.98
"""No task is supposed to pass more often than this, nor to fail more often."""


@dataclass(slots=True)
class Wager:
    """How the bets against one lesson stand."""

    won: int = 0
    """Runs that used it and passed the first trial with it."""
    used: int = 0
    """Runs that used it."""
    won_without: int = 0
    """Runs from which chance left it out and that passed."""
    withheld: int = 0
    """Runs from which chance left it out."""
    parts: list[float] = field(default_factory=lambda: [1 / len(REMAINING)] * len(REMAINING))
    """What became of each part of the stake."""
    highest: float = 1.0
    """The most that the stake has grown to."""

    @property
    def stake(self) -> float:
        """What became of a stake of 1."""
        return sum(self.parts)

    @property
    def p_value(self) -> float:
        """How likely a stake ever grows so far, if the lesson makes no difference; 1 unless less passed with it."""
        # A run of luck with the coins alone, where all passes, is no evidence of harm.
        return 1 / self.highest if self.table.compares and self.table.difference < 0 else 1.0

    @property
    def table(self) -> Table:
        """The runs with it and those without it."""
        return Table(self.won, self.used, self.won_without, self.withheld)

    def bet(self, *, used: bool, passed: bool, expected: float, share: float) -> None:
        """Take in one run: whether it used the lesson, how it went, how often it should pass, and the coin's chance."""
        if used:
            self.used += 1
            self.won += passed
        else:
            self.withheld += 1
            self.won_without += passed
        without = expected if passed else 1 - expected
        for part, remaining in enumerate(REMAINING):
            with_it = expected * remaining if passed else 1 - expected * remaining
            price = (1 - share) * with_it + share * without
            self.parts[part] *= (with_it if used else without) / price
        self.highest = max(self.highest, self.stake)


def wagers_on(rows: Iterable[Tried], released: Mapping[str, float]) -> dict[str, Wager]:
    """Return the wager on every lesson whose recall was left to chance, from rows in time."""
    wagers: dict[str, Wager] = defaultdict(Wager)
    counted: set[tuple[str, str]] = set()
    of_task: dict[tuple[str, str, int], list[int]] = defaultdict(lambda: [0, 0])
    of_all: dict[tuple[str, int], list[int]] = defaultdict(lambda: [1, 2])
    for row in rows:
        mine, everyone = of_task[row.setting, row.task_id, row.trial], of_all[row.setting, row.trial]
        rate = (TRIALS_OF_ALL * everyone[0] / everyone[1] + mine[0]) / (TRIALS_OF_ALL + mine[1])
        expected = min(SURELY, max(1 - SURELY, rate))
        for lesson, share in row.recalled.items():
            late = row.order > released.get(lesson, float("-inf"))
            if 0 < share < 1 and late and (row.run_id, lesson) not in counted:
                counted.add((row.run_id, lesson))
                wagers[lesson].bet(used=lesson in row.lessons, passed=row.passed, expected=expected, share=share)
        for counts in (mine, everyone):
            counts[0] += row.passed
            counts[1] += 1
    return dict(wagers)
