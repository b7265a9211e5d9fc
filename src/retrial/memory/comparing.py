"""What a lesson is compared with: trials that had everything but that lesson.

A trial with the lesson is set against trials without it of the *same task*, at the *same trial number*, with the *same
other lessons* in the prompt: a good lesson that is recalled beside a bad one is not blamed for it. Of one run only the
first trial with the lesson counts, since the later ones are no further evidence.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from retrial.core.trials import Tried
from retrial.stats.exact import Table, lower_tail, shortfall
from retrial.stats.many import at_look, looks_until

__all__ = ["Look", "Record", "Stratum", "best_look", "in_time", "records_of"]

WORTH_COUNTING = 1.0
"""How many standard deviations fewer must pass until the exact p value is counted; below, it is taken to be 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stratum:
    """Trials that differ in one lesson."""

    task_id: str
    """The task."""
    trial: int
    """The trial number."""
    table: Table
    """How many passed with the lesson and without it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What one look at a lesson's record showed."""

    runs: int = 0
    """In how many runs the lesson had been used by then."""
    number: int = 0
    """Which look it was, counted from 1; 0 for none at all."""
    strata: tuple[Stratum, ...] = ()
    """What could be compared."""
    p_value: float = 1.0
    """How likely so few with it pass if it makes no difference; 1 where it did not do clearly worse."""
    paid: float = 1.0
    """The p value after paying for this look and all before it."""


_Situation = tuple[str, str, int, frozenset[str]]
"""Setting, task, trial number and the other lessons in the prompt."""


@dataclass(slots=True)
class Record:
    """One lesson's trials."""

    uses: int = 0
    """Trials with it in the prompt."""
    wins: int = 0
    """Those of them that passed."""
    lost: list[str] = field(default_factory=list[str])
    """The runs in which a trial with it failed, the oldest first."""
    runs: int = 0
    """In how many runs it was used."""
    trials: list[tuple[int, int, bool, bool]] = field(default_factory=list[tuple[int, int, bool, bool]])
    """Of every run that can be compared: place in time, number of its situation, with or without it, passed."""
    situations: dict[_Situation, int] = field(default_factory=dict[_Situation, int])
    """Situations in which it was used, with their numbers."""


def in_time(rows: Iterable[Tried]) -> list[Tried]:
    """Return the rows in order of time, ties in the order of their names: how they were given does not matter."""
    return sorted(rows, key=lambda row: (row.order, row.run_id, row.trial, row.task_id))


def records_of(rows: Iterable[Tried], released: Mapping[str, float]) -> dict[str, Record]:
    """Return the record of every lesson that was used, from rows in time; of a released one, what came later."""
    places: dict[_Situation, list[tuple[int, Tried]]] = defaultdict(list)
    first: dict[tuple[str, str], int] = {}
    records: dict[str, Record] = defaultdict(Record)
    for place, row in enumerate(rows):
        lessons = frozenset(row.lessons)
        places[row.setting, row.task_id, row.trial, lessons].append((place, row))
        for lesson in lessons:
            if row.order > released.get(lesson, float("-inf")):
                new = (row.run_id, lesson) not in first
                first.setdefault((row.run_id, lesson), row.trial)
                _add(records[lesson], place, row, lessons - {lesson} if new else None)
    for lesson, record in records.items():
        for situation, number in record.situations.items():
            for place, row in places.get(situation, ()):
                # None of a run that had the lesson in an earlier trial: what it changed may still be there.
                unaware = first.get((row.run_id, lesson), row.trial + 1) > row.trial
                if unaware and row.order > released.get(lesson, float("-inf")):
                    record.trials.append((place, number, False, row.passed))
        record.trials.sort()
    return dict(records)


def _add(record: Record, place: int, row: Tried, others: frozenset[str] | None) -> None:
    """Note a trial with a lesson; ``others`` are the lessons beside it, None where its run has counted already."""
    record.uses += 1
    record.wins += row.passed
    if not row.passed:
        record.lost.append(row.run_id)
    if others is not None:
        record.runs += 1
        situation = (row.setting, row.task_id, row.trial, others)
        number = record.situations.setdefault(situation, len(record.situations))
        record.trials.append((place, number, True, row.passed))


def best_look(record: Record) -> Look:
    """Return the look that tells most against a lesson, the last one among equals."""
    best, used = Look(), 0
    looks = {size: number for number, size in enumerate(looks_until(record.runs), 1)}
    counts = [[0, 0, 0, 0] for _ in record.situations]
    for _, number, with_it, passed in record.trials:
        counted = counts[number]
        counted[0 if with_it else 2] += passed
        counted[1 if with_it else 3] += 1
        used += with_it
        if with_it and used in looks:
            seen = _look(record, counts, used, looks[used])
            best = min(seen, best, key=lambda one: one.paid)
    return best


def _look(record: Record, counts: Iterable[list[int]], runs: int, number: int) -> Look:
    """Compare what there is to compare by now."""
    strata = tuple(
        Stratum(task_id=task_id, trial=trial, table=Table(*counted))
        for (_, task_id, trial, _), counted in zip(record.situations, counts, strict=True)
        if counted[1] and counted[3]
    )
    tables = [stratum.table for stratum in strata]
    p_value = lower_tail(tables) if shortfall(tables) >= WORTH_COUNTING else 1.0
    return Look(runs=runs, number=number, strata=strata, p_value=p_value, paid=at_look(p_value, number))
