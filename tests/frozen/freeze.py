"""Writes journals of the present code, and what the views make of them, into a folder that is never edited again."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from retrial.algorithms import (
    Agent,
    BestOf,
    Debate,
    GenerateTestRepair,
    GeneratorCritic,
    Reflexion,
    SelfConsistency,
    Swarm,
    ToolLoop,
    TreeOfThoughts,
    UniformCostSearch,
    WrittenTests,
)
from retrial.assembly import assemble
from retrial.core.budget import Budget
from retrial.core.codec import encode
from retrial.core.tasks import Task
from retrial.errors import ModelUnavailable
from retrial.evaluate import Validator
from retrial.log.jsonl import write_events
from retrial.models.fake import text, tool_call
from retrial.recipes import recorded
from retrial.taskfile import load_tasks
from retrial.tools import ToolHandler, ToolRegistry, tool
from worlds import Crash, CrashingJournal, Fan, Model, engine_with, fan_model, learner, learning, reply, said, seen

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
    return made | await journals_of_algorithms()


async def journals_of_algorithms() -> dict:
    """One journal of each algorithm besides the loop, one of a loop around another, and one with tools."""
    registry = ToolRegistry([refund])
    agents = {
        "triage": Agent("You route customers.", handoffs=["billing"]),
        "billing": Agent("You handle billing.", tools=["refund"], description="Refunds and charges."),
    }
    made = {}
    for name, algorithm in {
        "debate": Debate(rounds=1, personas=["[A] careful", "[B] fast", "[C] sceptical"]),
        "tree": TreeOfThoughts(depth=2, branching=2),
        "self-consistency": SelfConsistency(samples=3),
        "best-of": BestOf(2, Validator("right")),
        "generator-critic": GeneratorCritic("right"),
        "generate-test-repair": GenerateTestRepair(evaluator=Validator("right")),
        "reflexion-of-debates": Reflexion(validator="right", max_trials=2, actor=Debate(agents=2, judge=False)),
        "ucs": UniformCostSearch(evaluator=Validator("right"), branching=2),
        "swarm": Swarm(agents, registry, start="triage"),
        "tool-loop": ToolLoop(registry),
    }.items():
        async with engine_with(Model(talker)) as engine:
            ToolHandler(registry).attach(engine)
            await engine.run(algorithm, {"task": "Refund order A1."}, run_id=name)
            made[name] = await engine.journal.events(name)
    task = Task(id="add", prompt="Write add(a, b).", tests=("assert add(1, 2) == 3",), entry_point="add")
    async with assemble(coder) as engine:
        await engine.run(WrittenTests(max_trials=2), {"task": encode(task)}, run_id="written-tests")
        made["written-tests"] = await engine.journal.events("written-tests")
    return made


def coder(request):
    """Writes one true and one false test, and a function that passes the true one."""
    if request.role == "tester":
        return "assert add(2, 2) == 4\nassert add(1, 1) == 3"
    return "Add the two." if request.role == "reflector" else "def add(a, b):\n    return a + b"


@tool
def refund(order: str) -> str:
    """Refund an order."""
    return f"refunded {order}"


def talker(request):
    """Plays every part: one agent of a debate is away, the second answer of a conversation is right."""
    if request.tools:
        last, offered = request.messages[-1], {one.name for one in request.tools}
        if "transfer_to_billing" in offered:
            return tool_call("transfer_to_billing")
        is_asked = last.role == "user" or "Transferred" in (last.content or "")
        return tool_call("refund", "c2", order="A1") if is_asked else text("Refunded.")
    words = said(request)
    if "Rate how promising" in words:
        return reply('{"score": 8}' if "FINAL" in words.partition("<steps>")[2] else "no score")
    if "Propose one next step" in words:
        return reply("FINAL: right" if "<steps>" in words else "Look the order up.")
    if "[B]" in words and "Other agents" in words:
        raise ModelUnavailable("503 from the provider")
    return reply(f"Reason {len(words) % 3}. Answer: {'right' if 'not right' in words else 'wrong'}")


def main(version: str) -> None:
    """Freeze the journals of ``version``; one that is there is left as it is."""
    folder = Path(__file__).parent / version
    folder.mkdir(exist_ok=True)
    for name, events in asyncio.run(journals()).items():
        if (folder / f"{name}.jsonl").exists():
            continue
        write_events(folder / f"{name}.jsonl", events)
        text = json.dumps(seen(events), indent=1, sort_keys=True)
        (folder / f"{name}.views.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
