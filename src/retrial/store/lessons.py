"""The lesson book: lessons beside the journal, and the handler behind ``run.recall`` and ``run.remember``.

It knows where lessons are kept; what is relevant, what says the same and what must go, others know.
"""

from __future__ import annotations

import asyncio
import dataclasses
import json
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from retrial.core.codec import decode
from retrial.core.effects import Handlers, Recall, Remember
from retrial.core.events import Event
from retrial.core.tasks import Lesson
from retrial.core.trials import Tried
from retrial.errors import ConfigError, LessonNotFound
from retrial.memory.likeness import Embed, nearest
from retrial.memory.poison import Finding
from retrial.store import checking, erasing, lesson_rows, lesson_search, uses
from retrial.store.erasing import Deletion
from retrial.store.lesson_rows import Change, Kept
from retrial.store.uses import Use
from retrial.store.writer import Writer

__all__ = ["CAPACITY", "LessonBook"]

MEMORY = "lessons"

CAPACITY = 100_000
"""How many lessons are kept unless something else is said."""


class LessonBook:
    """Keeps lessons by task; the same words about the same task once.

    At most ``capacity`` are kept: when one more comes, the expired go first, then those learnt longest ago, and the
    quarantined last. ``clock`` tells the time as ISO 8601 in UTC, by which lessons expire. ``embed`` ranks the lessons
    of other tasks that share words with a task; without it, BM25 does.
    """

    def __init__(
        self,
        writer: Writer,
        *,
        capacity: int = CAPACITY,
        clock: Callable[[], str] = lesson_rows.now,
        embed: Embed | None = None,
    ) -> None:
        """Keep lessons in the writer's file.

        Raises:
            ConfigError: if nothing could be kept.
        """
        if capacity < 1:
            raise ConfigError(f"capacity={capacity!r} keeps nothing; it must be at least 1")
        self._writer = writer
        self._capacity = capacity
        self._clock = clock
        self._embed = embed

    def attach(self, engine: Handlers) -> None:
        """Take what is asked of the memory ``lessons``."""
        engine.handle(Recall, self, MEMORY)
        engine.handle(Remember, self, MEMORY)

    async def __call__(self, effect: Recall | Remember, key: str) -> Any:
        """Return lessons for a task, what matters most last, or keep one (and answer whether it is new).

        A query holds ``task_id``, ``limit`` (None for all), and ``task``, the prompt, if lessons of other tasks that
        are relevant to it are wanted as well.
        """
        if isinstance(effect, Recall):
            return await self.recall(effect.query)
        return (await self.keep(effect.item)).new

    async def recall(self, query: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        """Return the lessons that a query asks for, as JSON values."""
        embed = self._embed
        if embed is None or "task" not in query:
            return await self._writer.do(lambda connection: lesson_search.recalled(connection, query, self._clock()))
        wide = await self._writer.do(lambda connection: lesson_search.shortlisted(connection, query, self._clock()))
        places = await asyncio.to_thread(nearest, embed, query["task"], [item["text"] for item in wide])
        ranked = [wide[place] for place in places]
        return await self._writer.do(
            lambda connection: lesson_search.recalled(connection, query, self._clock(), ranked)
        )

    async def keep(self, item: Mapping[str, Any]) -> Kept:
        """Keep a lesson, given as its JSON values, and say what came of it."""

        def write(connection: sqlite3.Connection) -> Kept:
            kept = lesson_rows.keep(connection, item)
            if kept.new:
                lesson_rows.evict(connection, self._capacity, self._clock())
            return kept

        return await self._writer.do(write)

    async def lessons(
        self, *, state: str | None = None, task_id: str | None = None, limit: int | None = None
    ) -> list[Lesson]:
        """Return lessons with their uses, newest first: of one state (all but the deleted if None), of one task."""
        conditions, values = ["state = ?" if state else "state <> 'deleted'"], [state] if state else []
        if task_id is not None:
            conditions.append("task_id = ?")
            values.append(task_id)
        query = f"SELECT data FROM lesson WHERE {' AND '.join(conditions)} ORDER BY number DESC LIMIT ?"  # noqa: S608

        def read(connection: sqlite3.Connection) -> list[Lesson]:
            rows = connection.execute(query, (*values, -1 if limit is None else limit)).fetchall()
            return _counted(connection, [json.loads(row[0]) for row in rows])

        return await self._writer.do(read)

    async def search(self, text: str, limit: int = 20) -> list[Lesson]:
        """Return the lessons that match a text, with their uses, the best match first."""
        return await self._writer.do(
            lambda connection: _counted(connection, lesson_search.searched(connection, text, limit))
        )

    async def find(self, prefix: str) -> str:
        """Return the id of the one lesson whose id begins so.

        Raises:
            LessonNotFound: if there is none.
            ConfigError: if there are several.
        """

        def read(connection: sqlite3.Connection) -> list[str]:
            rows = connection.execute(
                "SELECT id FROM lesson WHERE substr(id, 1, ?) = ? ORDER BY id = ? DESC, id LIMIT 4",
                (len(prefix), prefix, prefix),
            )
            return [row[0] for row in rows]

        found = await self._writer.do(read)
        if not found or not prefix:
            raise LessonNotFound(f"no lesson {prefix!r}; `retrial lessons list` names those there are")
        if found[0] != prefix and len(found) > 1:
            raise ConfigError(
                f"{prefix!r} is the beginning of several lessons ({', '.join(found[:3])}, ...); type more"
            )
        return found[0]

    async def get(self, lesson_id: str) -> tuple[Lesson, tuple[Change, ...], tuple[Use, ...]]:
        """Return a lesson with what was done to it and where it was used.

        Raises:
            LessonNotFound: if there is none of that id.
        """

        def read(connection: sqlite3.Connection) -> tuple[Lesson, tuple[Change, ...], tuple[Use, ...]]:
            uses.bring_up_to_date(connection)
            lesson = _with_counts(connection, lesson_rows.load(connection, lesson_id))
            return lesson, lesson_rows.changes_of(connection, lesson_id), uses.uses_of(connection, lesson_id)

        return await self._writer.do(read)

    async def edit(self, lesson_id: str, *, because: str = "", **values: Any) -> Lesson:
        """Change ``text``, ``scope`` or ``expires_at`` of a lesson; what it said before is kept.

        Raises:
            LessonNotFound: if there is none of that id.
            ConfigError: if it was deleted, or another one of its task says the same.
        """
        return await self._writer.do(
            lambda connection: lesson_rows.replace(connection, lesson_id, because=because, **values)
        )

    async def quarantine(self, lesson_id: str, because: str, evidence: Mapping[str, Any] | None = None) -> bool:
        """Keep a lesson and tell it to nobody; return whether that is new.

        Raises:
            LessonNotFound: if there is none of that id.
        """
        return await self._set_state(lesson_id, "quarantined", because, evidence or {})

    async def release(self, lesson_id: str, because: str) -> bool:
        """Tell a quarantined lesson again, its uses counted afresh; return whether that is new.

        Raises:
            LessonNotFound: if there is none of that id.
        """
        return await self._set_state(lesson_id, "active", because, {})

    async def outlook(self, ids: Sequence[str]) -> Deletion:
        """Return what deleting lessons would do.

        Raises:
            LessonNotFound: if one is not there.
        """
        return await self._writer.do(lambda connection: erasing.outlook(connection, ids))

    async def delete(
        self, ids: Sequence[str], *, because: str = "", refuse: Callable[[Sequence[Event]], None] = lambda _: None
    ) -> Deletion:
        """Delete lessons for good, from the journal too. ``refuse`` raises for a run that is being worked on.

        Raises:
            LessonNotFound: if one is not there.
        """
        return await self._writer.do(lambda connection: erasing.delete(connection, ids, because=because, refuse=refuse))

    async def trials(self) -> tuple[list[Tried], dict[str, float]]:
        """Return every trial with what it was told, and since when edited and released lessons are counted afresh."""

        def read(connection: sqlite3.Connection) -> tuple[list[Tried], dict[str, float]]:
            uses.bring_up_to_date(connection)
            return uses.facts(connection), uses.counted_afresh(connection)

        return await self._writer.do(read)

    async def check(self) -> tuple[list[Finding], list[str]]:
        """Quarantine the lessons that do harm; return what is known of each that was used, and the ids of those.

        What is known of a lesson also decides how often it is left out of a run from now on.
        """
        return await self._writer.do(checking.check)

    async def counts(self) -> dict[str, int]:
        """Return how many lessons there are by state, how many tasks they are about, and how often they were told."""

        def read(connection: sqlite3.Connection) -> dict[str, int]:
            uses.bring_up_to_date(connection)
            states = dict(connection.execute("SELECT state, count(*) FROM lesson GROUP BY state"))
            tasks = connection.execute("SELECT count(DISTINCT task_id) FROM lesson WHERE state <> 'deleted'").fetchone()
            told, won = connection.execute(
                "SELECT count(*), coalesce(sum(passed), 0) FROM lesson_use JOIN trial USING (run, trial) WHERE told"
            ).fetchone()
            counted = {state: states.get(state, 0) for state in ("active", "quarantined", "deleted")}
            return {**counted, "tasks": tasks[0], "uses": told, "wins": won}

        return await self._writer.do(read)

    async def _set_state(self, lesson_id: str, state: str, because: str, evidence: Mapping[str, Any]) -> bool:
        return await self._writer.do(
            lambda connection: lesson_rows.set_state(connection, lesson_id, state, because=because, evidence=evidence)
        )


def _counted(connection: sqlite3.Connection, items: Sequence[Mapping[str, Any]]) -> list[Lesson]:
    """Lessons with their uses, from their JSON values."""
    uses.bring_up_to_date(connection)
    return [_with_counts(connection, decode(Lesson, item)) for item in items]


def _with_counts(connection: sqlite3.Connection, lesson: Lesson) -> Lesson:
    used, won = uses.counts(connection, lesson.id)
    return dataclasses.replace(lesson, uses=used, wins=won)
