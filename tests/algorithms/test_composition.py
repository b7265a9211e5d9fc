"""Algorithms within the loop: a debate or a tree makes the attempts, something else judges them, one run journals all."""

from __future__ import annotations

import json

import pytest

from retrial.algorithms import Debate, Reflexion, SelfConsistency, TreeOfThoughts
from retrial.core.codec import encode
from retrial.core.tasks import Status, Task
from retrial.errors import ModelUnavailable
from retrial.log.views import trials
from worlds import Model, engine_with, reply, said


def learner(request):
    """Wrong until the lesson stands in the prompt, whatever part it plays."""
    words = said(request)
    if "reviewing a failed attempt" in words:
        return reply("Next time, be right.")
    answer = "right" if "be right" in words else "wrong"
    if "Rate how promising" in words:
        return reply(json.dumps({"score": 9}))
    return reply(f"FINAL: {answer}" if "Propose one next step" in words else f"Answer: {answer}")


INNER = {
    "debate": (Debate(), 7),
    "tree": (TreeOfThoughts(branching=2), 3),
    "self_consistency": (SelfConsistency(samples=3), 3),
}


@pytest.mark.parametrize("name", INNER)
async def test_a_lesson_reaches_the_algorithm_that_acts(name):
    """The second trial's attempt is made with the lesson of the first, and everything is in one journal."""
    inner, calls = INNER[name]
    algorithm = Reflexion(validator="right", actor=inner)
    model = Model(learner)
    async with engine_with(model) as engine:
        out = await engine.run(algorithm, {"task": "t"}, run_id="the run")
        events = await engine.journal.events("the run")
    assert (out.status, out.value["candidate"], out.value["trials"]) == (Status.COMPLETED, "right", 2)
    assert [trial.attempt.output for trial in trials(events)] == ["wrong", "right"]
    assert {key.split("/")[0] for key in model.keys} == {"trial.1", "trial.2"}
    assert {key.split("/")[1] for key in model.keys} == {"actor", "reflector"}
    assert algorithm.max_calls == 3 * inner.max_calls + 2
    assert len(model.keys) == 2 * calls + 1


@pytest.mark.parametrize("name", INNER)
async def test_neither_hidden_tests_nor_the_expected_answer_reach_a_prompt(name):
    """The algorithm that acts is asked with the rendered prompt alone."""
    inner, _ = INNER[name]
    task = Task(prompt="t", answer="SECRET-1", answers=("SECRET-2",), tests=("assert SECRET_3",))
    model = Model(learner)
    async with engine_with(model) as engine:
        await engine.run(Reflexion(validator="right", actor=inner), {"task": encode(task)})
    assert model.requests
    assert not [request for request in model.requests if "SECRET" in said(request)]


@pytest.mark.parametrize("name", INNER)
async def test_an_inner_algorithm_that_fails_spends_no_trial(name):
    """If the provider is away the run is FAILED, not the attempt; resume asks exactly what failed."""
    inner, _ = INNER[name]
    down = [True]

    def answer(request):
        if down[0]:
            raise ModelUnavailable("503 from the provider")
        return learner(request)

    model = Model(answer)
    async with engine_with(model) as engine:
        failed = await engine.run(Reflexion(validator="right", actor=inner), {"task": "t"}, run_id="the run")
        first = list(model.keys)
        down[0] = False
        done = await engine.resume("the run", Reflexion(validator="right", actor=inner))
    assert (failed.status, failed.attempts) == (Status.FAILED, ())
    assert (done.status, done.value["trials"]) == (Status.COMPLETED, 2)
    assert model.keys[len(first) : 2 * len(first)] == first


async def test_what_an_inner_algorithm_kept_is_not_taken_for_the_loops_value():
    """A budget that ends the second debate leaves the first attempt as the run's value."""
    from retrial.core.budget import Budget

    async with engine_with(Model(learner)) as engine:
        algorithm = Reflexion(validator="right", actor=Debate())
        cut = await engine.run(algorithm, {"task": "t"}, budget=Budget(max_calls=12))
    assert (cut.status, cut.value["candidate"], cut.value["trials"]) == (Status.BUDGET_EXCEEDED, "wrong", 1)


def test_the_parameters_of_a_loop_say_who_acts():
    """A resume is refused for another actor, since its parameters are part of the loop's."""
    one, other = (Reflexion(validator="x", actor=Debate(agents=n)).parameters()["actor"] for n in (2, 3))
    assert one["name"] == "debate"
    assert one["parameters"]["agents"] == 2
    assert one != other
