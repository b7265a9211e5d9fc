"""Seed 5: the slugify table, and the function of the tutorial as a configuration of the loop."""

from __future__ import annotations

import pytest

from retrial.core.effects import RunTests
from retrial.core.tasks import Status, Task
from retrial.engine import Run
from retrial.evaluate import UnitTests
from retrial.evaluate.unit_tests import verdict_of
from retrial.recipes import unit_tests
from retrial.sandbox.opening import open_sandbox
from retrial.taskfile import case_tests
from retrial.testbench.handler import TestsHandler
from seed_worlds import LESSON
from worlds import engine_with, said

TABLE = [
    ('slugify("Python for Beginners")', "python-for-beginners"),
    ('slugify("  Django   REST  ")', "django-rest"),
    ('slugify("C++ & Data Structures!")', "c-data-structures"),
    ('slugify("")', ""),
]
ATTEMPT_1 = 'def slugify(text):\n    return text.lower().replace(" ", "-")\n'
ATTEMPT_2 = 'import re\n\ndef slugify(text):\n    return "-".join(re.findall(r"[a-z0-9]+", text.lower()))\n'


@pytest.fixture(scope="module")
def bench():
    return TestsHandler(open_sandbox())


async def judged(bench, code):
    return verdict_of(await bench(RunTests(output=code, tests=case_tests(TABLE), entry_point="slugify"), "key"))


async def test_attempt_1_fails_with_the_inputs_the_actual_and_the_expected_values(bench):
    """The feedback names each failing call, what it returned and what was expected."""
    verdict = await judged(bench, ATTEMPT_1)
    assert (verdict.passed, verdict.score) == (False, 0.5)
    assert "returned '--django---rest--', expected 'django-rest'" in verdict.reason
    assert "returned 'c++-&-data-structures!', expected 'c-data-structures'" in verdict.reason


async def test_attempt_2_passes_all_four(bench):
    """The code of the second attempt is accepted."""
    verdict = await judged(bench, ATTEMPT_2)
    assert (verdict.passed, verdict.score, verdict.reason) == (True, 1.0, "")


async def test_exercise_1_a_version_that_fails_only_the_empty_string(bench):
    """One failing case of four is named, alone."""
    code = ATTEMPT_2 + "    \n_slugify = slugify\ndef slugify(text):\n    return _slugify(text) or 'untitled'\n"
    verdict = await judged(bench, code)
    assert verdict.reason == "3 of 4 checks passed\n- slugify('') returned 'untitled', expected ''"


async def test_exercise_1_an_exception_becomes_a_readable_message(bench):
    """A raise in one call is told in words and does not hide the other calls."""
    verdict = await judged(bench, "def slugify(text):\n    return text.split()[0].lower()")
    assert "IndexError" in verdict.reason
    assert verdict.reason.startswith("0 of 4 checks passed")


async def test_an_infinite_loop_is_ended_and_said(bench):
    """The time limit ends the call, and the message says so."""
    report = await bench(
        RunTests(output="def slugify(text):\n    while True: pass", tests=("assert slugify('a') == 'a'",), timeout=1.0),
        "key",
    )
    assert "did not finish within 1 s" in verdict_of(report).reason


async def test_the_function_of_the_tutorial_is_the_loop_with_three_trials_and_every_lesson(loop):
    """With max_trials=3 and all lessons kept, three failures return no passing solution, and each lesson accumulates."""
    task = Task(id="slugify", prompt="Write slugify(text).", tests=case_tests(TABLE), entry_point="slugify")
    result, model = await loop(
        unit_tests(trials=3, lessons=None), [ATTEMPT_1] * 3, [LESSON, "Next time, be careful."], task=task
    )
    assert result.status is Status.NO_SOLUTION
    assert LESSON in said(model.asked("actor")[2])
    assert "be careful" in said(model.asked("actor")[2])


def test_a_table_of_calls_becomes_asserts():
    """Each row is one test, with the expected value as a literal."""
    assert case_tests(TABLE)[3] == "assert slugify(\"\") == ''"


async def test_an_evaluator_without_tests_is_an_error_and_never_a_pass():
    """Zero tests end the run as FAILED: nothing could have failed."""

    class Alone:
        name, version, max_calls = "alone", "1", 0

        def parameters(self):
            return {}

        async def __call__(self, run: Run, given):
            return await UnitTests()(run, Task(prompt="p", id="x"), "code")

    result = await engine_with().run(Alone(), {})
    assert (result.status, "has no tests" in result.error) == (Status.FAILED, True)
