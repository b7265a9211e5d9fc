"""Extracting insights (ExpeL, Zhao et al., 2024): what failed and passed trials teach for other tasks.

A run of its own, outside any task: it shows an extractor failed and passed trials and the numbered insights, and
applies the operations that come back, by id.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from retrial.algorithms.parameters import described, refuse_unless
from retrial.core.codec import decode, encode
from retrial.core.messages import Message, ModelRequest
from retrial.core.tasks import Outcome, Status
from retrial.engine.run import Run
from retrial.memory.insights import CAP, Insight, Operation
from retrial.memory.operations import read_operations
from retrial.memory.trajectories import Material, Trajectory
from retrial.prompts import Prompt

__all__ = ["BATCH", "EXTRACTOR", "Extraction", "clipped"]

BATCH = 20
"""How many new trajectories make a batch unless something else is said (seed 1)."""

CLIP = 2000
"""How many characters of one text stand in a prompt at most."""


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
        f"Task: {clipped(failed.task)}\n\nFailed:\n{_steps(failed)}\n\nWhy it failed: {clipped(failed.reason)}\n\n"
        f"Passed:\n{_steps(passed)}"
    )


def _single(one: Trajectory) -> str:
    """One trial."""
    why = "" if one.passed else f"\n\nWhy it failed: {clipped(one.reason)}"
    return f"Task: {clipped(one.task)}\n\n{one.outcome.capitalize()}:\n{_steps(one)}{why}"


def _steps(one: Trajectory) -> str:
    """What was done; where it is too long its end is kept, since the answer stands last."""
    text = "\n".join(one.steps).strip()
    return text if len(text) <= CLIP else f"[...]\n{text[-CLIP:]}"


def clipped(text: str) -> str:
    """Return a text, cut where it is too long for a prompt.

    >>> len(clipped("x" * 9999))
    2006
    """
    return text if len(text) <= CLIP else f"{text[:CLIP]}\n[...]"


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
