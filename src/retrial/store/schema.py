"""The tables, as numbered migrations: each is applied once, and none is ever edited after a release."""

from __future__ import annotations

import sqlite3

from retrial.errors import JournalError, StoreTooNew

__all__ = ["APPLICATION_ID", "MIGRATIONS", "check_ours", "migrate"]

APPLICATION_ID = 0x72747231
"""Written into the file's header, so that another program's database is recognised as such."""

MIGRATIONS: tuple[str, ...] = (
    """
    CREATE TABLE run (
        id INTEGER PRIMARY KEY,
        name TEXT NOT NULL UNIQUE
    );
    CREATE TABLE event (
        run INTEGER NOT NULL REFERENCES run (id),
        seq INTEGER NOT NULL,
        key TEXT NOT NULL,
        kind TEXT NOT NULL,
        data TEXT NOT NULL,
        digest TEXT NOT NULL,
        at REAL NOT NULL,
        v INTEGER NOT NULL,
        UNIQUE (run, seq)
    );
    CREATE TABLE lesson (
        id TEXT PRIMARY KEY,
        task_id TEXT NOT NULL,
        normalised TEXT NOT NULL,
        state TEXT NOT NULL,
        created_at TEXT NOT NULL,
        data TEXT NOT NULL,
        UNIQUE (task_id, normalised)
    );
    """,
)
"""The first one makes an empty file a store.

Events lie in the order in which they came, and their index is on two whole numbers: with a run's name in it, or with
the events kept in the index's order, a thousand runs at once cost eight times as much."""


def migrate(connection: sqlite3.Connection, name: str) -> None:
    """Bring the file up to the newest migration; ``name`` is what to call it in an error.

    Raises:
        StoreTooNew: if a later version of retrial wrote it.
        JournalError: if it is another program's database.
    """
    if (
        _pragma(connection, "user_version") == len(MIGRATIONS)
        and _pragma(connection, "application_id") == APPLICATION_ID
    ):
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Read again: another process may have done it while this one waited for the lock.
        for script in MIGRATIONS[check_ours(connection, name) :]:
            for statement in script.split(";"):
                connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def check_ours(connection: sqlite3.Connection, name: str) -> int:
    """Return the version of a file that is ours, or empty, and not newer than this code; nothing is changed.

    Raises:
        StoreTooNew: if a later version of retrial wrote it.
        JournalError: if it is another program's database.
    """
    version, owner = _pragma(connection, "user_version"), _pragma(connection, "application_id")
    tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    if owner != APPLICATION_ID and (tables or version):
        raise JournalError(f"{name} is a database of another program; name another file with --store")
    if version > len(MIGRATIONS):
        raise StoreTooNew(
            f"{name} was written by a newer retrial (store version {version}, this one knows {len(MIGRATIONS)}); "
            f"install a newer retrial, or name another file with --store"
        )
    return version


def _pragma(connection: sqlite3.Connection, name: str) -> int:
    """A whole number from the file's header."""
    return int(connection.execute(f"PRAGMA {name}").fetchone()[0])
