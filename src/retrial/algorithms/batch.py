"""What a batch of parallel jobs came to, where some may have failed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from retrial.engine.run import Failed
from retrial.errors import EvaluatorError, ModelError, RetrialError

__all__ = ["failure_of", "unless_all_failed"]

T = TypeVar("T")


def unless_all_failed(what: str, ends: Sequence[T | Failed]) -> list[T | None]:
    """Return the outcomes of a batch in order, with None in the place of what failed.

    Raises:
        EvaluatorError: if an evaluator is broken, which says nothing of what it judged.
        RetrialError: if all failed. ``what`` says in words what did.
    """
    for end in ends:
        if isinstance(end, Failed) and isinstance(end.error, EvaluatorError):
            raise end.error
    if all(isinstance(end, Failed) for end in ends):
        raise failure_of(what, ends)
    return [None if isinstance(end, Failed) else end for end in ends]


def failure_of(what: str, ends: Sequence[object]) -> RetrialError:
    """Return the failure of a whole batch: of the first failure's kind, with the keys of all, for a resume to repeat.

    >>> failure_of("no step was proposed", ["", ""])
    ModelError('no step was proposed: every reply was empty')
    """
    failures = [end.error for end in ends if isinstance(end, Failed)]
    if not failures:
        return ModelError(f"{what}: every reply was empty")
    error = type(failures[0])(f"{what}: {failures[0]}")
    error.keys = tuple(key for failure in failures for key in failure.keys)
    return error
