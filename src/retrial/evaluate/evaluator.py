"""What an evaluator is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from retrial.core.tasks import Task, Verdict
from retrial.engine.run import Run

__all__ = ["Evaluator"]


class Evaluator(Protocol):
    """Judges one output. A wrong output is a verdict; raising EvaluatorError means that the evaluator is broken."""

    @property
    def max_calls(self) -> int:
        """The most model calls that one judgement makes."""
        ...

    def spec(self) -> Mapping[str, Any]:
        """Return ``{"kind": ..., ...}``: JSON values from which ``evaluator_from`` makes an equal evaluator."""
        ...

    async def __call__(self, run: Run, task: Task, output: str) -> Verdict:
        """Judge ``output``, asking through the scope ``run`` for what it needs."""
        ...
