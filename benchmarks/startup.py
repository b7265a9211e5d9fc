"""How much CPU starting costs: the interpreter, the package, the command line, and two libraries to compare with."""

from __future__ import annotations

import argparse
import os
import re
import statistics
import subprocess
import sys
from pathlib import Path

from rich.console import Console
from rich.progress import track
from rich.table import Table

GOALS = {"import retrial": 100, "retrial --help": 150}
"""Milliseconds of CPU, Python's own start included."""

COMMANDS = {
    "python -c pass": ["-c", "pass"],
    "import retrial": ["-c", "import retrial"],
    "retrial --help": ["-m", "retrial.cli.main", "--help"],
    "import retrial.engine, algorithms, store": ["-c", "import retrial.engine, retrial.algorithms, retrial.store"],
    "import pydantic_ai": ["-c", "import pydantic_ai"],
    "import langgraph.graph": ["-c", "import langgraph.graph"],
}


def main() -> None:
    """Measure every command, interleaved, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="3 rounds instead of 15")
    rounds = 3 if parser.parse_args().quick else 15
    console = Console()
    peers = Path(__file__).parent / ".venv-peers" / "bin" / "python"
    spent: dict[str, list[float]] = {name: [] for name in COMMANDS}
    failed: set[str] = set()
    for _ in track(range(rounds), "Starts", console=console):
        for name, arguments in COMMANDS.items():
            python = str(peers) if "langgraph" in name and peers.exists() else sys.executable
            milliseconds, code = cpu_of(command(python, arguments))
            spent[name].append(milliseconds)
            if code:
                failed.add(name)
    table = Table(title=f"CPU of starting, medians of {rounds}")
    for heading in ("what", "ms", "least", "goal", ""):
        table.add_column(heading, justify="left" if heading in ("what", "") else "right")
    for name, values in spent.items():
        middle, goal = statistics.median(values), GOALS.get(name)
        met = "" if goal is None else "met" if middle <= goal else "NOT MET"
        row = (
            ["-", "-", "", "fails"] if name in failed else [f"{middle:.0f}", f"{min(values):.0f}", str(goal or ""), met]
        )
        table.add_row(name, *row)
    console.print(table)
    for name in GOALS:
        if name not in failed:
            console.print(
                f"most expensive modules of {name!r}: {', '.join(heavy(command(sys.executable, COMMANDS[name])))}"
            )


def command(python: str, arguments: list[str]) -> list[str]:
    """The command line; the installed script stands for its module, since that is what people start."""
    script = Path(python).parent / "retrial"
    return [str(script), "--help"] if "retrial.cli.main" in arguments and script.exists() else [python, *arguments]


def cpu_of(argv: list[str]) -> tuple[float, int]:
    """Run a command; returns its CPU in milliseconds and its exit code."""
    with subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    return 1000 * (usage.ru_utime + usage.ru_stime), process.returncode


def heavy(argv: list[str], most: int = 8) -> list[str]:
    """The modules that take longest to import by themselves, with their milliseconds."""
    start = [sys.executable, "-X", "importtime"]
    argv = [*start, *argv] if argv[0] != sys.executable else [*start, *argv[1:]]
    lines = subprocess.run(argv, capture_output=True, text=True, check=False).stderr.splitlines()
    found = [match for line in lines if (match := re.match(r"import time:\s+(\d+) \|\s+\d+ \|\s+(\S+)", line))]
    found.sort(key=lambda match: -int(match[1]))
    return [f"{match[2]} {int(match[1]) / 1000:.1f}" for match in found[:most]]


if __name__ == "__main__":
    main()
