"""Uniform-cost search over programs: what is repaired next, and what is returned."""

from __future__ import annotations

import pytest

from retrial.algorithms import UniformCostSearch
from retrial.core.tasks import Status
from retrial.errors import ConfigError, ModelUnavailable
from retrial.evaluate import ValidationHandler, Validator
from worlds import Model, engine_with, reply, said


def by_number(answer, context):
    """A program is a number in disguise: the score that it gets."""
    score = float(answer.split()[0])
    return score >= 1, f"scored {score}", score


async def searched(programs, **options):
    """A search whose calls answer in the order of their keys; None for one that fails."""

    def answer(request):
        found = programs.get(model.keys[-1], "0.0 other")
        if found is None:
            raise ModelUnavailable("503 from the provider")
        return reply(found)

    model = Model(answer)
    async with engine_with(model) as engine:
        ValidationHandler({"by_number": by_number}).attach(engine)
        algorithm = UniformCostSearch(evaluator=Validator("by_number"), **options)
        return await engine.run(algorithm, {"task": "t"}, run_id="r"), model


def repairs(number, *texts):
    return {f"expansion.{number}/repair.{place}/coder": text for place, text in enumerate(texts, 1)}


async def test_the_program_that_is_cheapest_to_reach_is_repaired_next():
    """Where a branch turns out dear, the search comes back to an earlier one: 0.8 + 0.5 is less than 0.8 + 0.4 + 0.9."""
    programs = {"first/coder": "0.2 a"}
    programs |= repairs(1, "0.6 b", "0.5 c") | repairs(2, "0.1 d", "0.1 e") | repairs(3, "0.3 f", "0.4 g")
    out, model = await searched(programs, branching=2, max_expansions=3)
    told = {key: said(request) for key, request in zip(model.keys, model.requests, strict=True)}
    assert "0.2 a" in told["expansion.1/repair.1/coder"]
    assert "0.6 b" in told["expansion.2/repair.1/coder"]
    assert "0.5 c" in told["expansion.3/repair.1/coder"]
    assert out.status is Status.NO_SOLUTION


async def test_the_best_program_is_returned_not_the_last():
    """The value names the program with the highest score, its cost and its place."""
    programs = {"first/coder": "0.2 a"} | repairs(1, "0.6 b", "0.5 c") | repairs(2, "0.1 d", "0.1 e")
    out, _ = await searched(programs, branching=2, max_expansions=2)
    assert out.value == {
        "candidate": "0.6 b",
        "score": 0.6,
        "cost": pytest.approx(1.2),
        "program": 2,
        "explored": 5,
        "expansions": 2,
        "reason": "scored 0.6",
    }


async def test_it_stops_at_a_program_that_passes():
    """Nothing is asked after a pass."""
    out, model = await searched({"first/coder": "0.2 a"} | repairs(1, "1.0 b", None), branching=2)
    assert (out.status, out.value["candidate"], len(model.keys)) == (Status.COMPLETED, "1.0 b", 3)
    out, model = await searched({"first/coder": "1.0 a"})
    assert (out.status, len(model.keys)) == (Status.COMPLETED, 1)


async def test_equal_programs_are_one():
    """A repair that changes nothing is not searched again; with nothing left to repair the search ends."""
    out, model = await searched({"first/coder": "0.2 a"} | repairs(1, "0.2 a", "0.2 a"), branching=2)
    assert (out.value["explored"], out.value["expansions"], len(model.keys)) == (1, 1, 3)


async def test_it_fails_only_if_every_repair_of_an_expansion_fails():
    """What was found before is the run's value."""
    out, _ = await searched({"first/coder": "0.2 a"} | repairs(1, None, None), branching=2)
    assert (out.status, out.value["candidate"]) == (Status.FAILED, "0.2 a")


@pytest.mark.parametrize(("name", "value"), [("max_expansions", 17), ("branching", 0), ("branching", 11)])
def test_it_is_bounded(name, value):
    """At most 16 expansions of at most 10 repairs."""
    with pytest.raises(ConfigError, match=f"{name}={value}"):
        UniformCostSearch(**{name: value})
