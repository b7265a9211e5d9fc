"""How fast events become durable, beside a hand-written log that commits in groups, and how fast runs are read.

Every writer appends one event of about 340 bytes, waits until it is durable, and appends the next.
"""

from __future__ import annotations

import argparse
import asyncio
import queue
import sqlite3
import statistics
import tempfile
import threading
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Protocol

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from retrial.core.events import RUN_FINISHED, RUN_STARTED, Event
from retrial.core.keys import canonical_json
from retrial.store import SqliteStore

DATA = {"prompt": "x" * 150, "text": "y" * 60, "usage": {"calls": 1, "input_tokens": 100, "output_tokens": 20}}
TEXT = canonical_json(DATA)
DIGEST = "0" * 64


class Log(Protocol):
    """What both have in common."""

    def append(self, events: list[Event]) -> Awaitable[None]: ...
    async def close(self) -> None: ...


class Floor:
    """One thread, one table, group commit, WAL, synchronous FULL: the least that is durable."""

    def __init__(self, path: str) -> None:
        self._jobs: queue.SimpleQueue[tuple[list[tuple], asyncio.Future[None]] | None] = queue.SimpleQueue()
        self._loop = asyncio.get_running_loop()
        self._thread = threading.Thread(target=self._serve, args=(path,))
        self._thread.start()

    def append(self, events: list[Event]) -> asyncio.Future[None]:
        future: asyncio.Future[None] = self._loop.create_future()
        rows = [(event.run_id, event.seq, event.key, event.kind, event.text) for event in events]
        self._jobs.put((rows, future))
        return future

    async def close(self) -> None:
        self._jobs.put(None)
        await asyncio.to_thread(self._thread.join)

    def _serve(self, path: str) -> None:
        connection = sqlite3.connect(path, isolation_level=None)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("CREATE TABLE event (id INTEGER PRIMARY KEY, run, seq, key, kind, data)")
        insert = "INSERT INTO event (run, seq, key, kind, data) VALUES (?, ?, ?, ?, ?)"
        while (job := self._jobs.get()) is not None:
            group = [job]
            while not self._jobs.empty() and (job := self._jobs.get()) is not None:
                group.append(job)
            connection.execute("BEGIN IMMEDIATE")
            connection.executemany(insert, [row for rows, _ in group for row in rows])
            connection.execute("COMMIT")
            self._loop.call_soon_threadsafe(_wake, [future for _, future in group])
            if job is None:
                break
        connection.close()


def _wake(futures: list[asyncio.Future[None]]) -> None:
    for future in futures:
        future.set_result(None)


def main() -> None:
    """Measure and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer rounds, events and runs")
    given = parser.parse_args()
    console = Console()
    with Progress(console=console) as progress, tempfile.TemporaryDirectory() as folder:
        rates = asyncio.run(
            append_rates(progress, Path(folder), 2 if given.quick else 5, 4000 if given.quick else 20_000)
        )
        reads = asyncio.run(read_times(progress, Path(folder), 2000 if given.quick else 20_000))
    table = Table(title="Durable appends, events/s, medians (best)")
    for heading in ("writers", "this store", "hand-written floor", "ratio"):
        table.add_column(heading, justify="right")
    for writers, (ours, floor) in rates.items():
        middle, least = statistics.median(ours), statistics.median(floor)
        table.add_row(
            f"{writers:,}",
            f"{middle:,.0f} ({max(ours):,.0f})",
            f"{least:,.0f} ({max(floor):,.0f})",
            f"{middle / least:.2f}",
        )
    console.print(table)
    for name, milliseconds in reads.items():
        console.print(f"{name}: {milliseconds:.1f} ms")


async def append_rates(
    progress: Progress, folder: Path, rounds: int, events: int
) -> dict[int, tuple[list[float], list[float]]]:
    """Events a second of both, by the number of writers; interleaved."""
    found: dict[int, tuple[list[float], list[float]]] = {}
    kinds: tuple[Callable[[str], Log], ...] = (SqliteStore, Floor)
    bar = progress.add_task("Appends", total=3 * rounds * len(kinds))
    for writers in (1, 64, 1000):
        count = max(2, min(events, 1500 * writers) // writers)
        found[writers] = ([], [])
        for turn in range(rounds):
            for index in (0, 1) if turn % 2 else (1, 0):
                log = kinds[index](str(folder / f"{writers}-{turn}-{index}.db"))
                begun = time.perf_counter()
                await asyncio.gather(*(_write(log, f"run-{number}", count) for number in range(writers)))
                found[writers][index].append(writers * count / (time.perf_counter() - begun))
                await log.close()
                progress.advance(bar)
    return found


async def _write(log: Log, run_id: str, count: int) -> None:
    for seq in range(count):
        await log.append([Event(run_id, seq, "trial.1/actor", "model.completed", TEXT, DIGEST, 1.0)])


async def read_times(progress: Progress, folder: Path, runs: int) -> dict[str, float]:
    """Milliseconds to list and to load, in a store of ``runs`` runs of 15 events."""
    store = SqliteStore(str(folder / "reads.db"))
    bar = progress.add_task("Runs to read", total=runs)
    for start in range(0, runs, 500):
        await asyncio.gather(*(store.append(_run(number), last=True) for number in range(start, start + 500)))
        progress.advance(bar, 500)
    middle = f"run-{runs // 2:06}"
    times = {
        f"list 1,000 heads of {runs:,} runs": await _median(lambda: store.heads(1000), 7),
        "list 20 heads": await _median(lambda: store.heads(20), 7),
        "load one run of 15 events": await _median(lambda: store.events(middle), 51),
    }
    await store.close()
    return times


def _run(number: int) -> list[Event]:
    kinds = [RUN_STARTED, *("model.completed" for _ in range(13)), RUN_FINISHED]
    return [Event(f"run-{number:06}", seq, f"step.{seq}", kind, TEXT, DIGEST, 1.0) for seq, kind in enumerate(kinds)]


async def _median(work: Callable[[], Awaitable[object]], times: int) -> float:
    spent: list[float] = []
    for _ in range(times):
        begun = time.perf_counter()
        await work()
        spent.append(1000 * (time.perf_counter() - begun))
    return statistics.median(spent)


if __name__ == "__main__":
    main()
