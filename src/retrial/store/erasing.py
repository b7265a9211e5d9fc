"""Deleting lessons for good: from their table, from the index, and from every run that holds their words.

What is left of a lesson is its id, its task, the date, and a digest by which the same words are not kept for the task
again. What is left in the file's free pages and in its log goes when the store is compacted.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from retrial.core.codec import canonical_json
from retrial.core.events import Event
from retrial.core.tasks import Lesson
from retrial.errors import JournalError
from retrial.log.deletions import marked
from retrial.memory.redaction import Redaction
from retrial.store import uses
from retrial.store.lesson_rows import bury, changes_of, load, now, same_words
from retrial.store.schema import REBUILD_INDEX, check_ours, migrate

__all__ = ["HOLDERS", "Deletion", "compact", "delete", "outlook"]

HOLDERS: tuple[tuple[str, str], ...] = (
    ("lesson_change", "data"),
    ("lesson_change", "because"),
    ("trajectory", "data"),
    ("insight", "data"),
    ("insight_operation", "data"),
    ("insight_applied", "answer"),
)
"""Tables beside the journal, and their columns of text, that may repeat what a lesson says."""

BUSY_SECONDS = 60.0
"""How long compacting waits for other processes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deletion:
    """What a deletion does, or would do."""

    lessons: tuple[Lesson, ...]
    """The lessons, those that say the same about other tasks included."""
    runs: tuple[str, ...]
    """The runs that hold their words, and will not replay."""


def outlook(connection: sqlite3.Connection, ids: Sequence[str]) -> Deletion:
    """Return what deleting lessons would do.

    Raises:
        LessonNotFound: if one is not there.
    """
    lessons = _meant(connection, ids)
    runs = {run for lesson in lessons for run, _, _ in _found(connection, _redaction(connection, lesson), lesson)}
    return Deletion(lessons=tuple(lessons), runs=tuple(sorted(runs)))


def delete(
    connection: sqlite3.Connection, ids: Sequence[str], *, because: str, refuse: Callable[[Sequence[Event]], None]
) -> Deletion:
    """Delete lessons. ``refuse`` is shown the events of each run that holds one and raises if it is being worked on.

    Raises:
        LessonNotFound: if one is not there.
    """
    (before,) = connection.execute("PRAGMA secure_delete").fetchone()
    connection.execute("PRAGMA secure_delete = ON")
    try:
        lessons = _meant(connection, ids)
        runs = [run for lesson in lessons for run in _erase(connection, lesson, refuse)]
        for lesson in lessons:
            bury(connection, lesson.id, because=because)
    finally:
        connection.execute(f"PRAGMA secure_delete = {before}")
    return Deletion(lessons=tuple(lessons), runs=tuple(sorted({*runs})))


def compact(path: str, busy_seconds: float = BUSY_SECONDS) -> tuple[int, int]:
    """Rewrite a store without what was deleted, and empty its log; return its size before and after, in bytes.

    Other processes are waited for as long as ``busy_seconds``.

    Raises:
        JournalError: if it is no store, or other processes keep it in use.
    """
    before = _size(path)
    connection = sqlite3.connect(path, timeout=busy_seconds, isolation_level=None)
    try:
        check_ours(connection, repr(path))
        migrate(connection, repr(path))
        connection.execute("BEGIN IMMEDIATE")
        for statement in REBUILD_INDEX:
            connection.execute(statement)
        # Rewriting a table may give its rows other numbers, and the fold is by those of the events.
        uses.forget(connection)
        connection.execute("COMMIT")
        connection.execute("VACUUM")
        (busy, _, _) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    except sqlite3.Error as error:
        raise JournalError(f"store {path!r}: {error}; close what uses it, and compact it again") from error
    finally:
        connection.close()
    if busy:
        raise JournalError(f"store {path!r} is being read by another process; end it, and compact the store again")
    return before, _size(path)


def _meant(connection: sqlite3.Connection, ids: Sequence[str]) -> list[Lesson]:
    """The lessons that are named and are still there, and those that say the same."""
    names = [other for one in ids for other in same_words(connection, one)]
    lessons = [load(connection, name) for name in dict.fromkeys(names)]
    return [lesson for lesson in lessons if lesson.state != "deleted"]


def _redaction(connection: sqlite3.Connection, lesson: Lesson) -> Redaction:
    """What takes a lesson out of a text, whatever it said in the past."""
    texts = [change.data["before"].get("text", "") for change in changes_of(connection, lesson.id) if change.data]
    return Redaction(lesson.id, [lesson.text, *texts])


def _erase(connection: sqlite3.Connection, lesson: Lesson, refuse: Callable[[Sequence[Event]], None]) -> Sequence[str]:
    """Take a lesson out of the journal and of whatever else repeats it; return the runs that held it."""
    redaction = _redaction(connection, lesson)
    at = now()
    runs: dict[str, int] = {}
    for name, row, text in list(_found(connection, redaction, lesson)):
        if name not in runs:
            runs[name] = row
            refuse(_events(connection, name))
        connection.execute("UPDATE event SET data = ? WHERE rowid = ?", (text, row))
    for name in runs:
        events = _events(connection, name, "AND seq = 0")
        text = marked(events[0], lesson.id, at).text
        connection.execute(
            "UPDATE event SET data = ? WHERE seq = 0 AND run = (SELECT id FROM run WHERE name = ?)", (text, name)
        )
    for table, column in HOLDERS:
        if table == "lesson_change" or _is_ours_alone(redaction, lesson):
            _clean(connection, redaction, table, column)
    return list(runs)


def _found(connection: sqlite3.Connection, redaction: Redaction, lesson: Lesson) -> Iterator[tuple[str, int, str]]:
    """Every event that holds a lesson's words: its run, its row, and its text without them.

    Of a lesson that nobody worded (an evaluator's output, or a few words that anybody says) only the runs are looked at
    in which it was a lesson.
    """
    everywhere = _is_ours_alone(redaction, lesson)
    where = "" if everywhere else "AND run IN (SELECT run FROM event WHERE instr(data, ?))"
    for probe in dict.fromkeys(redaction.probes):
        rows = connection.execute(
            f"SELECT name, event.rowid, data FROM event JOIN run ON run.id = run WHERE data LIKE ? {where}",  # noqa: S608 - ours
            (f"%{probe}%", *([] if everywhere else [f'"{lesson.id}"'])),
        )
        for name, row, text in rows:
            clean = canonical_json(redaction.of(json.loads(text)))
            if clean != text:
                yield name, row, clean


def _is_ours_alone(redaction: Redaction, lesson: Lesson) -> bool:
    """Whether the words say of themselves that they are this lesson's, wherever they stand."""
    return redaction.telling and lesson.origin != "fallback"


def _clean(connection: sqlite3.Connection, redaction: Redaction, table: str, column: str) -> None:
    """Take the words out of one column, which holds JSON or plain text."""
    held: dict[str, None] = {}
    for probe in redaction.probes:
        found = connection.execute(f"SELECT {column} FROM {table} WHERE {column} LIKE ?", (f"%{probe}%",))  # noqa: S608 - ours
        held |= dict.fromkeys(text for (text,) in found)
    for text in held:
        clean = _without(redaction, text)
        if clean != text:
            connection.execute(f"UPDATE {table} SET {column} = ? WHERE {column} = ?", (clean, text))  # noqa: S608 - ours


def _without(redaction: Redaction, text: str) -> str:
    """A column's JSON, or what a person wrote, without the words."""
    try:
        return canonical_json(redaction.of(json.loads(text)))
    except ValueError:
        return str(redaction.of(text))


def _events(connection: sqlite3.Connection, name: str, condition: str = "") -> list[Event]:
    rows = connection.execute(
        "SELECT name, seq, key, kind, data, digest, at, v FROM run JOIN event ON run.id = event.run "  # noqa: S608 - ours
        f"WHERE name = ? {condition} ORDER BY seq",
        (name,),
    )
    return [Event(*row) for row in rows]


def _size(path: str) -> int:
    """The bytes of a store's files."""
    return sum(Path(name).stat().st_size for name in (path, f"{path}-wal", f"{path}-shm") if Path(name).exists())
