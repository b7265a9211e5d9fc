"""Uniform-cost search over programs: always repair the one that was cheapest to reach (the Reflexion code's ``ucs``).

A step to a program costs the share of checks that it fails, so the search goes on with what fails little and comes back
to an earlier branch where a later one turns out dear. What is returned is the best program that was seen, never merely
the last.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from retrial.algorithms.batch import unless_all_failed
from retrial.algorithms.generate_test_repair import PROMPTS
from retrial.algorithms.given import task_of
from retrial.algorithms.lessons import best
from retrial.algorithms.parameters import described, refuse_unless
from retrial.core.messages import Message, ModelRequest
from retrial.core.tasks import Attempt, Outcome, Status, Task
from retrial.engine.run import Run
from retrial.evaluate.evaluator import Evaluator
from retrial.evaluate.unit_tests import UnitTests
from retrial.prompts import Prompt

__all__ = ["UniformCostSearch"]


@dataclass(frozen=True, kw_only=True)
class UniformCostSearch:
    """Costs at most ``1 + max_expansions * branching`` calls, and the evaluator's for each.

    Its input is ``{"task": an encoded Task with tests}``. Its value is ``{"candidate", "score", "cost", "program",
    "explored", "expansions", "reason"}``: the program that passed, else the one with the highest score (the earliest of
    equals), what it cost to reach, which one it is, counted from 1, and how many different programs were judged.
    """

    evaluator: Evaluator = field(default_factory=UnitTests)
    """What judges: the task's visible tests, unless something else is given."""
    max_expansions: int = 4
    """How many programs are repaired, 0 to 16."""
    branching: int = 3
    """How many repairs of one program are asked for at once, 1 to 10."""
    temperature: float | None = None
    """0 to 2; None for the provider's default. At 0 all repairs of a program are one."""
    prompts: Mapping[str, Prompt] = field(default_factory=lambda: PROMPTS)
    """``generate`` and ``repair``, those of generate-test-repair."""

    name = "ucs"
    version = "1"

    def __post_init__(self) -> None:
        """Check the bounds.

        Raises:
            ConfigError: naming the parameter and its value.
        """
        checks = {
            "max_expansions": (0 <= self.max_expansions <= 16, "0 to 16"),
            "branching": (1 <= self.branching <= 10, "1 to 10"),
        }
        refuse_unless(self, checks)

    @property
    def max_calls(self) -> int:
        """The most model calls that one run can make."""
        return (1 + self.max_expansions * self.branching) * (1 + self.evaluator.max_calls)

    def parameters(self) -> Mapping[str, Any]:
        """Return everything that decides what a run does, the prompts as their digests."""
        return described(self)

    async def __call__(self, run: Run, given: Mapping[str, Any]) -> Outcome:
        """Write a program and search from there.

        Raises:
            EffectError: if the first call fails, or every repair of an expansion.
            EvaluatorError: if the evaluator is broken.
        """
        task, done = task_of(given), 0
        seen: dict[str, Attempt] = {}
        costs: dict[str, float] = {}
        frontier: list[tuple[float, int, str]] = []
        run.keep(lambda: _value(seen, costs, done) if seen else None)

        def arrive(found: Attempt, cost: float) -> None:
            code = found.answer
            if code not in seen:
                attempt = seen[code] = replace(found, trial=len(seen) + 1)
                costs[code] = cost + 1 - attempt.verdict.score
                heapq.heappush(frontier, (costs[code], len(seen), code))
                run.child(f"program.{len(seen)}").note("ucs.program", {"attempt": attempt, "cost": costs[code]})

        arrive(await self._attempt(run.child("first"), task, self.prompts["generate"].render(task=task.prompt)), 0.0)
        while frontier and done < self.max_expansions and not _passed(seen):
            done += 1
            cost, _, code = heapq.heappop(frontier)
            report = seen[code].verdict.reason
            prompt = self.prompts["repair"].render(task=task.prompt, code=code, report=report)
            for attempt in await self._expand(run.child(f"expansion.{done}"), task, prompt):
                arrive(attempt, cost)
        status = Status.COMPLETED if _passed(seen) else Status.NO_SOLUTION
        return Outcome(status, _value(seen, costs, done))

    async def _expand(self, scope: Run, task: Task, prompt: str) -> list[Attempt]:
        """Several repairs of one program, judged; those whose calls failed are left out."""
        calls = 1 + self.evaluator.max_calls
        jobs = [
            scope.branch(f"repair.{number}", lambda one: self._attempt(one, task, prompt), max_calls=calls)
            for number in range(1, self.branching + 1)
        ]
        ends = await scope.gather(*jobs)
        return [one for one in unless_all_failed("every repair failed", ends) if one is not None]

    async def _attempt(self, scope: Run, task: Task, prompt: str) -> Attempt:
        """One program, judged."""
        request = ModelRequest(messages=(Message(role="user", content=prompt),), temperature=self.temperature)
        output = (await scope.model("coder", request)).text
        return Attempt(trial=1, output=output, verdict=await self.evaluator(scope, task, output))


def _passed(seen: Mapping[str, Attempt]) -> bool:
    return any(attempt.verdict.passed for attempt in seen.values())


def _value(seen: Mapping[str, Attempt], costs: Mapping[str, float], expansions: int) -> dict[str, Any]:
    """What the run returns; what it keeps if it is ended before its time has the same shape."""
    chosen = best(seen.values())
    return {
        "candidate": chosen.answer,
        "score": chosen.verdict.score,
        "cost": costs[chosen.answer],
        "program": chosen.trial,
        "explored": len(seen),
        "expansions": expansions,
        "reason": chosen.verdict.reason,
    }
