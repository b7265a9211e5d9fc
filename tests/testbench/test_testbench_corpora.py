"""Real tasks, recorded attempts and hostile programs."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from retrial.errors import EvaluatorError


def spread(items, count):
    """About ``count`` items, evenly spread."""
    return items[:: max(1, len(items) // count)]


def hostile_problems(run, rows, verdict, cases):
    def judged(row):
        tests = row["tests"] if isinstance(row["tests"], list) else [row["tests"]]
        fields = {"style": row["style"], "entry_point": row["entry_point"], "timeout": row.get("timeout_s", 30)}
        try:
            report = run(row["code"], *tests, **fields)
        except EvaluatorError:
            return row, "error", None
        score = report.passed_count / report.valid_count if report.valid_count else 0
        return row, verdict(report), score

    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(judged, cases))
    return [
        (row["id"], said, score)
        for row, said, score in found
        if said not in row["accept"] or (score is not None and row.get("expected_score", score) != score)
    ]


def test_hostile_programs_pass_nothing_and_odd_ones_pass(run, rows, verdict):
    """No program passes that must not, and every program that must pass does."""
    cases = [row for row in rows("hostile/hostile.jsonl") if row["style"] in ("asserts", "check")]
    assert len(cases) > 100
    assert hostile_problems(run, rows, verdict, cases) == []


def humaneval_problems(run, rows, verdict, count):
    tasks = rows("corpus/humaneval_py.jsonl")

    def judged(task):
        fields = {"style": "check", "entry_point": task["entry_point"], "prompt": task["prompt"]}
        good = run(task["canonical_solution"], task["test"], **fields)
        stub = run("    return None\n", task["test"], **fields)
        return task["task_id"], verdict(good), verdict(stub)

    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(judged, spread(tasks, count)))
    return [(name, good, stub) for name, good, stub in found if good != "pass" or stub == "pass"]


def test_canonical_solutions_pass_and_stubs_do_not(run, rows, verdict):
    """A sample of HumanEval: what is right passes, a function that returns nothing does not."""
    assert humaneval_problems(run, rows, verdict, 30) == []


@pytest.mark.slow
def test_all_canonical_solutions_pass_and_stubs_do_not(run, rows, verdict):
    """All of HumanEval that is here."""
    assert humaneval_problems(run, rows, verdict, 1000) == []


def attempt_problems(run, rows, verdict, pick):
    tasks = {
        (name, task["task_id"]): task
        for name in ("humaneval_py", "humaneval_py_multiple", "mbpp_py")
        for task in rows(f"corpus/{name}.jsonl")
    }
    attempts = [row for row in rows("corpus/attempts_py.jsonl") if (row["task_set"], row["task_id"]) in tasks]

    def judged(attempt):
        task = tasks[attempt["task_set"], attempt["task_id"]]
        fields = {"style": "check", "entry_point": task["entry_point"], "prompt": task["prompt"], "timeout": 10}
        report = run(attempt["code"], task["test"], **fields)
        return attempt["uid"], verdict(report) == "pass", attempt["isolated_verdict"]

    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(judged, pick(attempts)))
    return [(uid, ours, theirs) for uid, ours, theirs in found if ours is not theirs]


def strata(attempts):
    """Some attempts of every task set and every kind of outcome."""
    groups = {}
    for row in attempts:
        groups.setdefault((row["task_set"], row["isolated_kind"], row["code_is_body_only"]), []).append(row)
    return [row for group in groups.values() for row in spread(group, 3)[:4]]


def test_recorded_attempts_get_their_verdict(run, rows, verdict):
    """Attempts of real models are judged as they were judged in isolation."""
    assert attempt_problems(run, rows, verdict, strata) == []


@pytest.mark.slow
def test_all_recorded_attempts_get_their_verdict(run, rows, verdict):
    """All recorded attempts."""
    assert attempt_problems(run, rows, verdict, lambda attempts: attempts) == []
