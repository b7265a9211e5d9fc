"""Best of n: answer several times, independently, and let an evaluator pick.

The control for every loop that learns from failures: with an evaluator at hand, blind samples are the plainest way to
spend calls. The evaluator sees what it may see in a trial, so a hidden test never picks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any

from retrial.algorithms.batch import unless_all_failed
from retrial.algorithms.given import task_of
from retrial.algorithms.lessons import best
from retrial.algorithms.parameters import described, refuse_unless
from retrial.core.messages import Message, ModelRequest
from retrial.core.tasks import Attempt, Outcome, Status
from retrial.engine.run import Run
from retrial.evaluate.evaluator import Evaluator
from retrial.prompts import Prompt

__all__ = ["BestOf"]


@dataclass(frozen=True)
class BestOf:
    """Costs ``n`` calls and the evaluator's for each. A sample whose call fails is left out; a broken evaluator is not.

    Its input is ``{"task": text or an encoded Task}``. Its value is ``{"candidate", "sample", "samples", "score",
    "scores", "reason"}``: the answer with the highest score (the earliest of equals), which sample it is, counted from
    1, and every sample's score, None for one that failed.
    """

    n: int
    """1 to 25."""
    evaluator: Evaluator
    """What picks."""
    _: KW_ONLY
    temperature: float | None = None
    """0 to 2; None for the provider's default. At 0 all samples are one."""
    prompts: Mapping[str, Prompt] = field(default_factory=lambda: PROMPTS)
    """``answer``."""

    name = "best_of"
    version = "1"

    def __post_init__(self) -> None:
        """Check the bounds.

        Raises:
            ConfigError: naming the parameter and its value.
        """
        refuse_unless(self, {"n": (1 <= self.n <= 25, "1 to 25")})

    @property
    def max_calls(self) -> int:
        """The most model calls that one run can make."""
        return self.n * (1 + self.evaluator.max_calls)

    def parameters(self) -> Mapping[str, Any]:
        """Return everything that decides what a run does, the prompts as their digests."""
        return described(self)

    async def __call__(self, run: Run, given: Mapping[str, Any]) -> Outcome:
        """Sample, judge and pick.

        Raises:
            EffectError: if every sample fails.
            EvaluatorError: if the evaluator is broken.
        """
        task = task_of(given)
        text = self.prompts["answer"].render(task=task.prompt)
        request = ModelRequest(messages=(Message(role="user", content=text),), temperature=self.temperature)
        found: dict[int, Attempt] = {}
        run.keep(lambda: self._value(found) if found else None)

        async def sample(scope: Run, number: int) -> None:
            output = (await scope.model("answer", request)).text
            verdict = await self.evaluator(scope, task, output)
            found[number] = Attempt(trial=number, output=output, verdict=verdict)
            scope.note("best_of.sample", {"attempt": found[number]})

        ends = await run.gather(
            *(
                run.branch(
                    f"sample.{number}",
                    lambda scope, number=number: sample(scope, number),
                    max_calls=1 + self.evaluator.max_calls,
                )
                for number in range(1, self.n + 1)
            )
        )
        unless_all_failed("every sample failed", ends)
        passed = any(attempt.verdict.passed for attempt in found.values())
        return Outcome(Status.COMPLETED if passed else Status.NO_SOLUTION, self._value(found))

    def _value(self, found: Mapping[int, Attempt]) -> dict[str, Any]:
        """What the run returns; what it keeps if it is ended before its time has the same shape."""
        chosen = best(found.values())
        numbers = range(1, self.n + 1)
        return {
            "candidate": chosen.answer,
            "sample": chosen.trial,
            "samples": self.n,
            "score": chosen.verdict.score,
            "scores": [found[number].verdict.score if number in found else None for number in numbers],
            "reason": chosen.verdict.reason,
        }


PROMPTS = {"answer": Prompt("best_of.answer", "{{task}}")}
