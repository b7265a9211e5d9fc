"""Do insights and examples from some tasks help with other tasks? The same tasks with and without the bank.

Start a server that speaks OpenAI's protocol, then, from the project's folder:

  python benchmarks/insight_bank.py --model openai:NAME --base-url http://127.0.0.1:8091/v1

First the training tasks are solved with the loop of ``recipes.insight_bank`` (4 trials), one after the other, and the
bank learns from every batch of trials. Then each test task gets one trial in every arm, with the bank as it is then and
nothing kept. Everything is at temperature 0. Every task in every arm is a run in the store, so the same command goes on
where it was stopped; the page is written after each test task.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from arms import compared
from rich.console import Console

from retrial.assembly import assemble
from retrial.bank import InsightBank
from retrial.core.budget import Usage
from retrial.core.codec import encode
from retrial.core.keys import digest
from retrial.core.messages import ModelRequest, ModelResponse
from retrial.core.tasks import Result, Status, Task
from retrial.engine import Algorithm, Engine
from retrial.errors import RunNotFound
from retrial.memory.insights import best
from retrial.models import ModelClient, Wrapper, client_for
from retrial.recipes import insight_bank
from retrial.stats.intervals import wilson
from retrial.taskfile import load_tasks

ROOT = Path(__file__).resolve().parents[1]
TASKS = ROOT.parent / "shared" / "data" / "corpus" / "mbpp_py.jsonl"
ARMS = {
    "without": {"insights": 0, "examples": 0},
    "with": {},
    "insights": {"examples": 0},
    "examples": {"insights": 0},
}
TITLES = {
    "without": "without the bank",
    "with": "with 5 insights and 2 examples",
    "insights": "with 5 insights",
    "examples": "with 2 examples",
}


class Plain(Wrapper):
    """A client that answers at temperature 0, with at most so many tokens."""

    def __init__(self, client: ModelClient, max_tokens: int) -> None:
        super().__init__(client)
        self.max_tokens = max_tokens

    async def complete(self, request: ModelRequest, key: str) -> ModelResponse:
        """Ask the client."""
        return await self.client.complete(replace(request, temperature=0.0, max_tokens=self.max_tokens), key)


@dataclass(slots=True)
class Found:
    """What there is so far."""

    training: list[Result] = field(default_factory=list)
    arms: dict[str, dict[str, Result]] = field(default_factory=dict)
    insights: list[tuple[int, str]] = field(default_factory=list)
    operations: dict[str, int] = field(default_factory=dict)
    trajectories: int = 0


class Unfinished(Exception):
    """A run has not ended; the same command goes on with it."""


async def run_once(engine: Engine, algorithm: Algorithm, run_id: str, task: Task) -> Result:
    """Work on a task, or go on with it, or only read it.

    Raises:
        Unfinished: if it has not ended.
    """
    try:
        await engine.journal.events(run_id)
    except RunNotFound:
        end = await engine.run(algorithm, {"task": encode(task)}, run_id=run_id)
    else:
        end = await engine.resume(run_id, algorithm)
    if not end.status.final:
        raise Unfinished(f"{run_id} has not ended ({end.error}); the same command goes on from there")
    return end


async def measure(
    client: ModelClient, training: Sequence[Task], tests: Sequence[Task], given: argparse.Namespace,
    done: Callable[[Found, str], None],
) -> Found:  # fmt: skip
    """Train, then try every test task in every arm; ``done`` gets what there is after each task."""
    found = Found(arms={name: {} for name in given.arms})
    settings = [client.name, given.max_tokens, given.batch, given.group, given.train, given.seed, str(given.tasks.name)]
    mark = digest(settings)[:8]
    learning = insight_bank(trials=given.trials, batch=given.batch, group=given.group, others_only=True)
    async with assemble(Plain(client, given.max_tokens), store=given.store, max_concurrency=1) as engine:
        bank = InsightBank(engine, engine.journal.writer)
        bank.attach()
        for task in training:
            end = await run_once(engine, learning, f"bank-{mark}-train-{task.id}", task)
            found.training.append(end)
            done(found, f"training {task.id}: {end.status}, {len(end.attempts)} trials")
            await _settled(bank)
        await bank.extract({"group": given.group})
        await _settled(bank)
        found.insights = [(one.score, one.text) for one in best(await bank.insights.bank(), None)]
        for entry in await bank.insights.journal():
            kind = entry["operation"]["kind"]
            found.operations[kind] = found.operations.get(kind, 0) + 1
        found.trajectories = sum(len(end.attempts) for end in found.training)
        for task in tests:
            for name in given.arms:
                arm = insight_bank(trials=1, others_only=True, keeps=False, store_lessons=False, **ARMS[name])
                end = await run_once(engine, arm, f"bank-{mark}-{name}-{task.id}", task)
                found.arms[name][task.id] = end
            told = ", ".join(f"{name} {end[task.id].status}" for name, end in found.arms.items())
            done(found, f"test {task.id}: {told}")
    return found


async def _settled(bank: InsightBank) -> None:
    """Wait for extractions, and stop if one could not be ended: the arms would not be comparable."""
    for end in await bank.settled():
        if isinstance(end, Exception) or end.status is not Status.COMPLETED:
            raise Unfinished(f"an extraction has not ended ({end}); the same command goes on with it")


def page(found: Found, model: str, given: argparse.Namespace) -> str:
    """The results as a document."""
    count = len(next(iter(found.arms.values())))
    passed = sum(end.passed for end in found.training)
    spent = sum((end.usage for end in found.training), Usage())
    operations = ", ".join(f"{number} {kind}" for kind, number in sorted(found.operations.items())) or "none"
    about = (
        f"Model `{model}` as actor, reflector and extractor, temperature 0, at most {given.max_tokens} tokens a reply, "
        f"tasks of `{given.tasks.name}` shuffled with seed {given.seed}. The bank learnt from {len(found.training)} "
        f"training tasks ({passed} of them passed within {given.trials} trials; {found.trajectories} trials, "
        f"{spent.calls} calls without the extractor's), in batches of {given.batch}. Then each of {count} other tasks "
        "got one trial in every arm. No test steered anything there: it is the first trial, and nothing of it was kept."
    )
    lines = [
        f"# The insight bank on {count} tasks it has not seen",
        "",
        about,
        "",
        "| arm | passed at the first trial | 95 % interval | calls | tokens read a task |",
        "|---|---:|---|---:|---:|",
    ]
    for name, ends in found.arms.items():
        right = sum(end.passed for end in ends.values())
        share, usage = wilson(right, count), sum((end.usage for end in ends.values()), Usage())
        lines.append(
            f"| {TITLES[name]} | {right} of {count} | {share.low:.0%} to {share.high:.0%} | {usage.calls} "
            f"| {usage.input_tokens / count:.0f} |"
        )
    lines += ["", *_differences(found)]
    lines += [
        "",
        f"Operations of the extractor: {operations} (SKIP: a line that was no operation, or for no insight).",
        "",
    ]
    lines += ["The bank, highest score first:", ""]
    lines += [f"- {score}: {text}" for score, text in found.insights] or ["- (empty)"]
    tasks = f"--train {given.train} --test {given.test} --batch {given.batch} --seed {given.seed}"
    tasks += f" --max-tokens {given.max_tokens} --arms {' '.join(given.arms)}"
    lines += ["", f"Measured with `python benchmarks/insight_bank.py --model {model} {tasks}`.", ""]
    return "\n".join(lines)


def _differences(found: Found) -> list[str]:
    """How every arm compares with the first, task by task."""
    base, *others = found.arms
    passed = {name: {task: end.passed for task, end in ends.items()} for name, ends in found.arms.items()}
    return [f"- {TITLES[name]}, and {TITLES[base]}: {compared(passed[base], passed[name])}" for name in others]


def parsed(argv: Sequence[str] | None) -> argparse.Namespace:
    """What the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True, help="provider:name, such as openai:qwen2.5-coder-1.5b-instruct")
    parser.add_argument("--base-url", help="where it is served, such as http://127.0.0.1:8091/v1")
    parser.add_argument("--tasks", type=Path, default=TASKS, help="HumanEval-shaped tasks")
    parser.add_argument("--train", type=int, default=20, help="tasks to learn from")
    parser.add_argument("--test", type=int, default=20, help="other tasks to measure on")
    parser.add_argument("--seed", type=int, default=1, help="of the shuffle")
    parser.add_argument("--trials", type=int, default=4, help="at most, on a training task")
    parser.add_argument("--batch", type=int, default=10, help="trials that an extraction waits for")
    parser.add_argument("--group", type=int, default=3, help="pairs (or twice as many trials) in one extractor call")
    parser.add_argument("--arms", nargs="+", choices=ARMS, default=["without", "with"])
    parser.add_argument("--max-tokens", type=int, default=400)
    parser.add_argument("--timeout", type=float, default=900.0, help="seconds to wait for one reply")
    parser.add_argument("--store", type=Path, default=Path(".retrial/insight-bank.db"))
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "results" / "insight-bank.md")
    return parser.parse_args(argv)


def chosen(given: argparse.Namespace) -> tuple[list[Task], list[Task]]:
    """The training and the test tasks."""
    tasks = [task.identified() for task in load_tasks([given.tasks])]
    picked = random.Random(given.seed).sample(tasks, given.train + given.test)
    return picked[: given.train], picked[given.train :]


def main(argv: Sequence[str] | None = None, client: ModelClient | None = None) -> int:
    """Measure, and write the page; ``client`` takes the place of the model that ``--model`` names."""
    given, console = parsed(argv), Console(stderr=True)
    training, tests = chosen(given)
    client = client or client_for(given.model, base_url=given.base_url, timeout=given.timeout)

    def done(found: Found, line: str) -> None:
        console.print(line, highlight=False)
        if any(found.arms.values()):
            given.out.write_text(page(found, given.model, given), encoding="utf-8")
            given.out.with_suffix(".json").write_text(json.dumps(values(found), indent=1) + "\n", encoding="utf-8")

    try:
        asyncio.run(measure(client, training, tests, given, done))
    except Unfinished as unfinished:
        raise SystemExit(str(unfinished)) from None
    return 0


def values(found: Found) -> Mapping[str, Any]:
    """What a table is made of, task by task."""
    arms = {name: {task: end.passed for task, end in ends.items()} for name, ends in found.arms.items()}
    return {"training": {end.run_id: end.passed for end in found.training}, "arms": arms, "insights": found.insights}


if __name__ == "__main__":
    sys.exit(main())
