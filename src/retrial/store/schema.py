"""The tables, as numbered migrations: each is applied once, and none is ever edited after a release."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

from retrial.errors import JournalError, StoreTooNew
from retrial.memory.searching import search_words

__all__ = ["APPLICATION_ID", "MIGRATIONS", "REBUILD_INDEX", "check_ours", "migrate", "statements"]

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
    """
    CREATE TABLE lesson_kept (
        number INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        task_id TEXT NOT NULL,
        normalised TEXT NOT NULL,
        state TEXT NOT NULL,
        scope TEXT NOT NULL,
        created_at TEXT NOT NULL,
        expires_at TEXT NOT NULL,
        counted_from REAL NOT NULL,
        stake REAL NOT NULL,
        words TEXT NOT NULL,
        data TEXT NOT NULL,
        UNIQUE (task_id, normalised)
    );
    INSERT INTO lesson_kept
        SELECT rowid, id, task_id, normalised, state, 'task', created_at, '', 0, 1,
            search_words(json_extract(data, '$.text')), data
        FROM lesson ORDER BY rowid;
    DROP TABLE lesson;
    ALTER TABLE lesson_kept RENAME TO lesson;
    CREATE INDEX lesson_by_state ON lesson (state);
    CREATE INDEX lesson_expiring ON lesson (expires_at) WHERE expires_at <> '';

    CREATE VIEW lesson_text AS SELECT number, words FROM lesson WHERE state <> 'deleted';
    CREATE VIRTUAL TABLE lesson_index USING fts5 (
        words, content = 'lesson_text', content_rowid = 'number', tokenize = 'unicode61 remove_diacritics 0'
    );
    CREATE TABLE lesson_word (word TEXT PRIMARY KEY, lessons INTEGER NOT NULL) WITHOUT ROWID;
    INSERT INTO lesson_index (lesson_index) VALUES ('rebuild');
    INSERT INTO lesson_word
        SELECT word.value, count(DISTINCT number)
        FROM lesson, json_each('["' || replace(words, ' ', '","') || '"]') AS word
        WHERE words <> '' GROUP BY word.value;

    CREATE TRIGGER lesson_added AFTER INSERT ON lesson WHEN new.state <> 'deleted' BEGIN
        INSERT INTO lesson_index (rowid, words) VALUES (new.number, new.words);
        INSERT INTO lesson_word
            SELECT DISTINCT value, 1 FROM json_each('["' || replace(new.words, ' ', '","') || '"]')
            WHERE value <> ''
            ON CONFLICT DO UPDATE SET lessons = lessons + 1;
    END;
    CREATE TRIGGER lesson_dropped AFTER DELETE ON lesson WHEN old.state <> 'deleted' BEGIN
        INSERT INTO lesson_index (lesson_index, rowid, words) VALUES ('delete', old.number, old.words);
        UPDATE lesson_word SET lessons = lessons - 1
            WHERE word IN (SELECT value FROM json_each('["' || replace(old.words, ' ', '","') || '"]'));
        DELETE FROM lesson_word WHERE lessons < 1
            AND word IN (SELECT value FROM json_each('["' || replace(old.words, ' ', '","') || '"]'));
    END;

    CREATE TABLE lesson_change (
        lesson TEXT NOT NULL,
        at TEXT NOT NULL,
        change TEXT NOT NULL,
        because TEXT NOT NULL,
        data TEXT NOT NULL
    );
    CREATE INDEX lesson_change_of ON lesson_change (lesson);

    CREATE TABLE trial (
        run INTEGER NOT NULL REFERENCES run (id),
        trial INTEGER NOT NULL,
        task_id TEXT NOT NULL,
        passed INTEGER NOT NULL,
        setting TEXT NOT NULL,
        at REAL NOT NULL,
        PRIMARY KEY (run, trial)
    ) WITHOUT ROWID;
    CREATE TABLE lesson_use (
        lesson TEXT NOT NULL,
        run INTEGER NOT NULL,
        trial INTEGER NOT NULL,
        told INTEGER NOT NULL,
        left_out_with REAL NOT NULL,
        PRIMARY KEY (lesson, run, trial)
    ) WITHOUT ROWID;
    CREATE INDEX lesson_use_in ON lesson_use (run);
    CREATE TABLE folded (upto INTEGER NOT NULL);
    INSERT INTO folded VALUES (0);
    """,
    """
    CREATE TABLE trajectory (
        number INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        task_id TEXT NOT NULL,
        passed INTEGER NOT NULL,
        tainted INTEGER NOT NULL,
        extraction INTEGER,
        data TEXT NOT NULL
    );
    CREATE INDEX trajectory_of_task ON trajectory (task_id);
    CREATE INDEX trajectory_of_extraction ON trajectory (extraction);
    CREATE VIRTUAL TABLE trajectory_index USING fts5 (words, detail = none, tokenize = 'unicode61 remove_diacritics 0');
    CREATE TABLE trajectory_word (word TEXT PRIMARY KEY, trajectories INTEGER NOT NULL) WITHOUT ROWID;
    CREATE TABLE extraction (
        number INTEGER PRIMARY KEY,
        run_id TEXT NOT NULL UNIQUE,
        owner TEXT NOT NULL,
        state TEXT NOT NULL,
        options TEXT NOT NULL
    );
    CREATE INDEX extraction_by_state ON extraction (state);
    CREATE TABLE insight (id INTEGER PRIMARY KEY, data TEXT NOT NULL);
    CREATE TABLE insight_operation (
        number INTEGER PRIMARY KEY,
        kind TEXT NOT NULL,
        target INTEGER NOT NULL,
        data TEXT NOT NULL
    );
    CREATE INDEX insight_operation_on ON insight_operation (target, kind);
    CREATE TABLE insight_applied (source TEXT PRIMARY KEY, answer TEXT NOT NULL) WITHOUT ROWID;
    """,
    """
    CREATE TABLE insight_trace (
        insight INTEGER NOT NULL,
        operation INTEGER NOT NULL,
        PRIMARY KEY (insight, operation)
    ) WITHOUT ROWID;
    INSERT INTO insight_trace SELECT DISTINCT insight.id, step.value FROM insight, json_each(data, '$.history') AS step;
    UPDATE insight SET data = json_remove(data, '$.history', '$.trajectory_ids');
    DROP INDEX trajectory_of_task;
    CREATE INDEX trajectory_of_task ON trajectory (task_id, passed, tainted);
    """,
)
"""The first one makes an empty file a store.

Events lie in the order in which they came, and their index is on two whole numbers: with a run's name in it, or with
the events kept in the index's order, a thousand runs at once cost eight times as much.

Lessons have numbers of their own, which compacting the file does not change. Their search words are derived from their
texts; the index and the number of lessons that hold each word follow by triggers, whoever writes. ``trial`` and
``lesson_use`` are a fold of the events up to the one that ``folded`` names, and can be thrown away.

``insight`` and ``insight_trace``, which operations made each insight, are a fold of ``insight_operation``, kept so that
neither reading the bank nor adding to it needs the whole journal."""


REBUILD_INDEX = (
    "INSERT INTO lesson_index (lesson_index) VALUES ('rebuild')",
    "DELETE FROM lesson_word",
    """
    INSERT INTO lesson_word
        SELECT word.value, count(DISTINCT number)
        FROM lesson, json_each('["' || replace(words, ' ', '","') || '"]') AS word
        WHERE words <> '' GROUP BY word.value
    """,
)
"""What makes the index of lessons anew, without a trace of what is no longer in it."""


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
    connection.create_function("search_words", 1, _words, deterministic=True)
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Read again: another process may have done it while this one waited for the lock.
        for script in MIGRATIONS[check_ours(connection, name) :]:
            for statement in statements(script):
                connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def statements(script: str) -> Iterator[str]:
    """Cut a script into its statements; a trigger is one, whatever it holds.

    >>> [text.strip() for text in statements("CREATE TABLE a (b); DROP TABLE a;")]
    ['CREATE TABLE a (b);', 'DROP TABLE a;']
    """
    statement = ""
    for part in script.split(";")[:-1]:
        statement += f"{part};"
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


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


def _words(text: str | None) -> str:
    """A text's search words, for statements."""
    return " ".join(search_words(text or ""))
