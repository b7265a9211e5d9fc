"""The proof of an evaluator, as a run that can be found, resumed and replayed like those that it stands before."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from retrial.algorithms.gate import Gate
from retrial.evaluate.registry import evaluator_from

__all__ = ["gate"]


def gate(*, evaluator: Mapping[str, Any], outputs: int, mutants: int = 0) -> Gate:
    """Put known outputs to the evaluator of a spec; ``outputs`` is the most there are, ``mutants`` as ``Gate`` says.

    Raises:
        ConfigError: if a value is out of range, or the evaluator has another name.
    """
    return Gate(evaluator_from(evaluator), outputs=outputs, mutants=mutants)
