"""One lesson in its table: reading, keeping and changing it. Functions of a connection, within a transaction."""

from __future__ import annotations

import dataclasses
import json
import sqlite3
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from retrial.core.codec import canonical_json, decode, encode
from retrial.core.keys import digest
from retrial.core.tasks import Lesson
from retrial.errors import ConfigError, LessonNotFound
from retrial.log.uses import environment_of
from retrial.memory.copying import normalised
from retrial.memory.searching import search_words

__all__ = [
    "Change",
    "Kept",
    "bury",
    "changes_of",
    "evict",
    "keep",
    "load",
    "now",
    "replace",
    "same_words",
    "set_state",
]


@dataclass(frozen=True, slots=True)
class Kept:
    """What came of keeping a lesson."""

    outcome: str
    """added, duplicate (the same words are kept for the task), deleted (they were, here) or conflict (the id is)."""
    other: str = ""
    """The id of the lesson that was there before."""

    @property
    def new(self) -> bool:
        """Whether it was added."""
        return self.outcome == "added"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """Something that was done to a lesson."""

    at: str
    """When, as ISO 8601 in UTC."""
    change: str
    """edited, quarantined, released or deleted."""
    because: str
    """The reason that was given; empty if none was."""
    data: Mapping[str, Any]
    """For an edit the ``before`` that was replaced, for a quarantine its ``evidence``."""


def now() -> str:
    """Return the time as lessons are dated."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def keep(connection: sqlite3.Connection, item: Mapping[str, Any]) -> Kept:
    """Keep a lesson, given as its JSON values, unless its words are or were kept for its task."""
    lesson = decode(Lesson, {**item, "created_at": item.get("created_at") or now()})
    words = normalised(lesson.text)
    same = connection.execute(
        "SELECT id, state FROM lesson WHERE task_id = ? AND normalised IN (?, ?)",
        (lesson.task_id, words, _gone(words)),
    ).fetchone()
    if same is not None:
        return Kept("deleted" if same[1] == "deleted" else "duplicate", same[0])
    if connection.execute("SELECT 1 FROM lesson WHERE id = ?", (lesson.id,)).fetchone():
        return Kept("conflict", lesson.id)
    if not lesson.environment:
        lesson = dataclasses.replace(lesson, environment=_environment(connection, lesson.run_id))
    _insert(connection, lesson)
    return Kept("added")


def _insert(connection: sqlite3.Connection, lesson: Lesson, number: int | None = None, counted_from: float = 0) -> None:
    """Insert a lesson, in the place of an earlier one if ``number`` is given; uses before ``counted_from`` are not its.

    Of a deleted one there are no words.
    """
    gone, words = lesson.state == "deleted", normalised(lesson.text)
    connection.execute(
        "INSERT INTO lesson VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 1, ?, ?)",
        (
            number,
            lesson.id,
            lesson.task_id,
            _gone(words) if gone else words,
            lesson.state,
            lesson.scope,
            lesson.created_at,
            lesson.expires_at,
            counted_from,
            "" if gone else " ".join(search_words(lesson.text)),
            canonical_json(dataclasses.replace(lesson, text="", uses=0, wins=0) if gone else _uncounted(lesson)),
        ),
    )


def evict(connection: sqlite3.Connection, capacity: int, at: str) -> int:
    """Drop the lessons that the memory does not hold, and return how many.

    The expired go first, then the active ones that were learnt longest ago, then the quarantined: dropping one of those
    would let the same words in again. Of a large memory a thousandth more goes, since finding out how many there are
    costs more than keeping one. What is left of deleted ones is not counted.
    """
    first, last = connection.execute(
        "SELECT (SELECT min(number) FROM lesson), (SELECT max(number) FROM lesson)"
    ).fetchone()
    if last is None or last - first < capacity:
        return 0  # There cannot be more than there are numbers, and this is found without counting.
    count = connection.execute("SELECT count(*) FROM lesson WHERE state IN ('active', 'quarantined')").fetchone()[0]
    if count <= capacity:
        return 0
    dropped, wanted = 0, count - capacity + capacity // 1000
    for which, values in (
        ("expires_at <> '' AND expires_at <= ? AND +state = 'active' ORDER BY expires_at", (at,)),
        ("state = 'active' ORDER BY number", ()),
        ("state = 'quarantined' ORDER BY number", ()),
    ):
        if dropped < wanted:
            chosen = f"SELECT number FROM lesson WHERE {which} LIMIT {wanted - dropped:d}"  # noqa: S608 - ours
            gone = connection.execute(f"DELETE FROM lesson WHERE number IN ({chosen})", values)  # noqa: S608 - ours
            dropped += gone.rowcount
    return dropped


def load(connection: sqlite3.Connection, lesson_id: str) -> Lesson:
    """Return a lesson as it is kept, without its uses.

    Raises:
        LessonNotFound: if there is none of that id.
    """
    return _find(connection, lesson_id)[1]


def replace(connection: sqlite3.Connection, lesson_id: str, *, because: str, **values: Any) -> Lesson:
    """Change what a lesson says, or where it holds; another text is another version, counted afresh.

    Raises:
        LessonNotFound: if there is none of that id.
        ConfigError: if it was deleted, or another lesson of the task says the same.
    """
    number, before = _find(connection, lesson_id)
    if before.state == "deleted":
        raise ConfigError(f"lesson {lesson_id!r} was deleted, so there is nothing to edit")
    after = dataclasses.replace(before, **values)
    if after == before:
        return before
    if after.text != before.text:
        after = dataclasses.replace(after, version=before.version + 1, origin="person", faults=())
        words = normalised(after.text)
        same = connection.execute(
            "SELECT id, state FROM lesson WHERE task_id = ? AND normalised IN (?, ?) AND number <> ?",
            (after.task_id, words, _gone(words), number),
        ).fetchone()
        if same is not None:
            how = "was deleted" if same[1] == "deleted" else "says the same"
            raise ConfigError(f"lesson {same[0]!r} of the same task {how}; choose other words, or delete {lesson_id!r}")
    _put(connection, number, after, afresh=after.text != before.text)
    changed = {name: value for name, value in encode(before).items() if getattr(after, name) != getattr(before, name)}
    _record(connection, lesson_id, "edited", because, {"before": changed})
    return after


def set_state(
    connection: sqlite3.Connection, lesson_id: str, state: str, *, because: str, evidence: Mapping[str, Any]
) -> bool:
    """Quarantine or release a lesson; return whether that changed anything. A released one is counted afresh.

    Raises:
        LessonNotFound: if there is none of that id.
        ConfigError: if it was deleted.
    """
    number, before = _find(connection, lesson_id)
    if before.state == "deleted":
        raise ConfigError(f"lesson {lesson_id!r} was deleted, so it is neither kept nor told")
    if before.state == state:
        return False
    _put(connection, number, dataclasses.replace(before, state=state), afresh=state == "active")
    change = "released" if state == "active" else state
    _record(connection, lesson_id, change, because, {"evidence": evidence} if evidence else {})
    return True


def bury(connection: sqlite3.Connection, lesson_id: str, *, because: str) -> None:
    """Leave of a lesson its id, its task and a digest by which the same words are refused."""
    number, before = _find(connection, lesson_id)
    connection.execute("DELETE FROM lesson WHERE number = ?", (number,))
    _insert(connection, dataclasses.replace(before, state="deleted", evidence=(), environment={}), number)
    connection.execute("DELETE FROM lesson_change WHERE lesson = ?", (lesson_id,))
    _record(connection, lesson_id, "deleted", because, {})


def changes_of(connection: sqlite3.Connection, lesson_id: str) -> tuple[Change, ...]:
    """Return what was done to a lesson, oldest first."""
    rows = connection.execute(
        "SELECT at, change, because, data FROM lesson_change WHERE lesson = ? ORDER BY rowid", (lesson_id,)
    )
    return tuple(
        Change(at=at, change=change, because=because, data=json.loads(data)) for at, change, because, data in rows
    )


def same_words(connection: sqlite3.Connection, lesson_id: str) -> list[str]:
    """Return the ids of all lessons with the words of one, itself first."""
    lesson = load(connection, lesson_id)
    rows = connection.execute(
        "SELECT id FROM lesson WHERE normalised = ? AND state <> 'deleted' AND id <> ? ORDER BY number",
        (normalised(lesson.text), lesson_id),
    )
    return [lesson_id, *(row[0] for row in rows)]


def _find(connection: sqlite3.Connection, lesson_id: str) -> tuple[int, Lesson]:
    row = connection.execute("SELECT number, data FROM lesson WHERE id = ?", (lesson_id,)).fetchone()
    if row is None:
        raise LessonNotFound(f"no lesson {lesson_id!r}; `retrial lessons list` names those there are")
    return row[0], decode(Lesson, json.loads(row[1]))


def _put(connection: sqlite3.Connection, number: int, lesson: Lesson, *, afresh: bool) -> None:
    """Put a lesson in the place of the one that has its number; the index follows by triggers."""
    since, stake = connection.execute("SELECT counted_from, stake FROM lesson WHERE number = ?", (number,)).fetchone()
    connection.execute("DELETE FROM lesson WHERE number = ?", (number,))
    _insert(connection, lesson, number, time.time() if afresh else since)
    if not afresh:
        connection.execute("UPDATE lesson SET stake = ? WHERE number = ?", (stake, number))


def _record(connection: sqlite3.Connection, lesson_id: str, change: str, because: str, data: Mapping[str, Any]) -> None:
    connection.execute(
        "INSERT INTO lesson_change VALUES (?, ?, ?, ?, ?)", (lesson_id, now(), change, because, canonical_json(data))
    )


def _environment(connection: sqlite3.Connection, run_id: str) -> Mapping[str, Any]:
    """What a lesson of a run was learnt under; nothing if the run is kept elsewhere."""
    row = connection.execute(
        "SELECT data FROM run JOIN event ON run.id = event.run WHERE name = ? AND seq = 0", (run_id,)
    ).fetchone()
    return environment_of(json.loads(row[0])) if row else {}


def _uncounted(lesson: Lesson) -> Lesson:
    """A lesson without its counts, which are facts about runs and not its own."""
    return dataclasses.replace(lesson, uses=0, wins=0)


def _gone(words: str) -> str:
    """What is kept of deleted words: enough to know them again, and nothing to read."""
    return f"deleted:{digest(words)}"
