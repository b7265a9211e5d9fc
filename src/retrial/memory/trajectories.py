"""Finished trials as they are kept, and what of them an extractor should compare. Plain values and pure functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["FAILED", "PASSED", "Material", "Trajectory", "chosen"]

PASSED = "passed"
FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Trajectory:
    """One finished trial, failed or passed."""

    id: str
    """A stable name: a digest of the run and the trial."""
    task_id: str
    """The task."""
    task: str
    """The task in words, without what the actor was told besides."""
    outcome: str
    """``passed`` or ``failed``."""
    steps: tuple[str, ...] = ()
    """What the actor did: the transcript of an agent, and last the answer that was judged."""
    score: float = 0.0
    """0 to 1."""
    reason: str = ""
    """Why it failed, in the evaluator's words; empty if it passed."""
    lessons: tuple[str, ...] = ()
    """The lessons that the actor was told."""
    insights: tuple[int, ...] = ()
    """The ids of the insights that it was told."""
    examples: tuple[str, ...] = ()
    """The ids of the trajectories that it was shown."""
    run_id: str = ""
    """The run."""
    trial: int = 1
    """The trial, from 1."""
    created_at: str = ""
    """When it was kept, as ISO 8601 in UTC; whoever keeps it says so."""

    @property
    def passed(self) -> bool:
        """Whether it was accepted."""
        return self.outcome == PASSED

    @property
    def answer(self) -> str:
        """What was judged."""
        return self.steps[-1] if self.steps else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """What an extractor is to compare: pairs where there are any, else what passed, else what failed."""

    pairs: tuple[tuple[Trajectory, Trajectory], ...] = ()
    """A failed and a passed trial of the same task each."""
    singles: tuple[Trajectory, ...] = ()
    """Trials of different tasks with the same outcome."""


def chosen(new: Sequence[Trajectory], earlier: Sequence[Trajectory] = ()) -> Material:
    """Choose what to compare of a batch; ``earlier`` are trials of the same tasks from batches before, oldest first.

    Every new failure is paired with the newest pass of its task, and a new pass whose task has no new failure with the
    newest failure of it from before. Without a pair, one trial for each task that passed; without a pass, each failure.

    >>> a, b = (Trajectory(id=o, task_id="t", task="", outcome=o) for o in ("failed", "passed"))
    >>> [(one.id, other.id) for one, other in chosen([a, b]).pairs]
    [('failed', 'passed')]
    >>> [one.id for one in chosen([b]).singles]
    ['passed']
    """
    passes = {one.task_id: one for one in (*earlier, *new) if one.passed}
    failures = {one.task_id: one for one in earlier if not one.passed}
    failed = [one for one in new if not one.passed]
    passed = {one.task_id: one for one in new if one.passed}
    pairs = [(one, passes[one.task_id]) for one in failed if one.task_id in passes]
    fresh = {one.task_id for one in failed}
    pairs += [(failures[task], one) for task, one in passed.items() if task not in fresh and task in failures]
    if pairs:
        return Material(pairs=tuple(pairs))
    return Material(singles=tuple(passed.values()) or tuple(failed))
