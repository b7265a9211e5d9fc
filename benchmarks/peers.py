"""Compares this project with other libraries at the same task, in one interleaved run.

Each round runs every script of ``peers/`` once, in random order, each in a process of its own; the table shows medians.
The peers live in an environment of their own, ``benchmarks/.venv-peers``, which is made when it is missing.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import os
import platform
import random
import statistics
import subprocess
import sys
import venv
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

HERE = Path(__file__).parent
PEERS_PYTHON = HERE / ".venv-peers" / "bin" / "python"
RESULTS = HERE.parent / "docs" / "results"
TIMEOUT = 900
CONCURRENCY, LATENCY = 1000, 0.05
OURS, LANGGRAPH = "retrial_sqlite", "langgraph_sqlite"


@dataclass(frozen=True)
class Peer:
    """One script, and how many tasks it solves in a round: rates are comparable, and slow ones get fewer."""

    script: str
    tasks: int
    ours: bool = False


PEERS = (
    Peer("floor", 10_000, ours=True),
    Peer("floor_sqlite", 10_000, ours=True),
    Peer("retrial_sqlite", 10_000, ours=True),
    Peer("retrial_memory", 10_000, ours=True),
    Peer("pydantic_ai_direct", 10_000),
    Peer("langgraph_memory", 1000),
    Peer("langgraph_sqlite", 1000),
    Peer("dspy_refine", 400),
    Peer("pydantic_ai_agent", 1000),
    Peer("dbos_sqlite", 300),
    Peer("inspect_eval", 300),
)


def main() -> None:
    """Run the comparison and write its table, numbers and figure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", nargs="*", help="scripts to run, by name")
    parser.add_argument("--quick", action="store_true", help="one round of few tasks, and nothing is written")
    parser.add_argument("--note", default="", help="a sentence for the page, such as what else the machine was doing")
    given = parser.parse_args()
    console = Console(width=max(Console().width, 132))
    chosen = [peer for peer in PEERS if not given.only or peer.script in given.only]
    reason = "" if all(peer.ours for peer in chosen) else install(console)
    skipped = {peer.script: reason for peer in chosen if reason and not peer.ours}
    rounds = 1 if given.quick else given.rounds
    load = os.getloadavg()[0]
    measured = measure([peer for peer in chosen if peer.script not in skipped], rounds, skipped, quick=given.quick)
    rows = sorted((medians(runs) for runs in measured.values() if runs), key=lambda row: -row["tasks_per_s"])
    machine = {
        "date": dt.datetime.now(dt.UTC).date().isoformat(),
        "cpu": cpu_model(),
        "cores": os.cpu_count(),
        "load_before": round(load, 1),
        "python": platform.python_version(),
        "rounds": rounds,
        "concurrency": CONCURRENCY,
        "latency": LATENCY,
        "note": given.note,
    }
    goals = check_goals(rows)
    show(console, rows, goals, skipped)
    if not given.quick and not given.only:
        write(rows, goals, skipped, machine)
        console.print("Written to docs/results/peers.md, peers.json and peers.svg.")


def install(console: Console) -> str:
    """Make the peers' environment if it is missing; returns why it cannot be, or nothing."""
    if PEERS_PYTHON.exists():
        return ""
    console.print("Installing the peers into benchmarks/.venv-peers …")
    venv.create(HERE / ".venv-peers", with_pip=True)
    for line in (HERE / "requirements-peers.txt").read_text().splitlines():
        # One by one and the first failures told apart, so that one missing package does not take the others along.
        if line and not line.startswith("#"):
            pip = subprocess.run([PEERS_PYTHON, "-m", "pip", "install", "-q", line], check=False)
            if pip.returncode:
                console.print(f"{line} cannot be installed; its scripts will be skipped")
    return ""


def measure(peers: list[Peer], rounds: int, skipped: dict[str, str], *, quick: bool) -> dict[str, list[dict[str, Any]]]:
    """Run every script ``rounds`` times, interleaved; what fails is put into ``skipped`` with its reason."""
    found: dict[str, list[dict[str, Any]]] = {peer.script: [] for peer in peers}
    with Progress() as progress:
        bar = progress.add_task("Peers", total=rounds * len(peers))
        for _ in range(rounds):
            for peer in random.sample(peers, len(peers)):
                progress.update(bar, description=f"{peer.script:20}")
                if peer.script not in skipped:
                    try:
                        found[peer.script].append(run(peer, max(100, peer.tasks // 10) if quick else peer.tasks))
                    except (RuntimeError, subprocess.TimeoutExpired) as error:
                        skipped[peer.script] = str(error)
                progress.advance(bar)
    return found


def run(peer: Peer, tasks: int) -> dict[str, Any]:
    """Run one script once and return what it measured."""
    python = sys.executable if peer.ours else str(PEERS_PYTHON)
    script = str(HERE / "peers" / f"{peer.script}.py")
    options = ["--tasks", str(tasks), "--concurrency", str(CONCURRENCY), "--latency", str(LATENCY)]
    done = subprocess.run([python, script, *options], capture_output=True, text=True, timeout=TIMEOUT, check=False)
    lines = [line for line in done.stdout.splitlines() if line.startswith('{"name"')]
    if done.returncode or not lines:
        last = (done.stderr.strip() or "it printed nothing").splitlines()[-1]
        raise RuntimeError(last.replace(str(HERE), "benchmarks"))
    return {"script": peer.script, **json.loads(lines[-1])}


def medians(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """The median of every number, and the best rate beside it."""
    row = dict(runs[0])
    for name in ("seconds", "tasks_per_s", "cpu_ms_per_task", "peak_rss_mb"):
        row[name] = round(statistics.median(one[name] for one in runs), 3)
    row["best_tasks_per_s"] = max(one["tasks_per_s"] for one in runs)
    row["best_cpu_ms_per_task"] = min(one["cpu_ms_per_task"] for one in runs)
    row["rounds"] = len(runs)
    return row


def check_goals(rows: list[dict[str, Any]]) -> list[tuple[str, str, bool]]:
    """Every goal with what was measured and whether it is met."""
    by_script = {row["script"]: row for row in rows}
    if OURS not in by_script:
        return []
    ours = by_script[OURS]
    rate, cpu, memory = ours["tasks_per_s"], ours["cpu_ms_per_task"], ours["peak_rss_mb"]
    goals = [
        ("durable, at least 2,500 tasks/s", f"{rate:,.0f}", rate >= 2500),
        ("at most 0.5 ms of CPU a task", f"{cpu:.2f}", cpu <= 0.5),
        ("at most 60 MB at the peak", f"{memory:.0f}", memory <= 60),
    ]
    if LANGGRAPH in by_script:
        ratio = rate / by_script[LANGGRAPH]["tasks_per_s"]
        goals.append(("at least 20 times LangGraph with its SQLite saver", f"{ratio:.1f}", ratio >= 20))
    return goals


def cells(row: dict[str, Any], ours: float | None) -> list[str]:
    """A row of the table."""
    ratio = row["tasks_per_s"] / ours if ours else 0.0
    return [
        row["name"],
        row["version"],
        "yes" if row["durable"] else "no",
        f"{row['tasks']:,}",
        f"{row['tasks_per_s']:,.0f}",
        f"{row['best_tasks_per_s']:,.0f}",
        f"{ratio:.2f}" if ours else "",
        f"{row['cpu_ms_per_task']:.2f}",
        f"{row['best_cpu_ms_per_task']:.2f}",
        f"{row['peak_rss_mb']:.0f}",
    ]


HEADINGS = (
    "implementation",
    "version",
    "durable",
    "tasks",
    "tasks/s",
    "best",
    "of ours",
    "CPU ms/task",
    "best CPU",
    "peak MB",
)


def rate_of_ours(rows: list[dict[str, Any]]) -> float | None:
    """The rate that the others are compared with."""
    return next((row["tasks_per_s"] for row in rows if row["script"] == OURS), None)


def show(
    console: Console, rows: list[dict[str, Any]], goals: list[tuple[str, str, bool]], skipped: dict[str, str]
) -> None:
    """Print the table and the goals."""
    table = Table(title=f"{CONCURRENCY:,} tasks at once, {1000 * LATENCY:g} ms a model call, medians")
    for index, heading in enumerate(HEADINGS):
        table.add_column(heading, justify="left" if index < 3 else "right", no_wrap=True)
    for row in rows:
        table.add_row(*cells(row, rate_of_ours(rows)), style="bold" if row["script"] == OURS else None)
    console.print(table)
    for script, reason in skipped.items():
        console.print(f"skipped: {script}: {reason}")
    for goal, value, met in goals:
        console.print(f"{'met    ' if met else 'NOT MET'}  {goal}: {value}")


def write(
    rows: list[dict[str, Any]],
    goals: list[tuple[str, str, bool]],
    skipped: dict[str, str],
    machine: dict[str, Any],
) -> None:
    """Write the numbers, the page and the figure."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    whole = {
        "machine": machine,
        "rows": rows,
        "goals": [{"goal": goal, "value": value, "met": met} for goal, value, met in goals],
        "skipped": skipped,
    }
    (RESULTS / "peers.json").write_text(json.dumps(whole, indent=2) + "\n", encoding="utf-8")
    ideal = machine["concurrency"] / 3 / machine["latency"]
    task = (
        f"A task is wrong, lesson, right: three scripted model calls of {1000 * machine['latency']:g} ms, "
        f"{machine['concurrency']:,} tasks at once. An ideal implementation finishes {ideal:,.0f} tasks a second."
    )
    conditions = (
        f"{machine['date']}, {machine['cpu']}, {machine['cores']} cores (load {machine['load_before']:g} before the "
        f"run), Python {machine['python']}. Medians of {machine['rounds']} interleaved rounds in random order; "
        "`best` is the best round. CPU and rate without imports and set-up, peak memory with them. *durable* means "
        "that a killed process loses no finished step, with each library's own SQLite settings; inspect_ai writes its "
        f"log every few samples. {machine['note']}"
    )
    lines = [
        "# The same loop in other libraries",
        "",
        task,
        "",
        conditions.rstrip(),
        "",
        "| " + " | ".join(HEADINGS) + " |",
        "|" + "---|" * 3 + "---:|" * (len(HEADINGS) - 3),
        *("| " + " | ".join(cells(row, rate_of_ours(rows))) + " |" for row in rows),
        "",
        *(f"Skipped: {script}: {reason}" for script, reason in skipped.items()),
        "![tasks a second](peers.svg)",
        "",
        "| goal | measured | |",
        "|---|---:|---|",
        *(f"| {goal} | {value} | {'met' if met else '**not met**'} |" for goal, value, met in goals),
        "",
        "Run it with `python benchmarks/peers.py`; the numbers are in [peers.json](peers.json).",
    ]
    (RESULTS / "peers.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (RESULTS / "peers.svg").write_text(figure(rows), encoding="utf-8")


def figure(rows: list[dict[str, Any]]) -> str:
    """Draw the rates as bars: ours, the other durable ones, and those that remember nothing."""
    left, width, step = 250, 440, 28
    top = max(row["tasks_per_s"] for row in rows)
    height = 66 + step * len(rows)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 780 {height}" font-family="sans-serif" font-size="13">',
        f'<rect width="780" height="{height}" fill="#fff"/>',
        '<text x="12" y="24" font-size="15" font-weight="bold">Tasks a second, 1,000 at once</text>',
    ]
    legend = (("#1b6ca8", "retrial, durable"), ("#e0913a", "durable"), ("#b9bec4", "not durable"))
    for index, (colour, label) in enumerate(legend):
        x = 400 + 130 * index
        parts += [
            f'<rect x="{x}" y="13" width="12" height="12" fill="{colour}"/>',
            f'<text x="{x + 17}" y="24">{label}</text>',
        ]
    for index, row in enumerate(rows):
        y = 44 + step * index
        colour = legend[0][0] if row["script"] == OURS else legend[1][0] if row["durable"] else legend[2][0]
        bar = max(1.5, width * row["tasks_per_s"] / top)
        parts += [
            f'<text x="{left - 8}" y="{y + 15}" text-anchor="end">{escape(row["name"])}</text>',
            f'<rect x="{left}" y="{y}" width="{bar:.1f}" height="20" fill="{colour}"/>',
            f'<text x="{left + bar + 6:.1f}" y="{y + 15}">{row["tasks_per_s"]:,.0f}</text>',
        ]
    return "\n".join([*parts, "</svg>"]) + "\n"


def cpu_model() -> str:
    """The processor's name, as the system gives it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.machine()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())


if __name__ == "__main__":
    main()
