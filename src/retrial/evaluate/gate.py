"""An evaluator proves that it can fail, before anything is paid for, and tests prove what they notice."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Mapping
from dataclasses import dataclass, replace

from retrial.core.syntax import UNREADABLE, tree_of
from retrial.core.tasks import Task, Verdict
from retrial.engine.run import Failed, Run
from retrial.errors import ConfigError, EvaluatorError
from retrial.evaluate.answers import short
from retrial.evaluate.evaluator import Evaluator
from retrial.evaluate.mutation import MAX_MUTANTS, mutants
from retrial.evaluate.unit_tests import UnitTests

__all__ = ["STUB", "GateReport", "GateRow", "MutationReport", "known_bad", "known_good", "mutation_score", "prove"]

STUB = "stub"
"""What the output is called that defines the function and does nothing."""
AT_ONCE = 8
MUTANT_SECONDS = 5.0
"""The most time for the tests of one mutant: one that never ends was noticed."""
_COMPARES = ("exact", "f1", "fuzzy", "normalised", "numeric", "sql")
"""The kinds of evaluators that compare with the task's answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GateRow:
    """One output that was put to the evaluator."""

    label: str
    """What it is: ``empty``, ``banana``, ``stub``, or as the user calls it."""
    output: str
    """The output."""
    should_pass: bool
    """What a sound evaluator says about it."""
    verdict: Verdict
    """What this one said."""

    @property
    def ok(self) -> bool:
        """Whether that is what it should say. A reply that could not be read proves nothing."""
        return self.verdict.passed is self.should_pass and not self.verdict.unparsed


@dataclass(frozen=True, slots=True, kw_only=True)
class GateReport:
    """What came of a proof."""

    rows: tuple[GateRow, ...]
    """One row an output, bad ones first."""

    @property
    def ok(self) -> bool:
        """Whether every bad output failed and every good one passed."""
        return all(row.ok for row in self.rows)

    @property
    def reason(self) -> str:
        """What is wrong with the evaluator, in words; empty if nothing is."""
        lines: list[str] = []
        for row in self.rows:
            if row.ok:
                continue
            if row.verdict.unparsed:
                lines.append(f"the output {row.label!r} got a reply that cannot be read: {short(row.verdict.reason)}")
            elif row.should_pass:
                lines.append(f"the known-good output {row.label!r} fails: {row.verdict.reason}")
            else:
                lines.append(f"the known-bad output {row.label!r} passes, so a pass means nothing")
        return "\n".join(lines)


@dataclass(frozen=True, slots=True, kw_only=True)
class MutationReport:
    """How many small faults the tests notice."""

    killed: int
    """Mutants that the tests refused."""
    total: int
    """Mutants that were judged."""
    survivors: tuple[str, ...]
    """The diffs of those that passed: each shows what no test looks at, or changes nothing that matters."""

    @property
    def score(self) -> float:
        """The share of mutants that were noticed, 0 to 1; 1 if there were none to make."""
        return self.killed / self.total if self.total else 1.0


def known_bad(task: Task, evaluator: Evaluator) -> dict[str, str]:
    """Return outputs that no sound evaluator accepts, by label: nothing, a banana, for code a stub, and the task's own.

    >>> list(known_bad(Task(prompt="p", entry_point="f", tests=("assert f() == 1",)), UnitTests()))
    ['empty', 'banana', 'stub']
    """
    bad = {"empty": "", "banana": "banana"}
    name = task.entry_point or _called(task)
    if name and task.style != "rust" and evaluator.spec()["kind"] == "unit_tests":
        bad[STUB] = f"def {name}(*args, **kwargs):\n    return None\n"
    return {**bad, **task.known_bad}


def known_good(task: Task, evaluator: Evaluator) -> dict[str, str]:
    """Return outputs that a sound evaluator accepts, by label: answers that it compares with, and the task's own.

    >>> from retrial.evaluate.numeric import Numeric
    >>> known_good(Task(prompt="p", answer="42", known_good={"in words": "It is 42."}), Numeric())
    {'answer': '42', 'in words': 'It is 42.'}
    """
    answers = task.accepted if evaluator.spec()["kind"] in _COMPARES else ()
    named = {"answer" if number == 1 else f"answer {number}": text for number, text in enumerate(answers, 1)}
    return {**named, **task.known_good}


async def prove(
    run: Run,
    evaluator: Evaluator,
    task: Task,
    *,
    bad: Mapping[str, str] | None = None,
    good: Mapping[str, str] | None = None,
    most: int | None = None,
) -> GateReport:
    """Put known outputs to an evaluator: those of ``known_bad`` and ``known_good``, and ``bad`` and ``good`` by label.

    It makes at most ``evaluator.max_calls`` model calls an output. A broken evaluator raises as it does in a run.

    Raises:
        ConfigError: if there are more than ``most`` outputs.
    """
    outputs = [(label, text, False) for label, text in {**known_bad(task, evaluator), **(bad or {})}.items()]
    outputs += [(label, text, True) for label, text in {**known_good(task, evaluator), **(good or {})}.items()]
    if most is not None and len(outputs) > most:
        raise ConfigError(f"task {task.id!r} has {len(outputs)} known outputs, and at most {most} were announced")
    rows: list[GateRow] = []
    for number, (label, text, should_pass) in enumerate(outputs, 1):
        verdict = await evaluator(run.child(f"output.{number}"), task, text)
        rows.append(GateRow(label=label, output=text, should_pass=should_pass, verdict=verdict))
    report = GateReport(rows=tuple(rows))
    told = [{"label": row.label, "should_pass": row.should_pass, "passed": row.verdict.passed} for row in rows]
    run.note("gate.proved", {"rows": told, "ok": report.ok})
    return report


async def mutation_score(run: Run, task: Task, good: str, *, most: int = MAX_MUTANTS) -> MutationReport:
    """Judge mutants of a known-good answer by the visible tests of ``task``.

    A mutant that fails, crashes or never ends was noticed. One that behaves like the original cannot be noticed and
    counts as a survivor, since nothing can tell it apart: read the diffs before believing a score.

    Raises:
        EvaluatorError: if the answer is no Python or does not pass itself.
    """
    unit_tests = UnitTests()
    quick = replace(task, timeout=min(task.timeout, MUTANT_SECONDS), completes=False)
    original = await unit_tests.judge(run, "original", task, good, task.tests)
    if not original.passed:
        raise EvaluatorError(f"the known-good answer of task {task.id!r} does not pass: {original.reason}")
    made = mutants(original.answer or good, most=most)
    survivors: list[str] = []
    for start in range(0, len(made), AT_ONCE):
        batch = made[start : start + AT_ONCE]
        ends = await run.gather(
            *(
                run.branch(
                    f"mutant.{number}",
                    lambda scope, code=mutant.code: unit_tests.judge(scope, "tests", quick, code, quick.tests),
                    max_calls=0,
                )
                for number, mutant in enumerate(batch, start + 1)
            )
        )
        for mutant, end in zip(batch, ends, strict=True):
            if isinstance(end, Failed):
                raise end.error
            if end.passed:
                survivors.append(f"{mutant.name}\n{mutant.diff}")
    report = MutationReport(killed=len(made) - len(survivors), total=len(made), survivors=tuple(survivors))
    run.note("gate.mutants", {"killed": report.killed, "total": report.total, "survivors": list(report.survivors)})
    return report


def _called(task: Task) -> str:
    """The name that the first assert calls, where the task does not say what the code must define; empty if unclear."""
    for test in task.tests if task.style == "asserts" else ():
        try:
            found = [node.func for node in ast.walk(tree_of(test)) if isinstance(node, ast.Call)]
        except UNREADABLE:
            continue
        names = [node.id for node in found if isinstance(node, ast.Name) and not hasattr(builtins, node.id)]
        if names:
            return names[0]
    return ""
