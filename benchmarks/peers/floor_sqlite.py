"""The same plain loop with nine events a task in SQLite: one thread commits groups, synchronous FULL.

What a hand-written journal costs that knows nothing but this one loop. Every call waits until all before it is durable.
"""

from __future__ import annotations

import asyncio
import json
import queue
import sqlite3
import threading
from pathlib import Path

import measure


class Log:
    """Appends events; ``append`` returns once they are durable."""

    def __init__(self, path: Path) -> None:
        self._jobs: queue.SimpleQueue[tuple[list[tuple[int, int, str, str]], asyncio.Future[None]] | None] = (
            queue.SimpleQueue()
        )
        self._loop = asyncio.get_running_loop()
        self._thread = threading.Thread(target=self._serve, args=(path,))
        self._thread.start()

    async def append(self, rows: list[tuple[int, int, str, str]]) -> None:
        future: asyncio.Future[None] = self._loop.create_future()
        self._jobs.put((rows, future))
        await future

    def close(self) -> None:
        self._jobs.put(None)
        self._thread.join()

    def _serve(self, path: Path) -> None:
        connection = sqlite3.connect(path, isolation_level=None)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute(
            "CREATE TABLE event (run INTEGER, seq INTEGER, kind TEXT, data TEXT, PRIMARY KEY (run, seq))"
        )
        while (job := self._jobs.get()) is not None:
            group = [job]
            while not self._jobs.empty() and (job := self._jobs.get()) is not None:
                group.append(job)
            connection.execute("BEGIN IMMEDIATE")
            connection.executemany("INSERT INTO event VALUES (?, ?, ?, ?)", [row for rows, _ in group for row in rows])
            connection.execute("COMMIT")
            self._loop.call_soon_threadsafe(_wake, [future for _, future in group])
            if job is None:
                break
        connection.close()


def _wake(futures: list[asyncio.Future[None]]) -> None:
    for future in futures:
        future.set_result(None)


async def solve(log: Log, run: int) -> bool:
    waiting: list[tuple[int, int, str, str]] = []
    written = 0
    lessons: list[str] = []

    def write(kind: str, **data: object) -> None:
        nonlocal written
        waiting.append((run, written, kind, json.dumps(data)))
        written += 1

    async def ask(prompt: str, *, reflecting: bool) -> str:
        write("requested", prompt=prompt)
        await log.append(waiting[:])
        waiting.clear()
        text = await measure.answer(prompt, reflecting=reflecting)
        write("completed", text=text)
        return text

    write("started", task=measure.TASK)
    for trial in range(1, 4):
        output = await ask("\n".join([measure.TASK, *lessons]), reflecting=False)
        passed, reason = measure.passes(output)
        if passed:
            write("finished", output=output)
            await log.append(waiting)
            return True
        write("feedback", trial=trial, output=output, reason=reason)
        lessons.append(await ask(f"{measure.TASK}\n{output}\n{reason}", reflecting=True))
    return False


async def main(crowd: measure.Crowd) -> None:
    log = Log(crowd.folder / "log.db")
    try:
        await crowd.solve(lambda number: solve(log, number))
    finally:
        log.close()


measure.run("plain loop + SQLite group commit", sqlite3.sqlite_version, durable=True, main=main)
