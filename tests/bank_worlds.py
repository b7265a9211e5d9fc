"""A store with an insight bank in it: two trials and three insights."""

import asyncio

from retrial.core.codec import encode
from retrial.memory.insights import Operation
from retrial.memory.trajectories import FAILED, PASSED, Trajectory
from retrial.store.insights import InsightShelf
from retrial.store.sqlite import SqliteStore
from retrial.store.trajectories import TrajectoryShelf

GOOD = Trajectory(
    id="aa11", task_id="add", task="Write add(a, b) for zebras.", outcome=PASSED, steps=("return a + b",), score=1.0,
    run_id="run-1", created_at="2026-11-30T10:00:00+00:00", insights=(3,),
)  # fmt: skip
BAD = Trajectory(
    id="bb22", task_id="add", task="Write add(a, b) for zebras.", outcome=FAILED, steps=("think", "return a - b"),
    reason="add(1, 2) is -1", created_at="2026-11-30T09:00:00+00:00", lessons=("Add.",),
)  # fmt: skip


def fill(path, *, empty=False):
    """Make a store: insight 1 from both trials, 2 from the failed one, 3 a person's; or one without anything."""

    async def work():
        store = SqliteStore(str(path))
        trials, shelf = TrajectoryShelf(store.writer), InsightShelf(store.writer)
        if not empty:
            for one in (GOOD, BAD):
                await trials.add(encode(one), {"batch": 20}, "extraction-1", "nobody:1:1")
            source = {"run_id": "extraction-1"}
            both = Operation(kind="ADD", text="Check the sign.", trajectory_ids=("aa11", "bb22"), **source)
            bad = Operation(kind="ADD", text="Subtract.", trajectory_ids=("bb22",), **source)
            skipped = Operation(kind="SKIP", text="no operation", reason="it is no operation", **source)
            await shelf.apply({"source": "one", "operations": [encode(one) for one in (both, bad, skipped)]})
            await shelf.record(Operation(kind="ADD", text="Read the task twice."))
        await store.close()

    asyncio.run(work())
