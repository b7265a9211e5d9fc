"""Writes journals of the present code, and what the views make of them, into a folder that is never edited again."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from retrial.assembly import assemble
from retrial.core.budget import Budget
from retrial.core.codec import encode
from retrial.errors import ModelUnavailable
from retrial.log.jsonl import write_events
from retrial.recipes import recorded
from retrial.taskfile import load_tasks
from worlds import Crash, CrashingJournal, Fan, Model, engine_with, fan_model, learner, learning, reply, seen

ROOT = Path(__file__).parents[2]


async def journals() -> dict:
    """One journal of each kind: solved, no solution, over budget, failed, resumed, killed."""
    made = {}
    (task,) = load_tasks([ROOT / "examples" / "slugify" / "slugify.toml"])
    algorithm, metadata = recorded("unit_tests", {})
    async with assemble(f"recorded:{ROOT / 'examples/slugify/replies.jsonl'}") as engine:
        await engine.run(algorithm, {"task": encode(task)}, run_id="slugify", metadata=metadata)
        made["slugify"] = await engine.journal.events("slugify")
    async with engine_with(Model(lambda request: reply("wrong", cost=None))) as engine:
        await engine.run(learning(), {"task": "t", "reflections": ["Use km."]}, run_id="no-solution")
        made["no-solution"] = await engine.journal.events("no-solution")
    async with engine_with(Model(learner)) as engine:
        await engine.run(learning(), {"task": "t"}, run_id="resumed", budget=Budget(max_calls=2))
        made["over-budget"] = await engine.journal.events("resumed")
        await engine.resume("resumed", learning(), budget=Budget())
        made["resumed"] = await engine.journal.events("resumed")

    def down(request):
        raise ModelUnavailable("503 from the provider")

    async with engine_with(Model(down)) as engine:
        await engine.run(learning(), {"task": "t"}, run_id="failed")
        made["failed"] = await engine.journal.events("failed")
    journal = CrashingJournal(9)
    try:
        await engine_with(Model(fan_model, seed=3), journal).run(Fan(), {"task": "t"}, run_id="killed")
    except Crash:
        made["killed"] = journal.stored
    return made


def main(version: str) -> None:
    """Freeze the journals of ``version``."""
    folder = Path(__file__).parent / version
    folder.mkdir()
    for name, events in asyncio.run(journals()).items():
        write_events(folder / f"{name}.jsonl", events)
        text = json.dumps(seen(events), indent=1, sort_keys=True)
        (folder / f"{name}.views.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
