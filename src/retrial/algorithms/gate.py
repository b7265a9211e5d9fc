"""The gate: an evaluator proves that it can fail, and that it can pass, before anybody is paid for an attempt.

A run of its own, so that it is journaled, bounded and replayed like every other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any

from retrial.algorithms.parameters import described, refuse_unless
from retrial.core.codec import decode, encode
from retrial.core.tasks import Outcome, Status, Task, Verdict
from retrial.engine.run import Run
from retrial.evaluate.evaluator import Evaluator
from retrial.evaluate.gate import STUB, GateReport, MutationReport, mutation_score, prove
from retrial.evaluate.specs import asks_a_person
from retrial.evaluate.vague import rubric_items, vague
from retrial.evaluate.weak import weak_tests

__all__ = ["Gate"]


@dataclass(frozen=True)
class Gate:
    """Puts known outputs to an evaluator: bad ones must fail and good ones pass.

    Its input is ``{"task": an encoded Task}``, which brings its own known outputs. It is COMPLETED if the evaluator is
    sound, else NO_SOLUTION. Its value is ``{"ok", "reason", "rows", "mutants", "warnings"}``: rows of ``{"label",
    "should_pass", "ok", "verdict"}``, and ``{"killed", "total", "score", "survivors"}`` where mutants were made, else
    None. Warnings change nothing. Where a person judges, nobody is asked about a banana: there are no rows then.
    """

    evaluator: Evaluator
    """What has to prove itself."""
    _: KW_ONLY
    outputs: int
    """The most outputs that are put to it, at least 1; it bounds the calls of an evaluator that is a model."""
    mutants: int = 0
    """The most mutants of the first known-good answer that the tests are put to, 0 to make none."""

    name = "gate"
    version = "1"

    def __post_init__(self) -> None:
        """Check the bounds.

        Raises:
            ConfigError: naming the parameter and its value.
        """
        checks = {"outputs": (self.outputs >= 1, "at least 1"), "mutants": (self.mutants >= 0, "at least 0")}
        refuse_unless(self, checks)

    @property
    def max_calls(self) -> int:
        """The most model calls that one proof can make."""
        return 0 if asks_a_person(self.evaluator.spec()) else self.outputs * self.evaluator.max_calls

    def parameters(self) -> Mapping[str, Any]:
        """Return everything that decides what a proof does."""
        return described(self)

    async def __call__(self, run: Run, given: Mapping[str, Any]) -> Outcome:
        """Prove the evaluator of the task.

        Raises:
            ConfigError: if the task brings more outputs than the gate was made for.
        """
        task = decode(Task, given["task"])
        spec = self.evaluator.spec()
        if asks_a_person(spec):
            warnings = ["a person judges this task, so nothing was put to the evaluator"]
            return Outcome(Status.COMPLETED, _value(GateReport(rows=()), None, warnings))
        report = await prove(run, self.evaluator, task, most=self.outputs)
        mutation = await self._mutation(run, task, report)
        warnings = [f"rubric item {item!r}: {why}" for item in rubric_items(spec) if (why := vague(item))]
        if spec["kind"] == "unit_tests":
            warnings += weak_tests(task, _verdict_on_nothing(report))
        if not any(row.should_pass for row in report.rows):
            warnings.append("no known-good output is given, so nothing shows that a right one passes")
        status = Status.COMPLETED if report.ok else Status.NO_SOLUTION
        return Outcome(status, _value(report, mutation, warnings))

    async def _mutation(self, run: Run, task: Task, report: GateReport) -> MutationReport | None:
        """What the tests notice of faults in a known-good answer, where there is one that can be changed."""
        is_python = self.evaluator.spec()["kind"] == "unit_tests" and task.style != "rust"
        good = [row.output for row in report.rows if row.should_pass and row.ok]
        if not self.mutants or not is_python or not good:
            return None
        return await mutation_score(run.child("mutants"), task, good[0], most=self.mutants)


def _verdict_on_nothing(report: GateReport) -> Verdict | None:
    """What was said about code that does nothing, or about any other code that could be loaded."""
    loaded = [row.verdict for row in report.rows if row.label == STUB or row.should_pass]
    return loaded[0] if loaded else None


def _value(report: GateReport, mutation: MutationReport | None, warnings: list[str]) -> dict[str, Any]:
    """What a proof comes to."""
    made = None if mutation is None else {**encode(mutation), "score": mutation.score}
    rows = [
        {"label": row.label, "should_pass": row.should_pass, "ok": row.ok, "verdict": encode(row.verdict)}
        for row in report.rows
    ]
    return {"ok": report.ok, "reason": report.reason, "rows": rows, "mutants": made, "warnings": warnings}
