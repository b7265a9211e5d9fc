"""What a scope of a run may still spend.

The root account holds the run's budget. A branch of a parallel batch draws on an allowance that was reserved for it
before the batch started, so that no branch can be refused because another was faster.
"""

from __future__ import annotations

from dataclasses import replace

from retrial.core.budget import UNLIMITED, Budget, Usage, reserve

__all__ = ["Account"]


class Account:
    """Counts calls when they are asked for, and tokens and cost when they come back."""

    def __init__(self, budget: Budget, parent: Account | None = None) -> None:
        self._budget = budget
        self._parent = parent
        self._calls = 0
        self._spent = Usage()

    def reserve(self, calls: int, seconds: float) -> None:
        """Take ``calls`` from the budget, all or none; ``seconds`` is how long the run has been worked on.

        Raises:
            BudgetExceeded: if the budget does not hold them.
        """
        if self._budget != UNLIMITED:
            reserve(self._budget, replace(self._spent, calls=self._calls, seconds=seconds), calls)
        self._calls += calls

    def allowance(self, calls: int) -> Account:
        """Open an account for one branch, out of calls that were reserved here before."""
        return Account(Budget(max_calls=calls), self)

    def settle(self, branch: Account, allowed: int) -> None:
        """Take back what a branch did not use of its allowance."""
        self._calls -= allowed - branch._calls

    def charge(self, usage: Usage) -> None:
        """Add what a call used to the root account, whose limits on tokens and cost are the only ones."""
        if self._parent is not None:
            self._parent.charge(usage)
        elif self._budget != UNLIMITED:
            self._spent += usage
