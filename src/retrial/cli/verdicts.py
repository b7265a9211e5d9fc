"""Verdicts and proofs of evaluators: as JSON values with every field, and as lines for a person."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from rich.text import Text

from retrial.cli.render import diff_text, new_table, plural, short, verdict_words
from retrial.cli.screen import Screen
from retrial.core.codec import decode
from retrial.core.reports import Check
from retrial.core.tasks import Verdict

__all__ = ["check_lines", "gate_lines", "gate_record", "origin_words", "verdict_lines", "verdict_record"]

MAX_SURVIVORS = 5
"""So many surviving mutants are shown unless all are asked for."""


def verdict_record(verdict: Verdict) -> dict[str, Any]:
    """Return a verdict as JSON values, every field present, with the counts that it implies.

    ``decode(Verdict, ...)`` reads it back.

    >>> record = verdict_record(Verdict(passed=True, score=1.0))
    >>> record["trust"], record["bad_test_count"], decode(Verdict, record) == Verdict(passed=True, score=1.0)
    ('tests', 0, True)
    """
    counts = {name: getattr(verdict, name) for name in ("passed_count", "valid_count", "bad_test_count")}
    return {**dataclasses.asdict(verdict), **counts}


def gate_record(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a proof came to as JSON values, its verdicts whole."""
    rows = [{**row, "verdict": verdict_record(decode(Verdict, row["verdict"]))} for row in value["rows"]]
    return {"ok": value["ok"], "reason": value["reason"], **value, "rows": rows}


def origin_words(verdict: Verdict) -> str:
    """Return how far a verdict is to be believed: who judged, where code ran, and whether it could tamper.

    >>> origin_words(Verdict(passed=True, score=1.0, trust="match"))
    'match'
    """
    words = [verdict.trust]
    if verdict.isolation is not None:
        words.append(verdict.isolation.level)
    if verdict.shared_process:
        words.append("tests and code share a process")
    return " · ".join(words)


def verdict_lines(screen: Screen, task_id: str, verdict: Verdict) -> None:
    """Print a verdict: what it says, check by check, and how far it is to be believed."""
    words, *rest = verdict_words(verdict).splitlines()
    screen.show(
        Text.assemble(
            screen.sign(verdict.passed),
            " ",
            screen.text((short(task_id), "bold"), f" · {words} · {origin_words(verdict)}"),
        )
    )
    if not verdict.checks or (rest and rest[0].startswith("The code could not")):
        for line in rest:
            screen.line("  ", (line, "red"))
    else:
        check_lines(screen, verdict)


def check_lines(screen: Screen, verdict: Verdict) -> None:
    """Print a verdict's checks, a line each; an invalid test has a sign of its own, since it counts for nobody."""
    for check in verdict.checks:
        sign = screen.text(("?", "yellow")) if check.kind == "bad_test" else screen.sign(check.passed)
        screen.show(Text.assemble("  ", sign, " ", screen.text(_check_words(check))))


def gate_lines(screen: Screen, task_id: str, value: Mapping[str, Any], *, full: bool = False) -> None:
    """Print the proof of an evaluator: a table of the known outputs, the mutants that survived, and the warnings."""
    verdicts = [decode(Verdict, row["verdict"]) for row in value["rows"]]
    by = f" · {origin_words(verdicts[-1])}" if verdicts else ""
    screen.line((short(task_id), "bold"), by)
    if verdicts:
        screen.show(_table(screen, value["rows"], verdicts))
    if value["mutants"] is not None:
        _mutant_lines(screen, value["mutants"], full=full)
    for warning in value["warnings"]:
        screen.line(("warning  ", "yellow"), warning)
    if value["ok"]:
        screen.line(("sound", "bold green") if verdicts else ("not put to the proof", "yellow"))
    for reason in value["reason"].splitlines():
        screen.line(("refused  ", "bold red"), reason)


def _table(screen: Screen, rows: list[Mapping[str, Any]], verdicts: list[Verdict]) -> Any:
    """The known outputs, a line each."""
    table = new_table(("output", "must", "", "verdict"), wrapped=("verdict",))
    for row, verdict in zip(rows, verdicts, strict=True):
        first, *rest = verdict_words(verdict).splitlines()
        unusable = bool(rest) and rest[0].startswith("The code could not")
        words = rest[0] if unusable else first if row["ok"] else " ".join([first, *rest[:1]])
        table.add_row(
            screen.text(row["label"]),
            "pass" if row["should_pass"] else "fail",
            Text.assemble(screen.sign(row["ok"]), " ", "passes" if verdict.passed else "fails"),
            screen.text((words, "dim")),
        )
    return table


def _mutant_lines(screen: Screen, mutants: Mapping[str, Any], *, full: bool) -> None:
    """How many faults the tests noticed, and the ones that they did not."""
    survivors, total = mutants["survivors"], mutants["total"]
    if not total:
        screen.line("mutants  none can be made of the known-good answer")
        return
    screen.line(f"mutants  {mutants['killed']} of {total} noticed ({mutants['score']:.0%})")
    shown = survivors if full else survivors[:MAX_SURVIVORS]
    for survivor in shown:
        name, *diff = survivor.splitlines()
        screen.line("  ", (f"not noticed: {name}", "yellow"))
        screen.out.print(diff_text(screen, [line for line in diff if not line.startswith("@@")]), soft_wrap=True)
    if len(shown) < len(survivors):
        screen.line(f"  and {plural(len(survivors) - len(shown), 'other')} (-v shows them)")


def _check_words(check: Check) -> str:
    """A check in a line: what was tried, and for a failed one what came of it."""
    line = " ".join((check.name if check.passed else check.failure).splitlines())
    if check.kind == "bad_test":
        line = f"{' '.join(check.name.splitlines())}: {line}"
    return line if len(line) <= 400 else f"{line[:400]}…"
