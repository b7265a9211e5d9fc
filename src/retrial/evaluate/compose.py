"""Evaluators of evaluators: all of them, the first that fails, or a weighted sum.

Cheap ones run first: those that call no model before those that do, a person last, and otherwise in the order given.
The trust of a whole is the lowest of the parts that were used; the checks are those of these parts, one after another.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from retrial.core.tasks import Task, Verdict
from retrial.engine.run import Run
from retrial.errors import ConfigError
from retrial.evaluate.evaluator import Evaluator
from retrial.evaluate.person import Person
from retrial.evaluate.trust import lowest

__all__ = ["AllOf", "FirstFailing", "Weighted"]


class AllOf:
    """Passes if every part passes. All parts run; the score is the mean of theirs, below 1 unless all pass."""

    kind = "all_of"

    def __init__(self, parts: Sequence[Evaluator]) -> None:
        if not parts:
            raise ConfigError(f"{self.kind}: there are no parts, so nothing could fail; give at least one")
        self._parts = tuple(parts)

    @property
    def max_calls(self) -> int:
        """The most model calls that one judgement makes: those of all parts."""
        return sum(part.max_calls for part in self._parts)

    def spec(self) -> Mapping[str, Any]:
        """Return what makes an equal evaluator."""
        return {"kind": self.kind, "parts": [part.spec() for part in self._parts]}

    async def __call__(self, run: Run, task: Task, output: str) -> Verdict:
        """Judge ``output`` by every part."""
        verdicts = [await part(run.child(name), task, output) for name, part in _cheap_first(self._parts)]
        passed = all(verdict.passed for verdict in verdicts)
        return _joined(verdicts, passed, sum(verdict.score for verdict in verdicts) / len(verdicts))


class FirstFailing(AllOf):
    """Passes if every part passes, and stops at the first that does not, so that dear ones judge few outputs.

    The score is the share of parts that passed, the failing one counting with its own score.
    """

    kind = "first_failing"

    async def __call__(self, run: Run, task: Task, output: str) -> Verdict:
        """Judge ``output`` by one part after another."""
        verdicts: list[Verdict] = []
        for name, part in _cheap_first(self._parts):
            verdicts.append(await part(run.child(name), task, output))
            if not verdicts[-1].passed:
                break
        before = len(verdicts) - 1
        failed = not verdicts[-1].passed
        score = (before + verdicts[-1].score) / len(self._parts) if failed else 1.0
        return _joined(verdicts, not failed, score)


class Weighted(AllOf):
    """Passes if the weighted mean of the parts' scores reaches ``threshold``; that mean is the score.

    ``weights`` are above 0, one a part, and need not sum to 1; without them all parts count the same.
    """

    kind = "weighted"

    def __init__(
        self, parts: Sequence[Evaluator], *, weights: Sequence[float] | None = None, threshold: float = 1.0
    ) -> None:
        super().__init__(parts)
        self._weights = tuple(1.0 for _ in parts) if weights is None else tuple(float(one) for one in weights)
        if len(self._weights) != len(self._parts) or not all(0 < weight < float("inf") for weight in self._weights):
            raise ConfigError(f"weighted: weights={weights!r} must be {len(self._parts)} numbers above 0, one a part")
        if not 0 < threshold <= 1:
            raise ConfigError(f"weighted: threshold={threshold!r} is not possible; it is above 0 and at most 1")
        self._threshold = threshold

    def spec(self) -> Mapping[str, Any]:
        """Return what makes an equal evaluator."""
        return {**super().spec(), "weights": list(self._weights), "threshold": self._threshold}

    async def __call__(self, run: Run, task: Task, output: str) -> Verdict:
        """Judge ``output`` by every part and weigh."""
        weights = dict(zip(_names(self._parts), self._weights, strict=True))
        verdicts: list[Verdict] = []
        total = 0.0
        for name, part in _cheap_first(self._parts):
            verdicts.append(await part(run.child(name), task, output))
            total += weights[name] * verdicts[-1].score
        # A sum of shares may miss 1 by the last digit.
        score = min(round(total / sum(self._weights), 9), 1.0)
        return _joined(verdicts, score >= self._threshold, score)


def _names(parts: Sequence[Evaluator]) -> list[str]:
    """The scope of each part: its place and its kind."""
    return [f"part.{number}.{part.spec()['kind']}" for number, part in enumerate(parts, 1)]


def _cheap_first(parts: Sequence[Evaluator]) -> list[tuple[str, Evaluator]]:
    """The parts with their scopes, in the order in which they run."""
    named = list(zip(_names(parts), parts, strict=True))
    return sorted(named, key=lambda item: (isinstance(item[1], Person), item[1].max_calls > 0))


def _joined(verdicts: Sequence[Verdict], passed: bool, score: float) -> Verdict:
    """One verdict of several; the answer and the isolation are those of the first part that has them."""
    failed = [verdict for verdict in verdicts if not verdict.passed]
    return replace(
        verdicts[0],
        passed=passed,
        score=score if passed else min(score, 0.99),
        reason="" if passed else "\n".join(verdict.reason for verdict in failed if verdict.reason),
        fix_hint="" if passed else next((verdict.fix_hint for verdict in failed if verdict.fix_hint), ""),
        answer=next((verdict.answer for verdict in verdicts if verdict.answer), ""),
        checks=tuple(check for verdict in verdicts for check in verdict.checks),
        trust=lowest(verdict.trust for verdict in verdicts),
        isolation=next((verdict.isolation for verdict in verdicts if verdict.isolation is not None), None),
        reflectable=all(verdict.reflectable for verdict in failed),
        unparsed=any(verdict.unparsed for verdict in failed),
    )
