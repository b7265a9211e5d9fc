"""What judges a task, and how it proves itself before anybody is paid for an attempt."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from retrial.algorithms.judging import Judging
from retrial.core.budget import Budget
from retrial.core.codec import encode
from retrial.core.tasks import Task
from retrial.engine.engine import Engine
from retrial.engine.run import Algorithm
from retrial.errors import ConfigError, EvaluatorError, GateRefused
from retrial.evaluate.gate import known_bad, known_good
from retrial.evaluate.registry import evaluator_from
from retrial.evaluate.trust import settled
from retrial.evaluate.unit_tests import request_of
from retrial.recipes.registry import recorded
from retrial.testbench.supervisor import check_tests

__all__ = ["evaluator_for", "gate_for", "judged_by", "judging_for", "pass_gate"]


def judged_by(
    task: Task, names: Mapping[str, str], evaluator: str | Mapping[str, Any] | None
) -> Mapping[str, Any] | None:
    """Return the spec of what judges a task, None for its tests: ``evaluator`` comes before the task's own.

    ``names`` holds what each role's model is called, under ``actor`` the one whose work is judged.

    Raises:
        ConfigError: if nothing could fail, no test is valid, or a judge would judge its own work.
    """
    spec = evaluator if evaluator is not None else task.evaluator
    if spec is None and not task.tests:
        if not task.accepted:
            raise ConfigError(
                "the task has no tests, so nothing could fail; give tests=['assert ...'], answer='...' or an evaluator"
            )
        spec = "normalised"
    _check_tests(task)
    return None if spec is None else settled({"kind": spec} if isinstance(spec, str) else spec, names)


def evaluator_for(
    task: Task, names: Mapping[str, str], evaluator: str | Mapping[str, Any] | None = None
) -> Mapping[str, Any]:
    """Return the spec of what judges a task; arguments and errors as for ``judged_by``."""
    return judged_by(task, names, evaluator) or {"kind": "unit_tests"}


def gate_for(
    task: Task,
    names: Mapping[str, str],
    evaluator: str | Mapping[str, Any] | None = None,
    *,
    mutants: int = 0,
) -> tuple[Algorithm, Mapping[str, Any]]:
    """Return what makes a task's evaluator prove itself, and the metadata to record; as ``judged_by`` otherwise.

    ``mutants`` is how many mutants of a known-good answer the tests are put to.
    """
    spec = evaluator_for(task, names, evaluator)
    judge = evaluator_from(spec)
    outputs = len(known_bad(task, judge)) + len(known_good(task, judge))
    return recorded("gate", {"evaluator": spec, "outputs": outputs, "mutants": mutants})


def judging_for(task: Task, names: Mapping[str, str], evaluator: str | Mapping[str, Any] | None = None) -> Algorithm:
    """Return what judges one output of a task; arguments and errors as for ``judged_by``."""
    return Judging(evaluator_from(evaluator_for(task, names, evaluator)))


async def pass_gate(
    engine: Engine,
    task: Task,
    gate: tuple[Algorithm, Mapping[str, Any]],
    budget: Budget,
    *,
    run_id: str | None = None,
    metadata: Mapping[str, Any] | None = None,
) -> Budget:
    """Have an evaluator prove itself in a run of its own, and return what it left of ``budget``.

    Raises:
        GateRefused: with what is wrong, if it is not sound.
        EvaluatorError: if the proof did not come to its end.
    """
    algorithm, told = gate
    given = {"task": encode(task.identified())}
    result = await engine.run(algorithm, given, run_id=run_id, budget=budget, metadata={**told, **(metadata or {})})
    if not result.status.final:
        raise EvaluatorError(f"the evaluator of task {task.id!r} could not be put to the proof: {result.error}")
    if not result.passed:
        raise GateRefused(f"the evaluator of task {task.id!r} is refused: {result.value['reason']}")
    return budget.less(result.usage)


def _check_tests(task: Task) -> None:
    """Refuse tests that could judge nothing, before an actor is paid.

    Raises:
        ConfigError: naming the task, the test and what is wrong with it.
    """
    for tests, style in ((task.tests, task.style), (task.hidden_tests, task.hidden_style)):
        try:
            if tests:
                check_tests(request_of(task, "", tests, style))
        except EvaluatorError as error:
            raise ConfigError(f"task {task.id!r}: {error}") from error
