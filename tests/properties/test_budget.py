"""A budget that is cut at any point leaves a valid run that goes on when there is more."""

from __future__ import annotations

import pytest

from retrial.core.budget import Budget
from retrial.core.tasks import Status
from worlds import Fan, Model, engine_with, fan_model, learner, learning

WORLDS = {"reflexion": (learning, learner), "fan": (Fan, fan_model)}


@pytest.mark.parametrize("name", WORLDS)
async def test_a_budget_cut_at_every_call_leaves_a_resumable_run(name):
    """Whatever number of calls is allowed, it is kept exactly, and a larger budget finishes without asking twice."""
    algorithm, answer = WORLDS[name]
    async with engine_with(Model(answer)) as engine:
        whole = await engine.run(algorithm(), {"task": "t"}, run_id="the run")
    for allowed in range(whole.usage.calls):
        model = Model(answer, seed=allowed)
        async with engine_with(model) as engine:
            cut = await engine.run(algorithm(), {"task": "t"}, run_id="the run", budget=Budget(max_calls=allowed))
            assert cut.status is Status.BUDGET_EXCEEDED
            assert len(model.keys) <= allowed
            assert cut.usage.calls == len(model.keys)
            resumed = await engine.resume("the run", algorithm(), budget=Budget())
        assert resumed.value == whole.value
        assert resumed.status is Status.COMPLETED
        assert len(model.keys) == len({*model.keys}) == whole.usage.calls


@pytest.mark.parametrize("allowed", range(14))
async def test_who_is_refused_does_not_depend_on_speed(allowed):
    """For one budget and thirty orders of completion, exactly the same calls are made."""
    made = set()
    for seed in range(30):
        model = Model(fan_model, seed)
        async with engine_with(model) as engine:
            await engine.run(Fan(), {"task": "t"}, budget=Budget(max_calls=allowed))
        made.add(tuple(sorted(model.keys)))
    assert len(made) == 1


async def test_a_budget_below_the_first_call_keeps_nothing_and_pays_nothing():
    """With no call allowed the run ends at once, with no call made and no value."""
    model = Model(learner)
    async with engine_with(model) as engine:
        cut = await engine.run(learning(), {"task": "t"}, budget=Budget(max_calls=0))
    assert (cut.status, cut.value, model.keys) == (Status.BUDGET_EXCEEDED, None, [])


async def test_tokens_are_looked_at_between_batches_and_overshoot_by_one_at_most():
    """A token limit refuses the first call after it is reached, and what was paid for is kept."""
    model = Model(learner)
    async with engine_with(model) as engine:
        cut = await engine.run(learning(), {"task": "t"}, budget=Budget(max_tokens=3))
    assert cut.status is Status.BUDGET_EXCEEDED
    assert cut.usage.tokens == 8
    assert cut.value["candidate"] == "wrong 0"
    assert len(cut.lessons) == 1
