"""The insight bank with 10,000 trajectories and 500 extractions: memory, recall, and what grows with the journal.

The trials are kept as the loop keeps them, each batch of 20 starts an extraction of its own, and a scripted extractor
answers with operations of all four kinds. Memory is that of this process, which holds the engine and the store.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from rich.console import Console
from rich.progress import Progress

from retrial.assembly import assemble
from retrial.bank import InsightBank
from retrial.core.codec import encode
from retrial.core.effects import Recall, Remember
from retrial.core.messages import ModelRequest
from retrial.memory.insights import Operation
from retrial.memory.trajectories import Trajectory

BATCH = 20
WORDS_A_TASK = 60
GOAL_MS, GOAL_GROWTH_MB = 10.0, 10.0


class World:
    """Makes trials and plays the extractor, the same ones for the same seed."""

    def __init__(self, tasks: int, seed: int) -> None:
        self._random = random.Random(seed)
        letters = "abcdefghijklmnopqrstuvwxyz"
        self._words = ["".join(self._random.choices(letters, k=self._random.randint(3, 9))) for _ in range(20_000)]
        self._weights = [1 / rank for rank in range(1, len(self._words) + 1)]
        self.tasks = [self._text(WORDS_A_TASK) for _ in range(tasks)]
        self._added = 0

    def trial(self, number: int) -> Trajectory:
        """One trial: a third of all are of one task in a hundred, and four of ten pass."""
        tasks = self.tasks[: len(self.tasks) // 100] if self._random.random() < 1 / 3 else self.tasks
        index = self._random.randrange(len(tasks))
        passed = self._random.random() < 0.4
        return Trajectory(
            id=f"{number:012x}",
            task_id=f"task-{index}",
            task=tasks[index],
            outcome="passed" if passed else "failed",
            steps=(self._text(150),),
            score=float(passed),
            reason="" if passed else "expected 3, got 4",
            insights=(1, 2, 3),
            run_id=f"run-{number}",
        )

    def extract(self, request: ModelRequest) -> str:
        """Answer as an extractor does: a new insight, better words for one, support and an objection."""
        listed = request.messages[-1].content.rpartition("<insights>")[2].count("\n") - 2
        self._added += 1
        lines = [f"ADD: {self._text(20)} {self._added}"]
        if listed > 3:
            edited, worse = self._random.sample(range(1, listed + 1), 2)
            # The first ones are upheld all the time, as general advice is: their history is the longest.
            lines += [f"UPVOTE {1 + self._added % 3}", f"EDIT {edited}: {self._text(20)}", f"DOWNVOTE {worse}"]
        return "\n".join(lines)

    def _text(self, count: int) -> str:
        return " ".join(self._random.choices(self._words, self._weights, k=count))


def resident_mb() -> float:
    """This process's memory, in MB; 0 where the system does not say."""
    try:
        status = Path("/proc/self/status").read_text(encoding="utf-8")
    except OSError:
        return 0.0
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024


async def fill(bank: InsightBank, world: World, trials: int, step: Callable[[], None]) -> tuple[list[float], float]:
    """Keep the trials, and wait for each extraction; memory at five moments, and seconds."""
    memory, begun = [resident_mb()], time.perf_counter()
    for number in range(1, trials + 1):
        item = {"trajectory": encode(world.trial(number)), "extraction": {"batch": BATCH}}
        await bank(Remember(memory="trajectories", item=item), "keep")
        if number % BATCH == 0:
            await bank.settled()
            bank.ends.clear()
            step()
        if number % (trials // 4) == 0:
            memory.append(resident_mb())
    return memory, time.perf_counter() - begun


async def median_ms(work: Callable[[], Awaitable[object]], times: int) -> tuple[float, float]:
    """Milliseconds of ``work``, the median, and of the process's CPU, the mean."""
    spent: list[float] = []
    computed = time.process_time()
    for _ in range(times):
        begun = time.perf_counter()
        await work()
        spent.append(1000 * (time.perf_counter() - begun))
    return statistics.median(spent), 1000 * (time.process_time() - computed) / times


async def times(bank: InsightBank, world: World, repeats: int) -> dict[str, tuple[float, float]]:
    """Milliseconds and those of CPU, by what is done."""
    pick = random.Random(2)

    async def recall() -> None:
        await bank(Recall(memory="insights", query={"count": 5}), "insights")
        task = pick.choice(world.tasks)
        await bank(Recall(memory="trajectories", query={"task": task, "count": 2}), "examples")

    async def undo() -> None:
        newest, number = await bank.insights.journal(50), (await bank.insights.bank()).count
        skipped = next(n for n, one in enumerate(reversed(newest)) if one["operation"]["kind"] != "SKIP")
        await bank.insights.record(Operation(kind="UNDO", target=number - skipped))

    return {
        "recall of 5 insights and 2 similar trials": await median_ms(recall, repeats),
        "the newest 50 operations": await median_ms(lambda: bank.insights.journal(50), 9),
        "the whole bank, with where each insight came from": await median_ms(bank.insights.bank, 9),
        "undoing the newest operation": await median_ms(undo, 3),
    }


async def measure(trials: int, repeats: int, console: Console) -> bool:
    """Measure, print, and say whether the goals are met."""
    world = World(max(trials // 4, 100), seed=1)
    with tempfile.TemporaryDirectory() as folder, Progress(console=console) as progress:
        bar = progress.add_task("Extractions", total=trials // BATCH)
        async with assemble(world.extract, store=Path(folder, "bank.db")) as engine:
            bank = InsightBank(engine, engine.journal.writer)
            bank.attach()
            memory, seconds = await fill(bank, world, trials, lambda: progress.advance(bar))
            found = await times(bank, world, repeats)
            peak = resident_mb()
            (newest,) = await bank.insights.journal(1)
    operations = newest["operation"]["number"]
    console.print(f"{trials:,} trials, {trials // BATCH} extractions, {operations:,} operations in {seconds:.0f} s")
    console.print("memory at 0, 25, 50, 75 and 100 %, and after the reads: ", end="")
    console.print(", ".join(f"{one:.1f}" for one in (*memory, peak)), "MB", highlight=False)
    for name, (milliseconds, computed) in found.items():
        console.print(f"{name}: {milliseconds:.2f} ms, {computed:.2f} ms of CPU", highlight=False)
    growth, (recall, _) = memory[-1] - memory[2], next(iter(found.values()))
    met = growth <= GOAL_GROWTH_MB and recall <= GOAL_MS
    console.print(
        f"goals: recall at most {GOAL_MS:g} ms at the median, and at most {GOAL_GROWTH_MB:g} MB more in the second "
        f"half ({growth:+.1f}): {'met' if met else 'NOT met'}"
    )
    return met


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the trials")
    parser.add_argument("--trials", type=int, default=0, help="instead of 10,000")
    given = parser.parse_args()
    trials = given.trials or (1000 if given.quick else 10_000)
    asyncio.run(measure(trials, 51 if given.quick else 201, Console()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
