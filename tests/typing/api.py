"""Ordinary use of the public API, checked by the type checker and never run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, assert_type

import retrial
from retrial.algorithms import Agent, Reflexion, Swarm, ToolLoop
from retrial.core.messages import Message, ModelRequest, ModelResponse
from retrial.core.tasks import Outcome
from retrial.engine import Engine, Failed, Run
from retrial.evaluate import ValidationHandler
from retrial.hosts import HostFunctions
from retrial.models import FakeLLMClient, LLMHandler
from retrial.models.fake import text
from retrial.recipes import harness, unit_tests
from retrial.store import SqliteStore
from retrial.tools import ToolHandler, ToolRegistry, mcp_tools, tool


def three_lines() -> None:
    result = retrial.solve("Write f(x).", tests=["assert f(1) == 2", ("f(2)", 3)], model="openai:gpt-5-mini")
    assert_type(result, retrial.Result)
    assert_type(result.passed, bool)
    assert_type(result.output, str)
    assert_type(result.lessons, tuple[retrial.Lesson, ...])
    assert_type(result.usage.cost_usd, float | None)


async def acts(prompt: str) -> tuple[str, list[str]]:
    return prompt, ["thought about it"]


def any_actor() -> None:
    assert_type(retrial.solve("How far?", actor=acts, evaluator="exact", answer="42"), retrial.Result)
    HostFunctions(actor=acts, reflector=lambda context: str(context["reason"]))
    HostFunctions(actor=str.upper, validator=lambda answer, context: (False, "no", 0.5))


async def engine_by_hand() -> None:
    def model(request: ModelRequest) -> ModelResponse:
        return text("42")

    async with Engine(SqliteStore("runs.db"), retrial.Budget(max_calls=3)) as engine:
        LLMHandler(FakeLLMClient(model)).attach(engine)
        ValidationHandler({"unit": lambda answer, context: ("km" in answer, "no unit given")}).attach(engine)
        result = await engine.run(Reflexion(validator="unit"), {"task": "How far is it?"})
        assert_type(await engine.resume(result.run_id, Reflexion(validator="unit")), retrial.Result)


async def assembled() -> None:
    async with retrial.assemble("ollama:qwen2.5-coder", store="runs.db", sandbox="jailed") as engine:
        await engine.run(unit_tests(trials=3, carry="both"), {"task": "..."})
        await engine.run(harness(validator="score", patience=2), {"task": "..."})


@tool
def refund(order: str) -> str:
    """Refund an order."""
    return order


@tool(timeout=5, repeatable=True)
async def look_up(order: str) -> int:
    """Look an order up."""
    return len(order)


async def with_tools() -> None:
    assert_type(refund("A1"), str)
    assert_type(await look_up(order="A1"), int)
    async with Engine() as engine, mcp_tools(["uvx", "mcp-server-time"], prefix="time") as theirs:
        registry = ToolRegistry([refund, look_up, *theirs], approve=lambda call: call.name != "refund")
        ToolHandler(registry).attach(engine)
        agents = {
            "triage": Agent("Route.", handoffs=["pay"]),
            "pay": Agent("Pay.", tools=["refund"], description="Pays."),
        }
        await engine.run(Swarm(agents, registry, start="triage", max_handoffs=2), {"task": "..."})
        loop = ToolLoop(registry, system="Be brief.", max_turns=4)
        await engine.run(Reflexion(validator="unit", actor=loop), {"task": "..."})


class Twice:
    """An algorithm of one's own."""

    name = "twice"
    version = "1"
    max_calls = 4

    def parameters(self) -> Mapping[str, Any]:
        return {}

    async def __call__(self, run: Run, given: Mapping[str, Any]) -> Outcome:
        request = ModelRequest(messages=(Message(role="user", content=str(given["task"])),))
        first = await run.model("first", request)
        assert_type(first, ModelResponse)
        both = await run.gather(run.model("a", request), run.model("b", request))
        assert_type(both, list[ModelResponse | Failed])

        async def alone(scope: Run) -> str:
            return (await scope.model("c", request)).text

        (third,) = await run.gather(run.branch("third", alone, max_calls=1))
        assert_type(third, str | Failed)
        return Outcome(retrial.Status.COMPLETED, {"texts": [first.text]})


async def own_algorithm() -> None:
    await Engine().run(Twice(), {"task": "..."})
