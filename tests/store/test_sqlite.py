"""The store on disk: several processes, sudden death, and files that are not what they should be."""

from __future__ import annotations

import asyncio
import dataclasses
import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from retrial.core.events import fact
from retrial.errors import JournalError, RunBusy, StoreTooNew
from retrial.log.views import in_doubt
from retrial.store import SqliteStore
from retrial.store.schema import APPLICATION_ID
from worlds import Model, engine_with, learner, learning

TESTS = Path(__file__).parents[1]


def start(code, *arguments, stdout=None):
    """A process of its own that runs ``code``."""
    environment = {**os.environ, "PYTHONPATH": str(TESTS)}
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)], env=environment, stdout=stdout
    )


KILLED = """
    import asyncio, os, signal, sys
    from worlds import Model, engine_with, learner, learning
    from retrial.store import SqliteStore

    path, fatal = sys.argv[1], int(sys.argv[2])
    def answer(request):
        answer.calls += 1
        if answer.calls == fatal:
            os.kill(os.getpid(), signal.SIGKILL)
        return learner(request)
    answer.calls = 0

    async def main():
        async with engine_with(Model(answer), SqliteStore(path)) as engine:
            await engine.run(learning(), {"task": "t"}, run_id="r")
    asyncio.run(main())
"""


@pytest.mark.parametrize("fatal", [1, 2, 3, 5])
async def test_kill_minus_9_in_the_middle_of_a_call_is_survived(tmp_path, fatal):
    """A process that dies during its n-th call leaves n-1 answers that are not asked again, and one call in doubt."""
    path = tmp_path / "store.db"
    assert start(KILLED, path, fatal).wait() == -signal.SIGKILL
    model = Model(learner)
    async with engine_with(model, SqliteStore(str(path))) as engine:
        before = await engine.journal.events("r")
        came_back = {event.key for event in before if event.kind == "model.completed"}
        result = await engine.resume("r", learning())
    assert len(came_back) == fatal - 1
    assert not came_back & {*model.keys}
    assert result.in_doubt == in_doubt(before)
    assert len(result.in_doubt) == 1
    assert (result.passed, result.usage.calls) == (True, 5)


WRITER = """
    import asyncio, sys
    from retrial.core.events import fact
    from retrial.store import SqliteStore

    async def main():
        store = SqliteStore(sys.argv[1])
        async def one(run):
            for seq in range(20):
                await store.append([fact(f"{sys.argv[2]}.{run}", seq, "k", "note", {"seq": seq})])
        await asyncio.gather(*(one(run) for run in range(20)))
        await store.close()
    asyncio.run(main())
"""


async def test_several_processes_write_to_one_file_at_once(tmp_path):
    """Four processes with twenty runs each, opening a new file at the same moment, lose nothing."""
    path = tmp_path / "store.db"
    writers = [start(WRITER, path, name) for name in "abcd"]
    assert [writer.wait() for writer in writers] == [0, 0, 0, 0]
    store = SqliteStore(str(path))
    heads = await store.heads()
    await store.close()
    assert (len(heads), {head.count for head in heads}) == (80, {20})


HOLDER = """
    import asyncio, sys
    from worlds import Model, engine_with, learner, learning
    from retrial.store import SqliteStore

    async def answer(request):
        print("working", flush=True)
        await asyncio.sleep(60)

    async def main():
        async with engine_with(Model(answer), SqliteStore(sys.argv[1])) as engine:
            await engine.run(learning(), {"task": "t"}, run_id="r")
    asyncio.run(main())
"""


async def test_a_second_process_on_one_run_is_refused_until_the_first_is_dead(tmp_path):
    """While a living process works on a run nobody else may; once it was killed, the run is free."""
    path = tmp_path / "store.db"
    holder = start(HOLDER, path, stdout=subprocess.PIPE)
    assert holder.stdout.readline() == b"working\n"
    async with engine_with(Model(learner), SqliteStore(str(path))) as engine:
        with pytest.raises(RunBusy, match=f"is being worked on by process {holder.pid}"):
            await engine.resume("r", learning())
        holder.kill()
        holder.wait()
        holder.stdout.close()
        assert (await engine.resume("r", learning())).passed


async def test_one_process_cannot_work_on_a_run_twice_at_once(tmp_path):
    """A second resume in the same process is refused while the first goes on."""
    gate = asyncio.Event()

    async def answer(request):
        await gate.wait()
        return learner(request)

    async with engine_with(Model(answer), SqliteStore(str(tmp_path / "store.db"))) as engine:
        run_id = await engine.create(learning(), {"task": "t"})
        first = asyncio.create_task(engine.resume(run_id, learning()))
        await asyncio.sleep(0.05)
        with pytest.raises(RunBusy, match="in this process"):
            await engine.resume(run_id, learning())
        gate.set()
        assert (await first).passed


def test_a_file_that_is_no_database_is_refused_and_left_alone(tmp_path):
    """The error names the file and what to do; the file keeps its content."""
    path = tmp_path / "notes.txt"
    path.write_text("my notes, which are longer than a header of a database would be. " * 4)
    with pytest.raises(JournalError, match=r"notes.txt.*not a retrial store; name another file with --store"):
        SqliteStore(str(path))
    assert path.read_text().startswith("my notes")


def test_another_programs_database_is_refused_and_left_alone(tmp_path):
    """A database that is not ours gets no tables of ours."""
    path = tmp_path / "other.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE theirs (x)")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(JournalError, match="a database of another program"):
        SqliteStore(str(path))
    assert path.read_bytes() == before
    connection = sqlite3.connect(path)
    assert connection.execute("SELECT name FROM sqlite_master").fetchall() == [("theirs",)]
    connection.close()


async def test_a_newer_store_is_refused(tmp_path):
    """A file of a later version says which version and what to do."""
    path = tmp_path / "store.db"
    await SqliteStore(str(path)).close()
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 999")
    connection.commit()
    connection.close()
    with pytest.raises(StoreTooNew, match=r"store version 999.*install a newer retrial"):
        SqliteStore(str(path))


def test_a_folder_that_cannot_be_made_is_a_clear_error(tmp_path):
    """A store below a file is refused with the place."""
    (tmp_path / "file").write_text("")
    with pytest.raises(JournalError, match="check that its folder exists"):
        SqliteStore(str(tmp_path / "file" / "store.db"))


async def test_a_full_disk_is_said_and_what_was_written_before_is_kept(tmp_path):
    """When no page can be added, appending raises with advice, and the run's first events are still there."""
    store = SqliteStore(str(tmp_path / "store.db"))
    await store.append([fact("r", 0, "run", "run.started", {"x": 1})])
    await store.writer.do(lambda connection: connection.execute("PRAGMA max_page_count = 1").fetchone())
    with pytest.raises(JournalError, match=r"full; free some space, then `retrial resume RUN`"):
        await store.append([fact("r", 1, "k", "note", {"x": "y" * 10_000_000})])
    with pytest.raises(JournalError):
        await store.append([fact("r", 2, "k", "note", {"x": 3})])
    assert [event.seq for event in await store.events("r")] == [0]
    await store.writer.do(lambda connection: connection.execute("PRAGMA max_page_count = 100000").fetchone())
    await store.append([fact("r", 1, "k", "note", {"x": 2})])
    await store.close()


async def test_a_run_that_meets_a_full_disk_goes_on_after_space_was_made(tmp_path):
    """The engine raises the store's error, and resume finishes the run with no answer asked for twice."""
    store = SqliteStore(str(tmp_path / "store.db"))
    model = Model(learner)

    async def fill(pages):
        await store.writer.do(lambda connection: connection.execute(f"PRAGMA max_page_count = {pages}").fetchone())

    def answer(request):
        if len(model.keys) == 2 and not full:
            full.append(True)
            store.writer.do(lambda connection: connection.execute("PRAGMA max_page_count = 1").fetchone())
            store.writer.do(lambda connection: connection.execute("CREATE TABLE filler AS SELECT zeroblob(9000000)"))
        return learner(request)

    full = []
    model = Model(answer)
    engine = engine_with(model, store)
    big = {"task": "t" * 300_000}
    with pytest.raises(JournalError, match="free some space"):
        await engine.run(learning(), big, run_id="r")
    await fill(1_000_000)
    durable = {event.key for event in await store.events("r") if event.kind == "model.completed"}
    model.keys.clear()
    assert (await engine.resume("r", learning())).passed
    assert not durable & {*model.keys}
    await engine.close()


async def test_a_closed_store_says_so(tmp_path):
    """Using a store after it was closed is refused, and closing twice is no error."""
    store = SqliteStore(str(tmp_path / "store.db"))
    await store.close()
    await store.close()
    with pytest.raises(JournalError, match="is closed"):
        store.append([fact("r", 0, "k", "note", {})])


async def test_commits_are_durable_and_the_file_is_marked_as_ours(tmp_path):
    """WAL, synchronous FULL and the application id are set on what is written."""
    store = SqliteStore(str(tmp_path / "new" / "store.db"))

    def pragmas(connection):
        names = ("journal_mode", "synchronous", "application_id")
        return [connection.execute(f"PRAGMA {name}").fetchone()[0] for name in names]

    assert await store.writer.do(pragmas) == ["wal", 2, APPLICATION_ID]
    await store.close()
    assert (tmp_path / "new" / ".gitignore").read_text() == "*\n"


async def test_a_run_of_a_newer_shape_does_not_hide_the_others(tmp_path):
    """It is listed like the others, and only reading it is refused."""
    store = SqliteStore(str(tmp_path / "store.db"))
    await store.append([fact("old", 0, "run", "run.started", {})])
    await store.append([dataclasses.replace(fact("new", 0, "run", "run.started", {}), v=99)])
    assert {head.first.run_id for head in await store.heads()} == {"old", "new"}
    assert len(await store.events("old")) == 1
    with pytest.raises(StoreTooNew, match="'new'"):
        await store.events("new")
    await store.close()
