"""Lessons by task, beside the journal: the handler behind ``run.recall`` and ``run.remember`` for ``lessons``."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from retrial.core.effects import Handlers, Recall, Remember
from retrial.memory.quality import normalised
from retrial.store.writer import Writer

__all__ = ["LessonShelf"]

MEMORY = "lessons"


class LessonShelf:
    """Keeps lessons. The same words about the same task are kept once."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer

    def attach(self, engine: Handlers) -> None:
        """Take what is asked of the memory ``lessons``."""
        engine.handle(Recall, self, MEMORY)
        engine.handle(Remember, self, MEMORY)

    async def __call__(self, effect: Recall | Remember, key: str) -> Any:
        """Return the lessons of a task, oldest first, or keep one (and answer whether it is new)."""
        if isinstance(effect, Recall):
            return await self.of_task(effect.query["task_id"], effect.query.get("limit"))
        return await self.add(effect.item)

    async def of_task(self, task_id: str, newest: int | None = None) -> list[Mapping[str, Any]]:
        """Return the active lessons of a task, the ``newest`` ones if a number is given, oldest first."""

        def read(connection: sqlite3.Connection) -> list[Mapping[str, Any]]:
            rows = connection.execute(
                "SELECT data FROM lesson WHERE task_id = ? AND state = 'active' ORDER BY rowid DESC LIMIT ?",
                (task_id, -1 if newest is None else newest),
            ).fetchall()
            return [json.loads(row[0]) for row in reversed(rows)]

        return await self._writer.do(read)

    async def add(self, item: Mapping[str, Any]) -> bool:
        """Keep a lesson, given as its JSON values; return whether it was new."""
        item = {**item, "created_at": item.get("created_at") or datetime.now(UTC).isoformat(timespec="seconds")}
        row = (
            item["id"],
            item.get("task_id", ""),
            normalised(item["text"]),
            item.get("state", "active"),
            item["created_at"],
            json.dumps(item),
        )

        def write(connection: sqlite3.Connection) -> bool:
            done = connection.execute("INSERT OR IGNORE INTO lesson VALUES (?, ?, ?, ?, ?, ?)", row)
            return done.rowcount > 0

        return await self._writer.do(write)
