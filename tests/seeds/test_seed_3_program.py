"""Seed 3: its example program, and what it says of Reflexion."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from retrial.algorithms import Reflexion
from retrial.core.tasks import Status
from retrial.errors import ConfigError
from worlds import Model, engine_with, reply

HERE = Path(__file__).parent
PROGRAM = HERE / "seed_3_program.py"
DOCUMENT = HERE.parents[2] / "shared" / "seeds" / "3-engine-and-algorithms.txt"
LINES = """\
reflexion: 42 km after 2 trials; lesson: ['State the unit.']
debate: 12 from rounds [['12', '10', '12'], ['12', '12', '12']]
swarm: Done: refunded A1 | handoffs: [['triage', 'billing']] | answered by: billing
tree: (8 / (3 - 8 / 3)) | score 10.0 | at most 24 model calls
"""


def test_the_whole_program_prints_its_four_lines():
    """All four algorithms on one engine, offline, run as a program of their own."""
    done = subprocess.run([sys.executable, "-W", "error", PROGRAM], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == (LINES, "")


def test_only_the_import_lines_of_the_program_are_changed():
    """Statement for statement it is the program of the document, which is not part of this project."""
    if not DOCUMENT.exists():
        pytest.skip("the document is not beside the project")
    text = DOCUMENT.read_text()
    end = "asyncio.run(main())"
    document = text[text.index('"""Four ways') : text.index(end) + len(end)]
    assert LINES in text
    ours, theirs = (
        [ast.dump(one) for one in ast.parse(source).body if not isinstance(one, ast.ImportFrom)]
        for source in (PROGRAM.read_text(), document)
    )
    assert ours == theirs


async def test_if_no_trial_passes_the_run_ends_no_solution_with_the_last_attempt_and_the_lessons():
    """Nothing learned is lost."""
    replies = iter(["a", "Use one.", "b", "Use two.", "c"])
    async with engine_with(Model(lambda request: reply(next(replies)))) as engine:
        out = await engine.run(Reflexion(validator="right"), {"task": "t"})
    assert out.status is Status.NO_SOLUTION
    assert (out.value["candidate"], out.value["trials"], out.value["reflections"]) == ("c", 3, ["Use one.", "Use two."])


async def test_lessons_are_carried_to_a_later_run_with_input_reflections():
    """A run that is given lessons has them in its first prompt and in its result."""
    model = Model(lambda request: reply("right"))
    async with engine_with(model) as engine:
        out = await engine.run(Reflexion(validator="right"), {"task": "t", "reflections": ["State the unit."]})
    assert "State the unit." in model.requests[0].messages[-1].content
    assert out.value["reflections"] == ["State the unit."]


def test_max_trials_is_limited_to_10():
    """The bound is checked at construction."""
    assert Reflexion(validator="x", max_trials=10).max_trials == 10
    with pytest.raises(ConfigError, match="max_trials=11"):
        Reflexion(validator="x", max_trials=11)


def test_the_cost_is_bounded_at_construction():
    """Three attempts and two reflections: the last failure is not reflected on."""
    assert Reflexion(validator="x").max_calls == 5


async def test_with_no_validator_an_llm_critic_judges_and_is_marked():
    """A critic's verdict carries the lowest trust, and choosing it warns."""
    replies = {
        "actor": iter(["a", "b"]),
        "critic": iter(['{"passed": false, "reason": "no unit"}', '{"passed": true}']),
    }
    model = Model(lambda request: reply(next(replies[request.role])) if request.role in replies else reply("State it."))
    with pytest.warns(UserWarning, match="least trustworthy"):
        algorithm = Reflexion(validator=None)
    async with engine_with(model) as engine:
        out = await engine.run(algorithm, {"task": "t"})
    assert [(attempt.verdict.passed, attempt.verdict.trust) for attempt in out.attempts] == [
        (False, "same_model"),
        (True, "same_model"),
    ]
    assert out.attempts[0].verdict.reason == "no unit"
