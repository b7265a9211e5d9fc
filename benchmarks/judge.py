"""What judging code in the sandbox costs beside running the same script with no protection at all."""

from __future__ import annotations

import argparse
import asyncio
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

from rich.console import Console
from rich.progress import track
from rich.table import Table

from retrial.core.effects import RunTests
from retrial.errors import RetrialError
from retrial.sandbox.opening import open_sandbox
from retrial.testbench.handler import TestsHandler

SOLUTION = '''\
from typing import List


def has_close_elements(numbers: List[float], threshold: float) -> bool:
    """Check if in given list of numbers, are any two numbers closer to each other than given threshold."""
    for index, one in enumerate(numbers):
        for other in numbers[index + 1 :]:
            if abs(one - other) < threshold:
                return True
    return False
'''

CASES = (
    ("[1.0, 2.0, 3.9, 4.0, 5.0, 2.2], 0.3", True),
    ("[1.0, 2.0, 3.9, 4.0, 5.0, 2.2], 0.05", False),
    ("[1.0, 2.0, 5.9, 4.0, 5.0], 0.95", True),
    ("[1.0, 2.0, 5.9, 4.0, 5.0], 0.8", False),
    ("[1.0, 2.0, 3.0, 4.0, 5.0, 2.0], 0.1", True),
    ("[1.1, 2.2, 3.1, 4.1, 5.1], 1.0", True),
    ("[1.1, 2.2, 3.1, 4.1, 5.1], 0.5", False),
)
"""The checks of HumanEval/0."""

ASSERTS = RunTests(
    output=SOLUTION,
    tests=tuple(f"assert has_close_elements({arguments}) == {expected}" for arguments, expected in CASES),
    entry_point="has_close_elements",
)
CHECK = RunTests(
    output=SOLUTION,
    tests=(
        "def check(candidate):\n"
        + "".join(f"    assert candidate({arguments}) == {expected}\n" for arguments, expected in CASES),
    ),
    style="check",
    entry_point="has_close_elements",
)
LOOP = replace(
    CHECK,
    tests=(
        "def check(candidate):\n    for numbers, threshold, expected in [\n"
        + "".join(f"        ({arguments}, {expected}),\n" for arguments, expected in CASES)
        + "    ]:\n        assert candidate(numbers, threshold) == expected\n",
    ),
)
"""The same with a loop, which only a judge's own process can run; literal asserts need none."""
GOAL = 2.0
"""Jailed, a list of asserts, against the bare script."""


def main() -> None:
    """Measure, interleaved, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=60)
    parser.add_argument("--quick", action="store_true", help="10 pairs")
    given = parser.parse_args()
    asyncio.run(compare(Console(), 10 if given.quick else given.pairs))


async def compare(console: Console, pairs: int) -> None:
    """Run all variants in every round and compare each with the bare script of its round."""
    handlers, reasons = handlers_by_level()
    variants: dict[str, Callable[[], Awaitable[None]]] = {}
    for level, handler in handlers.items():
        variants[f"asserts, {level}"] = lambda handler=handler: judged(handler, ASSERTS)
        variants[f"check function, {level}"] = lambda handler=handler: judged(handler, CHECK)
        variants[f"check with a loop (judge process), {level}"] = lambda handler=handler: judged(handler, LOOP)
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "script.py"
        script.write_text(f"{SOLUTION}\n" + "\n".join(ASSERTS.tests) + "\n", encoding="utf-8")
        bare: list[float] = []
        spent: dict[str, list[float]] = {name: [] for name in variants}
        for warm in variants.values():
            await warm()
        for _ in track(range(pairs), "Pairs", console=console):
            bare.append(run_bare(script))
            for name, variant in variants.items():
                begun = time.perf_counter()
                await variant()
                spent[name].append(time.perf_counter() - begun)
    table = Table(title=f"One list of 7 asserts (HumanEval/0), {pairs} interleaved rounds, wall time")
    for heading in ("what", "median ms", "least ms", "median ratio", "goal"):
        table.add_column(heading, justify="left" if heading in ("what", "goal") else "right")
    table.add_row("python -I script.py", f"{1000 * statistics.median(bare):.1f}", f"{1000 * min(bare):.1f}", "1.00", "")
    for name, values in spent.items():
        ratio = statistics.median(one / base for one, base in zip(values, bare, strict=True))
        goal = "" if name != "asserts, jailed" else f"{'met' if ratio <= GOAL else 'NOT MET'} (at most {GOAL:g})"
        times = [f"{1000 * statistics.median(values):.1f}", f"{1000 * min(values):.1f}"]
        table.add_row(name, *times, f"{ratio:.2f}", goal)
    console.print(table)
    for level, reason in reasons.items():
        console.print(f"skipped: {level}: {reason}")
    for level, handler in handlers.items():
        console.print(f"two at a time, {level}: {await rate(handler, pairs):.0f} runs/s")


def handlers_by_level() -> tuple[dict[str, TestsHandler], dict[str, str]]:
    """A handler for each level that this machine has, and why it lacks the others."""
    handlers: dict[str, TestsHandler] = {}
    reasons: dict[str, str] = {}
    for level in ("jailed", "confined"):
        try:
            handlers[level] = TestsHandler(open_sandbox(level, level))
        except RetrialError as error:
            reasons[level] = str(error)
    return handlers, reasons


async def judged(handler: TestsHandler, effect: RunTests) -> None:
    """Judge once; a wrong report would make the time meaningless."""
    report = await handler(effect)
    if not all(check.passed for check in report.checks) or not report.checks:
        raise RuntimeError(f"the right solution was not accepted: {report}")


def run_bare(script: Path) -> float:
    """Run the script with nothing around it; returns its seconds."""
    begun = time.perf_counter()
    subprocess.run([sys.executable, "-I", str(script)], check=True)
    return time.perf_counter() - begun


async def rate(handler: TestsHandler, runs: int) -> float:
    """Judge ``runs`` times, two at a time, and return how many a second."""
    left = iter(range(runs))

    async def work() -> None:
        for _ in left:
            await judged(handler, ASSERTS)

    begun = time.perf_counter()
    await asyncio.gather(work(), work())
    return runs / (time.perf_counter() - begun)


if __name__ == "__main__":
    main()
