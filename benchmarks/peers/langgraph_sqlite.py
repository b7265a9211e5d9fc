"""LangGraph with its SQLite checkpointer: three nodes, a checkpoint after each."""

from __future__ import annotations

from importlib.metadata import version

import langgraph_loop
import measure
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver


async def main(crowd: measure.Crowd) -> None:
    async with AsyncSqliteSaver.from_conn_string(str(crowd.folder / "checkpoints.db")) as saver:
        await langgraph_loop.solve_all(crowd, saver)


measure.run("LangGraph + AsyncSqliteSaver", version("langgraph"), durable=True, main=main)
