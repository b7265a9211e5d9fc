"""The journal in a SQLite file: WAL, synchronous FULL, one writer thread, several processes at once."""

from __future__ import annotations

import asyncio
import functools
import json
import sqlite3
from collections.abc import Sequence
from typing import Any

from retrial.core.events import Event
from retrial.core.keys import canonical_json
from retrial.errors import JournalError, RunNotFound
from retrial.log.journal import RunHead
from retrial.log.upcast import upcast
from retrial.store.writer import Writer

__all__ = ["SqliteStore"]

_SELECT = "SELECT run_id, seq, key, kind, data, digest, at, v FROM event "


class SqliteStore:
    """A Journal in one file, with the lessons beside it. ``:memory:`` keeps both until it is closed."""

    def __init__(self, path: str) -> None:
        """Open or make the file.

        Raises:
            JournalError: if it cannot be opened or is not a store.
        """
        self.path = path
        # By run: the number of events stored, as far as it is known. Used by the writer's thread alone, and counted
        # afresh after a transaction that did not happen.
        self._due: dict[str, int] = {}
        self.writer = Writer(path, self._due.clear)

    def append(self, events: Sequence[Event], *, last: bool = False) -> asyncio.Future[None]:
        """Take events of one run; they are durable once the future is done."""
        rows = [
            (event.run_id, event.seq, event.key, event.kind, event.text or canonical_json(event.data), event.digest,
             event.at, event.v)
            for event in events
        ]  # fmt: skip
        return self.writer.insert(
            rows, functools.partial(self._follow, events[0].run_id, events[0].seq, len(rows), last)
        )

    async def events(self, run_id: str) -> list[Event]:
        """Return all events of a run, in order."""
        return await self.writer.do(lambda connection: _events(connection, run_id))

    async def heads(self, limit: int | None = None, prefix: str = "") -> list[RunHead]:
        """Return the ends of runs whose id starts with ``prefix``, newest first."""
        return await self.writer.do(lambda connection: _heads(connection, limit, prefix))

    async def close(self) -> None:
        """Write out what is waiting and close the file."""
        await self.writer.close()

    def _follow(self, run_id: str, seq: int, count: int, last: bool, connection: sqlite3.Connection) -> None:
        """Refuse events that do not follow those stored: a hole would be read as if nothing were missing."""
        due = self._due.get(run_id, 0 if seq == 0 else None)
        if due is None:
            due = connection.execute("SELECT count(*) FROM event WHERE run_id = ?", (run_id,)).fetchone()[0]
        if due != seq:
            raise JournalError(
                f"run {run_id!r} has {due} events, so event {seq} cannot be next: another process went on with it, or "
                f"an earlier write failed; resume it"
            )
        if last:
            self._due.pop(run_id, None)
        else:
            self._due[run_id] = seq + count


def _events(connection: sqlite3.Connection, run_id: str) -> list[Event]:
    rows = connection.execute(_SELECT + "WHERE run_id = ? ORDER BY seq", (run_id,)).fetchall()
    if not rows:
        raise RunNotFound(f"no run {run_id!r}; `retrial runs` lists those there are")
    return [_event(row) for row in rows]


def _heads(connection: sqlite3.Connection, limit: int | None, prefix: str) -> list[RunHead]:
    firsts = connection.execute(
        _SELECT + "WHERE seq = 0 AND substr(run_id, 1, ?) = ? ORDER BY at DESC, run_id DESC LIMIT ?",
        (len(prefix), prefix, -1 if limit is None else limit),
    ).fetchall()
    heads: list[RunHead] = []
    for row in firsts:
        last = connection.execute(_SELECT + "WHERE run_id = ? ORDER BY seq DESC LIMIT 1", (row[0],)).fetchone()
        heads.append(RunHead(_event(row), _event(last), last[1] + 1))
    return heads


def _event(row: tuple[Any, ...]) -> Event:
    run_id, seq, key, kind, data, digest, at, v = row
    return upcast(Event(run_id, seq, key, kind, json.loads(data), digest, at, v, text=data))
