"""What every compared script shares: the scripted model, the bound on concurrency, and what is measured.

Standard library only, because it runs in the peers' environment as well as in the project's.

The task is the same everywhere: the first answer is wrong, a lesson is written, the second answer is right. That is
three model calls, each answered after a fixed latency, so an ideal implementation finishes
``concurrency / (3 * latency)`` tasks a second.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import resource
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

TASK = "Convert 26.2 miles to kilometres. Answer with a number and its unit."
WRONG, RIGHT = "42", "42.2 km"
LESSON = "State the unit next time, and keep one decimal."
REASON = "the unit is missing"

LATENCY = 0.05
"""Seconds; ``run`` sets it from the command line."""


def reply(prompt: str, *, reflecting: bool) -> str:
    """What the scripted model answers: a lesson, or the right answer once a lesson is in the prompt."""
    if reflecting:
        return LESSON
    return RIGHT if LESSON in prompt else WRONG


async def answer(prompt: str, *, reflecting: bool) -> str:
    """Answer as a provider would, after the latency."""
    await asyncio.sleep(LATENCY)
    return reply(prompt, reflecting=reflecting)


def passes(output: str) -> tuple[bool, str]:
    """Validate an answer: whether it names the unit, and what is wrong otherwise."""
    return ("km" in output, "" if "km" in output else REASON)


def arguments() -> argparse.Namespace:
    """Read how many tasks to solve, how many at once, and how slow the model is."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--tasks", type=int, default=100)
    parser.add_argument("--concurrency", type=int, default=1000)
    parser.add_argument("--latency", type=float, default=LATENCY)
    return parser.parse_args()


def run(name: str, version: str, *, durable: bool, main: Callable[[Crowd], Awaitable[None]]) -> None:
    """Solve the tasks of the command line with ``main`` and print one line of JSON."""
    global LATENCY  # noqa: PLW0603 - one process measures one thing
    given = arguments()
    LATENCY = given.latency
    with tempfile.TemporaryDirectory() as folder:
        crowd = Crowd(given.tasks, given.concurrency, Path(folder))
        asyncio.run(main(crowd))
    if crowd.solved != crowd.tasks:
        sys.exit(f"{name}: {crowd.solved} of {crowd.tasks} tasks were solved")
    print(
        json.dumps(
            {
                "name": name,
                "version": version,
                "tasks": crowd.tasks,
                "concurrency": given.concurrency,
                "seconds": round(crowd.seconds, 4),
                "tasks_per_s": round(crowd.tasks / crowd.seconds, 1),
                "cpu_ms_per_task": round(1000 * crowd.cpu_seconds / crowd.tasks, 4),
                "peak_rss_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1),
                "durable": durable,
            }
        )
    )


class Crowd:
    """Solves many tasks at once, and measures only that: not the imports and not the set-up."""

    def __init__(self, tasks: int, concurrency: int, folder: Path) -> None:
        self.tasks = tasks
        self.concurrency = concurrency
        self.folder = folder
        self.solved = 0
        self.seconds = 0.0
        self.cpu_seconds = 0.0

    async def solve(self, one: Callable[[int], Awaitable[bool]]) -> None:
        """Run ``one`` for every task number, ``concurrency`` at once; it says whether the task was solved.

        As many workers as tasks at once take the next number, so that memory does not depend on the number of tasks.
        """
        numbers = iter(range(self.tasks))

        async def work() -> None:
            for number in numbers:
                passed = await one(number)
                self.solved += passed

        await one(-1)  # Caches are filled and modules loaded by one task that is not measured.
        begun, cpu = time.perf_counter(), time.process_time()
        await asyncio.gather(*(work() for _ in range(min(self.concurrency, self.tasks))))
        self.cpu_seconds = time.process_time() - cpu
        self.seconds = time.perf_counter() - begun

    async def solve_together(self, all_of_them: Callable[[Crowd, int], Awaitable[int]]) -> None:
        """Solve all tasks by one call, for a library that brings its own concurrency; it says how many it solved."""
        begun, cpu = time.perf_counter(), time.process_time()
        self.solved = await all_of_them(self, self.tasks)
        self.cpu_seconds = time.process_time() - cpu
        self.seconds = time.perf_counter() - begun
