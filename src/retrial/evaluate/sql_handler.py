"""Runs queries on SQLite databases that cannot be changed by them. Imports core alone.

A database is opened read-only, nothing but reading is authorised, and time, rows and the size of values are limited.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

from retrial.core.effects import CallHost, Handlers
from retrial.errors import HostError

__all__ = ["SqlHandler"]

MAX_BYTES = 1_000_000
"""The longest text or blob that a query may make."""
MAX_RESULT_BYTES = 4_000_000
"""The largest result that is kept; one that is larger counts as having too many rows."""
_ALLOWED = frozenset({sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE})
_FORBIDDEN = frozenset({"load_extension", "readfile", "writefile", "edit", "fts3_tokenizer", "zeroblob", "randomblob"})
_STEPS = 10_000


class SqlHandler:
    """Answers the host function ``sql``: ``{"database", "query", "max_rows", "timeout"}``.

    Args:
        databases: paths by the name that tasks use; a name that is not here is taken for a path.
        folder: where names without a path are looked for, as ``NAME.sqlite``, ``NAME.db`` or the name itself.
    """

    def __init__(
        self,
        databases: Mapping[str, str | os.PathLike[str]] | None = None,
        *,
        folder: str | os.PathLike[str] | None = None,
    ) -> None:
        self._databases = {name: Path(path) for name, path in (databases or {}).items()}
        self._folder = Path(folder) if folder is not None else Path()

    def attach(self, engine: Handlers) -> None:
        """Take the calls of ``sql``."""
        engine.handle(CallHost, self, "sql")

    async def __call__(self, effect: CallHost, key: str) -> dict[str, Any]:
        """Run a query; the outcome is ``{"columns", "rows", "more"}`` or ``{"error"}``, which is the query's fault.

        Raises:
            HostError: if the database is not there or no database.
        """
        given = effect.arguments
        path = self._path(str(given["database"]))
        return await asyncio.to_thread(
            run_query, path, str(given["query"]), max_rows=int(given["max_rows"]), timeout=float(given["timeout"])
        )

    def _path(self, name: str) -> Path:
        """The file that a name means."""
        tried = [self._databases[name]] if name in self._databases else []
        tried = tried or [self._folder / f"{name}{ending}" for ending in ("", ".sqlite", ".db", ".sqlite3")]
        for path in tried:
            if path.is_file():
                return path
        known = f"known are {', '.join(sorted(self._databases))}" if self._databases else "give its path"
        raise HostError(f"there is no database {name!r}; {known}")


def run_query(path: Path, query: str, *, max_rows: int, timeout: float) -> dict[str, Any]:
    """Run one query on a database and return its rows, or in words why it could not be run.

    Raises:
        HostError: if the file is no database that can be opened.
    """
    connection = _opened(path)
    ends = time.monotonic() + timeout
    try:
        connection.set_authorizer(_authorise)
        connection.set_progress_handler(lambda: int(time.monotonic() > ends), _STEPS)
        cursor = connection.execute(query)
        if cursor.description is None:
            return {"error": "it is no query: it returns no rows at all"}
        rows, more = _fetched(cursor, max_rows)
        columns = [column[0] for column in cursor.description]
    except sqlite3.Error as error:
        late = time.monotonic() > ends
        return {"error": f"it did not end within {timeout:g} seconds" if late else _in_words(error)}
    except (ValueError, OverflowError, UnicodeError) as error:
        return {"error": str(error)}
    else:
        return {"columns": columns, "rows": rows, "more": more}
    finally:
        connection.close()


def _fetched(cursor: sqlite3.Cursor, max_rows: int) -> tuple[list[list[Any]], bool]:
    """The rows as JSON holds them, and whether there are more than may be."""
    rows: list[list[Any]] = []
    size = 0
    for row in cursor:
        size += sum(len(value) if isinstance(value, str | bytes) else 8 for value in row)
        if len(rows) == max_rows or size > MAX_RESULT_BYTES:
            return rows, True
        rows.append([_plain(value) for value in row])
    return rows, False


def _opened(path: Path) -> sqlite3.Connection:
    """The database, read-only; as one that nobody changes where no other process has begun to."""
    alone = not any(Path(f"{path}{ending}").exists() for ending in ("-wal", "-journal"))
    address = f"file:{quote(str(path.resolve()))}?mode=ro{'&immutable=1' if alone else ''}"
    connection = None
    try:
        connection = sqlite3.connect(address, uri=True, isolation_level=None, cached_statements=0)
        connection.text_factory = _text
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_BYTES)
        connection.setlimit(sqlite3.SQLITE_LIMIT_SQL_LENGTH, 100_000)
        connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.Error as error:
        if connection is not None:
            connection.close()
        raise HostError(f"database {str(path)!r} cannot be read: {error}") from error
    return connection


def _text(data: bytes) -> str:
    return data.decode(errors="replace")


def _authorise(action: int, *names: str | None) -> int:
    """Allow reading, and of functions (the second name) those that stay within the query."""
    if action not in _ALLOWED or (action == sqlite3.SQLITE_FUNCTION and (names[1] or "").casefold() in _FORBIDDEN):
        return sqlite3.SQLITE_DENY
    return sqlite3.SQLITE_OK


def _in_words(error: sqlite3.Error) -> str:
    """SQLite's message, and for what is refused the reason."""
    text = str(error)
    if "not authorized" in text or "prohibited" in text:
        return f"only reading is allowed ({text})"
    if "one statement at a time" in text:
        return "it is more than one statement; give one query"
    return text


def _plain(value: Any) -> Any:
    """A value as JSON holds it; bytes as hexadecimal digits, as SQL writes them."""
    if isinstance(value, bytes):
        return f"x'{value.hex()}'"
    return str(value) if isinstance(value, float) and value in (float("inf"), float("-inf")) else value
