"""Unit tests as the evaluator: the highest trust there is.

Asks the test bench to run the task's visible tests and turns its report into a verdict. What the reflector will read is
made here: which checks failed, on what input, with what result, and what was expected instead.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from retrial.core.effects import RunTests
from retrial.core.reports import TestReport
from retrial.core.tasks import Task, Verdict
from retrial.engine.run import Run
from retrial.errors import EvaluatorError

__all__ = ["UnitTests", "request_of", "trace_of", "verdict_of"]

MAX_FAILURES_SHOWN = 5
"""More than this many failed checks do not help a reflector."""


class UnitTests:
    """Judges code by the task's tests, in the sandbox."""

    max_calls = 0

    def spec(self) -> Mapping[str, Any]:
        """Return what makes an equal evaluator."""
        return {"kind": "unit_tests"}

    async def __call__(self, run: Run, task: Task, output: str) -> Verdict:
        """Judge ``output`` by the visible tests of ``task``.

        Raises:
            EvaluatorError: if there are no tests, or none that is valid.
        """
        return await self.judge(run, "tests", task, output, task.tests)

    async def judge(
        self, run: Run, name: str, task: Task, output: str, tests: tuple[str, ...], *, style: str = ""
    ) -> Verdict:
        """Judge ``output`` by ``tests`` (in the task's style unless another is given), under the key ``name``."""
        if not tests:
            raise EvaluatorError(f"task {task.id!r} has no tests, so nothing could fail; give it at least one")
        report = await run.tests(name, request_of(task, output, tests, style or task.style))
        return verdict_of(report)


def request_of(task: Task, output: str, tests: tuple[str, ...], style: str) -> RunTests:
    """Return the effect that judges ``output`` by ``tests`` as ``task`` says."""
    return RunTests(
        output=output,
        tests=tests,
        style=style,
        entry_point=task.entry_point,
        prompt=task.statement if task.completes else None,
        timeout=task.timeout,
        modules=task.modules,
    )


def verdict_of(report: TestReport) -> Verdict:
    """Turn a report into a verdict: passed only if every valid test left a record that it passed.

    Raises:
        EvaluatorError: if no test was valid.
    """
    if report.valid_count == 0 and not report.load_error:
        first = report.checks[0].message if report.checks else "there are none"
        raise EvaluatorError(f"no test is valid, so nothing could fail; the first: {first}")
    passed = report.finished and not report.load_error and report.passed_count == report.valid_count
    return Verdict(
        passed=passed,
        score=report.passed_count / report.valid_count if report.valid_count and not report.load_error else 0.0,
        reason="" if passed else trace_of(report),
        answer=report.code,
        checks=report.checks,
        trust="tests",
        isolation=report.isolation,
        shared_process=report.shared_process,
    )


def trace_of(report: TestReport) -> str:
    """Return what a reflector reads: how many checks passed, then the failed ones, five at most.

    >>> from retrial.core.reports import Check
    >>> check = Check(name="assert f(2) == 4", passed=False, input="f(2)", actual="3", expected="4")
    >>> print(trace_of(TestReport(checks=(check,))))
    0 of 1 checks passed
    - f(2) returned 3, expected 4
    """
    lines = [f"{report.passed_count} of {report.valid_count} checks passed"]
    if report.load_error:
        lines.append(f"The code could not be used: {report.load_error}")
        return "\n".join(lines)
    failed = [check for check in report.checks if not check.passed and check.kind not in ("bad_test", "not_run")]
    lines += [f"- {check.failure}" for check in failed[:MAX_FAILURES_SHOWN]]
    if len(failed) > MAX_FAILURES_SHOWN:
        lines.append(f"- and {len(failed) - MAX_FAILURES_SHOWN} more")
    not_run = sum(check.kind == "not_run" for check in report.checks)
    if not_run:
        lines.append(f"- {not_run} more did not run")
    return "\n".join(lines)
