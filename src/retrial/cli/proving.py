"""The gate of ``retrial run``: every evaluator proves itself, in runs of their own, before any actor is asked."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from retrial.cli import exits
from retrial.cli.bar import Bar
from retrial.cli.render import plural
from retrial.cli.screen import Screen
from retrial.cli.work import Setup, asynchronously
from retrial.core.budget import Budget
from retrial.core.tasks import Task
from retrial.engine.run import Algorithm
from retrial.errors import GateRefused
from retrial.gating import pass_gate

__all__ = ["Proof", "pass_gates"]

Proof = tuple[str, Task, tuple[Algorithm, Mapping[str, Any]]]
"""The id of a run, a task, and its gate with what to record of it."""


def pass_gates(
    setup: Setup,
    screen: Screen,
    proofs: Sequence[Proof],
    *,
    share: Budget,
    metadata: Mapping[str, Any],
    at_once: int,
) -> list[tuple[Budget, str]]:
    """Have the evaluators of tasks prove themselves; return what each left of ``share``, and the id of its run.

    ``proofs`` hold the id of the run, the task, and the gate with what to record of it beside ``metadata``.

    Raises:
        Stopped: if one is refused; every one of them is named.
        EvaluatorError: if a proof did not come to its end.
    """
    doors = asyncio.Semaphore(at_once)

    async def session() -> list[Budget | BaseException]:
        async with setup.engine(share) as engine:

            async def one(run_id: str, task: Task, gate: tuple[Algorithm, Mapping[str, Any]]) -> Budget:
                async with doors:
                    try:
                        return await pass_gate(engine, task, gate, share, run_id=run_id, metadata=metadata)
                    finally:
                        bar.advance(1, "the evaluators prove themselves")

            return await asyncio.gather(*(one(*proof) for proof in proofs), return_exceptions=True)

    with Bar(screen, len(proofs)) as bar:
        ends = asynchronously(session())
    ended = [(run_id, task, end) for (run_id, task, _), end in zip(proofs, ends, strict=True)]
    refused = [(run_id, task, end) for run_id, task, end in ended if isinstance(end, GateRefused)]
    if refused:
        _say(screen, refused)
        raise exits.Stopped(f"the gate refused {plural(len(refused), 'evaluator')}; nothing was begun", exits.GATE)
    left: list[tuple[Budget, str]] = []
    for run_id, _, end in ended:
        if isinstance(end, BaseException):
            raise end
        left.append((end, run_id))
    screen.remark(f"{plural(len(left), 'evaluator')} proved sound: {screen.command(f'show {left[0][1]}')}")
    return left


def _say(screen: Screen, refused: Sequence[tuple[str, Task, GateRefused]]) -> None:
    """Say which evaluators are refused and why."""
    if screen.as_json:
        told = [{"run_id": run_id, "task_id": task.id, "reason": str(error)} for run_id, task, error in refused]
        screen.json({"refused": told})
        return
    for run_id, _, error in refused:
        screen.line((str(error), "red"))
        screen.remark(f"what was put to it: {screen.command(f'show {run_id}')}")
