"""What a turn of a tool loop costs beside the model: two effects, an async or a sync tool, a journal in memory."""

from __future__ import annotations

import argparse
import asyncio
import statistics
import time

from rich.console import Console
from rich.progress import track
from rich.table import Table

from retrial.algorithms import ToolLoop
from retrial.core.messages import Message, ModelRequest
from retrial.engine import Engine
from retrial.models import FakeLLMClient, LLMHandler
from retrial.models.fake import text, tool_call
from retrial.tools import ToolHandler, ToolRegistry, tool

GOAL = 0.2
"""Milliseconds of CPU an effect, above the scripted model and the function itself."""
RUNS = 40


@tool
async def later(order: str) -> str:
    """Look an order up."""
    return f"{order} is open"


@tool
def threaded(order: str) -> str:
    """Look an order up."""
    return f"{order} is open"


def model(turns: int, name: str) -> FakeLLMClient:
    """A model that calls one tool a turn and answers in the last one."""
    return FakeLLMClient(
        lambda request: text("done") if len(request.messages) >= 2 * turns - 1 else tool_call(name, order="A1")
    )


async def floor(turns: int) -> None:
    """The same conversation by hand: no journal, no checks, no engine."""
    client = model(turns, "later")
    messages = (Message(role="user", content="t"),)
    for _ in range(turns):
        reply = await client.complete(ModelRequest(messages=messages), "")
        for call in reply.tool_calls:
            said = Message(role="assistant", tool_calls=reply.tool_calls)
            result = await later.function(**call.arguments)
            messages += (said, Message(role="tool", content=result, tool_call_id=call.id))


async def looped(turns: int, name: str) -> None:
    """The tool loop."""
    registry = ToolRegistry([later, threaded])
    engine = Engine()
    LLMHandler(model(turns, name)).attach(engine)
    ToolHandler(registry).attach(engine)
    result = await engine.run(ToolLoop(registry, max_turns=turns), {"task": "t"})
    assert result.value["turns"] == turns, result


WAYS = {
    "by hand, nothing kept": floor,
    "ToolLoop, async tool": lambda turns: looped(turns, "later"),
    "ToolLoop, tool in a thread": lambda turns: looped(turns, "threaded"),
}


async def cpu_of(way: object, turns: int) -> float:
    """Milliseconds of CPU a turn, all threads included."""
    begun = time.process_time()
    for _ in range(RUNS):
        await WAYS[str(way)](turns)
    return (time.process_time() - begun) * 1000 / RUNS / turns


def main() -> None:
    """Measure every way with short and long conversations, interleaved, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="3 rounds instead of 15")
    rounds, lengths = (3 if parser.parse_args().quick else 15), (2, 10, 40)
    spent: dict[tuple[str, int], list[float]] = {(way, turns): [] for way in WAYS for turns in lengths}
    console = Console()
    for _ in track(range(rounds), "Conversations", console=console):
        for (way, turns), values in spent.items():
            values.append(asyncio.run(cpu_of(way, turns)))
    table = Table(title=f"CPU of a turn (a model call and a tool call), medians of {rounds}")
    for heading in ("what", "turns", "ms a turn", "least", f"above the hand, an effect (goal {GOAL})"):
        table.add_column(heading, justify="left" if heading == "what" else "right")
    for (way, turns), values in spent.items():
        above = (statistics.median(values) - statistics.median(spent["by hand, nothing kept", turns])) / 2
        shown = "" if way.startswith("by hand") else f"{above:.3f} {'met' if above <= GOAL else 'NOT MET'}"
        table.add_row(way, str(turns), f"{statistics.median(values):.3f}", f"{min(values):.3f}", shown)
    console.print(table)


if __name__ == "__main__":
    main()
