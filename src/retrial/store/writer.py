"""One thread that owns the database connection and commits in groups.

Whoever wants something done hands in a function of the connection and gets a future. While one transaction is being
made durable, what arrives meanwhile waits for the next one and shares its cost; so a thousand writers pay for a few
hundred commits a second, and each still learns of durability before it goes on.
"""

from __future__ import annotations

import asyncio
import functools
import itertools
import queue
import sqlite3
import threading
from collections.abc import Callable, Generator, Iterable, Sequence
from pathlib import Path
from typing import Any, Generic, TypeVar

from retrial.errors import JournalError, RetrialError, RunBusy
from retrial.store.schema import check_ours, migrate

__all__ = ["Job", "Rows", "Writer"]

T = TypeVar("T")
Rows = Sequence[tuple[str, Sequence[Sequence[Any]]]]
"""Rows to insert, by table, in the order in which the tables must be filled."""

BUSY_SECONDS = 60.0
"""How long to wait for another process that is writing."""


class _Commit(asyncio.Future[None]):
    """Done when a group is on disk. Whoever stops waiting for it must not stop the others."""

    def cancel(self, msg: Any | None = None) -> bool:
        """Refuse: what was handed over is written, and the wait is short."""
        return False


class Job(Generic[T]):
    """Something that was handed to the writer. Await it for its value, once it is durable."""

    __slots__ = ("_commit", "error", "inserts", "value", "work")

    def __init__(self, work: Callable[[sqlite3.Connection], Any], commit: _Commit, *, inserts: bool) -> None:
        self.work = work
        self.inserts = inserts
        self.value: Any = None
        self.error: BaseException | None = None
        self._commit = commit

    def __await__(self) -> Generator[Any, None, T]:
        if not self._commit.done():
            yield from self._commit
        if self.error is not None:
            raise self.error
        return self.value


class _Group:
    """What is handed over within one turn of an event loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self.commit = _Commit(loop=loop)
        self.jobs: list[Job[Any]] = []


class Writer:
    """Runs functions on one SQLite connection, in the order in which they come, in group commits."""

    def __init__(self, path: str, on_rollback: Callable[[], None] = lambda: None) -> None:
        """Open the file, making it a store if it is new or empty.

        ``on_rollback`` is called in the thread after every transaction that did not happen.

        Raises:
            JournalError: if it cannot be opened, or is not a store; StoreTooNew if a newer version wrote it.
        """
        self._name = repr(path)
        self._path = path
        self._on_rollback = on_rollback
        self._groups: queue.SimpleQueue[_Group | None] = queue.SimpleQueue()
        self._group: _Group | None = None
        self._opened: queue.SimpleQueue[BaseException | None] = queue.SimpleQueue()
        self._closed = False
        self._thread = threading.Thread(target=self._serve, name="retrial-store", daemon=True)
        self._thread.start()
        error = self._opened.get()
        if error is not None:
            raise self._explained(error)

    def do(self, work: Callable[[sqlite3.Connection], T]) -> Job[T]:
        """Run ``work`` in the next transaction; what it wrote is durable once the job was awaited.

        ``work`` may be run a second time if another function of its group failed, so it must only use the connection.
        Awaiting raises a JournalError if the database cannot take it; nothing of it is kept then.

        Raises:
            JournalError: if the store is closed.
        """
        return self._enqueue(work, inserts=False)

    def insert(self, prepare: Callable[[sqlite3.Connection], Rows]) -> Job[None]:
        """Insert the rows that ``prepare`` returns in the next transaction, all or none.

        The rows of a whole group go in together, which is why this is no function for ``do``: SQLite lets other threads
        run at every statement, and taking the interpreter back costs more than the statement.
        """
        return self._enqueue(prepare, inserts=True)

    def _enqueue(self, work: Callable[[sqlite3.Connection], Any], *, inserts: bool) -> Job[Any]:
        if self._closed:
            raise JournalError(f"{self._name} is closed; open the store again")
        loop = asyncio.get_running_loop()
        group = self._group
        if group is None or group.loop is not loop:
            group = self._group = _Group(loop)
            loop.call_soon(self._submit, group)
        job: Job[Any] = Job(work, group.commit, inserts=inserts)
        group.jobs.append(job)
        return job

    def _submit(self, group: _Group) -> None:
        """Give the thread what was handed over in this turn of the event loop."""
        if self._group is group:
            self._group = None
        if group.jobs:
            self._groups.put(group)

    async def close(self) -> None:
        """Finish what is waiting and close the file. Safe to call twice."""
        if not self._closed:
            self._closed = True
            if self._group is not None:
                self._submit(self._group)
            self._groups.put(None)
            await asyncio.to_thread(self._thread.join)

    def _serve(self) -> None:
        """The thread: open, then commit groups until told to end."""
        try:
            connection = _open(self._path)
        except BaseException as error:  # noqa: BLE001 - handed to the constructor, which raises it
            self._opened.put(error)
            return
        self._opened.put(None)
        ended = False
        while not ended:
            groups: list[_Group] = []
            group = self._groups.get()
            while group is not None:
                groups.append(group)
                try:
                    group = self._groups.get_nowait()
                except queue.Empty:
                    break
            else:
                ended = True
            if groups:
                self._commit(connection, [job for group in groups for job in group.jobs])
                _answer(groups)
        connection.close()

    def _commit(self, connection: sqlite3.Connection, jobs: list[Job[Any]]) -> None:
        """Run jobs in one transaction; if one of them fails, run each in its own so that only that one does."""
        try:
            connection.execute("BEGIN IMMEDIATE")
        except sqlite3.Error as error:
            # Nobody's fault in particular, and waiting again for each of them would take for ever.
            for job in jobs:
                job.error = self._explained(error)
            return
        try:
            waiting: dict[str, list[Sequence[Any]]] = {}
            for job in jobs:
                if job.inserts:
                    for table, rows in job.work(connection):
                        waiting.setdefault(table, []).extend(rows)
                else:
                    _insert(connection, waiting)
                    job.value = job.work(connection)
            _insert(connection, waiting)
            connection.execute("COMMIT")
        except Exception as error:  # noqa: BLE001 - every error is handed to whoever asked
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            self._on_rollback()
            if len(jobs) == 1:
                jobs[0].error = self._explained(error)
                return
            for job in jobs:
                self._commit(connection, [job])

    def _explained(self, error: BaseException) -> BaseException:
        """An error of SQLite as one of ours that says what to do."""
        if isinstance(error, RetrialError) or not isinstance(error, (sqlite3.Error, OSError)):
            return error
        text = str(error)
        if isinstance(error, sqlite3.IntegrityError):
            return RunBusy("there is a run of that id, or another process goes on with it; wait, or resume it")
        advice = "name another file with --store"
        if "full" in text:
            advice = "free some space, then `retrial resume RUN`; what was written before is safe"
        elif "not a database" in text:
            advice = "it is not a retrial store; name another file with --store"
        elif "locked" in text:
            advice = f"another process has held it for {BUSY_SECONDS:g} s; end that one and try again"
        elif "unable to open" in text or "readonly" in text or isinstance(error, OSError):
            advice = "check that its folder exists and can be written, or name another file with --store"
        return JournalError(f"store {self._name}: {text}; {advice}")


def _open(path: str) -> sqlite3.Connection:
    """A connection that commits durably and shares the file with other processes."""
    if path != ":memory:":
        folder = Path(path).parent
        if not folder.exists():
            folder.mkdir(parents=True)
            # The store's own folder is nothing to put under version control.
            (folder / ".gitignore").write_text("*\n", encoding="utf-8")
    connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)
    try:
        # What is not ours is refused before anything in it is changed, and its journal mode is in the file.
        check_ours(connection, repr(path))
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        migrate(connection, repr(path))
    except BaseException:
        connection.close()
        raise
    return connection


def _insert(connection: sqlite3.Connection, waiting: dict[str, list[Sequence[Any]]]) -> None:
    """Insert and forget the rows that wait, many a statement."""
    for table, rows in waiting.items():
        start = 0
        for size in _CHUNKS:
            while len(rows) - start >= size:
                chunk = rows[start : start + size]
                connection.execute(_statement(table, len(chunk[0]), size), list(itertools.chain.from_iterable(chunk)))
                start += size
    waiting.clear()


@functools.cache
def _statement(table: str, columns: int, rows: int) -> str:
    """The statement that inserts so many rows; ``table`` is one of ours and never a user's text."""
    row = f"({', '.join('?' * columns)})"
    return f"INSERT INTO {table} VALUES {', '.join([row] * rows)}"  # noqa: S608 - see above


_CHUNKS = (256, 32, 8, 1)


def _answer(groups: Iterable[_Group]) -> None:
    """Wake everyone who waits for a group, with one call an event loop."""
    loops: dict[asyncio.AbstractEventLoop, list[_Group]] = {}
    for group in groups:
        loops.setdefault(group.loop, []).append(group)
    for loop, done in loops.items():
        if not loop.is_closed():
            loop.call_soon_threadsafe(_wake, done)


def _wake(groups: Iterable[_Group]) -> None:
    """Set the futures, in their own event loop."""
    for group in groups:
        group.commit.set_result(None)
