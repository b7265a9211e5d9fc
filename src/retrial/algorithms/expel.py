"""Learning across tasks (ExpeL, Zhao et al., 2024): what an actor is told of other tasks, and what is learnt for them.

``Experience`` is the loop's part: the insights and examples in the actor's prompt, and the trial that is kept after it
was judged. ``Extraction`` is a run of its own, outside any task: it shows an extractor failed and passed trials and the
numbered insights, and applies the operations that come back, by id.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from retrial.algorithms.parameters import described, refuse_unless
from retrial.core.codec import decode, encode
from retrial.core.keys import digest
from retrial.core.messages import Message, ModelRequest
from retrial.core.tasks import Attempt, Lesson, Outcome, Status, Task
from retrial.engine.run import Run
from retrial.memory.insights import CAP, Insight, Operation
from retrial.memory.operations import read_operations
from retrial.memory.trajectories import FAILED, PASSED, Material, Trajectory
from retrial.prompts import Prompt, bullets

__all__ = ["BATCH", "EXTRACTOR", "SECTIONS", "Experience", "Extraction", "Told"]

BATCH = 20
"""How many new trajectories make a batch unless something else is said (seed 1)."""

CLIP = 2000
"""How many characters of one text stand in a prompt at most."""


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
                f"Task: {_clipped(one.task)}\nSolution:\n{_clipped(one.answer.strip())}" for one in self.examples
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
        insights = await run.recall("insights", "insights", {"count": self.insights})
        query = {"task": task.prompt, "count": self.examples, "without_task": task.id if self.others_only else ""}
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
            task=task.prompt,
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


@dataclass(frozen=True)
class Extraction:
    """Learns from one batch of trajectories.

    Its input is ``{"extraction": the batch's name}``. Its value is ``{"applied", "skipped", "insights"}``: how many
    operations changed the bank, how many lines or operations were skipped, and how many insights there are then.
    """

    batch: int = BATCH
    """How many trajectories there are at most, at least 1."""
    cap: int = CAP
    """The most insights in the bank, at least 1."""
    group: int | None = None
    """How many pairs (or twice as many single trials) one call compares, at least 1; None for all."""
    prompts: Mapping[str, Prompt] = field(default_factory=lambda: {"extractor": EXTRACTOR})
    """By role: ``extractor``."""

    name = "extraction"
    version = "1"

    def __post_init__(self) -> None:
        """Check the bounds.

        Raises:
            ConfigError: naming the parameter and its value.
        """
        checks = {name: (getattr(self, name) >= 1, "at least 1") for name in ("batch", "cap")}
        checks["group"] = (self.group is None or self.group >= 1, "at least 1, or None for all")
        refuse_unless(self, checks)

    @property
    def max_calls(self) -> int:
        """The most model calls that one run can make: a batch has no more pairs than trajectories."""
        return 1 if self.group is None else -(-self.batch // self.group)

    def parameters(self) -> Mapping[str, Any]:
        """Return everything that decides what a run does, the prompts as their digests."""
        return described(self)

    async def __call__(self, run: Run, given: Mapping[str, Any]) -> Outcome:
        """Show the extractor each group of trials, and apply what it answers before it sees the next."""
        material = decode(Material, await run.recall("batch", "trajectories", {"extraction": given["extraction"]}))
        total = {"applied": 0, "skipped": 0, "insights": 0}
        for number, group in enumerate(_groups(material, self.group), 1):
            found = await self._extract(run.child(f"group.{number}"), group)
            total = {
                "applied": total["applied"] + found["applied"],
                "skipped": total["skipped"] + found["skipped"],
                "insights": found["insights"],
            }
        await run.remember("end", "insights", {"finish": given["extraction"]})
        return Outcome(Status.COMPLETED, total)

    async def _extract(self, scope: Run, group: Material) -> Mapping[str, int]:
        """One call of the extractor, and what came of it."""
        listed = [decode(Insight, one) for one in await scope.recall("list", "insights", {"count": None})]
        scope.note("expel.listed", {"ids": [one.id for one in listed]})
        prompt = self.prompts["extractor"].render(
            pairs="\n\n".join(_pair(failed, passed) for failed, passed in group.pairs),
            passed="\n\n".join(_single(one) for one in group.singles if one.passed),
            failed="\n\n".join(_single(one) for one in group.singles if not one.passed),
            insights="\n".join(f"{number}. {one.text}" for number, one in enumerate(listed, 1)) or "(empty)",
            full="yes" if len(listed) >= self.cap else "",
        )
        request = ModelRequest(role="extractor", messages=(Message(role="user", content=prompt),))
        reading = read_operations((await scope.model("extractor", request)).text, len(listed))
        sources = dict.fromkeys([one.id for pair in group.pairs for one in pair] + [one.id for one in group.singles])
        base = Operation(kind="SKIP", run_id=scope.id, trajectory_ids=tuple(sources), cap=self.cap)
        asked = [
            replace(base, kind=one.kind, target=listed[one.number - 1].id if one.number else 0, text=one.text)
            for one in reading.proposals
        ]
        asked += [replace(base, text=one.line, reason=one.reason) for one in reading.unread]
        item = {"source": f"{scope.id}/{scope.path}", "operations": [encode(one) for one in asked]}
        answer = await scope.remember("apply", "insights", item)
        recorded = [decode(Operation, one) for one in answer["recorded"]]
        skipped = [one for one in recorded if one.kind == "SKIP"]
        scope.note("expel.applied", {"operations": [one for one in recorded if one.kind != "SKIP"], "skipped": skipped})
        return {"applied": len(recorded) - len(skipped), "skipped": len(skipped), "insights": answer["insights"]}


def _groups(material: Material, size: int | None) -> list[Material]:
    """What one call is shown each: so many pairs, or twice as many single trials."""
    if size is None:
        return [material] if material.pairs or material.singles else []
    pairs = [Material(pairs=material.pairs[at : at + size]) for at in range(0, len(material.pairs), size)]
    singles = material.singles
    return pairs + [Material(singles=singles[at : at + 2 * size]) for at in range(0, len(singles), 2 * size)]


def _pair(failed: Trajectory, passed: Trajectory) -> str:
    """A failed and a passed trial of the same task."""
    return (
        f"Task: {_clipped(failed.task)}\n\nFailed:\n{_steps(failed)}\n\nWhy it failed: {_clipped(failed.reason)}\n\n"
        f"Passed:\n{_steps(passed)}"
    )


def _single(one: Trajectory) -> str:
    """One trial."""
    why = "" if one.passed else f"\n\nWhy it failed: {_clipped(one.reason)}"
    return f"Task: {_clipped(one.task)}\n\n{one.outcome.capitalize()}:\n{_steps(one)}{why}"


def _steps(one: Trajectory) -> str:
    """What was done; where it is too long its end is kept, since the answer stands last."""
    text = "\n".join(one.steps).strip()
    return text if len(text) <= CLIP else f"[...]\n{text[-CLIP:]}"


def _clipped(text: str) -> str:
    """A text, cut where it is too long for a prompt."""
    return text if len(text) <= CLIP else f"{text[:CLIP]}\n[...]"


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

EXTRACTOR = Prompt(
    "expel.extractor",
    """\
You keep a list of insights for an agent that solves tasks which can be checked. An insight is a general rule that \
helps with tasks the agent has not met yet.

{{#if pairs}}
Each pair below is a failed and a passed attempt at the same task. Work out what made the difference.
<pairs>
{{pairs}}
</pairs>
{{/if}}

{{#if passed}}
These attempts passed. Work out what they have in common.
<passed>
{{passed}}
</passed>
{{/if}}

{{#if failed}}
These attempts failed, and none at the same tasks has passed. Work out what they have in common.
<failed>
{{failed}}
</failed>
{{/if}}

The list so far:
<insights>
{{insights}}
</insights>

{{#if full}}
The list is full: a new insight drives out the weakest. Prefer EDIT, UPVOTE and DOWNVOTE.
{{/if}}

Change the list by one operation a line, in exactly these forms, where n is a number of the list:
ADD: a new insight
EDIT n: better words for insight n
UPVOTE n
DOWNVOTE n

Upvote what these attempts confirm, downvote what they contradict or what helps with one task alone, and add only what \
the list does not say. One insight is one or two sentences, holds no code and names no single task. Use at most four \
operations and write nothing else.""",
)
