"""Every algorithm keeps the engine's promises: bounds, order, budgets, crashes and replays, alone and composed."""

from __future__ import annotations

import asyncio
import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrial.algorithms import (
    BestOf,
    Debate,
    GenerateTestRepair,
    GeneratorCritic,
    Reflexion,
    SelfConsistency,
    TreeOfThoughts,
    UniformCostSearch,
)
from retrial.core.budget import Budget
from retrial.core.tasks import Status
from retrial.errors import ModelUnavailable
from retrial.evaluate import Critic, Validator
from retrial.log.views import in_doubt
from worlds import Crash, CrashingJournal, engine_with, journal_of, reply

ALGORITHMS = {
    "reflexion": lambda: Reflexion(validator="right"),
    "debate": lambda: Debate(rounds=2),
    "tree": lambda: TreeOfThoughts(stop_score=None),
    "self_consistency": lambda: SelfConsistency(samples=5),
    "best_of": lambda: BestOf(3, Critic()),
    "generator_critic": GeneratorCritic,
    "generate_test_repair": lambda: GenerateTestRepair(evaluator=Validator("right")),
    "ucs": lambda: UniformCostSearch(evaluator=Critic(), branching=2, max_expansions=2),
    "reflexion of debates": lambda: Reflexion(validator="right", actor=Debate(agents=2, judge=False)),
    "reflexion of trees": lambda: Reflexion(
        validator="right", max_trials=2, actor=TreeOfThoughts(depth=2, branching=2)
    ),
    "reflexion of samples": lambda: Reflexion(validator="right", actor=BestOf(2, Validator("right"))),
}
ORDERS = pytest.mark.parametrize("orders", [15, pytest.param(500, marks=pytest.mark.slow)])
each = pytest.mark.parametrize("name", ALGORITHMS)


class Whim:
    """A model whose reply is decided by the call's key alone: an answer, a score, a verdict, or now and then a failure.

    ``seed`` decides only how long each reply takes, in turns of the event loop.
    """

    name = "whim"

    def __init__(self, mood: int = 0, seed: int | None = None, failing: float = 0.0) -> None:
        self.keys: list[str] = []
        self._mood, self._failing = mood, failing
        self._delays = random.Random(seed) if seed is not None else None

    async def complete(self, request, key):
        self.keys.append(key)
        if self._delays is not None:
            for _ in range(self._delays.randrange(12)):
                await asyncio.sleep(0)
        chance = random.Random(f"{self._mood}:{key}")
        if chance.random() < self._failing:
            raise ModelUnavailable("503 from the provider")
        if request.role in ("judge", "critic") and "round" not in key.rpartition("/")[2]:
            return reply(json.dumps({"passed": chance.random() < 0.2, "reason": "no", "score": chance.randrange(9)}))
        if request.role == "reflector":
            return reply(f"Next time, try {chance.randrange(9)}.")
        step = f"FINAL: {chance.randrange(4)}" if chance.random() < 0.15 else f"step {chance.randrange(9)}"
        return reply(step if "propose" in key else f"Because. Answer: {chance.randrange(4)}")


async def whole(make, **whims):
    """A run that nothing disturbs: its result, its events and its model."""
    model = Whim(**whims)
    async with engine_with(model) as engine:
        result = await engine.run(make(), {"task": "t"}, run_id="the run")
        return result, await engine.journal.events("the run"), model


def bounded():
    """Algorithms of any parameters that are allowed."""
    small = st.integers(1, 3)
    judges = st.sampled_from([Critic(), Validator("right")])
    inner = st.one_of(
        st.builds(Debate, agents=st.integers(2, 7), rounds=st.integers(0, 4), judge=st.booleans()),
        st.builds(
            TreeOfThoughts,
            depth=st.integers(1, 8),
            width=st.integers(1, 5),
            branching=st.integers(1, 5),
            stop_score=st.sampled_from([None, 5, 9.0]),
        ),
        st.builds(SelfConsistency, samples=st.integers(1, 40)),
        st.builds(BestOf, st.integers(1, 25), judges),
        st.builds(GeneratorCritic, max_rounds=st.integers(1, 10)),
        st.builds(
            UniformCostSearch,
            evaluator=judges,
            max_expansions=st.integers(0, 16),
            branching=st.integers(1, 10),
        ),
        st.builds(GenerateTestRepair, evaluator=judges, max_repairs=st.integers(0, 9)),
    )
    loop = st.builds(
        Reflexion,
        evaluator=judges,
        max_trials=small,
        actor=st.one_of(st.none(), inner),
        carry=st.sampled_from(["lessons", "nothing"]),
        ask_again=st.sampled_from(["never", "any"]),
        confirm=st.booleans(),
    )
    return st.one_of(inner, loop)


@settings(max_examples=60)
@given(algorithm=bounded(), mood=st.integers(0, 10**6), failing=st.sampled_from([0.0, 0.1, 0.5]))
def test_max_calls_is_never_exceeded(algorithm, mood, failing):
    """Whatever the parameters and whatever the model says or fails to say, no more calls are made than was stated."""
    result, _, model = asyncio.run(whole(lambda: algorithm, mood=mood, failing=failing))
    assert len(model.keys) <= algorithm.max_calls
    assert len(model.keys) == len({*model.keys})
    assert result.usage.calls <= len(model.keys)
    assert result.status in (Status.COMPLETED, Status.NO_SOLUTION, Status.FAILED)


@ORDERS
@each
async def test_results_and_calls_do_not_depend_on_who_finished_first(name, orders):
    """For every order of completion there is one value, one set of keys and one number of tokens, failures included."""
    ends = []
    for seed in range(orders):
        result, events, model = await whole(ALGORITHMS[name], seed=seed, mood=3, failing=0.1)
        used = result.usage.calls, result.usage.tokens
        ends.append((repr(result.value), result.status, used, sorted(model.keys), {event.key for event in events}))
    assert all(end == ends[0] for end in ends)


@each
async def test_a_budget_cut_at_every_call_leaves_a_run_that_ends_as_if_never_cut(name):
    """Whatever number of calls is allowed is kept; a larger budget goes on to the same end and asks nothing twice."""
    result, _, before = await whole(ALGORITHMS[name], mood=1)
    for allowed in range(len(before.keys)):
        model = Whim(mood=1, seed=allowed)
        async with engine_with(model) as engine:
            cut = await engine.run(
                ALGORITHMS[name](), {"task": "t"}, run_id="the run", budget=Budget(max_calls=allowed)
            )
            assert cut.status is Status.BUDGET_EXCEEDED
            assert cut.usage.calls == len(model.keys) <= allowed
            assert cut.value is None or {*cut.value} == {*result.value}
            resumed = await engine.resume("the run", ALGORITHMS[name](), budget=Budget())
        assert (resumed.status, resumed.value) == (result.status, result.value)
        assert sorted(model.keys) == sorted(before.keys)


@each
async def test_a_crash_after_every_event_repeats_no_call_that_came_back(name):
    """Killed behind any event, a run resumes to the same value; only what was in doubt is asked again."""
    result, events, _ = await whole(ALGORITHMS[name], mood=1)
    for limit in range(1, len(events)):
        journal = CrashingJournal(limit)
        with pytest.raises(Crash):
            await engine_with(Whim(mood=1, seed=limit), journal).run(
                ALGORITHMS[name](), {"task": "t"}, run_id="the run"
            )
        came_back = {event.key for event in journal.stored if event.kind == "model.completed"}
        model = Whim(mood=1, seed=limit + 1)
        resumed = await engine_with(model, await journal_of(journal.stored)).resume("the run", ALGORITHMS[name]())
        assert (resumed.status, resumed.value) == (result.status, result.value), limit
        assert not came_back & {*model.keys}
        assert {key for key in in_doubt(journal.stored) if "validator" not in key} <= {*model.keys}
        assert resumed.usage.calls == result.usage.calls


@each
async def test_a_finished_run_replays_without_a_call(name):
    """The same result again, asking nobody, tolerated failures included."""
    for failing in (0.0, 0.1):
        result, events, _ = await whole(ALGORITHMS[name], mood=3, failing=failing)
        if result.status.final:
            assert await engine_with(None, await journal_of(events)).replay("the run", ALGORITHMS[name]()) == result
