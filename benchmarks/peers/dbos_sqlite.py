"""DBOS on SQLite: a workflow a task, a step a model call."""

from __future__ import annotations

from importlib.metadata import version

import measure
from dbos import DBOS


@DBOS.step()
async def ask(prompt: str, reflecting: bool) -> str:
    return await measure.answer(prompt, reflecting=reflecting)


@DBOS.workflow()
async def solve(_: int) -> bool:
    lessons: list[str] = []
    for _trial in range(3):
        output = await ask("\n".join([measure.TASK, *lessons]), False)
        passed, reason = measure.passes(output)
        if passed:
            return True
        lessons.append(await ask(f"{measure.TASK}\n{output}\n{reason}", True))
    return False


async def main(crowd: measure.Crowd) -> None:
    DBOS(
        config={
            "name": "peer",
            "system_database_url": f"sqlite:///{crowd.folder / 'dbos.db'}",
            "log_level": "ERROR",
            "run_admin_server": False,
        }
    )
    DBOS.launch()
    try:
        await crowd.solve(solve)
    finally:
        DBOS.destroy()


measure.run("DBOS SQLite, step a call", version("dbos"), durable=True, main=main)
