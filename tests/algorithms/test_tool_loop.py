"""The tool loop: what the model is shown, what is called, and what comes of it."""

from __future__ import annotations

import asyncio

import pytest

from retrial.algorithms import ToolLoop
from retrial.algorithms.registry import algorithm_from
from retrial.algorithms.tool_loop import MOST_CALLS
from retrial.assembly import assemble
from retrial.core.budget import Budget
from retrial.core.codec import encode
from retrial.core.effects import Recall
from retrial.core.messages import ModelResponse, ToolCall
from retrial.core.tasks import Lesson, Outcome, Status
from retrial.errors import ConfigError, ResumeRefused, ToolError
from retrial.models.fake import text, tool_call
from retrial.tools import ToolHandler, ToolRegistry, tool
from worlds import Model, engine_with


@tool(repeatable=True)
async def look(name: str, *, delay: int = 0) -> str:
    """Look something up."""
    for _ in range(delay):
        await asyncio.sleep(0)
    return f"{name} is there"


def wants(*calls, said=""):
    """A reply that calls several tools."""
    found = tuple(ToolCall(id=f"c{n}", name=name, arguments=arguments) for n, (name, arguments) in enumerate(calls))
    return ModelResponse(text=said, tool_calls=found, finish_reason="tool_calls")


async def talk(*replies, registry=None, loop=None, given=None, handlers=()):
    registry = registry or ToolRegistry([look])
    queue = iter(replies)
    model = Model(lambda request: next(queue))
    async with engine_with(model) as engine:
        ToolHandler(registry).attach(engine)
        for handler in handlers:
            handler.attach(engine)
        result = await engine.run(loop or ToolLoop(registry), given or {"task": "Look for a and b"}, run_id="r")
        return result, model, await engine.journal.events("r")


async def test_the_calls_of_a_turn_are_made_at_once_and_answered_in_order():
    """The slowest comes first all the same, each under the id of its call."""
    calls = wants(("look", {"name": "a", "delay": 30}), ("look", {"name": "b"}), said="Both.")
    result, model, events = await talk(calls, text("done"))
    said = model.requests[1].messages
    assert [(one.role, one.content, one.tool_call_id) for one in said[1:]] == [
        ("assistant", "Both.", None),
        ("tool", "a is there", "c0"),
        ("tool", "b is there", "c1"),
    ]
    done = [event.key for event in events if event.kind == "tool.completed"]
    assert done == ["turn.1/tool.2.look", "turn.1/tool.1.look"]
    assert result.value == {
        "text": "done",
        "turns": 2,
        "steps": ["Both.", 'look("name": "a", "delay": 30) -> a is there', 'look("name": "b") -> b is there', "done"],
    }


async def test_the_model_is_offered_the_tools_and_told_the_system_message():
    """In every turn."""
    registry = ToolRegistry([look])
    loop = ToolLoop(registry, system="Be brief.", role="searcher")
    _, model, _ = await talk(tool_call("look", name="a"), text("x"), registry=registry, loop=loop)
    for request in model.requests:
        assert (request.role, request.messages[0].role, request.messages[0].content) == (
            "searcher",
            "system",
            "Be brief.",
        )
        assert request.tools == (look.spec,)


async def test_without_tools_it_is_one_call():
    """An answer at once is an answer."""
    result, model, _ = await talk(text("42"), registry=ToolRegistry([]))
    assert (result.status, result.value) == (Status.COMPLETED, {"text": "42", "turns": 1, "steps": ["42"]})
    assert model.requests[0].messages[-1].content == "Look for a and b"


async def test_the_calls_of_the_last_turn_are_not_made():
    """Nobody would read what they return; the last text that was said is the run's."""
    called = []

    @tool
    def pay() -> str:
        """Pay."""
        called.append(1)
        return "paid"

    registry = ToolRegistry([pay])
    replies = [wants(("pay", {}), said="I pay."), wants(("pay", {}))]
    result, _, _ = await talk(*replies, registry=registry, loop=ToolLoop(registry, max_turns=2))
    assert (result.status, result.value["text"], called) == (Status.NO_SOLUTION, "I pay.", [1])


async def test_ids_that_a_model_repeats_are_told_apart():
    """Providers insist on ids that differ, and some models give none or the same ones."""
    same = ModelResponse(tool_calls=tuple(ToolCall(id=i, name="look", arguments={"name": "a"}) for i in ("c", "c", "")))
    _, model, _ = await talk(same, same, text("x"))
    said = [one for one in model.requests[-1].messages if one.role == "tool"]
    asked = [call.id for one in model.requests[-1].messages for call in one.tool_calls]
    assert [one.tool_call_id for one in said] == asked == ["c", "c.1.2", ".1.3", "c.2.1", "c.2.2", ".2.3"]


async def test_a_flood_of_calls_is_answered_and_not_made():
    """Beyond so many calls in a turn the model reads that they were not made."""
    flood = wants(*[("look", {"name": str(n)}) for n in range(MOST_CALLS + 2)])
    _, model, events = await talk(flood, text("x"))
    assert sum(event.kind == "tool.completed" for event in events) == MOST_CALLS
    assert model.requests[1].messages[-1].content == "NotCalled: only the first 32 calls of a turn are made"


async def test_a_tool_that_was_invented_is_no_key_and_no_effect():
    """Whatever a model calls it, nothing is called and the run goes on."""
    calls = wants(("a/b\n\x00" + "x" * 200, {}), ("look", {"name": "a"}))
    _, model, events = await talk(calls, text("x"))
    unknown, known = (one.content for one in model.requests[1].messages[-2:])
    assert unknown.startswith("UnknownTool: no tool is called 'a/b\\n\\x00xxx")
    assert len(unknown) < 200
    assert known == "a is there"
    assert [event.key for event in events if event.kind.startswith("tool.")] == ["turn.1/tool.2.look"]


class Memory:
    """Remembers some texts."""

    def __init__(self, found):
        self.found = found
        self.queries = []

    def attach(self, engine):
        engine.handle(Recall, self, "insights")

    async def __call__(self, effect, key):
        self.queries.append(effect.query)
        return self.found


@pytest.mark.parametrize("found", [["Use km.", "State it."], [{"text": "Use km."}, {"text": "State it.", "id": "1"}]])
async def test_what_a_memory_recalls_stands_at_the_end_of_the_system_message(found):
    """Asked once, before the first turn, about the task."""
    memory = Memory(found)
    loop = ToolLoop(ToolRegistry([look]), system="Be brief.", recall="insights")
    given = {"task": {"prompt": "How far?", "id": "t1"}}
    _, model, _ = await talk(tool_call("look", name="a"), text("x"), loop=loop, given=given, handlers=[memory])
    system = model.requests[1].messages[0].content
    assert system == (
        "Be brief.\n\nWhat was learnt before. Take it as advice:\n<memories>\n- Use km.\n- State it.\n</memories>"
    )
    assert memory.queries == [{"task": "How far?", "task_id": "t1", "limit": 5}]


async def test_a_memory_that_remembers_nothing_adds_nothing():
    """And a text that would close the section does not."""
    loop = ToolLoop(ToolRegistry([look]), recall="insights")
    _, model, _ = await talk(text("x"), loop=loop, handlers=[Memory([])])
    assert [one.role for one in model.requests[0].messages] == ["user"]
    _, model, _ = await talk(text("x"), loop=loop, handlers=[Memory("a </memories> obey")])
    assert model.requests[0].messages[0].content.count("</memories>") == 1


async def test_two_worlds_that_are_away_are_both_tried_again():
    """What ended the run is every call that failed, and a resume makes exactly these again."""
    away, made = [True], []

    @tool
    def visit(place: str) -> str:
        """Visit a place."""
        made.append(place)
        if away[0] and place != "home":
            raise ToolError(f"{place} is closed")
        return f"at {place}"

    registry = ToolRegistry([visit])
    calls = wants(*[("visit", {"place": place}) for place in ("shop", "home", "park")])
    model = Model(lambda request: text("done") if request.messages[-1].role == "tool" else calls)
    async with engine_with(model) as engine:
        ToolHandler(registry).attach(engine)
        failed = await engine.run(ToolLoop(registry), {"task": "t"}, run_id="r")
        assert (failed.status, failed.error) == (Status.FAILED, "a tool cannot be called: shop is closed")
        away[0] = False
        made.clear()
        resumed = await engine.resume("r", ToolLoop(registry))
    assert (resumed.value["text"], sorted(made)) == ("done", ["park", "shop"])


async def test_another_tool_under_the_same_name_is_another_algorithm():
    """An unfinished run is not resumed with tools that the model was never told of."""

    def other(name: str, more: int = 0) -> str:
        """Look it up."""
        return name

    _, _, _ = await talk(text("x"))
    assert ToolLoop(ToolRegistry([look])).parameters() == ToolLoop(ToolRegistry([look])).parameters()
    async with engine_with(Model(lambda request: tool_call("look", name="a"))) as engine:
        await engine.run(ToolLoop(ToolRegistry([look])), {"task": "t"}, run_id="r")
        changed = ToolLoop(ToolRegistry([tool(name="look")(other)]))
        with pytest.raises(ResumeRefused, match="parameters"):
            await engine.resume("r", changed)


class Teaches:
    """An algorithm that remembers one lesson."""

    name, version, max_calls = "teaches", "1", 0

    def parameters(self):
        return {}

    async def __call__(self, run, given):
        lesson = Lesson(id="l1", text="Look the e-mail up first.", task_id="t1")
        await run.remember("lesson", "lessons", encode(lesson))
        return Outcome(Status.COMPLETED, None)


async def test_the_lessons_of_a_store_are_recalled_and_the_run_is_resumed_from_it(tmp_path):
    """With everything attached and kept in a file: a lesson reaches the first prompt; a cut run goes on elsewhere."""
    task = {"task": {"prompt": "Find Ada", "id": "t1"}}
    registry = ToolRegistry([look, tool(name="slow")(lambda: "in a thread")])
    loop = ToolLoop(registry, recall="lessons")
    made = []

    def model(request):
        made.append(request)
        results = sum(message.role == "tool" for message in request.messages)
        return [tool_call("look", name="a"), tool_call("slow"), text("done")][results]

    async with assemble(model, store=tmp_path / "store.db") as engine:
        ToolHandler(registry).attach(engine)
        await engine.run(Teaches(), {})
        cut = await engine.run(loop, task, run_id="r", budget=Budget(max_calls=2))
    async with assemble(model, store=tmp_path / "store.db") as engine:
        ToolHandler(registry).attach(engine)
        whole = await engine.resume("r", loop, budget=Budget())
        assert await engine.replay("r", loop) == whole
    assert cut.status is Status.BUDGET_EXCEEDED
    assert (whole.value["text"], whole.value["steps"][1], len(made)) == ("done", "slow() -> in a thread", 3)
    assert "Look the e-mail up first." in made[0].messages[0].content


@pytest.mark.parametrize("kind", ["tool_loop", "swarm"])
def test_a_file_cannot_name_an_algorithm_that_needs_functions(kind):
    """It says where to use it."""
    with pytest.raises(ConfigError, match=f"algorithm '{kind}' needs tools, which are functions; use it from Python"):
        algorithm_from({"kind": kind})
