"""Rows of trajectories: adding one, looking at those there are, and deleting one with its words in the index."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from retrial.core.codec import decode, encode
from retrial.memory.searching import search_words
from retrial.memory.trajectories import Trajectory

__all__ = ["Kept", "delete", "insert", "keep", "load"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """A trajectory as it is in the store."""

    trajectory: Trajectory
    """The trial."""
    tainted: bool = False
    """Whether it is neither shown nor compared any more."""
    waiting: bool = False
    """Whether it waits for an extraction."""


def insert(connection: sqlite3.Connection, one: Trajectory, *, tainted: bool = False) -> None:
    """Keep a trajectory unless it is there, and index the task's words if it passed."""
    row = (one.id, one.task_id, one.passed, tainted, json.dumps(encode(one)))
    done = connection.execute(
        "INSERT OR IGNORE INTO trajectory (id, task_id, passed, tainted, data) VALUES (?, ?, ?, ?, ?)", row
    )
    if done.rowcount and one.passed:
        words = search_words(one.task)
        connection.execute(
            "INSERT INTO trajectory_index (rowid, words) VALUES (?, ?)", (done.lastrowid, " ".join(words))
        )
        connection.executemany(
            "INSERT INTO trajectory_word VALUES (?, 1) ON CONFLICT DO UPDATE SET trajectories = trajectories + 1",
            [(word,) for word in dict.fromkeys(words)],
        )


def keep(connection: sqlite3.Connection, one: Trajectory, *, tainted: bool = False) -> str:
    """Keep somebody else's trajectory; return ``added``, ``duplicate`` or, for another trial of its id, ``conflict``.

    The insights and examples that its actor was told are another bank's, so they do not count here.
    """
    found = load(connection, one.id)
    if not found:
        insert(connection, replace(one, insights=(), examples=()), tainted=tainted)
        return "added"
    there = found[0].trajectory
    return (
        "duplicate"
        if replace(there, insights=(), examples=()) == replace(one, insights=(), examples=())
        else "conflict"
    )


def load(connection: sqlite3.Connection, name: str = "") -> list[Kept]:
    """Return the trajectory of that id, or all without one, oldest first."""
    rows = connection.execute(
        "SELECT data, tainted, extraction IS NULL FROM trajectory WHERE ? IN ('', id) ORDER BY number", (name,)
    )
    return [
        Kept(trajectory=decode(Trajectory, json.loads(data)), tainted=bool(tainted), waiting=bool(waiting))
        for data, tainted, waiting in rows.fetchall()
    ]


def delete(connection: sqlite3.Connection, names: Sequence[str]) -> None:
    """Delete trajectories, and every trace of their words in the index."""
    (before,) = connection.execute("PRAGMA secure_delete").fetchone()
    connection.execute("PRAGMA secure_delete = ON")
    try:
        for name in names:
            _drop(
                connection, connection.execute("SELECT number, data FROM trajectory WHERE id = ?", (name,)).fetchall()
            )
        # Rows that are gone stay in the index's segments until those are merged; made anew it holds what is there.
        connection.execute("INSERT INTO trajectory_index (trajectory_index) VALUES ('rebuild')")
    finally:
        connection.execute(f"PRAGMA secure_delete = {before}")


def _drop(connection: sqlite3.Connection, rows: Iterable[tuple[int, str]]) -> None:
    """Delete rows, and count their words no more."""
    for number, data in rows:
        one = decode(Trajectory, json.loads(data))
        connection.execute("DELETE FROM trajectory WHERE number = ?", (number,))
        if one.passed:
            words = [(word,) for word in dict.fromkeys(search_words(one.task))]
            connection.execute("DELETE FROM trajectory_index WHERE rowid = ?", (number,))
            connection.executemany("UPDATE trajectory_word SET trajectories = trajectories - 1 WHERE word = ?", words)
            connection.executemany("DELETE FROM trajectory_word WHERE word = ? AND trajectories < 1", words)
