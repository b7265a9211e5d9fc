"""Whether verdicts agree with what is known: recorded attempts, hostile programs, tests that models wrote.

Every set is a function that is given the data and yields cases; ``SETS`` names them, so a new one is a function and a
line. A case is a name and a question that is answered with the reason why verdicts disagree, or None. The data stands
in ``../shared/data`` beside the project; a set without its data is left out and the table says so.
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import agree_text
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from retrial.core.effects import RunTests
from retrial.core.reports import TestReport
from retrial.errors import EvaluatorError, RetrialError
from retrial.sandbox.opening import open_sandbox
from retrial.testbench.supervisor import examine, open_session

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"

Case = tuple[str, Callable[[], str | None]]
"""A name, and the question whether verdicts agree: None, or why they do not."""


class Absent(Exception):
    """The data of a set is not here."""


@dataclass
class Bench:
    """What cases need: the data and the sandbox."""

    data: Path = DATA
    timeout: float = 10.0

    def rows(self, name: str) -> list[dict[str, Any]]:
        path = self.data / name
        if not path.exists():
            raise Absent(f"{name} is not here")
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]

    def tasks(self, *names: str) -> dict[tuple[str, str], dict[str, Any]]:
        return {(name, row["task_id"]): row for name in names for row in self.rows(f"corpus/{name}.jsonl")}

    @functools.cached_property
    def sandbox(self):
        return open_sandbox()

    def run(self, output: str, tests: Iterable[str], **fields: Any) -> TestReport:
        effect = RunTests(output=output, tests=tuple(tests), **{"timeout": self.timeout, **fields})
        return examine(effect, open_session(effect, self.sandbox))


def verdict(report: TestReport) -> str:
    """What a report says in one word: pass, fail, timeout or error."""
    kinds = {check.kind for check in report.checks}
    if "timeout" in kinds:
        return "timeout"
    if report.load_error or "bad_test" in kinds:
        return "error"
    return "pass" if report.finished and report.passed_count == report.valid_count > 0 else "fail"


def spread(items: list[Any], count: int) -> list[Any]:
    """About ``count`` items, evenly spread."""
    return items[:: max(1, len(items) // count)]


def strata(rows: list[dict[str, Any]], fields: tuple[str, ...], count: int) -> list[dict[str, Any]]:
    """Some rows of every combination of values of ``fields``."""
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault(tuple(row.get(name) for name in fields), []).append(row)
    return [row for group in groups.values() for row in spread(group, count)[:count]]


def _is_pass(bench: Bench, expected: bool, output: str, tests: list[str], **fields: Any) -> str | None:
    """Why a verdict is not the expected one."""
    try:
        report = bench.run(output, tests, **fields)
    except EvaluatorError as error:
        return f"the tests cannot be used: {error}" if expected else None
    said = verdict(report)
    if (said == "pass") is expected:
        return None
    first = next((check.message for check in report.checks if not check.passed), "")
    return f"{said}, expected {'a pass' if expected else 'no pass'}: {report.load_error or first}"


def python_attempts(bench: Bench, *, quick: bool) -> Iterator[Case]:
    """Recorded attempts of models at HumanEval and MBPP."""
    tasks = bench.tasks("humaneval_py", "humaneval_py_multiple", "mbpp_py")
    rows = [row for row in bench.rows("corpus/attempts_py.jsonl") if (row["task_set"], row["task_id"]) in tasks]
    for row in strata(rows, ("task_set", "isolated_kind", "code_is_body_only"), 4) if quick else rows:
        task = tasks[row["task_set"], row["task_id"]]
        fields = {"style": "check", "entry_point": task["entry_point"], "prompt": task["prompt"]}
        expected = row["isolated_verdict"]
        yield row["uid"], functools.partial(_is_pass, bench, expected, row["code"], [task["test"]], **fields)


def rust_attempts(bench: Bench, *, quick: bool) -> Iterator[Case]:
    """Recorded attempts of models at the Rust translations."""
    tasks = bench.tasks("humaneval_rs", "mbpp_rs")
    rows = [row for row in bench.rows("corpus/attempts_rs.jsonl") if (row["task_set"], row["task_id"]) in tasks]
    for row in strata(rows, ("task_set", "isolated_kind"), 6) if quick else rows:
        task = tasks[row["task_set"], row["task_id"]]
        fields = {"style": "rust", "entry_point": task["entry_point"]}
        expected = row["isolated_verdict"]
        yield row["uid"], functools.partial(_is_pass, bench, expected, row["code"], [task["test"]], **fields)


def hostile(bench: Bench, *, quick: bool) -> Iterator[Case]:
    """Programs that try to pass without being right, and odd ones that are right."""

    def ask(row: dict[str, Any]) -> str | None:
        tests = row["tests"] if isinstance(row["tests"], list) else [row["tests"]]
        fields = {"style": row["style"], "entry_point": row["entry_point"], "timeout": row.get("timeout_s", 30)}
        try:
            report = bench.run(row["code"], tests, **fields)
        except EvaluatorError as error:
            return None if "error" in row["accept"] else f"error: {error}"
        score = report.passed_count / report.valid_count if report.valid_count else 0
        if verdict(report) not in row["accept"]:
            return f"{verdict(report)}, accepted: {', '.join(row['accept'])}"
        wanted = row.get("expected_score", score)
        return None if score == wanted else f"the score is {score:g}, expected {wanted:g}"

    rows = bench.rows("hostile/hostile.jsonl")
    for row in strata(rows, ("category", "style"), 2) if quick else rows:
        yield row["id"], functools.partial(ask, row)


def traps(bench: Bench, *, quick: bool) -> Iterator[Case]:
    """Attempts whose published label is wrong: in Python and in Rust."""
    rows = bench.rows("corpus/evaluator_traps.jsonl")
    for row in strata(rows, ("language", "disagreement_cause"), 3) if quick else rows:
        fields = {"style": "check", "entry_point": row["entry_point"], "prompt": row["prompt"]}
        if row["language"] == "rs":
            fields = {"style": "rust", "entry_point": row["entry_point"]}
        expected = row["isolated_verdict"]
        yield row["uid"], functools.partial(_is_pass, bench, expected, row["code"], [row["test"]], **fields)


def model_written(bench: Bench, *, quick: bool) -> Iterator[Case]:
    """Asserts that a model wrote, some of them wrong, against the right solution."""
    tasks = bench.tasks("humaneval_py")
    rows = [row for row in bench.rows("corpus/model_written_tests.jsonl") if ("humaneval_py", row["task_id"]) in tasks]
    for row in strata(rows, ("kind",), 12) if quick else rows:
        task = tasks["humaneval_py", row["task_id"]]
        fields = {"entry_point": task["entry_point"], "prompt": task["prompt"]}
        solution, expected = task["canonical_solution"], row["holds_for_canonical"]
        name = f"{row['task_id']} #{row['index']}"
        yield name, functools.partial(_is_pass, bench, expected, solution, [row["test"]], **fields)


def _humaneval(bench: Bench, solution: str | None, *, quick: bool) -> Iterator[Case]:
    tasks = bench.rows("corpus/humaneval_py.jsonl")
    for task in spread(tasks, 20) if quick else tasks:
        code = task["canonical_solution"] if solution is None else solution
        fields = {"style": "check", "entry_point": task["entry_point"], "prompt": task["prompt"]}
        yield task["task_id"], functools.partial(_is_pass, bench, solution is None, code, [task["test"]], **fields)


def canonical(bench: Bench, *, quick: bool) -> Iterator[Case]:
    """HumanEval's own solutions, which pass."""
    return _humaneval(bench, None, quick=quick)


def stubs(bench: Bench, *, quick: bool) -> Iterator[Case]:
    """Functions that return None, none of which passes."""
    return _humaneval(bench, "    return None\n", quick=quick)


SETS: dict[str, Callable[..., Iterator[Case]]] = {
    "python attempts": python_attempts,
    "rust attempts": rust_attempts,
    "hostile programs": hostile,
    "evaluator traps": traps,
    "model-written tests": model_written,
    "canonical solutions": canonical,
    "return None": stubs,
    **agree_text.SETS,
}
"""What can be asked, in the order of the table."""


@dataclass
class Answer:
    """What came of one set."""

    asked: int = 0
    seconds: float = 0.0
    reasons: dict[str, str] = field(default_factory=dict)
    varying: dict[str, str] = field(default_factory=dict)
    """Cases that agreed when they were asked again: what is judged depends on chance."""
    absent: str = ""


def _reason(question: Callable[[], str | None]) -> str | None:
    try:
        return question()
    except RetrialError as error:
        return f"{type(error).__name__}: {error}"


def ask(cases: list[Case], jobs: int, advance: Callable[[], None]) -> Answer:
    """Ask every case of a set, a few at once."""
    answer, lock = Answer(asked=len(cases)), threading.Lock()

    def one(case: Case) -> None:
        name, question = case
        reason = _reason(question)
        # What passes once and must not is wrong, however often it fails.
        may_vary = reason is not None and not reason.startswith("pass,")
        varies = may_vary and any(_reason(question) is None for _ in range(4))
        with lock:
            if reason is not None:
                (answer.varying if varies else answer.reasons)[name] = reason
            advance()

    began = time.perf_counter()
    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(one, cases))
    answer.seconds = time.perf_counter() - began
    return answer


def ask_all(names: list[str], *, jobs: int, quick: bool, bench: Bench) -> dict[str, Answer]:
    """Ask the named sets, with a bar for each."""
    answers: dict[str, Answer] = {}
    columns = (TextColumn("{task.description:<20}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        for name in names:
            try:
                cases = list(SETS[name](bench, quick=quick))
            except Absent as absent:
                answers[name] = Answer(absent=str(absent))
                continue
            bar = progress.add_task(name, total=len(cases))
            answers[name] = ask(cases, jobs, functools.partial(progress.advance, bar))
    return answers


def show(answers: dict[str, Answer]) -> None:
    """Print the table and every disagreement."""
    table = Table("set", box=None, pad_edge=False)
    for title in ("rows", "agree", "vary", "disagree", "seconds"):
        table.add_column(title, justify="right")
    table.add_column("")
    for name, answer in answers.items():
        counts = (answer.asked - len(answer.reasons) - len(answer.varying), len(answer.varying), len(answer.reasons))
        row = [str(answer.asked), *map(str, counts), f"{answer.seconds:.1f}", ""]
        table.add_row(name, *(["-"] * 5 + [f"left out: {answer.absent}"] if answer.absent else row))
    Console().print(table)
    for name, answer in answers.items():
        for case, reason in answer.reasons.items():
            print(f"{name}: {case}: {reason}")
        for case, reason in answer.varying.items():
            print(f"{name}: {case}: not always the same: {reason}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sets", nargs="*", metavar="SET", help=f"one of: {', '.join(SETS)}; all if none is named")
    parser.add_argument("--quick", action="store_true", help="samples of every kind instead of all rows")
    parser.add_argument(
        "--jobs", type=int, default=os.cpu_count() or 2, help="cases at once (default: one a processor)"
    )
    parser.add_argument("--data", type=Path, default=DATA, help="the folder with corpus/ and hostile/")
    given = parser.parse_args()
    if unknown := [name for name in given.sets if name not in SETS]:
        parser.error(f"there is no set {unknown[0]!r}; the sets are {', '.join(SETS)}")
    bench = Bench(data=given.data)
    answers = ask_all(given.sets or list(SETS), jobs=max(1, given.jobs), quick=given.quick, bench=bench)
    show(answers)
    return 1 if any(answer.reasons for answer in answers.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
