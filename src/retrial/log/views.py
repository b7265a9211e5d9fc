"""What people see of a run: pure folds of its events.

A view depends on kinds and keys alone, never on the order in which parallel effects came back and never on the text of
a prompt. Every journal that was ever written folds here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from retrial.core.budget import Budget, Usage
from retrial.core.codec import decode
from retrial.core.events import RUN_FINISHED, RUN_RESUMED, RUN_STARTED, Event
from retrial.core.messages import ModelRequest, ModelResponse
from retrial.core.tasks import Attempt, Lesson, Result, Status

__all__ = [
    "Exchange",
    "Span",
    "Trial",
    "budget_of",
    "in_doubt",
    "result_of",
    "status_of",
    "timeline",
    "transcript",
    "trials",
    "usage_of",
]


@dataclass(frozen=True, slots=True)
class Trial:
    """One pass of the loop."""

    attempt: Attempt
    """What was tried and how it was judged."""
    lesson: Lesson | None
    """What was learnt from it; None for a passing and for the last trial."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """One model call."""

    key: str
    """Its call path."""
    request: ModelRequest
    """What was said."""
    response: ModelResponse | None
    """What came back; None if it failed or never came back."""
    error: str
    """Why it failed; empty otherwise."""


@dataclass(frozen=True, slots=True)
class Span:
    """One effect in time."""

    key: str
    """Its call path."""
    kind: str
    """model, tool, tests, command, host, recall or remember."""
    start: float
    """Seconds after the run was started."""
    seconds: float | None
    """How long it took; None if it never came back."""
    outcome: str
    """completed, failed or open."""


def result_of(events: Sequence[Event]) -> Result:
    """Return what a run came to. One that is under way, or was killed, reads as CANCELLED."""
    last = events[-1]
    end: Mapping[str, Any] = last.data if last.kind == RUN_FINISHED else {"error": "it was interrupted"}
    passes = trials(events)
    return Result(
        status=Status(end.get("status", Status.CANCELLED)),
        value=end.get("value"),
        usage=usage_of(events),
        run_id=last.run_id,
        attempts=tuple(trial.attempt for trial in passes),
        lessons=_lessons(events, passes),
        error=end.get("error", ""),
        in_doubt=tuple(key for event in events if event.kind == RUN_RESUMED for key in event.data.get("in_doubt", ())),
    )


def status_of(events: Sequence[Event]) -> Status | None:
    """Return how a run stands, or None while it is under way (or was killed)."""
    last = events[-1] if events else None
    return Status(last.data["status"]) if last is not None and last.kind == RUN_FINISHED else None


def budget_of(events: Sequence[Event]) -> Budget:
    """Return the budget that the newest session was given."""
    begun = next(event for event in reversed(events) if event.kind in (RUN_STARTED, RUN_RESUMED))
    return decode(Budget, begun.data.get("budget", {}))


def usage_of(events: Sequence[Event]) -> Usage:
    """Return what a run used: completed model calls, and the seconds of all its sessions."""
    used = [event.data["outcome"].get("usage", {}) for event in events if event.kind == "model.completed"]
    costs = [usage.get("cost_usd", 0.0) for usage in used]
    return Usage(
        calls=sum(usage.get("calls", 0) for usage in used),
        input_tokens=sum(usage.get("input_tokens", 0) for usage in used),
        output_tokens=sum(usage.get("output_tokens", 0) for usage in used),
        cost_usd=None if None in costs else sum(costs),
        seconds=_seconds_worked(events),
    )


def in_doubt(events: Sequence[Event]) -> tuple[str, ...]:
    """Return the keys of effects that left and have not come back, in the order in which they left.

    Effects that are safe to repeat, which a sandboxed test run is, leave no event before they come back.
    """
    opened: dict[str, None] = {}
    for event in events:
        _, _, stage = event.kind.partition(".")
        if stage == "requested":
            opened[event.key] = None
        elif stage in ("completed", "failed"):
            opened.pop(event.key, None)
    return tuple(opened)


def trials(events: Sequence[Event]) -> tuple[Trial, ...]:
    """Return the trials of a loop, from its notes, in order."""
    events = _since_adoption(events)
    attempts = _latest(events, "reflexion.feedback")
    lessons = {_scope(key): _lesson(event) for key, event in _latest(events, "reflexion.lesson").items()}
    found = [Trial(decode(Attempt, event.data["attempt"]), lessons.get(_scope(key))) for key, event in attempts.items()]
    return tuple(sorted(found, key=lambda trial: trial.attempt.trial))


def _lessons(events: Sequence[Event], passes: Iterable[Trial]) -> tuple[Lesson, ...]:
    """The lessons that were given, then those of the trials."""
    given = [
        decode(Lesson, data)
        for event in _since_adoption(events)
        if event.kind == "reflexion.given"
        for data in event.data["lessons"]
    ]
    return (*given, *(trial.lesson for trial in passes if trial.lesson))


def transcript(events: Sequence[Event]) -> tuple[Exchange, ...]:
    """Return every model call, in the order in which they were first asked."""
    ends = {**_latest(events, "model.failed"), **_latest(events, "model.completed")}
    found: list[Exchange] = []
    for key, asked in _latest(events, "model.requested").items():
        end: Mapping[str, Any] = ends[key].data if key in ends and ends[key].digest == asked.digest else {}
        response = decode(ModelResponse, end["outcome"]) if "outcome" in end else None
        request = decode(ModelRequest, asked.data["effect"]["request"])
        found.append(Exchange(key, request, response, str(end.get("message", ""))))
    return tuple(found)


def timeline(events: Sequence[Event]) -> tuple[Span, ...]:
    """Return every effect with its time, in the order in which they left."""
    if not events:
        return ()
    origin = events[0].at
    spans: dict[str, Span] = {}
    for event in events:
        name, _, stage = event.kind.partition(".")
        if stage == "requested":
            spans[event.key] = Span(event.key, name, event.at - origin, None, "open")
        elif stage in ("completed", "failed"):
            start = event.data["began"] - origin if "began" in event.data else spans[event.key].start
            spans[event.key] = Span(event.key, name, start, event.at - origin - start, stage)
    return tuple(spans.values())


def _since_adoption(events: Sequence[Event]) -> Sequence[Event]:
    """The events since the run was last taken over by another algorithm, which states its notes anew."""
    adopted = [index for index, event in enumerate(events) if event.kind == RUN_RESUMED and event.data.get("adopt")]
    return events[adopted[-1] :] if adopted else events


def _lesson(event: Event) -> Lesson:
    """The lesson of a note, dated by it."""
    at = datetime.fromtimestamp(event.at, UTC).isoformat(timespec="seconds")
    return decode(Lesson, {**event.data["lesson"], "created_at": at})


def _latest(events: Iterable[Event], kind: str) -> Mapping[str, Event]:
    """The newest event of a kind by key, in the order in which the keys first appeared."""
    found: dict[str, Event] = {}
    for event in events:
        if event.kind == kind:
            found[event.key] = event
    return found


def _seconds_worked(events: Sequence[Event]) -> float:
    """The time between the first and the last event of each session, added up."""
    starts = [index for index, event in enumerate(events) if event.kind in (RUN_STARTED, RUN_RESUMED)]
    ends = [*(start - 1 for start in starts[1:]), len(events) - 1]
    return sum(events[end].at - events[start].at for start, end in zip(starts, ends, strict=True))


def _scope(key: str) -> str:
    """The path above the last name of a key."""
    return key.rpartition("/")[0]
