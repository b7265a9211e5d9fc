"""Learning across tasks, the loop's part (ExpeL, Zhao et al., 2024).

The insights and examples in the actor's prompt, and the trial that is kept after it was judged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from retrial.algorithms.extraction import BATCH, EXTRACTOR, clipped
from retrial.algorithms.parameters import refuse_unless
from retrial.core.codec import decode, encode
from retrial.core.keys import digest
from retrial.core.tasks import Attempt, Lesson, Task
from retrial.engine.run import Run
from retrial.memory.insights import CAP, Insight
from retrial.memory.trajectories import FAILED, PASSED, Trajectory
from retrial.prompts import bullets

__all__ = ["SECTIONS", "Experience", "Told"]


@dataclass(frozen=True, slots=True)
class Told:
    """What an actor is told of other tasks."""

    insights: tuple[Insight, ...] = ()
    """The insights, best first."""
    examples: tuple[Trajectory, ...] = ()
    """Passed trials of similar tasks, most similar first."""

    def values(self) -> dict[str, str]:
        """Return them as a prompt's ``insights`` and ``examples``."""
        return {
            "insights": bullets(one.text for one in self.insights),
            "examples": "\n\n".join(
                f"Task: {clipped(one.task)}\nSolution:\n{clipped(one.answer.strip())}" for one in self.examples
            ),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Experience:
    """How the loop learns across tasks."""

    insights: int = 5
    """The highest-scored insights in the actor's first prompt, at least 0."""
    examples: int = 2
    """The most similar passed trials in it, at least 0."""
    every_trial: bool = False
    """Whether later trials are told the insights as well; examples stand in the first prompt alone."""
    without: int | None = None
    """The id of an insight that is not told, to see what it is worth; None for none."""
    others_only: bool = False
    """Whether trials of the same task are no examples, as experiments need it."""
    keeps: bool = True
    """Whether trials are kept; without, the bank is told from and learns nothing, as a measurement needs it."""
    batch: int = BATCH
    """How many new trajectories an extraction waits for, at least 1."""
    cap: int = CAP
    """The most insights in the bank, at least 1."""
    group: int | None = None
    """How many pairs one call of the extractor compares, at least 1; None for all of a batch."""
    extractor: str = ""
    """The extractor's prompt; empty for ours."""

    def __post_init__(self) -> None:
        """Check the bounds.

        Raises:
            ConfigError: naming the parameter and its value.
        """
        checks = {name: (getattr(self, name) >= 0, "at least 0") for name in ("insights", "examples")}
        checks |= {name: (getattr(self, name) >= 1, "at least 1") for name in ("batch", "cap")}
        checks["group"] = (self.group is None or self.group >= 1, "at least 1, or None for all")
        refuse_unless(self, checks)

    async def recall(self, run: Run, task: Task) -> Told:
        """Ask for what is known when a task begins."""
        left_out = {} if self.without is None else {"without": self.without}
        insights = await run.recall("insights", "insights", {"count": self.insights, **left_out})
        query = {"task": task.statement, "count": self.examples, "without_task": task.id if self.others_only else ""}
        examples = await run.recall("examples", "trajectories", query)
        told = Told(tuple(decode(Insight, one) for one in insights), tuple(decode(Trajectory, one) for one in examples))
        ids = {"insights": [one.id for one in told.insights], "examples": [one.id for one in told.examples]}
        run.note("expel.recalled", ids)
        return told

    def told(self, told: Told, trial: int) -> Told:
        """Return what of it stands in the prompt of a trial."""
        if trial == 1:
            return told
        return Told(told.insights) if self.every_trial else Told()

    async def keep(self, scope: Run, task: Task, attempt: Attempt, told: Told, lessons: Sequence[Lesson]) -> None:
        """Have a judged trial kept, once; whether that fills a batch is not for the task to wait for.

        ``told`` and ``lessons`` are what the actor was told. What stood in its prompt is kept as ids, so that an
        extractor never meets it as something new.
        """
        if not self.keeps:
            return
        verdict = attempt.verdict
        one = Trajectory(
            id=digest([scope.id, scope.path])[:12],
            task_id=task.id,
            task=task.statement,
            outcome=PASSED if verdict.passed else FAILED,
            steps=(*attempt.steps, attempt.answer),
            score=verdict.score,
            reason=verdict.reason,
            lessons=tuple(lesson.text for lesson in lessons if lesson.id in attempt.lessons_used),
            insights=tuple(insight.id for insight in told.insights),
            examples=tuple(example.id for example in told.examples),
            run_id=scope.id,
            trial=attempt.trial,
        )
        prompts = {EXTRACTOR.name: self.extractor} if self.extractor else {}
        extraction = {"batch": self.batch, "cap": self.cap, "group": self.group, "prompts": prompts}
        await scope.remember("trajectory", "trajectories", {"trajectory": encode(one), "extraction": extraction})


SECTIONS = """\
{{#if insights}}
Advice that other tasks have taught. Use what applies:
<insights>
{{insights}}
</insights>
{{/if}}

{{#if examples}}
Similar tasks that were solved before:
<examples>
{{examples}}
</examples>
{{/if}}

"""
"""What stands before the lessons in the prompt of an actor that learns across tasks."""
