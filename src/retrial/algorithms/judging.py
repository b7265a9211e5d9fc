"""Judging one output that somebody else made: no actor, no trials, no lessons."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from retrial.algorithms.parameters import described
from retrial.core.codec import decode, encode
from retrial.core.tasks import Outcome, Status, Task
from retrial.engine.run import Run
from retrial.evaluate.evaluator import Evaluator

__all__ = ["Judging"]


@dataclass(frozen=True)
class Judging:
    """Puts one output to an evaluator.

    Its input is ``{"task": an encoded Task, "output": text}``, its value the encoded Verdict. It is COMPLETED if the
    output passed, else NO_SOLUTION.
    """

    evaluator: Evaluator
    """What judges."""

    name = "judging"
    version = "1"

    @property
    def max_calls(self) -> int:
        """The most model calls that one judgement makes."""
        return self.evaluator.max_calls

    def parameters(self) -> Mapping[str, Any]:
        """Return everything that decides what is said."""
        return described(self)

    async def __call__(self, run: Run, given: Mapping[str, Any]) -> Outcome:
        """Judge the output."""
        verdict = await self.evaluator(run, decode(Task, given["task"]), given["output"])
        return Outcome(Status.COMPLETED if verdict.passed else Status.NO_SOLUTION, encode(verdict))
