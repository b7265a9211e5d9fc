"""Trials and the lessons that were told in them: a fold of the events, brought up to date when somebody looks.

Nothing of it is counted while a run is worked on, so it costs runs nothing and holds for imported ones too.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

from retrial.core.events import RUN_RESUMED, RUN_STARTED, Event
from retrial.core.trials import Tried
from retrial.errors import RetrialError
from retrial.log.upcast import upcast
from retrial.log.uses import FEEDBACK, RECALLED, trial_facts

__all__ = ["Use", "bring_up_to_date", "counted_afresh", "counts", "facts", "forget", "uses_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """One trial in whose prompt a lesson stood."""

    run_id: str
    """The run."""
    task_id: str
    """The task that was tried."""
    trial: int
    """Which trial, counted from 1."""
    passed: bool
    """Whether it passed."""
    at: float
    """When it was judged, in seconds since 1970 (UTC)."""


def bring_up_to_date(connection: sqlite3.Connection) -> None:
    """Fold the events that came since the last time; a run that went on is folded again as a whole."""
    (upto,) = connection.execute("SELECT upto FROM folded").fetchone()
    last = connection.execute("SELECT max(rowid) FROM event").fetchone()[0] or 0
    if last == upto:
        return
    changed = connection.execute(
        "SELECT DISTINCT run FROM event WHERE rowid > ? AND kind IN (?, ?)", (upto, FEEDBACK, RUN_RESUMED)
    ).fetchall()
    for (run,) in changed:
        _fold(connection, run)
    connection.execute("UPDATE folded SET upto = ?", (last,))


def forget(connection: sqlite3.Connection) -> None:
    """Throw the fold away; the next look makes it again."""
    for statement in ("DELETE FROM lesson_use", "DELETE FROM trial", "UPDATE folded SET upto = 0"):
        connection.execute(statement)


def counts(connection: sqlite3.Connection, lesson_id: str) -> tuple[int, int]:
    """Return in how many trials a lesson stood since it has said what it says, and how many of them passed."""
    return connection.execute(
        "SELECT count(*), coalesce(sum(passed), 0) FROM lesson JOIN lesson_use ON lesson = id "
        "JOIN trial USING (run, trial) WHERE id = ? AND told AND at >= counted_from",
        (lesson_id,),
    ).fetchone()


def uses_of(connection: sqlite3.Connection, lesson_id: str) -> tuple[Use, ...]:
    """Return the trials in which a lesson was told, whatever it said then, oldest first."""
    rows = connection.execute(
        "SELECT name, task_id, trial, passed, at FROM lesson_use JOIN trial USING (run, trial) "
        "JOIN run ON run.id = run WHERE lesson = ? AND told ORDER BY at",
        (lesson_id,),
    )
    return tuple(
        Use(run_id=name, task_id=task_id, trial=trial, passed=bool(passed), at=at)
        for name, task_id, trial, passed, at in rows
    )


def facts(connection: sqlite3.Connection) -> list[Tried]:
    """Return every trial with the lessons that it was told, and the chances that decided about them."""
    told: dict[tuple[int, int], list[str]] = {}
    recalled: dict[tuple[int, int], dict[str, float]] = {}
    for lesson, run, trial, used, chance in connection.execute(
        "SELECT lesson, run, trial, told, left_out_with FROM lesson_use"
    ):
        if used:
            told.setdefault((run, trial), []).append(lesson)
        if chance:
            recalled.setdefault((run, trial), {})[lesson] = chance
    rows = connection.execute(
        "SELECT run, name, task_id, trial, passed, setting, at FROM trial JOIN run ON run.id = run ORDER BY at"
    )
    return [
        Tried(
            run_id=name,
            task_id=task_id,
            trial=trial,
            passed=bool(passed),
            lessons=tuple(told.get((run, trial), ())),
            recalled=recalled.get((run, trial), {}),
            setting=setting,
            order=at,
        )
        for run, name, task_id, trial, passed, setting, at in rows
    ]


def counted_afresh(connection: sqlite3.Connection) -> dict[str, float]:
    """Return since when uses count of lessons that were edited or released, in seconds since 1970 (UTC)."""
    return dict(connection.execute("SELECT id, counted_from FROM lesson WHERE counted_from > 0"))


def _fold(connection: sqlite3.Connection, run: int) -> None:
    """Fold one run; what cannot be told, because a newer or another program wrote it, says nothing."""
    connection.execute("DELETE FROM lesson_use WHERE run = ?", (run,))
    connection.execute("DELETE FROM trial WHERE run = ?", (run,))
    rows = connection.execute(
        "SELECT name, seq, key, kind, data, digest, at, v FROM event JOIN run ON run.id = run "
        "WHERE run = ? AND kind IN (?, ?, ?, ?) ORDER BY seq",
        (run, RUN_STARTED, RUN_RESUMED, RECALLED, FEEDBACK),
    ).fetchall()
    try:
        found: Sequence[Tried] = trial_facts([upcast(Event(*row)) for row in rows])
    except (RetrialError, LookupError, TypeError, ValueError, AttributeError):
        return
    connection.executemany(
        "INSERT INTO trial VALUES (?, ?, ?, ?, ?, ?)",
        [(run, fact.trial, fact.task_id, fact.passed, fact.setting, fact.order) for fact in found],
    )
    connection.executemany(
        "INSERT INTO lesson_use VALUES (?, ?, ?, ?, ?)",
        [
            (lesson, run, fact.trial, lesson in fact.lessons, fact.recalled.get(lesson, 0.0))
            for fact in found
            for lesson in dict.fromkeys((*fact.lessons, *fact.recalled))
        ],
    )
