"""How fast lessons are recalled by words and kept, in memories of 10,000 and 100,000, without the wait for the disk.

Words are drawn by Zipf's law from 30,000: a lesson has 35 of them, a prompt 120. A plain search for any word of the
prompt is measured beside it.
"""

from __future__ import annotations

import argparse
import itertools
import random
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from retrial.memory.searching import search_words
from retrial.store.lesson_rows import evict, keep, now
from retrial.store.lesson_search import recalled
from retrial.store.lessons import CAPACITY
from retrial.store.schema import migrate

GOALS = {10_000: 5.0, 100_000: 20.0}
KEEPING_GOAL = 2.0
WORDS = [f"w{number}x" for number in range(30_000)]
WEIGHTS = list(itertools.accumulate(1 / (number + 5) for number in range(30_000)))


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="10,000 lessons alone")
    given = parser.parse_args()
    chance, console = random.Random(1), Console()
    table = Table(title="Milliseconds, medians of wall time (of CPU)")
    for heading in ("lessons", "recall", "goal", "any word", "keep one", "goal"):
        table.add_column(heading, justify="right")
    with Progress(console=console) as progress, tempfile.TemporaryDirectory() as folder:
        for size in [10_000] if given.quick else GOALS:
            connection = filled(Path(folder) / f"{size}.db", size, chance, progress)
            asked = [sentence(chance, 120) for _ in range(60)]

            def recall(prompt: str, connection: sqlite3.Connection = connection) -> None:
                recalled(connection, {"task_id": "another", "task": prompt, "limit": 8}, now())

            def any_word(prompt: str, connection: sqlite3.Connection = connection) -> None:
                match = " OR ".join(f'"{word}"' for word in {*search_words(prompt)})
                query = "SELECT rowid FROM lesson_index WHERE lesson_index MATCH ? ORDER BY rank LIMIT 8"
                connection.execute(query, (match,)).fetchall()

            def keep_one(text: str, connection: sqlite3.Connection = connection) -> None:
                keep(connection, {"id": f"new {text}", "text": text, "task_id": "new"})
                evict(connection, CAPACITY, now())

            plain = measured(any_word, asked[:10])
            table.add_row(
                f"{size:,}",
                words(measured(recall, asked)),
                f"{GOALS[size]:g}",
                words(plain),
                words(measured(keep_one, [sentence(chance, 35) for _ in range(60)])),
                f"{KEEPING_GOAL:g}",
            )
            connection.close()
    console.print(table)


def filled(path: Path, size: int, chance: random.Random, progress: Progress) -> sqlite3.Connection:
    """A store with so many lessons of a fifth as many tasks."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    migrate(connection, str(path))
    connection.execute("BEGIN")
    for number in progress.track(range(size), description=f"{size:,} lessons"):
        text = sentence(chance, 35)
        keep(connection, {"id": str(number), "text": text, "task_id": f"task {number % (size // 5)}", "scope": "any"})
    connection.execute("COMMIT")
    return connection


def sentence(chance: random.Random, length: int) -> str:
    """So many words."""
    return " ".join(chance.choices(WORDS, cum_weights=WEIGHTS, k=length))


def measured(work: Callable[[str], None], texts: list[str]) -> tuple[float, float]:
    """The median milliseconds of wall time and of CPU."""
    wall: list[float] = []
    busy: list[float] = []
    for text in texts:
        began, worked = time.perf_counter(), time.process_time()
        work(text)
        wall.append(1000 * (time.perf_counter() - began))
        busy.append(1000 * (time.process_time() - worked))
    return statistics.median(wall), statistics.median(busy)


def words(times: tuple[float, float]) -> str:
    """Both times in a cell."""
    return f"{times[0]:.2f} ({times[1]:.2f})"


if __name__ == "__main__":
    main()
