"""What do the loop and its controls make of tasks that a model fails at first, with a few more calls?

Start a server that speaks OpenAI's protocol, then, from the project's folder:

  python benchmarks/controls.py --model openai:NAME --base-url http://127.0.0.1:8091/v1

Every task is attempted once, at temperature 0. Those that fail are given to every arm, whose first call is answered
with that same attempt; its later calls are at the provider's default temperature. So arms differ in what they do after
a failure, and not in their luck with the first attempt. Every task in every arm is a run in the store, so the same
command goes on where it was stopped; the page is written after each arm.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import sys
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from dataclasses import replace
from pathlib import Path

from arms import compared
from insight_bank import ROOT, TASKS, Unfinished, run_once
from rich.console import Console

from retrial.algorithms import Reflexion
from retrial.assembly import assemble
from retrial.core.budget import Usage
from retrial.core.keys import digest
from retrial.core.messages import ModelRequest, ModelResponse
from retrial.core.tasks import Result, Task
from retrial.engine import Engine
from retrial.errors import RunNotFound
from retrial.log.views import transcript
from retrial.models import Limits, ModelClient, Wrapper, client_for
from retrial.recipes import unit_tests
from retrial.stats.intervals import wilson
from retrial.taskfile import load_tasks

SINGLE = unit_tests(trials=1, store_lessons=False)
ARMS: Mapping[str, Reflexion] = {
    "retry": unit_tests(trials=4, carry="nothing", store_lessons=False),
    "lessons": unit_tests(trials=3, store_lessons=False),
    "checks": unit_tests(trials=4, carry="checks", store_lessons=False),
    "repair": unit_tests(trials=1, store_lessons=False, actor={"kind": "generate_test_repair", "max_repairs": 3}),
    "critic": unit_tests(trials=1, store_lessons=False, actor={"kind": "generator_critic", "max_rounds": 4}),
    "search": unit_tests(trials=1, store_lessons=False, actor={"kind": "ucs", "max_expansions": 1, "branching": 3}),
}
"""The first is what the others are compared with."""
TITLES = {
    "retry": "blind retry",
    "lessons": "lessons (Reflexion)",
    "checks": "afresh, with the tests' words",
    "repair": "GenerateTestRepair",
    "critic": "GeneratorCritic",
    "search": "UniformCostSearch",
}
_FIRST: ContextVar[list[ModelResponse | None]] = ContextVar("first")
"""What the first call of this run is answered with, None for asking at temperature 0; empty once it was made."""


class FirstIsGiven(Wrapper):
    """A client whose first answer in a run is given or at temperature 0, and each of at most so many tokens."""

    def __init__(self, client: ModelClient, max_tokens: int) -> None:
        super().__init__(client)
        self.max_tokens = max_tokens

    async def complete(self, request: ModelRequest, key: str) -> ModelResponse:
        """Answer with what is given, or ask the client."""
        first, heat = _FIRST.get(), None
        if first:
            reply, heat = first.pop(), 0.0
            if reply is not None:
                return reply
        return await self.client.complete(replace(request, temperature=heat, max_tokens=self.max_tokens), key)


async def replies(engine: Engine, run_id: str) -> list[ModelResponse]:
    """What was answered in a run so far, in order; nothing where there is no such run."""
    try:
        exchanges = transcript(await engine.journal.events(run_id))
    except RunNotFound:
        return []
    return [exchange.response for exchange in exchanges if exchange.response is not None]


async def attempted(
    engine: Engine, arm: Reflexion, tasks: Sequence[Task], name: str, before: str = ""
) -> dict[str, Result]:
    """Every task in one arm, all at once; each is left to end, whatever becomes of the others.

    ``before`` names the arm whose first answers are given.
    """

    async def one(task: Task) -> Result:
        given = (await replies(engine, f"{before}-{task.id}"))[0] if before else None
        run_id = f"{name}-{task.id}"
        _FIRST.set([] if await replies(engine, run_id) else [given])
        return await run_once(engine, arm, run_id, task)

    ends = await asyncio.gather(*map(one, tasks), return_exceptions=True)
    for end in ends:
        if isinstance(end, BaseException):
            raise end
    return {task.id: end for task, end in zip(tasks, ends, strict=True) if isinstance(end, Result)}


async def measure(client: ModelClient, tasks: Sequence[Task], given: argparse.Namespace, console: Console) -> None:
    """Attempt every task once, then give what failed to every arm; the page is written after each."""
    mark = digest([client.name, given.max_tokens, given.seed, given.tasks.name])[:8]
    async with assemble(FirstIsGiven(client, given.max_tokens), store=given.store) as engine:
        single = f"controls-{mark}-single"
        first = await attempted(engine, SINGLE, tasks, single)
        failed = [task for task in tasks if not first[task.id].passed]
        console.print(f"{len(failed)} of {len(tasks)} tasks failed at first", highlight=False)
        found: dict[str, dict[str, Result]] = {}
        for name, arm in ARMS.items() if failed else ():
            found[name] = await attempted(engine, arm, failed, f"controls-{mark}-{name}", single)
            solved = sum(end.passed for end in found[name].values())
            console.print(f"{TITLES[name]}: {solved} of {len(failed)} solved", highlight=False)
            given.out.write_text(page(len(tasks), found, given.model, given), encoding="utf-8")
            passed = {one: {task: end.passed for task, end in ends.items()} for one, ends in found.items()}
            given.out.with_suffix(".json").write_text(json.dumps(passed, indent=1) + "\n", encoding="utf-8")


def page(tried: int, found: Mapping[str, Mapping[str, Result]], model: str, given: argparse.Namespace) -> str:
    """The results as a document."""
    base, *others = found
    failed = len(found[base])
    about = (
        f"Model `{model}`, at most {given.max_tokens} tokens a reply. Of {tried} tasks of `{given.tasks.name}`, "
        f"shuffled with seed {given.seed}, {tried - failed} passed at the first attempt, at temperature 0. The other "
        f"{failed} were given to every arm; that attempt counts as its first call, and later ones are at the "
        "provider's default temperature. The task's tests steer and judge."
    )
    lines = [
        f"# The controls on {failed} tasks that a model failed at first",
        "",
        about,
        "",
        "| arm | calls at most | solved | 95 % interval | calls a task | tokens read a task | tokens written a task |",
        "|---|---:|---:|---|---:|---:|---:|",
    ]
    for name, ends in found.items():
        solved = sum(end.passed for end in ends.values())
        share, usage = wilson(solved, failed), sum((end.usage for end in ends.values()), Usage())
        lines.append(
            f"| {TITLES[name]} | {ARMS[name].max_calls} | {solved} of {failed} | {share.low:.0%} to {share.high:.0%} "
            f"| {usage.calls / failed:.1f} | {usage.input_tokens / failed:.0f} | {usage.output_tokens / failed:.0f} |"
        )
    lines += ["", f"Task by task, beside {TITLES[base]}:", ""]
    passed = {name: {task: end.passed for task, end in ends.items()} for name, ends in found.items()}
    lines += [f"- {TITLES[name]}: {compared(passed[base], passed[name])}" for name in others]
    tasks = f"--count {given.count} --seed {given.seed} --max-tokens {given.max_tokens}"
    return "\n".join([*lines, "", f"Measured with `python benchmarks/controls.py --model {model} {tasks}`.", ""])


def parsed(argv: Sequence[str] | None) -> argparse.Namespace:
    """What the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True, help="provider:name, such as openai:qwen2.5-coder-1.5b-instruct")
    parser.add_argument("--base-url", help="where it is served, such as http://127.0.0.1:8091/v1")
    parser.add_argument("--tasks", type=Path, default=TASKS, help="HumanEval-shaped tasks")
    parser.add_argument("--count", type=int, default=40, help="tasks to attempt once")
    parser.add_argument("--seed", type=int, default=2, help="of the shuffle")
    parser.add_argument("--max-tokens", type=int, default=400)
    parser.add_argument("--jobs", type=int, default=4, help="calls at once")
    parser.add_argument("--timeout", type=float, default=900.0, help="seconds to wait for one reply")
    parser.add_argument("--store", type=Path, default=Path(".retrial/controls.db"))
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "results" / "controls.md")
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None, client: ModelClient | None = None) -> int:
    """Measure, and write the page; ``client`` takes the place of the model that ``--model`` names."""
    given = parsed(argv)
    tasks = [task.identified() for task in load_tasks([given.tasks])]
    picked = random.Random(given.seed).sample(tasks, given.count)
    limits = Limits(max_concurrency=given.jobs)
    client = client or client_for(given.model, base_url=given.base_url, timeout=given.timeout, limits=limits)
    try:
        asyncio.run(measure(client, picked, given, Console(stderr=True)))
    except Unfinished as unfinished:
        raise SystemExit(str(unfinished)) from None
    return 0


if __name__ == "__main__":
    sys.exit(main())
