"""What the bank reads and writes does not grow with its past, and loses nothing of it."""

from __future__ import annotations

import json
import sqlite3

import pytest

from retrial.core.codec import encode
from retrial.memory.insights import Insight, Operation, fold
from retrial.memory.trajectories import Trajectory
from retrial.store.insights import InsightShelf
from retrial.store.schema import APPLICATION_ID, MIGRATIONS, statements
from retrial.store.trajectories import TrajectoryShelf
from retrial.store.writer import Writer


@pytest.fixture
async def writer(tmp_path):
    """A store's writer."""
    one = Writer(str(tmp_path / "store.db"))
    yield one
    await one.close()


def operations(*given):
    return {"operations": [encode(one) for one in given]}


async def test_the_trace_is_that_of_the_journal_through_support_undoing_and_taint(writer):
    """However the bank came to be, its insights are those that the whole journal makes, with all they came from."""
    shelf = InsightShelf(writer)
    batches = [
        [Operation(kind="ADD", text="a", trajectory_ids=("t1",)), Operation(kind="ADD", text="b")],
        [Operation(kind="UPVOTE", target=1, trajectory_ids=("t2",)), Operation(kind="DOWNVOTE", target=2)],
        [Operation(kind="ADD", text="A!", trajectory_ids=("t3",)), Operation(kind="EDIT", target=2, text="c")],
        [Operation(kind="DOWNVOTE", target=2), Operation(kind="DOWNVOTE", target=2)],
    ]
    for number, batch in enumerate(batches):
        await shelf.apply({"source": f"batch {number}", **operations(*batch)})
        await _same_as_journal(shelf)
    assert [(one.text, one.trajectory_ids) for one in (await shelf.bank()).insights] == [("a", ("t1", "t2", "t3"))]
    for one in (
        Operation(kind="UNDO", target=8),
        Operation(kind="TAINT", text="t2"),
        Operation(kind="EDIT", target=1, text="d"),
        Operation(kind="UNDO", target=10),
    ):
        await shelf.record(one)
        await _same_as_journal(shelf)


async def _same_as_journal(shelf):
    journal = [Operation(**_tuples(entry["operation"])) for entry in await shelf.journal()]
    assert (await shelf.bank()).insights == fold(journal).insights


def _tuples(values):
    return {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}


async def test_what_a_task_is_told_does_not_grow_with_an_insights_past(writer):
    """Every run records what it recalled, so where an insight came from must not stand in it."""
    shelf = InsightShelf(writer)
    sizes = []
    for number in range(40):
        first = Operation(kind="ADD" if number == 0 else "UPVOTE", target=1, text="a" if number == 0 else "")
        sources = tuple(f"trial {number} {index}" for index in range(20))
        await shelf.apply({"source": str(number), "operations": [{**encode(first), "trajectory_ids": sources}]})
        sizes.append(len(json.dumps(await shelf.best(5))))
    assert sizes[-1] <= sizes[0] + 30
    assert len((await shelf.bank())[1].trajectory_ids) == 800


async def test_the_newest_of_the_journal_can_be_had_alone(writer):
    """In order, oldest first."""
    shelf = InsightShelf(writer)
    for text in "abc":
        await shelf.record(Operation(kind="ADD", text=text))
    assert [entry["operation"]["text"] for entry in await shelf.journal(2)] == ["b", "c"]


async def test_an_extraction_reads_two_earlier_trials_of_a_task_at_most(writer):
    """The newest failure and the newest pass from before the batch; what came after it belongs to the next one."""
    shelf = TrajectoryShelf(writer)

    async def keep(name, outcome, batch=1000, run=""):
        one = Trajectory(id=name, task_id="t", task="double it", outcome=outcome)
        await shelf.add(encode(one), {"batch": batch}, run, "me")

    for number in range(5):
        await keep(f"failed {number}", "failed")
        await keep(f"passed {number}", "passed")
    await keep("first", "failed", 11, "one")
    await keep("second", "failed", 1, "two")
    await keep("later", "passed")
    read = []

    def trace(statement):
        read.append(statement)

    await writer.do(lambda connection: connection.set_trace_callback(trace))
    material = await shelf.material("two")
    await writer.do(lambda connection: connection.set_trace_callback(None))
    assert [[one["id"] for one in pair] for pair in material["pairs"]] == [["second", "passed 4"]]
    assert sum("LIMIT 1" in statement for statement in read) == 2


async def test_a_bank_of_the_first_form_is_brought_up(tmp_path):
    """An insight that was kept with its past has it beside it afterwards."""
    path = tmp_path / "old.db"
    old = sqlite3.connect(path)
    old.create_function("search_words", 1, lambda text: text or "", deterministic=True)
    index = next(number for number, script in enumerate(MIGRATIONS) if "CREATE TABLE insight " in script)
    for script in MIGRATIONS[: index + 1]:
        for statement in statements(script):
            old.execute(statement)
    old.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    old.execute(f"PRAGMA user_version = {index + 1}")
    one = Operation(kind="ADD", target=1, text="a", number=1, trajectory_ids=("t1",))
    kept = Insight(id=1, text="a", supported=1, trajectory_ids=("t1",), history=(1,))
    old.execute("INSERT INTO insight_operation VALUES (1, 'ADD', 1, ?)", (json.dumps({"operation": encode(one)}),))
    old.execute("INSERT INTO insight VALUES (1, ?)", (json.dumps(encode(kept)),))
    old.commit()
    old.close()
    await Writer(str(path)).close()
    new = sqlite3.connect(path)
    assert json.loads(new.execute("SELECT data FROM insight").fetchone()[0]) == {"id": 1, "text": "a", "supported": 1}
    assert new.execute("SELECT * FROM insight_trace").fetchall() == [(1, 1)]
    new.close()
