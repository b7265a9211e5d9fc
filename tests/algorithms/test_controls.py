"""The controls: best of n, generator and critic, generate-test-repair. What each promises."""

from __future__ import annotations

import pytest

from retrial.algorithms import BestOf, GenerateTestRepair, GeneratorCritic
from retrial.core.budget import Budget
from retrial.core.tasks import Status
from retrial.errors import ConfigError, ModelUnavailable
from retrial.evaluate import Critic, ValidationHandler, Validator
from worlds import Model, engine_with, reply, said


def scored(answer, context):
    """Accepts ``right`` and otherwise scores by length."""
    return "right" in answer, f"{answer!r} is not right", min(0.9, len(answer) / 10)


async def run_with(algorithm, replies, **options):
    """A run whose n-th call gets the n-th reply; None for one that fails."""
    waiting = iter(replies)

    def answer(request):
        found = next(waiting)
        if found is None:
            raise ModelUnavailable("503 from the provider")
        return reply(found)

    model = Model(answer)
    async with engine_with(model) as engine:
        ValidationHandler({"scored": scored}).attach(engine)
        return await engine.run(algorithm, {"task": "t"}, run_id="r", **options), model


async def test_best_of_takes_the_highest_score_and_the_earliest_of_equals():
    """All samples are judged; the best is returned with its place and every score."""
    out, _ = await run_with(BestOf(4, Validator("scored")), ["a", "bbb", None, "ccc"])
    assert out.status is Status.NO_SOLUTION
    assert out.value == {
        "candidate": "bbb",
        "sample": 2,
        "samples": 4,
        "score": 0.3,
        "scores": [0.1, 0.3, None, 0.3],
        "reason": "'bbb' is not right",
    }


async def test_best_of_prefers_one_that_passed():
    """A pass beats a higher score."""
    out, _ = await run_with(BestOf(2, Validator("scored")), ["a very long answer", "right"])
    assert (out.status, out.value["candidate"]) == (Status.COMPLETED, "right")


async def test_best_of_fails_if_every_sample_fails():
    """Without any reply the run is FAILED; a broken evaluator fails it as well and is no verdict."""
    out, _ = await run_with(BestOf(2, Validator("scored")), [None, None])
    assert (out.status, out.value) == (Status.FAILED, None)
    out, _ = await run_with(BestOf(2, Validator("missing")), ["a", "b"])
    assert out.status is Status.FAILED


async def test_best_of_counts_the_calls_of_a_judging_model():
    """With a critic each sample may cost three calls, and no more are made."""
    algorithm = BestOf(2, Critic())
    out, model = await run_with(algorithm, ["a", "b", *["no JSON"] * 4])
    assert algorithm.max_calls == 6 == len(model.keys)
    assert out.status is Status.NO_SOLUTION


async def test_the_critics_reason_is_the_next_user_turn_and_the_answer_stays():
    """One conversation: task, answer, reason, answer."""
    out, model = await run_with(GeneratorCritic("scored"), ["wrong", "right"])
    assert (out.status, out.value["candidate"], out.value["rounds"]) == (Status.COMPLETED, "right", 2)
    assert [message.role for message in model.requests[1].messages] == ["user", "assistant", "user"]
    assert model.requests[1].messages[1].content == "wrong"
    assert "'wrong' is not right" in model.requests[1].messages[2].content


async def test_generator_critic_ends_at_its_bound_with_the_last_answer():
    """After the last round nothing more is asked, and the last answer and reason are there."""
    out, model = await run_with(GeneratorCritic("scored", max_rounds=2), ["longest answer", "b"])
    assert (out.status, out.value["candidate"], out.value["reason"]) == (Status.NO_SOLUTION, "b", "'b' is not right")
    assert len(model.keys) == 2


async def test_without_a_validator_a_model_criticises():
    """The critic's call is its own, and its reason is what the generator hears."""
    out, model = await run_with(
        GeneratorCritic(), ["42", '{"passed": false, "reason": "no unit"}', "42 km", '{"passed": true}']
    )
    assert out.value["candidate"] == "42 km"
    assert "no unit" in said(model.requests[2])
    assert GeneratorCritic().max_calls == 9


async def test_a_repair_sees_the_last_code_and_its_report_and_no_conversation():
    """Each prompt is one message with the task, the code and what its tests said."""
    algorithm = GenerateTestRepair(evaluator=Validator("scored"))
    out, model = await run_with(algorithm, ["wrong code", "other", "right"])
    assert (out.status, out.value["version"], out.value["versions"]) == (Status.COMPLETED, 3, 3)
    assert [len(request.messages) for request in model.requests] == [1, 1, 1]
    assert "<code>\nother\n</code>" in said(model.requests[2])
    assert "wrong code" not in said(model.requests[2])
    assert "'other' is not right" in said(model.requests[2])


async def test_without_a_pass_the_best_version_is_returned():
    """The highest score wins, the earliest of equals, and the bound is kept."""
    algorithm = GenerateTestRepair(evaluator=Validator("scored"), max_repairs=2)
    out, model = await run_with(algorithm, ["aa", "bbbb", "c"])
    assert (out.status, out.value["candidate"], out.value["version"]) == (Status.NO_SOLUTION, "bbbb", 2)
    assert algorithm.max_calls == 3 == len(model.keys)


@pytest.mark.parametrize(
    "make", [lambda: GeneratorCritic("scored"), lambda: GenerateTestRepair(evaluator=Validator("scored"))]
)
async def test_a_budget_leaves_what_was_found(make):
    """What the first round came to is the value of a run that was cut before the second."""
    out, _ = await run_with(make(), ["first"], budget=Budget(max_calls=1))
    assert (out.status, out.value["candidate"]) == (Status.BUDGET_EXCEEDED, "first")


@pytest.mark.parametrize(
    ("make", "named"),
    [
        (lambda: BestOf(0, Critic()), "n=0"),
        (lambda: BestOf(26, Critic()), "n=26"),
        (lambda: GeneratorCritic(max_rounds=11), "max_rounds=11"),
        (lambda: GeneratorCritic("a", evaluator=Critic()), "validator='a' and an evaluator"),
        (lambda: GenerateTestRepair(max_repairs=10), "max_repairs=10"),
        (lambda: GenerateTestRepair(max_repairs=-1), "max_repairs=-1"),
    ],
)
def test_they_are_bounded_at_construction(make, named):
    """Whatever is out of bounds is refused by name and value."""
    with pytest.raises(ConfigError, match=named):
        make()
