"""A run told from its events: its trials, its time, its words, or all of it as JSON values."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import Any

from rich.text import Text

from retrial.cli.finding import standing, task_id_of
from retrial.cli.hints import remedy
from retrial.cli.inner import inner_lines
from retrial.cli.render import (
    closing,
    diff_text,
    header,
    lesson_lines,
    new_table,
    status_text,
    usage_words,
    verdict_words,
)
from retrial.cli.reports import record, table
from retrial.cli.screen import Screen
from retrial.cli.verdicts import check_lines, gate_lines, origin_words
from retrial.core.codec import encode
from retrial.core.events import Event
from retrial.core.tasks import Attempt, Status
from retrial.log.views import in_doubt, result_of, timeline, transcript, trials, usage_of

__all__ = ["as_values", "asked_twice", "of_batch", "of_time", "of_trials", "of_words"]

BAR_COLUMNS = 30
"""How wide a timeline is drawn, where there is room."""


def of_trials(screen: Screen, events: Sequence[Event], *, full: bool) -> None:
    """Print every attempt, verdict and lesson."""
    start, result, passes = events[0], result_of(events), trials(events)
    if start.data.get("algorithm") == "gate" and result.status.final:
        gate_lines(screen, task_id_of(start), result.value, full=full)
        return
    given = [lesson for lesson in result.lessons if lesson.run_id != start.run_id or lesson.origin == "given"]
    isolation = passes[-1].attempt.verdict.isolation if passes else None
    label = start.data.get("metadata", {}).get("label") or start.data.get("algorithm", "")
    header(screen, task_id_of(start), label, isolation.level if isolation else "")
    for lesson in given:
        lesson_lines(screen, lesson)
    twice = asked_twice(events)
    before: Attempt | None = None
    for one in passes:
        _print_attempt(
            screen, one.attempt, None if full else before, inner_lines(events, f"trial.{one.attempt.trial}/")
        )
        if one.lesson is not None:
            lesson_lines(screen, one.lesson, again=f"trial.{one.attempt.trial}" in twice)
        before = one.attempt
    for line in [] if passes else inner_lines(events, ""):
        screen.line("  ", (line, "dim"))
    screen.line()
    state = standing(events)
    if state in ("running", "waiting", "interrupted"):
        screen.show(Text.assemble(status_text(screen, state), screen.text(f" · {usage_words(usage_of(events))}")))
        for key in in_doubt(events):
            screen.line(("in doubt ", "yellow"), f"{key} has left and not come back")
    else:
        closing(screen, result, answer=not passes)
    if not result.status.final and state != "running":
        again = screen.command(f"resume {start.run_id}")
        cause = str(events[-1].data.get("error_type", "")) if state == Status.FAILED else ""
        screen.remark(remedy(cause, again) or f"go on: {again}")


def asked_twice(events: Sequence[Event]) -> set[str]:
    """The trials whose reflector was asked again, as the last names of their scopes."""
    scopes = {event.key.rpartition("/")[0] for event in events if event.key.endswith("/reflector.again")}
    return {scope.rpartition("/")[2] for scope in scopes}


def of_batch(screen: Screen, found: Sequence[Sequence[Event]]) -> None:
    """Print one line for each run of a batch."""
    results = [result_of(events) for events in found]
    screen.show(table(screen, {events[0].run_id: task_id_of(events[0]) for events in found}, results))
    screen.remark(f"one of them: {screen.command(f'show {found[0][0].run_id}')}")


def of_time(screen: Screen, events: Sequence[Event]) -> None:
    """Print every effect with its time."""
    spans = timeline(events)
    columns = max(10, min(BAR_COLUMNS, screen.out.width - 62))
    whole = max((span.start + (span.seconds or 0.0) for span in spans), default=0.0) or 1.0
    shown = new_table(("effect", "kind", "start", "seconds", "outcome", ""), ("start", "seconds"), ("effect",))
    for span in spans:
        left = int(span.start / whole * columns)
        length = max(1, round((span.seconds or 0.0) / whole * columns))
        shown.add_row(
            screen.text(span.key),
            span.kind,
            f"{span.start:.2f}",
            "" if span.seconds is None else f"{span.seconds:.2f}",
            screen.text((span.outcome, "" if span.outcome == "completed" else "yellow")),
            screen.text((" " * min(left, columns - 1) + "█" * length, "cyan")),
        )
    screen.show(shown)


def of_words(screen: Screen, events: Sequence[Event]) -> None:
    """Print every prompt and reply."""
    for exchange in transcript(events):
        for message in exchange.request.messages:
            screen.line((f"{exchange.key}  {message.role}", "bold"))
            screen.verbatim(f"{message.content or ''}\n")
        response = exchange.response
        answered = f"reply of {response.model or 'a scripted model'}" if response else "no reply"
        screen.line((f"{exchange.key}  {answered}", "bold cyan"))
        screen.verbatim(f"{response.text if response else exchange.error}\n")


def as_values(events: Sequence[Event], *, timeline: bool, transcript: bool) -> dict[str, Any]:
    """Return a run as JSON values."""
    start, result = events[0], result_of(events)
    values = record(task_id_of(start), result, start.data.get("metadata", {}).get("label", ""))
    values |= {
        "standing": standing(events),
        "algorithm": start.data.get("algorithm"),
        "version": start.data.get("version"),
        "metadata": start.data.get("metadata", {}),
        "value": result.value,
        "in_doubt_now": list(in_doubt(events)),
        "attempts": [{"attempt": encode(one.attempt), "lesson": encode(one.lesson)} for one in trials(events)],
    }
    if timeline:
        values["timeline"] = _spans(events)
    if transcript:
        values["transcript"] = _exchanges(events)
    return values


def _spans(events: Sequence[Event]) -> Any:
    return encode(timeline(events))


def _exchanges(events: Sequence[Event]) -> Any:
    return encode(transcript(events))


def _print_attempt(screen: Screen, attempt: Attempt, before: Attempt | None, inner: Sequence[str]) -> None:
    """Print an attempt (or what changed in it), what led to it, and its verdict, check by check."""
    verdict = attempt.verdict
    words, *rest = verdict_words(verdict).splitlines()
    marks = [" · flaky"] * verdict.flaky + [f" · {origin_words(verdict)}"] * verdict.shared_process
    screen.line()
    screen.line(
        (f"trial {attempt.trial}", "bold"),
        "  ",
        ("✓" if verdict.passed else "✗", "bold"),
        f" {words}",
        ("".join(marks), "yellow"),
    )
    for line in inner:
        screen.line("  ", (line, "dim"))
    if before is None:
        screen.verbatim(_indented(attempt.answer))
    else:
        _print_change(screen, before.answer, attempt.answer)
    if not verdict.checks or (rest and rest[0].startswith("The code could not")):
        for line in rest:
            screen.line("  ", (line, "red"))
        return
    check_lines(screen, verdict)


def _print_change(screen: Screen, before: str, after: str) -> None:
    """Print what changed between two attempts."""
    lines = list(difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=2))[2:]
    if not lines:
        screen.line("  ", ("the same as before", "yellow"))
    else:
        screen.out.print(diff_text(screen, lines), soft_wrap=True)


def _indented(text: str) -> str:
    """A text, set in by two."""
    return "\n".join(f"  {line}" for line in text.rstrip().splitlines())
