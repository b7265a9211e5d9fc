"""What is said when the work is done: one result, a table of many, or the JSON of either."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.text import Text

from retrial.cli import exits
from retrial.cli.hints import larger, remedy
from retrial.cli.render import closing, new_table, plural, short, status_text, usage_words, value_of
from retrial.cli.screen import Screen
from retrial.core.budget import Usage
from retrial.core.codec import encode
from retrial.core.tasks import Lesson, Result, Status
from retrial.errors import RetrialError
from retrial.memory.quality import storable

__all__ = ["record", "report", "summary", "table", "usage_record"]

_NEVER_FAILED = "the evaluator never failed anything, so no lesson was exercised"

NO_CAUSES: Mapping[str, str] = {}
"""Where no run was ended by an error."""


def report(
    screen: Screen,
    batch: str,
    tasks: Mapping[str, str],
    ends: Mapping[str, Result | RetrialError],
    *,
    label: str,
    causes: Mapping[str, str] = NO_CAUSES,
    interrupted: bool = False,
    keeps: bool = True,
) -> int:
    """Print the results of runs and return the exit code.

    ``tasks`` are their task ids, ``causes`` the types of the errors that ended some of them, ``keeps`` whether lessons
    were stored.
    """
    results = {run_id: ends[run_id] for run_id in tasks if run_id in ends}
    good = [end for end in results.values() if isinstance(end, Result)]
    errors = [end for end in results.values() if not isinstance(end, Result)]
    if screen.as_json:
        runs = [_record(run_id, tasks[run_id], end, label) for run_id, end in results.items()]
        screen.json({"id": batch, "runs": runs, "summary": summary(good)})
    elif len(tasks) == 1:
        for result in good:
            closing(screen, result)
    else:
        screen.show(table(screen, tasks, good))
        for line in _summary_lines(good, label):
            screen.line(line)
    for run_id, end in results.items():
        if not isinstance(end, Result):
            screen.err.print(screen.text(("error: ", "red"), f"{short(tasks[run_id])}: {end}"), soft_wrap=True)
    _say_what_was_told(screen, good)
    _say_how_to_go_on(screen, batch, good, causes, interrupted)
    _say_where_to_look(screen, batch, tasks, good, keeps=keeps)
    if interrupted:
        return exits.INTERRUPTED
    return max((exits.of_error(error) for error in errors), default=0) or exits.of_statuses(one.status for one in good)


def record(task_id: str, result: Result, label: str = "") -> dict[str, Any]:
    """Return a run's result as JSON values."""
    value, attempts = value_of(result), result.attempts
    isolation = attempts[-1].verdict.isolation if attempts else None
    return {
        "run_id": result.run_id,
        "task_id": task_id,
        "status": str(result.status),
        "passed": result.passed,
        "trials": len(attempts),
        "score": value.get("score", attempts[-1].verdict.score if attempts else None),
        "output": result.output,
        "lessons": [
            {"trial": one.trial, "text": one.text, "origin": one.origin, "faults": list(one.faults)}
            for one in result.lessons
        ],
        "usage": usage_record(result.usage),
        "error": result.error,
        "in_doubt": list(result.in_doubt),
        "hidden": value.get("hidden"),
        "model": label,
        "isolation": encode(isolation),
    }


def usage_record(usage: Usage) -> dict[str, Any]:
    """Return a usage as JSON values, every field present."""
    return {
        "calls": usage.calls,
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cost_usd": usage.cost_usd,
        "seconds": round(usage.seconds, 3),
    }


def summary(results: Sequence[Result]) -> dict[str, Any]:
    """Return what many results say together, as JSON values."""
    total = _total(results)
    return {
        "tasks": len(results),
        "solved": sum(one.passed for one in results),
        "solved_at_trial_1": sum(one.passed and len(one.attempts) == 1 for one in results),
        "not_solved": sum(one.status is Status.NO_SOLUTION for one in results),
        "unfinished": sum(not one.status.final for one in results),
        "attempts": sum(len(one.attempts) for one in results),
        "lessons": sum(len(_learnt(one)) for one in results),
        "evaluator_ever_failed": _ever_failed(results),
        "usage": usage_record(total),
    }


def table(screen: Screen, tasks: Mapping[str, str], results: Iterable[Result]) -> Any:
    """Return a table with one result a line."""
    shown = new_table(
        ("task", "status", "trials", "score", "calls", "tokens", "seconds", "why"),
        ("trials", "score", "calls", "tokens", "seconds"),
    )
    results = list(results)
    for one in results:
        score = record("", one)["score"]
        shown.add_row(
            screen.text((short(tasks[one.run_id]), "bold")),
            status_text(screen, "not begun" if _untouched(one) else one.status),
            str(len(one.attempts)),
            "" if score is None else f"{score:.2f}",
            str(one.usage.calls),
            f"{one.usage.tokens:,}",
            f"{one.usage.seconds:.1f}",
            screen.text(one.error) if one.status in (Status.FAILED, Status.BUDGET_EXCEEDED) else Text(),
        )
    if not any(one.status in (Status.FAILED, Status.BUDGET_EXCEEDED) for one in results):
        shown.columns.pop()
    return shown


def _record(run_id: str, task_id: str, end: Result | RetrialError, label: str) -> dict[str, Any]:
    """A run's result, or why it could not be worked on, as JSON values."""
    if isinstance(end, Result):
        return record(task_id, end, label)
    return {"run_id": run_id, "task_id": task_id, "status": None, "passed": False, "error": str(end)}


def _summary_lines(results: Sequence[Result], label: str) -> list[str]:
    """What a table of results comes to."""
    if not results:
        return []
    count = summary(results)
    first, solved, tasks = count["solved_at_trial_1"], count["solved"], count["tasks"]
    written = plural(count["lessons"], "lesson")
    lines = [
        f"solved at trial 1: {first} of {tasks} · solved in the end: {solved} of {tasks} · {written} written",
        f"{usage_words(_total(results))} of work · {label}",
    ]
    if not count["evaluator_ever_failed"] and count["attempts"]:
        lines.append(_NEVER_FAILED)
    return lines


def _say_what_was_told(screen: Screen, results: Sequence[Result]) -> None:
    """Say how many stored lessons the runs began with."""
    stored = [
        [one for one in result.lessons if one.origin != "given" and one.run_id != result.run_id] for result in results
    ]
    count = sum(map(len, stored))
    if count:
        where = "" if len(results) == 1 else f", in {sum(map(bool, stored))} of {len(results)} tasks"
        screen.remark(f"began with {plural(count, 'stored lesson')}{where}")


def _say_how_to_go_on(
    screen: Screen, batch: str, results: Sequence[Result], causes: Mapping[str, str], interrupted: bool
) -> None:
    """Say how the runs that have not ended can be brought to an end, or what has to be changed first."""
    again = screen.command(f"resume {batch}")
    open_ends = [one for one in results if not one.status.final]
    remedies = {
        one.run_id: remedy(causes.get(one.run_id, ""), again) for one in open_ends if one.status is Status.FAILED
    }
    if interrupted or any(not remedies.get(one.run_id) for one in open_ends):
        refusals = [one.error for one in open_ends if one.status is Status.BUDGET_EXCEEDED]
        more = f" {larger(refusals)}" if refusals else ""
        screen.remark(f"{'interrupted; ' if interrupted else ''}go on{more}: {again}")
    for words in dict.fromkeys(filter(None, remedies.values())):
        screen.remark(words)


def _say_where_to_look(
    screen: Screen, batch: str, tasks: Mapping[str, str], results: Sequence[Result], *, keeps: bool
) -> None:
    """Say how to look at the attempts."""
    if len(tasks) == 1 and results and results[0].attempts:
        if results[0].status.final and not _ever_failed(results):
            screen.remark(_NEVER_FAILED)
        count = sum(storable(one.faults) for one in _learnt(results[0])) if keeps else 0
        kept = (
            f"{plural(count, 'lesson')} stored under the task's id (--from-stored begins with them); " if count else ""
        )
        screen.remark(f"{kept}every attempt: {screen.command(f'show {batch}')}")
    elif results and len(tasks) > 1:
        screen.remark(f"every attempt of one task: {screen.command(f'show {results[0].run_id}')}")


def _learnt(result: Result) -> list[Lesson]:
    """The lessons that the run itself wrote."""
    return [one for one in result.lessons if one.origin != "given" and one.run_id == result.run_id]


def _untouched(result: Result) -> bool:
    """Whether a run was written down and never worked on."""
    return result.status is Status.CANCELLED and not result.attempts and not result.usage.seconds


def _ever_failed(results: Iterable[Result]) -> bool:
    """Whether any attempt was refused."""
    return any(not attempt.verdict.passed for one in results for attempt in one.attempts)


def _total(results: Iterable[Result]) -> Usage:
    """What all of them used."""
    return sum((one.usage for one in results), Usage())
