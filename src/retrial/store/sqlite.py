"""The journal in a SQLite file: WAL, synchronous FULL, one writer thread, several processes at once."""

from __future__ import annotations

import secrets
import sqlite3
import time
from collections.abc import Sequence
from typing import Any

from retrial.core.events import CURRENT_VERSION, Event
from retrial.errors import RunNotFound
from retrial.log.journal import RunHead, not_next
from retrial.log.upcast import upcast
from retrial.store.writer import Job, Rows, Writer

__all__ = ["SqliteStore"]

_SELECT = "SELECT name, seq, key, kind, data, digest, at, v FROM run JOIN event ON run.id = event.run "


class SqliteStore:
    """A Journal in one file, with the lessons beside it. ``:memory:`` keeps both until it is closed."""

    def __init__(self, path: str) -> None:
        """Open or make the file.

        Raises:
            JournalError: if it cannot be opened or is not a store.
        """
        self.path = path
        # By run: its number and how many events are stored, as far as it is known. Used by the writer's thread alone,
        # and looked up afresh after a transaction that did not happen.
        self._known: dict[str, tuple[int, int]] = {}
        self.writer = Writer(path, self._known.clear)

    def append(self, events: Sequence[Event], *, last: bool = False) -> Job[None]:
        """Take events of one run; they are durable once this was awaited."""
        return self.writer.insert(lambda connection: self._rows(connection, events, last=last))

    async def events(self, run_id: str) -> list[Event]:
        """Return all events of a run, in order."""
        return await self.writer.do(lambda connection: _events(connection, run_id))

    async def heads(self, limit: int | None = None, prefix: str = "") -> list[RunHead]:
        """Return the ends of runs whose id starts with ``prefix``, newest first; those of a newer shape as they are."""
        return await self.writer.do(lambda connection: _heads(connection, limit, prefix))

    async def close(self) -> None:
        """Write out what is waiting and close the file."""
        await self.writer.close()

    def _rows(self, connection: sqlite3.Connection, events: Sequence[Event], *, last: bool) -> Rows:
        """The rows of events that follow those stored; a hole would be read as if nothing were missing."""
        run_id, seq = events[0].run_id, events[0].seq
        known = (_new_number(), 0) if seq == 0 else self._known.get(run_id) or _look_up(connection, run_id)
        number, due = known
        if due != seq:
            raise not_next(run_id, due, seq)
        if last:
            self._known.pop(run_id, None)
        else:
            self._known[run_id] = number, seq + len(events)
        rows = [
            (number, event.seq, event.key, event.kind, event.text, event.digest,
             event.at, event.v)
            for event in events
        ]  # fmt: skip
        return (("run", [(number, run_id)]) if seq == 0 else ("run", ())), ("event", rows)


def _new_number() -> int:
    """A run's number: by time, so that runs of one time lie together, and unlike any other process's."""
    return (time.time_ns() // 1000 << 11) | secrets.randbits(11)


def _look_up(connection: sqlite3.Connection, run_id: str) -> tuple[int, int]:
    """The number of a run and how many events it has."""
    row = connection.execute("SELECT id FROM run WHERE name = ?", (run_id,)).fetchone()
    if row is None:
        raise RunNotFound(f"no run {run_id!r}; `retrial runs` lists those there are")
    return row[0], connection.execute("SELECT count(*) FROM event WHERE run = ?", row).fetchone()[0]


def _events(connection: sqlite3.Connection, run_id: str) -> list[Event]:
    rows = connection.execute(_SELECT + "WHERE name = ? ORDER BY seq", (run_id,)).fetchall()
    if not rows:
        raise RunNotFound(f"no run {run_id!r}; `retrial runs` lists those there are")
    return [_event(row) for row in rows]


def _heads(connection: sqlite3.Connection, limit: int | None, prefix: str) -> list[RunHead]:
    firsts = connection.execute(
        _SELECT + "WHERE seq = 0 AND substr(name, 1, ?) = ? ORDER BY run DESC LIMIT ?",
        (len(prefix), prefix, -1 if limit is None else limit),
    ).fetchall()
    heads: list[RunHead] = []
    for row in firsts:
        last = connection.execute(_SELECT + "WHERE name = ? ORDER BY seq DESC LIMIT 1", (row[0],)).fetchone()
        heads.append(RunHead(_listed(row), _listed(last), last[1] + 1))
    return heads


def _listed(row: tuple[Any, ...]) -> Event:
    """An event for a list; one that a newer version wrote stays as it is, so that the others can be listed."""
    return Event(*row) if row[-1] > CURRENT_VERSION else _event(row)


def _event(row: tuple[Any, ...]) -> Event:
    return upcast(Event(*row))
