"""Seed 2 around any actor: async and plain functions, agents with steps, models; callbacks, and what is reported."""

from __future__ import annotations

import logging

import pytest
from pydantic_ai import Agent
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel

import retrial
from retrial.assembly import assemble, solve_async
from retrial.errors import ConfigError, GateRefused
from retrial.hosts import ActorHandler, HostFunctions, ReflectorHandler, pydantic_ai_actor
from retrial.log.live import watcher
from retrial.models import FakeLLMClient
from retrial.recipes import harness
from worlds import Model, engine_with, reply, said

LESSON = "search_users takes an email. Look it up with find_account first."


def check(answer, context):
    """A mechanical check."""
    return answer == "right", "it is not right", 1.0 if answer == "right" else 0.2


def learns(prompt):
    """A plain function that needs the lesson."""
    return "right" if LESSON in prompt else "wrong"


async def learns_async(prompt):
    """The same, async."""
    return learns(prompt)


async def learns_with_steps(prompt):
    """The same, as an agent that tells what it did."""
    return learns(prompt), ["called search_users(7)", "search_users failed: no such email"]


class Learns:
    """The same, as an object."""

    async def __call__(self, prompt):
        return learns(prompt)


@pytest.mark.parametrize("actor", [learns, learns_async, learns_with_steps, Learns()])
async def test_any_function_acts_and_no_model_is_needed(actor, tmp_path):
    """A function from prompt to output, async or not, with a validator and a reflector: the lesson reaches it."""
    contexts = []

    def reflect(context):
        contexts.append(context)
        return LESSON

    result = await solve_async("task", actor=actor, validator=check, reflector=reflect, store=tmp_path / "s.db")
    assert (result.passed, result.output, [one.verdict.score for one in result.attempts]) == (True, "right", [0.2, 1.0])
    assert (result.lessons[0].text, result.usage.calls) == (LESSON, 0)
    assert (contexts[0]["attempt"], contexts[0]["reason"]) == ("wrong", "it is not right")


def test_three_lines_with_an_actor_of_ones_own(tmp_path):
    """``solve`` takes it too, with a model for the lessons only."""
    result = retrial.solve("task", actor=learns, validator=check, model=lambda request: LESSON, store=tmp_path / "s.db")
    assert (result.passed, result.usage.calls) == (True, 1)


async def test_an_actor_of_ones_own_is_judged_by_tests_as_well(tmp_path):
    """A function can act in the loop of unit tests, with its four trials."""

    async def code(prompt):
        return "def f():\n    return 1" if LESSON in prompt else "def f():\n    return 2"

    result = await solve_async(
        "Write f.", tests=["assert f() == 1"], actor=code, model=lambda request: LESSON, store=tmp_path / "s.db"
    )
    assert (result.passed, len(result.attempts)) == (True, 2)


async def test_the_transcript_of_an_agent_reaches_the_reflector():
    """Failures that an agent could diagnose from its own transcript: its steps stand in the reflection prompt."""
    model = Model(lambda request: reply(LESSON))
    engine = engine_with(model)
    HostFunctions(actor=learns_with_steps, validator=check).attach(engine)
    await engine.run(harness(validator="validator", actor="actor"), {"task": "task"})
    assert "1. called search_users(7)\n2. search_users failed: no such email" in said(model.asked("reflector")[0])


async def test_a_pydantic_ai_agent_acts_with_its_calls_as_steps(tmp_path):
    """Its output is the attempt, and what it called and got is told to the reflector."""

    def answers(messages, info):
        if len(messages) == 1:
            return ModelResponse(parts=[ToolCallPart("find_account", {"name": "Ada"})])
        told = any(LESSON in str(getattr(part, "content", "")) for part in messages[0].parts)
        return ModelResponse(parts=[TextPart("right" if told else "wrong")])

    agent = Agent(FunctionModel(answers))

    @agent.tool_plain
    def find_account(name: str) -> str:
        return f"{name}@example.org"

    model = Model(lambda request: reply(LESSON))
    result = await solve_async(
        "task", actor=pydantic_ai_actor(agent), validator=check, model=model, store=tmp_path / "s.db"
    )
    assert (result.passed, len(result.attempts)) == (True, 2)
    assert result.attempts[0].steps == (
        'called find_account({"name":"Ada"})',
        "find_account returned Ada@example.org",
        "said: wrong",
    )
    assert "find_account returned Ada@example.org" in said(model.asked("reflector")[0])


@pytest.mark.parametrize(
    ("actor", "why"),
    [
        (lambda prompt: 1 / 0, "ZeroDivisionError"),
        (lambda prompt: 7, "answered 7"),
        (lambda prompt: ("a", "b"), "steps"),
    ],
)
async def test_an_actor_that_breaks_ends_the_run_resumable_and_spends_no_trial(actor, why, tmp_path):
    """Broken is not failing: nothing is reflected on."""
    result = await solve_async("task", actor=actor, validator=check, reflector=str, store=tmp_path / "s.db")
    assert (result.status, result.attempts) == (retrial.Status.FAILED, ())
    assert why in result.error


async def test_a_reflector_that_says_no_text_ends_the_run_with_its_name():
    """The message names the function and what it answered."""
    engine = engine_with()
    HostFunctions(actor=learns, validator=check).attach(engine)
    ReflectorHandler({"reflector": lambda context: None}).attach(engine)
    result = await engine.run(harness(validator="validator", actor="actor", reflector="reflector"), {"task": "t"})
    assert "reflector 'reflector' answered None" in result.error


async def test_callbacks_are_called_once_for_each_attempt_and_lesson(tmp_path):
    """In order, live, and with the attempt and the lesson themselves."""
    told = []
    await solve_async(
        "task",
        actor=learns,
        validator=check,
        reflector=lambda context: LESSON,
        on_attempt=lambda attempt: told.append((attempt.trial, attempt.output)),
        on_lesson=lambda lesson: told.append(lesson.text),
        store=tmp_path / "s.db",
    )
    assert told == [(1, "wrong"), LESSON, (2, "right")]


async def test_a_resumed_run_tells_only_what_is_new_and_a_replay_nothing():
    """What was told before the interruption is not told again."""
    told = []
    broken = [True]

    def act(prompt):
        if LESSON in prompt and broken:
            raise OSError("gone")
        return learns(prompt)

    engine = engine_with()
    engine.observe(watcher(lambda attempt: told.append(attempt.trial), lambda lesson: told.append(lesson.text)))
    functions = HostFunctions(actor=act, validator=check, reflector=lambda context: LESSON)
    functions.attach(engine)
    algorithm = harness(**functions.named())
    first = await engine.run(algorithm, {"task": "t"})
    assert told == [1, LESSON]
    broken.clear()
    again = await engine.resume(first.run_id, algorithm)
    assert (again.passed, told) == (True, [1, LESSON, 2])
    await engine.replay(first.run_id, algorithm)
    assert told == [1, LESSON, 2]


async def test_a_callback_that_raises_is_logged_and_loses_nothing(tmp_path, caplog):
    """The run goes on: what was paid for is worth more than what looks on."""
    with caplog.at_level(logging.ERROR, "retrial"):
        result = await solve_async(
            "task",
            actor=learns,
            validator=check,
            reflector=lambda context: LESSON,
            on_attempt=lambda attempt: 1 / 0,
            store=tmp_path / "s.db",
        )
    assert result.passed
    assert [record.message for record in caplog.records] == ["on_attempt raised; the run goes on"] * 2


def test_an_async_callback_is_refused():
    """Nobody would await it."""

    async def later(attempt):
        return None

    with pytest.raises(ConfigError, match="on_attempt=.* is async"):
        watcher(on_attempt=later)


async def test_a_task_that_needs_a_model_and_has_none_is_refused(tmp_path):
    """Before the actor is asked for anything."""
    with pytest.raises(ConfigError, match="no model is given, and up to 4 calls need one"):
        await solve_async("task", actor=learns, validator=check, store=tmp_path / "s.db")


async def test_the_loop_of_the_seed_can_be_scored_by_any_evaluator(tmp_path):
    """Patience alone makes it the harness, around an answer that is matched; the best attempt is returned."""
    answers = iter(["a b", "c", "d"])
    result = await solve_async(
        "task",
        model=lambda request: LESSON if request.role == "reflector" else next(answers),
        answer="a b c",
        evaluator="f1",
        patience=1,
        store=tmp_path / "s.db",
    )
    assert (result.status, result.output, len(result.attempts)) == (retrial.Status.NO_SOLUTION, "a b", 2)


async def test_there_is_no_loop_without_an_evaluator():
    """The disqualifying condition: it recommends a plain tool loop."""
    with pytest.raises(ConfigError, match="plain tool loop"):
        harness()


async def test_persistent_memory_is_begun_with_and_episodic_memory_vanishes(tmp_path):
    """Decision 3, for every recipe: what was learnt is there the next time only if it was asked for."""
    for memory, known in (("episodic", 0), ("persistent", 1)):
        store = tmp_path / f"{memory}.db"
        options = {"answer": "right", "memory": memory, "store": store, "trials": 2}
        await solve_async("task", model=lambda request: LESSON, **options)
        again = await solve_async("task", model=lambda request: "right", **options)
        assert len(again.lessons) == known


async def test_the_result_reports_attempts_scores_and_lessons(tmp_path):
    """Three attempts, the best scored 0.7, and why it did not pass."""
    scores = iter([0.2, 0.7, 0.9])
    result = await solve_async(
        "task",
        actor=lambda prompt: "text",
        validator=lambda answer, context: (False, "too short", next(scores)),
        reflector=lambda context: f"Use {context['trial']} more words.",
        store=tmp_path / "s.db",
    )
    assert ([one.verdict.score for one in result.attempts], result.value["score"]) == ([0.2, 0.7, 0.9], 0.9)
    assert [lesson.text for lesson in result.lessons] == ["Use 1 more words.", "Use 2 more words."]
    assert result.value["reason"] == "too short"


async def test_two_judges_at_once_and_options_that_do_not_go_together_are_refused(tmp_path):
    """Each with what to do instead."""
    given = {"actor": learns, "validator": check, "reflector": str, "store": tmp_path / "s.db"}
    with pytest.raises(ConfigError, match="both given"):
        await solve_async("task", evaluator="exact", **given)
    with pytest.raises(ConfigError, match="memory='persistent'"):
        await solve_async("task", from_stored=True, **given)
    with pytest.raises(ConfigError, match="'episodic' or 'persistent'"):
        await solve_async("task", model=lambda request: "x", answer="x", memory="forever", store=tmp_path / "s.db")


async def test_an_assembled_engine_takes_actors_by_name():
    """For users of the engine: a name in the recipe, a function on the engine."""
    async with assemble(FakeLLMClient(lambda request: LESSON)) as engine:
        ActorHandler({"agent": learns_async}).attach(engine)
        HostFunctions(validator=check).attach(engine)
        result = await engine.run(harness(validator="validator", actor="agent"), {"task": "t"})
    assert result.passed


async def test_a_validator_that_passes_everything_is_refused_at_the_gate(tmp_path):
    """The first failure mode: the actor is not asked for anything; one that can fail is let through."""
    asked = []

    def act(prompt):
        asked.append(prompt)
        return "right"

    given = {"actor": act, "reflector": str, "gate": True, "store": tmp_path / "s.db"}
    with pytest.raises(GateRefused):
        await solve_async("task", validator=lambda answer, context: True, **given)
    assert asked == []
    assert (await solve_async("task", validator=check, **given)).passed
