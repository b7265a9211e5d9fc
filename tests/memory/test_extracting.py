"""Extractions beside the tasks: what they may use, and what is left of one whose process was killed."""

from __future__ import annotations

import subprocess
import sys

from retrial.assembly import assemble
from retrial.core.budget import Budget
from retrial.core.codec import encode
from retrial.core.effects import Recall
from retrial.core.tasks import Status, Task
from retrial.recipes import insight_bank

DOUBLE = Task(id="double", prompt="Write double(n).", tests=("assert double(2) == 4",))
RIGHT = "def double(n):\n    return 2 * n"


class Extractor:
    """Solves the task at once and counts what it is asked to extract."""

    def __init__(self):
        self.asked = 0

    async def __call__(self, request):
        if request.role != "extractor":
            return RIGHT
        self.asked += 1
        return f"ADD: insight {self.asked}"


async def test_extractions_share_one_allowance_and_what_is_refused_is_gone_on_with(tmp_path):
    """Of three batches one may be extracted; the next process, which may do more, ends the other two."""
    first, second = Extractor(), Extractor()
    async with assemble(first, store=tmp_path / "store.db", learning=Budget(max_calls=1)) as engine:
        for _ in range(3):
            assert (await engine.run(insight_bank(batch=1), {"task": encode(DOUBLE)})).passed
        ends = await engine.settled()
    assert [end.status for end in ends] == [Status.COMPLETED, Status.BUDGET_EXCEEDED, Status.BUDGET_EXCEEDED]
    assert first.asked == 1
    async with assemble(second, store=tmp_path / "store.db", learning=Budget(max_calls=5)) as engine:
        await engine.run(insight_bank(batch=9), {"task": encode(DOUBLE)})
        ends = await engine.settled()
    assert [end.status for end in ends] == [Status.COMPLETED, Status.COMPLETED]
    assert second.asked == 2


KILLED = """
import asyncio, sys
from retrial.assembly import assemble
from retrial.core.effects import Remember

async def main(store):
    async def extract(request):
        print("asked", flush=True)
        await asyncio.sleep(60)

    async with assemble(extract, store=store) as engine:
        keep = engine._handler_for(Remember(memory="trajectories"))
        for number in range(4):
            outcome = "passed" if number % 2 else "failed"
            one = {"id": f"trial {number}", "task_id": f"t{number // 2}", "task": "double", "outcome": outcome}
            await keep(Remember(memory="trajectories", item={"trajectory": one, "extraction": {"batch": 4}}), "keep")
        await asyncio.sleep(60)

asyncio.run(main(sys.argv[1]))
"""


def _kill_while_extracting(store):
    """Leave a store whose process had four trials and was asking the extractor."""
    with subprocess.Popen([sys.executable, "-c", KILLED, store], stdout=subprocess.PIPE) as child:
        try:
            assert child.stdout.readline() == b"asked\n"
        finally:
            child.kill()


async def test_a_process_killed_in_an_extraction_loses_no_trial_and_applies_nothing_twice(tmp_path):
    """SIGKILL while the extractor is being asked: the next process asks again, applies once, and asks no third time."""
    store = tmp_path / "store.db"
    _kill_while_extracting(store)
    models = [Extractor(), Extractor()]
    for model in models:
        async with assemble(model, store=store) as engine:
            recalled = Recall(memory="insights", query={"count": None})
            handler = engine._handler_for(recalled)
            await handler(recalled, "look")  # The first use of the bank takes over what others left.
            ends = await engine.settled()
            assert [end.status for end in ends] == [Status.COMPLETED] * (model is models[0])
            told = await handler(recalled, "look")
            assert [(one["text"], one.get("score", 2)) for one in told] == [("insight 1", 2)]
            assert [one.id for one in await handler.trajectories.every()] == [f"trial {number}" for number in range(4)]
            assert len(await handler.insights.journal()) == 1
            assert {*(await handler.insights.bank())[1].trajectory_ids} == {f"trial {number}" for number in range(4)}
    assert [model.asked for model in models] == [1, 0]
