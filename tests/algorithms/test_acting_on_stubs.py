"""Tasks that are code to be continued, solved by an algorithm within the loop: judges read the stub, actors the prompt."""

from __future__ import annotations

import pytest

from retrial.assembly import assemble
from retrial.core.codec import encode
from retrial.core.tasks import Task
from retrial.recipes import insight_bank, unit_tests
from worlds import reply, said

STUB = '''from math import sqrt

def longest(sides):
    """Return the length of the longest side's diagonal."""
'''
TASK = Task(
    id="longest",
    prompt=STUB,
    tests=("def check(candidate):\n    assert candidate([3, 4]) == 5.0\n    assert candidate([6, 8]) == 10.0\n",),
    style="check",
    entry_point="longest",
    completes=True,
)
WRONG = "    return sqrt(max(sides))"
RIGHT = "    return sqrt(sum(side * side for side in sides))"
ACTORS = [
    {"kind": "best_of", "n": 3},
    {"kind": "generate_test_repair", "max_repairs": 2},
    {"kind": "generator_critic", "max_rounds": 3},
    {"kind": "ucs", "max_expansions": 1, "branching": 2},
]


@pytest.mark.parametrize("recipe", [unit_tests, insight_bank])
@pytest.mark.parametrize("actor", ACTORS, ids=lambda actor: actor["kind"])
async def test_an_actor_that_judges_itself_judges_what_the_tests_will(actor, recipe):
    """A body alone is completed by the stub, whatever the loop's prompt says around it: wrong once, then right."""
    asked = []

    def model(request):
        asked.append(said(request))
        return reply(WRONG if len(asked) == 1 else RIGHT)

    async with assemble(model) as engine:
        result = await engine.run(recipe(trials=1, actor=actor), {"task": encode(TASK)})
    assert result.passed, result.attempts[-1].verdict.reason
    assert result.attempts[-1].verdict.score == 1.0
    assert "Your code will be checked by unit tests" in asked[0]
    assert not any("SyntaxError" in text for text in asked)


async def test_lessons_reach_an_algorithm_that_acts():
    """A fresh trial's prompt stands in the first request of the algorithm within."""
    asked = []

    def model(request):
        asked.append(said(request))
        if request.role == "reflector":
            return reply("Next time, add the squares before taking the root.")
        return reply(RIGHT if "add the squares" in asked[-1] else WRONG)

    actor = {"kind": "generate_test_repair", "max_repairs": 0}
    async with assemble(model) as engine:
        result = await engine.run(unit_tests(trials=2, actor=actor), {"task": encode(TASK)})
    assert result.passed
    assert len(result.attempts) == 2
