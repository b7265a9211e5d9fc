"""LangGraph with the checkpointer that forgets at the end of the process."""

from __future__ import annotations

from importlib.metadata import version

import langgraph_loop
import measure
from langgraph.checkpoint.memory import InMemorySaver


async def main(crowd: measure.Crowd) -> None:
    await langgraph_loop.solve_all(crowd, InMemorySaver())


measure.run("LangGraph + InMemorySaver", version("langgraph"), durable=False, main=main)
