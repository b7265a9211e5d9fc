"""Do a debate or a majority of samples answer more questions of GSM8K than one call does, at equal numbers of calls?

``python benchmarks/gsm8k.py --model openai:NAME --base-url http://127.0.0.1:8080/v1``. Every question in every arm is a
run in the store, so that the same command goes on where it was stopped. What is there is written after each question.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import random
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from arms import compared
from rich.console import Console

from retrial.algorithms import Debate, SelfConsistency
from retrial.assembly import assemble
from retrial.core.keys import digest
from retrial.core.messages import ModelRequest, ModelResponse
from retrial.core.tasks import Result, Status
from retrial.engine import Algorithm, Engine
from retrial.errors import RunNotFound
from retrial.evaluate.answers import numbers_in
from retrial.log.views import Exchange, transcript
from retrial.models import Limits, ModelClient, Wrapper, client_for
from retrial.stats.intervals import wilson

ROOT = Path(__file__).resolve().parents[1]
QUESTIONS = ROOT.parent / "shared" / "data" / "envs" / "gsm8k" / "test.jsonl"
ARMS: dict[str, Callable[[float | None], Algorithm]] = {
    "single": lambda heat: SelfConsistency(samples=1, temperature=heat),
    "self_consistency": lambda heat: SelfConsistency(samples=4, temperature=heat),
    "debate": lambda heat: Debate(agents=2, rounds=1, judge=False, temperature=heat),
}
TITLES = {
    "single": "single shot",
    "self_consistency": "majority of 4 samples",
    "debate": "debate, 2 agents, 1 round, majority",
    "first": "the first of those 4 samples",
    "any": "any of those 4 samples (what a perfect chooser would reach)",
}


class Capped(Wrapper):
    """A client that lets no reply be longer than so many tokens."""

    def __init__(self, client: ModelClient, max_tokens: int) -> None:
        super().__init__(client)
        self.max_tokens = max_tokens

    async def complete(self, request: ModelRequest, key: str) -> ModelResponse:
        """Ask the client."""
        return await self.client.complete(replace(request, max_tokens=self.max_tokens), key)


@dataclass(slots=True)
class Arm:
    """What one arm came to, question by question."""

    right: dict[int, bool] = field(default_factory=dict)
    calls: int = 0
    written: int = 0
    cut: int = 0


def is_right(answer: str | None, gold: str) -> bool:
    """Whether the last number of an answer is the number after ``####``; no number is never right.

    >>> is_right("So $1,200.", "... #### 1200"), is_right("", "#### 5"), is_right(None, "#### 5")
    (True, False, False)
    """
    given, wanted = numbers_in(answer or ""), numbers_in(gold.rpartition("####")[2])
    return bool(given) and given[-1].value == wanted[-1].value


async def answered(
    engine: Engine, algorithm: Algorithm, run_id: str, question: str
) -> tuple[Result, Sequence[Exchange]]:
    """Work on a question in one arm, or go on with it, or only read it; return the result and all that was said.

    An algorithm goes on without a call that failed. That is right for a user and wrong for an experiment, so a run with
    such a call does not count: the next start makes a new one.
    """
    for take in itertools.count(1):
        name = f"{run_id}.{take}"
        try:
            begun = bool(await engine.journal.events(name))
        except RunNotFound:
            begun = False
        end = await (
            engine.resume(name, algorithm) if begun else engine.run(algorithm, {"task": question}, run_id=name)
        )
        exchanges = transcript(await engine.journal.events(name))
        why = end.error or next((one.error for one in exchanges if one.error), "")
        if not why:
            return end, exchanges
        if not (begun and end.status is Status.COMPLETED):
            raise SystemExit(f"a call of {name} failed: {why}; the same command goes on from there")
    raise AssertionError  # The takes never end.


async def measure(
    client: ModelClient, rows: Mapping[int, Mapping[str, str]], given: argparse.Namespace, done: Callable[[Any], None]
) -> dict[str, Arm]:
    """Ask every question in every arm, a question at a time; ``done`` gets what there is after each."""
    arms = {name: Arm() for name in [*given.arms, *("first", "any") * ("self_consistency" in given.arms)]}
    mark = digest([client.name, given.max_tokens, given.temperature])[:8]
    capped = Capped(client, given.max_tokens)
    async with assemble(capped, store=given.store) as engine:
        for number, row in rows.items():
            for name in given.arms:
                run_id = f"gsm8k-{mark}-{number:04d}-{name}"
                end, exchanges = await answered(engine, ARMS[name](given.temperature), run_id, row["question"])
                arm = arms[name]
                arm.right[number] = is_right(end.value["answer"], row["answer"])
                arm.calls += end.usage.calls
                arm.written += end.usage.output_tokens
                replies = [one.response for one in exchanges if one.response is not None]
                arm.cut += sum(one.finish_reason == "length" for one in replies)
                if name == "self_consistency":
                    samples = [is_right(answer, row["answer"]) for answer in end.value["answers"]]
                    arms["first"].right[number], arms["any"].right[number] = samples[0], any(samples)
            done(arms)
    return arms


def page(arms: Mapping[str, Arm], model: str, given: argparse.Namespace) -> str:
    """The results as a document."""
    count = len(next(iter(arms.values())).right)
    base = "single" if "single" in arms else "first"
    heat = "the provider's default" if given.temperature is None else given.temperature
    about = (
        f"Model `{model}`, at most {given.max_tokens} tokens a reply, temperature {heat}. The questions are the first "
        f"{count} of the test set shuffled with seed {given.seed}. An answer is right if its last number is the "
        "expected one; a reply without a number is wrong."
    )
    lines = [f"# Debate and self-consistency on {count} questions of GSM8K", "", about, ""]
    lines += [
        "| arm | calls a question | right | share | 95 % interval | tokens written a question | replies cut off |",
        "|---|---:|---:|---:|---|---:|---:|",
    ]
    for name, arm in arms.items():
        right = sum(arm.right.values())
        span = wilson(right, count)
        asked = f"{arm.calls / count:.1f}" if arm.calls else ""
        spent = f"{arm.written / count:.0f} | {arm.cut} of {arm.calls}" if arm.calls else " | "
        share = f"{right} of {count} | {span.estimate:.0%} | {span.low:.0%} to {span.high:.0%}"
        lines.append(f"| {TITLES[name]} | {asked} | {share} | {spent} |")
    lines += ["", f"Question by question, beside {TITLES[base]}:", ""]
    for name in [name for name in given.arms if name != base]:
        lines.append(f"- {TITLES[name]}: {compared(arms[base].right, arms[name].right)}")
    if {"self_consistency", "debate"} <= {*arms}:
        words = compared(arms["self_consistency"].right, arms["debate"].right)
        lines.append(f"- debate beside the majority of 4, at the same number of calls: {words}")
    command = f"--model {model} --questions {given.questions} --seed {given.seed} --max-tokens {given.max_tokens}"
    lines += ["", f"Measured with `python benchmarks/gsm8k.py {command}`.", ""]
    return "\n".join(lines)


def parsed(argv: Sequence[str] | None) -> argparse.Namespace:
    """What the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True, help="provider:name")
    parser.add_argument("--base-url")
    parser.add_argument("--data", type=Path, default=QUESTIONS)
    parser.add_argument("--questions", type=int, default=25)
    parser.add_argument("--seed", type=int, default=8)
    parser.add_argument("--arms", nargs="+", choices=ARMS, default=list(ARMS))
    parser.add_argument("--max-tokens", type=int, default=400)
    parser.add_argument("--temperature", type=float)
    parser.add_argument("--timeout", type=float, default=900.0, help="seconds to wait for one reply")
    parser.add_argument("--jobs", type=int, default=1, help="calls at once")
    parser.add_argument("--store", type=Path, default=Path(".retrial/gsm8k.db"))
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "results" / "gsm8k.md")
    return parser.parse_args(argv)


def chosen(path: Path, count: int, seed: int) -> dict[int, Mapping[str, str]]:
    """The first ``count`` questions of the shuffled file, by their line, counted from 0."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    order = random.Random(seed).sample(range(len(rows)), len(rows))
    return {number: rows[number] for number in order[:count]}


def main(argv: Sequence[str] | None = None, client: ModelClient | None = None) -> int:
    """Measure, and write the page; ``client`` takes the place of the model that ``--model`` names."""
    given, console = parsed(argv), Console(stderr=True)
    given.store.parent.mkdir(parents=True, exist_ok=True)
    limits = Limits(max_concurrency=given.jobs)
    client = client or client_for(given.model, base_url=given.base_url, timeout=given.timeout, limits=limits)

    def write(arms: Mapping[str, Arm]) -> None:
        told = [f"{name} {sum(arm.right.values())}" for name, arm in arms.items()]
        console.print(
            f"{len(next(iter(arms.values())).right)} of {given.questions}: {', '.join(told)}", highlight=False
        )
        given.out.write_text(page(arms, given.model, given), encoding="utf-8")
        values = {name: {str(number): right for number, right in arm.right.items()} for name, arm in arms.items()}
        given.out.with_suffix(".json").write_text(json.dumps(values, indent=1) + "\n", encoding="utf-8")

    asyncio.run(measure(client, chosen(given.data, given.questions, given.seed), given, write))
    return 0


if __name__ == "__main__":
    sys.exit(main())
