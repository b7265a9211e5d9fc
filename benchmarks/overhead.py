"""What each algorithm costs above its model calls: CPU a call, with a scripted model and a journal in memory."""

from __future__ import annotations

import argparse
import asyncio
import statistics
import time
from collections.abc import Callable

from rich.console import Console
from rich.table import Table

from retrial.algorithms import (
    Agent,
    BestOf,
    Debate,
    GenerateTestRepair,
    GeneratorCritic,
    Reflexion,
    SelfConsistency,
    Swarm,
    TreeOfThoughts,
    UniformCostSearch,
)
from retrial.core.messages import ModelRequest, ModelResponse
from retrial.engine import Algorithm, Engine
from retrial.evaluate import ValidationHandler, Validator
from retrial.models import FakeLLMClient, LLMHandler
from retrial.models.fake import text, tool_call
from retrial.tools import ToolHandler, ToolRegistry, tool

GOAL = 0.2
"""Milliseconds of CPU a model call."""


@tool
async def look(place: str) -> str:
    """Look somewhere. Async, since a plain function is called in a thread, which is no cost of the algorithm."""
    return f"nothing at {place}"


REGISTRY = ToolRegistry([look])
ALGORITHMS: dict[str, Callable[[], Algorithm]] = {
    "reflexion": lambda: Reflexion(validator="no", max_trials=5),
    "debate": lambda: Debate(agents=5, rounds=2),
    "tree": lambda: TreeOfThoughts(depth=3, width=3, branching=3, stop_score=None),
    "self_consistency": lambda: SelfConsistency(samples=10),
    "best_of": lambda: BestOf(10, Validator("no")),
    "generator_critic": lambda: GeneratorCritic("no", max_rounds=5),
    "generate_test_repair": lambda: GenerateTestRepair(evaluator=Validator("no"), max_repairs=5),
    "ucs": lambda: UniformCostSearch(evaluator=Validator("no"), max_expansions=3),
    "swarm": lambda: Swarm({"a": Agent("Look.", tools=["look"])}, REGISTRY, start="a", max_turns=5),
    "reflexion of debates": lambda: Reflexion(validator="no", actor=Debate(agents=3)),
}


def main() -> None:
    """Measure every algorithm, interleaved, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="5 rounds instead of 25")
    rounds = 5 if parser.parse_args().quick else 25
    spent: dict[str, list[float]] = {name: [] for name in ALGORITHMS}
    calls: dict[str, int] = {}
    for _ in range(rounds + 1):
        for name, make in ALGORITHMS.items():
            milliseconds, calls[name] = asyncio.run(cpu_a_call(make()))
            spent[name].append(milliseconds)
    table = Table(title=f"CPU above the model call, medians of {rounds}")
    for heading in ("algorithm", "calls a run", "ms a call", "least", "goal", ""):
        table.add_column(heading, justify="left" if heading in ("algorithm", "") else "right")
    for name, values in spent.items():
        middle = statistics.median(values[1:])
        met = "met" if middle <= GOAL else "NOT MET"
        table.add_row(name, str(calls[name]), f"{middle:.3f}", f"{min(values):.3f}", str(GOAL), met)
    Console().print(table)


async def cpu_a_call(algorithm: Algorithm, runs: int = 10) -> tuple[float, int]:
    """Milliseconds of CPU a model call beyond the scripted function's own, and how many calls a run makes."""
    own, count = 0.0, 0

    def model(request: ModelRequest) -> ModelResponse:
        nonlocal own, count
        begun = time.process_time()
        count += 1
        words = request.messages[0].content or ""
        if request.tools:
            answer = tool_call("look", f"c{count}", place="here")
        elif request.role == "reflector":
            answer = text(f"I gave no unit. Next time I will state the unit of step {count} before I answer.")
        elif "Rate how promising" in words:
            answer = text('{"score": 5}')
        else:
            answer = text(f"Step {count} of a long enough reply, as a model gives it. " * 10 + f"Answer: {count % 3}")
        own += time.process_time() - begun
        return answer

    async with Engine() as engine:
        LLMHandler(FakeLLMClient(model)).attach(engine)
        ToolHandler(REGISTRY).attach(engine)
        ValidationHandler({"no": lambda *_: (False, "it is not accepted")}).attach(engine)
        begun = time.process_time()
        for number in range(runs):
            await engine.run(algorithm, {"task": "What is 6 x 2?"}, run_id=str(number))
        whole = time.process_time() - begun
    return 1000 * (whole - own) / count, count // runs


if __name__ == "__main__":
    main()
