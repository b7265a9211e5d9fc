"""What the process's exit code says, so that scripts need not read text."""

from __future__ import annotations

from collections.abc import Iterable

from retrial import errors

__all__ = [
    "BUDGET",
    "ENVIRONMENT",
    "FAULT",
    "GATE",
    "INTERRUPTED",
    "NOTHING",
    "NOT_SOLVED",
    "SOLVED",
    "UNWRITTEN",
    "USAGE",
    "Stopped",
    "of_error",
    "of_statuses",
]

SOLVED = 0
"""Every task is solved."""
NOT_SOLVED = 1
"""At least one task is not."""
INTERRUPTED = 2
"""Somebody ended it; it can be resumed."""
FAULT = 3
"""A fault of retrial."""
USAGE = 4
"""An option, a file or the configuration is wrong."""
NOTHING = 5
"""There is nothing to run."""
BUDGET = 10
"""The budget ended it; it can be resumed with a larger one."""
ENVIRONMENT = 11
"""The provider, the sandbox, the store or another process ended it; it can be resumed."""
GATE = 12
"""The evaluator did not prove itself."""


UNWRITTEN: list[OSError] = []
"""Why results could not be written while a command went on with its work."""


class Stopped(Exception):
    """A command ends early, with a line for the user and an exit code."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


def of_error(error: BaseException) -> int:
    """Return the exit code of an exception.

    >>> of_error(errors.RunBusy("...")), of_error(errors.ConfigError("...")), of_error(ZeroDivisionError())
    (11, 4, 3)
    """
    if isinstance(error, Stopped):
        return error.code
    if isinstance(error, errors.JournalError) and any(words in str(error) for words in _NO_STORE):
        return USAGE
    found = next((code for kind, code in _CODES.items() if isinstance(error, kind)), None)
    return FAULT if found is None else found


def of_statuses(statuses: Iterable[str]) -> int:
    """Return the exit code of runs that ended so: that of what most needs the user's attention.

    >>> of_statuses(["COMPLETED", "NO_SOLUTION"]), of_statuses(["COMPLETED"]), of_statuses(["FAILED", "NO_SOLUTION"])
    (1, 0, 11)
    """
    found = {*statuses}
    return next((code for status, code in _STATUSES.items() if status in found), SOLVED)


_NO_STORE = ("not a retrial store", "of another program")
"""What the store says of a file that is none: a wrong name, which resuming does not mend."""

_CODES: dict[type[BaseException], int] = {
    errors.DuplicateKey: FAULT,
    errors.HandlerMissing: FAULT,
    errors.ConfigError: USAGE,
    errors.PromptError: USAGE,
    errors.ReplayError: USAGE,
    errors.RunNotFound: USAGE,
    errors.LessonNotFound: USAGE,
    errors.StoreTooNew: USAGE,
    errors.BudgetExceeded: BUDGET,
    errors.JournalError: ENVIRONMENT,
    errors.EffectError: ENVIRONMENT,
    errors.GateRefused: GATE,
    errors.EvaluatorError: ENVIRONMENT,
    OSError: ENVIRONMENT,
}
"""The first that fits counts."""

_STATUSES = {
    "CANCELLED": INTERRUPTED,
    "FAILED": ENVIRONMENT,
    "BUDGET_EXCEEDED": BUDGET,
    "NO_SOLUTION": NOT_SOLVED,
}
"""The first that occurs counts."""
