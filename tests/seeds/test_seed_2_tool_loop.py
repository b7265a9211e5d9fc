"""Seed 2: the ReAct loop that acts inside the harness: bounded turns, tool errors and invented tools."""

from __future__ import annotations

import pytest

from retrial.algorithms import Reflexion, ToolLoop
from retrial.core.tasks import Status
from retrial.errors import ConfigError
from retrial.evaluate import ValidationHandler
from retrial.models.fake import text, tool_call
from retrial.tools import ToolHandler, ToolRegistry, tool
from worlds import Model, engine_with, said


@tool
def search_users(query: str) -> str:
    """Find a user by e-mail."""
    if "@" not in query:
        raise LookupError(f"{query!r} is no e-mail address")
    return f"found {query}"


REGISTRY = ToolRegistry([search_users])


async def run_of(answer, algorithm=None, registry=REGISTRY, **given):
    model = Model(answer)
    async with engine_with(model) as engine:
        ToolHandler(registry).attach(engine)
        result = await engine.run(algorithm or ToolLoop(registry), {"task": "Find Ada", **given}, run_id="r")
        return result, model


def insists(request):
    """A model that never answers."""
    return tool_call("search_users", query="ada@example.com")


@pytest.mark.parametrize("turns", [1, 2, 7])
async def test_turns_are_bounded(turns):
    """A model that goes on calling tools is asked so many times and not once more."""
    result, model = await run_of(insists, ToolLoop(REGISTRY, max_turns=turns))
    assert result.status is Status.NO_SOLUTION
    assert len(model.requests) == result.value["turns"] == ToolLoop(REGISTRY, max_turns=turns).max_calls == turns


@pytest.mark.parametrize("turns", [0, 101])
def test_the_bound_is_checked_at_construction(turns):
    """No loop without an end."""
    with pytest.raises(ConfigError, match=f"max_turns={turns} is not possible; it can be 1 to 100"):
        ToolLoop(REGISTRY, max_turns=turns)


async def test_tool_errors_come_back_as_observations():
    """The model reads what its tool raised, and can do better."""

    def model(request):
        last = request.messages[-1].content
        if "is no e-mail address" in last:
            return tool_call("search_users", query="ada@example.com")
        return text(last) if "found" in last else tool_call("search_users", query="17")

    result, scripted = await run_of(model)
    assert result.value["text"] == "found ada@example.com"
    assert scripted.requests[1].messages[-1].content == "ToolFailed: LookupError: '17' is no e-mail address"
    assert scripted.requests[1].messages[-1].role == "tool"


async def test_an_invented_tool_comes_back_as_unknown_tool():
    """The model is told which tools there are; nothing is called."""
    replies = iter([tool_call("find_account", email="ada@example.com"), text("sorry")])
    result, model = await run_of(lambda request: next(replies))
    assert result.status is Status.COMPLETED
    observed = model.requests[1].messages[-1].content
    assert observed == "UnknownTool: no tool is called 'find_account' here; you can call search_users"


async def test_the_transcript_of_an_agent_is_part_of_the_attempt():
    """In the outer loop the inner one acts: its text is judged, its steps are kept, its lesson reaches the next prompt."""

    def model(request):
        if request.role == "reflector":
            return text("search_users takes an email, not a numeric ID. Look the email up first.")
        last = request.messages[-1].content
        if last.startswith("found"):
            return text(f"right: {last}")
        if last.startswith("ToolFailed"):
            return text("I give up")
        return tool_call("search_users", query="ada@example.com" if "Look the email up" in said(request) else "17")

    loop = Reflexion(validator="right", actor=ToolLoop(REGISTRY, max_turns=4))
    result, scripted = await run_of(model, loop)
    assert (result.passed, result.output) == (True, "right: found ada@example.com")
    assert result.attempts[0].steps == (
        """search_users("query": "17") -> ToolFailed: LookupError: '17' is no e-mail address""",
        "I give up",
    )
    assert loop.max_calls == 3 * 4 + 2
    assert "trial.2/actor/turn.1/actor" not in scripted.keys
    assert [key for key in scripted.keys if key.startswith("trial.2")] == [
        "trial.2/actor/turn.1/model",
        "trial.2/actor/turn.2/model",
    ]


async def test_environmental_failures_spend_no_attempt():
    """A tool whose world is away ends the run, which is resumed where it stood once the world is back."""
    away = [True]

    @tool(environmental=(ConnectionError,))
    def search(query: str) -> str:
        """Search."""
        if away[0]:
            raise ConnectionError("no route")
        return "found"

    registry = ToolRegistry([search])

    def answer(request):
        return text("right") if request.messages[-1].role == "tool" else tool_call("search", query="x")

    model = Model(answer)
    loop = Reflexion(validator="right", actor=ToolLoop(registry))
    async with engine_with(model) as engine:
        ToolHandler(registry).attach(engine)
        failed = await engine.run(loop, {"task": "t"}, run_id="r")
        assert (failed.status, failed.attempts) == (Status.FAILED, ())
        assert failed.error == "a tool cannot be called: tool 'search': ConnectionError: no route"
        away[0] = False
        resumed = await engine.resume("r", loop)
    assert (resumed.passed, len(resumed.attempts), len(model.keys)) == (True, 1, 2)


async def test_the_judge_never_sees_the_agents_steps():
    """An evaluator is given the output alone."""
    judged = []
    registry = ToolRegistry([search_users])
    replies = iter([tool_call("search_users", query="a@b.c"), text("right")])
    async with engine_with(Model(lambda request: next(replies))) as engine:
        ValidationHandler({"right": lambda answer, context: judged.append((answer, context)) or True}).attach(engine)
        ToolHandler(registry).attach(engine)
        await engine.run(Reflexion(validator="right", actor=ToolLoop(registry)), {"task": "t"})
    assert judged[0][0] == "right"
    assert "search_users" not in str(judged)
