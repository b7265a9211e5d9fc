"""Seed 4: what the analysis of the original code found missing, each as the behaviour that stands in its place."""

from __future__ import annotations

import shutil
import threading

import pytest

from retrial.algorithms import Reflexion, UniformCostSearch, WrittenTests
from retrial.assembly import assemble
from retrial.core.budget import Budget
from retrial.core.codec import encode
from retrial.core.effects import RunTests
from retrial.core.tasks import Status, Task
from retrial.evaluate import ValidationHandler, Validator
from retrial.evaluate.unit_tests import verdict_of
from retrial.log.journal import MemoryJournal
from retrial.sandbox.opening import open_sandbox
from retrial.testbench.handler import TestsHandler
from worlds import Model, engine_with, reply, said

ADD, SUBTRACT = "def add(a, b):\n    return a + b", "def add(a, b):\n    return a - b"
TASK = Task(prompt="Write add(a, b).", hidden_tests=("assert add(41, 1) == 42",), entry_point="add")


async def by_own_tests(tests, codes, **options):
    """Programming by tests that the model wrote; ``codes`` are its programs in turn, the last one for ever."""
    told = []

    def model(request):
        told.append((request.role, said(request)))
        if request.role == "tester":
            return tests
        if request.role == "reflector":
            return "Next time, add them."
        return codes[min(sum(role not in ("tester", "reflector") for role, _ in told), len(codes)) - 1]

    async with assemble(model) as engine:
        return await engine.run(WrittenTests(**{"max_trials": 2, **options}), {"task": encode(TASK)}), told


async def test_internal_success_does_not_hide_that_the_reference_failed():
    """A candidate that passes its own tests and fails the reference is reported as unsolved, and as what it is: FP."""
    result, _ = await by_own_tests("assert add(0, 0) == 0", [SUBTRACT])
    assert (result.status, result.value["case"]) == (Status.NO_SOLUTION, "FP")


async def test_an_empty_list_of_internal_tests_leaves_no_pass_behind():
    """Without a test nothing could fail, so the run fails and nothing counts as passed."""
    result, _ = await by_own_tests("I would test the sum.", [ADD])
    assert (result.status, result.passed) == (Status.FAILED, False)


async def test_the_reference_tests_reach_no_prompt():
    """Neither who writes, nor who tests, nor who reflects is told of them."""
    _, told = await by_own_tests("assert add(1, 2) == 3", [SUBTRACT])
    assert not [words for _, words in told if "41" in words]


async def test_immediate_reflexion_omits_the_feedback_and_immediate_refinement_the_diagnosis():
    """One reflects without what the tests said; the other tells what they said and writes no lesson."""
    _, told = await by_own_tests("assert add(1, 2) == 3", [SUBTRACT], strategy="immediate_reflexion")
    assert ["expected 3" in words for role, words in told if role == "reflector"] == [False]
    _, told = await by_own_tests("assert add(1, 2) == 3", [SUBTRACT, ADD], strategy="immediate_refinement")
    assert "reflector" not in [role for role, _ in told]
    assert "expected 3" in told[-1][1]


async def test_the_archived_candidate_of_a_search_is_the_best_that_was_evaluated():
    """Later, worse programs do not take its place."""
    scores = iter(["0.5", "0.9", "0.1"])
    model = Model(lambda request: reply(next(scores)))
    async with engine_with(model) as engine:
        ValidationHandler({"by_number": lambda answer, _: (False, "more", float(answer))}).attach(engine)
        search = UniformCostSearch(evaluator=Validator("by_number"), branching=1, max_expansions=2)
        result = await engine.run(search, {"task": "t"})
    assert (result.output, result.value["score"]) == ("0.9", 0.9)


async def test_a_restart_goes_on_with_the_interrupted_task_and_its_lessons():
    """Nothing is skipped by counting rows: the next trial knows the lesson of the one before the interruption."""
    journal = MemoryJournal()
    model = Model(lambda request: reply("Next time, say it." if request.role == "reflector" else "wrong"))
    loop = Reflexion(validator="right", max_trials=2)
    cut = await engine_with(model, journal).run(loop, {"task": "t"}, run_id="r", budget=Budget(max_calls=2))
    assert (cut.status, len(model.requests)) == (Status.BUDGET_EXCEEDED, 2)
    await engine_with(model, journal).resume("r", loop, budget=Budget(max_calls=9))
    assert [request.role for request in model.requests] == ["actor", "reflector", "actor"]
    assert "Next time, say it." in said(model.requests[-1])


async def test_what_is_learnt_reaches_who_acts_and_not_only_who_reflects():
    """The missing edge of WebShop: every lesson that is kept in the prompt stands in the next actor's."""
    lessons = iter(["Next time, look left.", "Next time, look right."])
    model = Model(lambda request: reply(next(lessons) if request.role == "reflector" else "wrong"))
    await engine_with(model).run(Reflexion(validator="right", max_trials=3), {"task": "t"})
    told = [said(request) for request in model.asked("actor")]
    assert ["look left" in words for words in told] == [False, True, True]
    assert ["look right" in words for words in told] == [False, False, True]


async def test_an_unsolved_task_delivers_its_last_attempt_and_says_that_it_is_unsolved():
    """The attempt, its reason and every lesson are there, under a status of their own."""
    model = Model(lambda request: reply("Next time, say it." if request.role == "reflector" else "wrong"))
    result = await engine_with(model).run(Reflexion(validator="right", max_trials=2), {"task": "t"})
    assert (result.status, result.output, result.value["reason"]) == (Status.NO_SOLUTION, "wrong", "it is not right")
    assert result.value["reflections"] == ["Next time, say it."]


@pytest.fixture(scope="module")
def bench():
    return TestsHandler(open_sandbox())


@pytest.mark.parametrize(
    "code", ["while True:\n    pass\ndef add(a, b):\n    return a + b", "def add(a, b):\n    while True:\n        pass"]
)
async def test_a_timeout_ends_the_code_wherever_it_hangs_and_leaves_no_thread(bench, code):
    """Definitions run within the limit too; it is a failure in words and never a pass."""

    def threads():
        return {thread for thread in threading.enumerate() if not thread.name.startswith("asyncio")}

    before = threads()
    effect = RunTests(output=code, tests=("assert add(1, 2) == 3",), entry_point="add", timeout=1.0)
    verdict = verdict_of(await bench(effect, "key"))
    assert not verdict.passed
    assert "1 s" in verdict.reason or "second" in verdict.reason
    assert threads() <= before, "only the event loop's pool may have grown"


async def test_generated_code_has_not_the_host_s_authority(bench, tmp_path):
    """It cannot write beside our files, and ending its process ends no run."""
    place = tmp_path / "mine"
    code = f"import sys\nopen({str(place)!r}, 'w').close()\ndef f():\n    return 1\nsys.exit(0)"
    verdict = verdict_of(await bench(RunTests(output=code, tests=("assert f() == 1",)), "key"))
    assert not verdict.passed
    assert not place.exists()


@pytest.mark.skipif(shutil.which("rustc") is None, reason="this machine has no rustc")
async def test_rust_goes_from_the_reply_to_the_verdict(bench):
    """A Rust program is taken out of the reply, compiled and judged."""
    code = "```rust\nfn add(a: i64, b: i64) -> i64 { a + b }\n```"
    effect = RunTests(output=code, tests=("assert_eq!(add(1, 2), 3);",), style="rust", entry_point="add")
    assert verdict_of(await bench(effect, "key")).passed
