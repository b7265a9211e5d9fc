"""Generate, test, repair: write code, run its tests, and rewrite it in view of their report.

Where code can check an answer, this is stronger and much cheaper than a search by a model's opinion. In contrast to
Reflexion the next prompt holds the last code and no lesson.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from retrial.algorithms.given import task_of
from retrial.algorithms.lessons import best
from retrial.algorithms.parameters import described, refuse_unless
from retrial.core.messages import Message, ModelRequest
from retrial.core.tasks import Attempt, Outcome, Status
from retrial.engine.run import Run
from retrial.evaluate.evaluator import Evaluator
from retrial.evaluate.unit_tests import UnitTests
from retrial.prompts import Prompt

__all__ = ["GenerateTestRepair"]


@dataclass(frozen=True, kw_only=True)
class GenerateTestRepair:
    """Costs at most ``1 + max_repairs`` calls, and the evaluator's for each, of which tests need none.

    Its input is ``{"task": an encoded Task with tests}``. Its value is ``{"candidate", "version", "versions", "score",
    "reason"}``: the code that passed, else the one with the highest score (the earliest of equals), which version it
    is, counted from 1, how many there were, its score, and what its tests said.
    """

    evaluator: Evaluator = field(default_factory=UnitTests)
    """What judges: the task's visible tests, unless something else is given."""
    max_repairs: int = 3
    """0 to 9."""
    prompts: Mapping[str, Prompt] = field(default_factory=lambda: PROMPTS)
    """``generate`` and ``repair``."""

    name = "generate_test_repair"
    version = "1"

    def __post_init__(self) -> None:
        """Check the bounds.

        Raises:
            ConfigError: naming the parameter and its value.
        """
        refuse_unless(self, {"max_repairs": (0 <= self.max_repairs <= 9, "0 to 9")})

    @property
    def max_calls(self) -> int:
        """The most model calls that one run can make."""
        return (1 + self.max_repairs) * (1 + self.evaluator.max_calls)

    def parameters(self) -> Mapping[str, Any]:
        """Return everything that decides what a run does, the prompts as their digests."""
        return described(self)

    async def __call__(self, run: Run, given: Mapping[str, Any]) -> Outcome:
        """Write code and repair it until its tests pass.

        Raises:
            EffectError, EvaluatorError: if the model or the evaluator fails.
        """
        task = task_of(given)
        versions: list[Attempt] = []
        run.keep(lambda: _value(versions) if versions else None)
        prompt = self.prompts["generate"].render(task=task.prompt)
        for number in range(1, self.max_repairs + 2):
            scope = run.child(f"version.{number}")
            output = (await scope.model("coder", ModelRequest(messages=(Message(role="user", content=prompt),)))).text
            verdict = await self.evaluator(scope, task, output)
            versions.append(Attempt(trial=number, output=output, verdict=verdict))
            scope.note("generate_test_repair.version", {"attempt": versions[-1]})
            if verdict.passed:
                return Outcome(Status.COMPLETED, _value(versions))
            code = versions[-1].answer
            prompt = self.prompts["repair"].render(task=task.prompt, code=code, report=verdict.reason)
        return Outcome(Status.NO_SOLUTION, _value(versions))


def _value(versions: list[Attempt]) -> dict[str, Any]:
    """What the run returns; what it keeps if it is ended before its time has the same shape."""
    chosen = best(versions)
    return {
        "candidate": chosen.answer,
        "version": chosen.trial,
        "versions": len(versions),
        "score": chosen.verdict.score,
        "reason": chosen.verdict.reason,
    }


PROMPTS = {
    "generate": Prompt(
        "generate_test_repair.generate",
        """\
{{task}}

Return only the code.""",
    ),
    "repair": Prompt(
        "generate_test_repair.repair",
        """\
The code below does not pass its tests.

<task>{{task}}</task>
<code>
{{code}}
</code>
<test_output>
{{report}}
</test_output>

Repair it. Return only the code, whole.""",
    ),
}
