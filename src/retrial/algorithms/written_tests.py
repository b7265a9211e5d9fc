"""Programming without visible tests: the model writes its own, and works by them; the reference tests only score.

The programming strategies of the Reflexion paper (Shinn et al., 2023). Own tests can be wrong, so what they say and
what the reference tests say are kept apart: passing one's own tests hides no failure, and the value names the case.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from retrial.algorithms.generate_test_repair import GenerateTestRepair
from retrial.algorithms.given import task_of
from retrial.algorithms.options import PROMPTS as LOOP
from retrial.algorithms.own_tests import PROMPTS, write_tests
from retrial.algorithms.parameters import described, refuse_unless
from retrial.algorithms.reflexion import Reflexion
from retrial.algorithms.ucs import UniformCostSearch
from retrial.core.codec import encode
from retrial.core.tasks import Outcome, Status, answer_of
from retrial.engine.run import Algorithm, Run
from retrial.evaluate.unit_tests import UnitTests
from retrial.prompts import Prompt

__all__ = ["STRATEGIES", "WrittenTests"]

BLIND = Prompt("written_tests.reflector", "<task>{{task}}</task>\n<attempt>{{attempt}}</attempt>")
"""A reflector that is told nothing of what the tests said."""

CASES = {(True, True): "TP", (True, False): "FP", (False, True): "FN", (False, False): "TN"}
"""By whether its own tests and the reference passed."""

STRATEGIES: Mapping[str, Callable[[int], Algorithm]] = {
    "reflexion": lambda trials: Reflexion(evaluator=UnitTests(), max_trials=trials, keep="best"),
    "immediate_reflexion": lambda trials: Reflexion(
        evaluator=UnitTests(), max_trials=trials, keep="best", prompts={**LOOP, "reflector": BLIND}
    ),
    "immediate_refinement": lambda trials: GenerateTestRepair(max_repairs=trials - 1),
    "ucs": lambda trials: UniformCostSearch(max_expansions=trials - 1),
}
"""What works by the tests, given the most trials: a lesson from what the tests said; a lesson without that; the tests'
words without a lesson; a search."""


@dataclass(frozen=True, kw_only=True)
class WrittenTests:
    """Costs two calls for the tests at most, and what the strategy costs.

    Its input is ``{"task": an encoded Task}``; the task's hidden tests (its visible ones where it has no others) are
    the reference and reach nobody. Its value is ``{"candidate", "tests", "own", "reference", "case", "inner"}``: the
    code, the tests that the model wrote, whether it passed them, whether it passed the reference (None without any),
    the case of the paper's table (``TP`` both, ``FP`` its own only, ``FN`` the reference only, ``TN`` neither), and
    what the strategy returned. The run is COMPLETED only if the reference passed.
    """

    strategy: str = "reflexion"
    """reflexion, immediate_reflexion, immediate_refinement or ucs."""
    max_trials: int = 4
    """1 to 10."""
    max_tests: int = 6
    """How many of its own tests are used, 1 to 20."""
    prompts: Mapping[str, Prompt] = field(default_factory=lambda: PROMPTS)
    """``tests``."""

    name = "written_tests"
    version = "1"

    def __post_init__(self) -> None:
        """Check the bounds.

        Raises:
            ConfigError: naming the parameter and its value.
        """
        checks = {
            "strategy": (self.strategy in STRATEGIES, " or ".join(STRATEGIES)),
            "max_trials": (1 <= self.max_trials <= 10, "1 to 10"),
            "max_tests": (1 <= self.max_tests <= 20, "1 to 20"),
        }
        refuse_unless(self, checks)

    @property
    def max_calls(self) -> int:
        """The most model calls that one run can make."""
        return 2 + STRATEGIES[self.strategy](self.max_trials).max_calls

    def parameters(self) -> Mapping[str, Any]:
        """Return everything that decides what a run does, the prompts as their digests."""
        return {**described(self), "inner": STRATEGIES[self.strategy](self.max_trials).parameters()}

    async def __call__(self, run: Run, given: Mapping[str, Any]) -> Outcome:
        """Write tests, work by them, and score by the reference.

        Raises:
            EffectError, EvaluatorError: if a model or the sandbox fails, or no test can be read.
        """
        task = task_of(given)
        tests = await write_tests(run, task, self.prompts["tests"], self.max_tests)
        own = replace(task, tests=tests, style="asserts", hidden_tests=())
        inner = await STRATEGIES[self.strategy](self.max_trials)(run.child("work"), {"task": encode(own)})
        code, passed_own = answer_of(inner.value), inner.status is Status.COMPLETED
        reference, style = (task.hidden_tests, task.hidden_style) if task.hidden_tests else (task.tests, task.style)
        passed = None
        if reference:
            passed = (await UnitTests().judge(run, "reference", task, code, reference, style=style)).passed
        value = {
            "candidate": code,
            "tests": tests,
            "own": passed_own,
            "reference": passed,
            "case": None if passed is None else CASES[passed_own, passed],
            "inner": inner.value,
        }
        solved = passed_own if passed is None else passed
        return Outcome(Status.COMPLETED if solved else Status.NO_SOLUTION, value)
