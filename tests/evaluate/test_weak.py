"""What is weak about tests that can be used."""

from __future__ import annotations

import pytest

from retrial.core.reports import Check
from retrial.core.tasks import Task, Verdict
from retrial.evaluate.weak import contradictions, weak_tests


def task(*tests, style="asserts"):
    return Task(id="t", prompt="p", tests=tests, style=style, entry_point="f")


@pytest.mark.parametrize(
    ("style", "tests"),
    [
        ("asserts", ("assert f(1) == 2", "assert f(1) == 3")),
        ("asserts", ("assert f(1, b=[2]) == 2", "assert 3 == f(1,b=[2])")),
        ("asserts", ("assert f(1)", "assert not f(1)")),
        ("asserts", ("assert f(1) is None", "assert f(1) == 'x'")),
        ("table", ('["f(1)", 2]', '["f( 1 )", 3]')),
        ("check", ("def check(candidate):\n    assert candidate(1) == 2\n    assert candidate(1) == 3\n",)),
    ],
)
def test_one_call_with_two_values_is_a_contradiction(style, tests):
    """However it is written."""
    assert len(contradictions(task(*tests, style=style))) == 1


@pytest.mark.parametrize(
    ("style", "tests"),
    [
        ("asserts", ("assert f(1) == 2", "assert f(2) == 3", "assert f(1) == 2.0")),
        ("asserts", ("assert f() == 1", "assert f() == 2")),
        ("asserts", ("assert f(1) == 2", "assert f(1)")),
        ("asserts", ("assert f(x) == 1", "assert f(x) == 2")),
        ("asserts", ("assert f(1) == g(2)", "assert f(1) == g(3)", "assert f(1) < 3", "not python(")),
        ("asserts", ("if a:\n    assert f(1) == 1\nelse:\n    assert f(1) == 2",)),
        ("check", ("def check(candidate):\n    assert candidate(1) == 2\ndef other(f):\n    assert f(1) == 3\n",)),
        ("table", ('["f(1)", 2]', "not json", "[1]", '["f(", 2]', "[3, 4]")),
        ("pytest", ("def test_it():\n    assert f(1) == 2\n    assert f(1) == 3\n",)),
    ],
)
def test_what_may_both_be_true_is_none(style, tests):
    """Equal values, calls without arguments, variables, and branches claim nothing."""
    assert contradictions(task(*tests, style=style)) == ()


def test_what_code_that_does_nothing_passes_is_named():
    """And so is a test that is the only one, or no test at all."""
    passed, failed = Check(name="assert f(1) is None", passed=True), Check(name="assert f(2) == 1", passed=False)
    bad = Check(name="assert (1, 2)", passed=False, kind="bad_test", message="the test is invalid: it asserts a tuple")
    stub = Verdict(passed=False, score=0.5, checks=(passed, failed))
    assert weak_tests(task("a", "b"), stub) == (
        "1 of 2 tests passes with code that does nothing: 'assert f(1) is None'",
    )
    lone, unusable = weak_tests(task("a", "b"), Verdict(passed=False, score=0.0, checks=(failed, bad)))[::-1]
    assert lone.startswith("there is one test")
    assert unusable.startswith("1 of 2 tests cannot be used and count for nobody; the first, 'assert (1, 2)'")
    assert weak_tests(task("a"), None) == ()
