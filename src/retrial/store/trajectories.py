"""Finished trials beside the journal: kept once, found by likeness, and handed out in batches for extraction.

A batch is claimed in the transaction that keeps its last trial, so that of several processes exactly one gets it.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from retrial.core.codec import decode, encode
from retrial.memory.searching import rare_words, search_words
from retrial.memory.trajectories import Trajectory, chosen
from retrial.store.trajectory_rows import Kept, delete, insert, keep, load
from retrial.store.writer import Writer

__all__ = ["TrajectoryShelf"]

MOST_ROWS = 400
"""How many of the most similar are looked at for enough of different tasks."""


class TrajectoryShelf:
    """Keeps trajectories, each once."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer

    async def add(self, item: Mapping[str, Any], extraction: Mapping[str, Any], run_id: str, owner: str) -> str:
        """Keep a trajectory, given as its JSON values; return the run that extracts from its batch, if that is full.

        ``extraction`` holds ``batch``, how many trials make a batch, and what else the extraction is to know. The
        batch belongs to ``owner``, and ``run_id`` is what its run is to be called; the answer is empty if it waits.
        """
        item = {**item, "created_at": item.get("created_at") or datetime.now(UTC).isoformat(timespec="seconds")}
        one = decode(Trajectory, item)

        def write(connection: sqlite3.Connection) -> str:
            insert(connection, one)
            return run_id if _claimed(connection, extraction, run_id, owner) else ""

        return await self._writer.do(write)

    async def similar(
        self, task: str, count: int, *, without_task: str = "", shortlist: int = 0
    ) -> list[Mapping[str, Any]]:
        """Return passed trajectories of different tasks, the most similar to ``task`` first.

        Without enough that share a rare word, the newest follow. ``without_task`` is a task whose own are left out;
        with a ``shortlist`` so many are returned, for another measure to choose from.
        """

        def read(connection: sqlite3.Connection) -> list[Mapping[str, Any]]:
            numbers = _similar(connection, task, max(count, shortlist), without_task)
            return [json.loads(_data(connection, number)) for number in numbers]

        return await self._writer.do(read) if count > 0 else []

    async def every(self, limit: int | None = None) -> list[Trajectory]:
        """Return the trajectories, oldest first; the newest ones if a number is given."""

        def read(connection: sqlite3.Connection) -> list[Trajectory]:
            rows = connection.execute("SELECT data FROM trajectory ORDER BY number DESC LIMIT ?", (limit or -1,))
            return [decode(Trajectory, json.loads(data)) for (data,) in reversed(rows.fetchall())]

        return await self._writer.do(read)

    async def kept(self) -> list[Kept]:
        """Return the trajectories as they are in the store, oldest first."""
        return await self._writer.do(load)

    async def keep(self, one: Trajectory, *, tainted: bool = False) -> str:
        """Keep somebody else's trajectory, which waits for the next extraction unless it is tainted.

        Return what came of it: ``added``, ``duplicate``, or ``conflict`` where another trial has its id.
        """
        one = replace(one, created_at=one.created_at or datetime.now(UTC).isoformat(timespec="seconds"))
        return await self._writer.do(lambda connection: keep(connection, one, tainted=tainted))

    async def delete(self, names: Sequence[str]) -> None:
        """Delete trajectories and their words in the index; what insights came from them stays."""
        await self._writer.do(lambda connection: delete(connection, names))

    async def material(self, run_id: str) -> Mapping[str, Any]:
        """Return what the extraction ``run_id`` is to compare: encoded ``Material``."""

        def read(connection: sqlite3.Connection) -> Mapping[str, Any]:
            row = connection.execute("SELECT number FROM extraction WHERE run_id = ?", (run_id,)).fetchone()
            batch = row[0] if row else 0
            new = _of_batch(connection, batch)
            tasks = dict.fromkeys(one.task_id for one in new)
            earlier = [one for task in tasks for one in _before(connection, task, batch)]
            return encode(chosen(new, earlier))

        return await self._writer.do(read)

    async def waiting(self) -> list[tuple[str, str, Mapping[str, Any]]]:
        """Return the extractions that have not ended: run, owner and what they are to know; oldest first."""

        def read(connection: sqlite3.Connection) -> list[tuple[str, str, Mapping[str, Any]]]:
            rows = connection.execute(
                "SELECT run_id, owner, options FROM extraction WHERE state = 'open' ORDER BY number"
            )
            return [(run_id, owner, json.loads(options)) for run_id, owner, options in rows.fetchall()]

        return await self._writer.do(read)

    async def take_over(self, run_id: str, before: str, owner: str) -> bool:
        """Make an open extraction ``owner``'s, if it is still that of ``before``; return whether it is."""

        def write(connection: sqlite3.Connection) -> bool:
            statement = "UPDATE extraction SET owner = ? WHERE run_id = ? AND owner = ? AND state = 'open'"
            return connection.execute(statement, (owner, run_id, before)).rowcount > 0

        return await self._writer.do(write)

    async def claim_rest(self, extraction: Mapping[str, Any], run_id: str, owner: str) -> Mapping[str, Any]:
        """Take all that wait as one batch, however few; return ``extraction`` with their number, empty for none."""

        def write(connection: sqlite3.Connection) -> Mapping[str, Any]:
            count = connection.execute("SELECT count(*) FROM trajectory WHERE extraction IS NULL").fetchone()[0]
            rest = {**extraction, "batch": count}
            return rest if count and _claimed(connection, rest, run_id, owner) else {}

        return await self._writer.do(write)

    async def finish(self, run_id: str) -> None:
        """Say that an extraction has ended."""

        def write(connection: sqlite3.Connection) -> None:
            connection.execute("UPDATE extraction SET state = 'done' WHERE run_id = ?", (run_id,))

        await self._writer.do(write)


def _claimed(connection: sqlite3.Connection, extraction: Mapping[str, Any], run_id: str, owner: str) -> bool:
    """Whether enough trajectories wait for a batch; the oldest of them are this one then."""
    size = int(extraction["batch"])
    waiting = "SELECT number FROM trajectory WHERE extraction IS NULL ORDER BY number LIMIT ?"
    numbers = connection.execute(waiting, (size,)).fetchall()
    if len(numbers) < size:
        return False
    row = (run_id, owner, json.dumps(dict(extraction)))
    made = connection.execute("INSERT INTO extraction (run_id, owner, state, options) VALUES (?, ?, 'open', ?)", row)
    connection.executemany(
        "UPDATE trajectory SET extraction = ? WHERE number = ?", [(made.lastrowid, number) for (number,) in numbers]
    )
    return True


def _similar(connection: sqlite3.Connection, task: str, count: int, without_task: str) -> list[int]:
    """The numbers of passed trajectories, one a task, by likeness and then by age."""
    words = rare_words(_counts(connection, search_words(task)))
    found: dict[str, int] = {}
    for rows in (_matching(connection, words), _newest(connection)):
        for number, task_id, tainted in rows:
            if len(found) == count:
                break
            if not tainted and task_id != without_task:
                found.setdefault(task_id, number)
    return list(found.values())


_ROW = "SELECT trajectory.number, task_id, tainted FROM trajectory"


def _matching(connection: sqlite3.Connection, words: Sequence[str]) -> Iterable[tuple[int, str, int]]:
    if not words:
        return ()
    query = " OR ".join(f'"{word}"' for word in words)
    ranked = "SELECT rowid, rank FROM trajectory_index WHERE trajectory_index MATCH ? ORDER BY rank, rowid DESC LIMIT ?"
    return connection.execute(
        f"{_ROW} JOIN ({ranked}) AS hit ON hit.rowid = trajectory.number ORDER BY hit.rank, number DESC",
        (query, MOST_ROWS),
    )


def _newest(connection: sqlite3.Connection) -> Iterable[tuple[int, str, int]]:
    return connection.execute(f"{_ROW} WHERE passed ORDER BY number DESC LIMIT ?", (MOST_ROWS,))


def _counts(connection: sqlite3.Connection, words: Iterable[str]) -> dict[str, int]:
    """In how many passed trajectories each word stands."""
    row = "SELECT trajectories FROM trajectory_word WHERE word = ?"
    held = {word: connection.execute(row, (word,)).fetchone() for word in dict.fromkeys(words)}
    return {word: found[0] for word, found in held.items() if found}


def _of_batch(connection: sqlite3.Connection, batch: int) -> list[Trajectory]:
    """The sound trajectories of a batch, oldest first."""
    rows = connection.execute(
        "SELECT data FROM trajectory WHERE extraction = ? AND NOT tainted ORDER BY number", (batch,)
    )
    return [decode(Trajectory, json.loads(data)) for (data,) in rows.fetchall()]


def _before(connection: sqlite3.Connection, task_id: str, batch: int) -> list[Trajectory]:
    """A task's newest failure and newest pass from before a batch: nothing else of it can be compared."""
    (first,) = connection.execute("SELECT min(number) FROM trajectory WHERE extraction = ?", (batch,)).fetchone()
    newest = (
        "SELECT data FROM trajectory WHERE task_id = ? AND passed = ? AND tainted = 0 AND number < ? "
        "ORDER BY number DESC LIMIT 1"
    )
    rows = [connection.execute(newest, (task_id, passed, first)).fetchone() for passed in (0, 1)]
    return [decode(Trajectory, json.loads(row[0])) for row in rows if row]


def _data(connection: sqlite3.Connection, number: int) -> str:
    return connection.execute("SELECT data FROM trajectory WHERE number = ?", (number,)).fetchone()[0]
