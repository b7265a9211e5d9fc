"""An evaluator proves that it can fail, and tests prove what they notice."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judging import judged
from retrial.core.tasks import Status, Task
from retrial.errors import EvaluatorError
from retrial.evaluate import Judge, UnitTests, evaluator_from
from retrial.evaluate.gate import mutation_score, prove
from retrial.evaluate.mutation import MAX_MUTANTS, mutants
from retrial.sandbox.opening import open_sandbox
from retrial.testbench.handler import TestsHandler
from worlds import Model, reply

CLAMP = Task(
    id="clamp",
    prompt="clamp(x, low, high)",
    entry_point="clamp",
    tests=("assert clamp(5, 1, 3) == 3", "assert clamp(0, 1, 3) == 1", "assert clamp(2, 1, 3) == 2"),
)
GOOD = "def clamp(x, low, high):\n    if x < low:\n        return low\n    if x > high:\n        return high\n    return x\n"


class Asks:
    """An algorithm's evaluator place, taken by any function of a run."""

    max_calls = 0

    def __init__(self, function):
        self.function = function

    async def __call__(self, run, task, output):
        return await self.function(run)


async def asked(function, **world):
    return await judged(Asks(function), "", handlers=[TestsHandler(open_sandbox())], **world)


async def test_sound_tests_pass_the_gate():
    """Nothing, a banana, a stub and what the user gives must fail, and the known-good answer pass."""
    bad = {"identity": "def clamp(x, low, high):\n    return x\n"}
    report, _ = await asked(lambda run: prove(run, UnitTests(), CLAMP, bad=bad, good={"reference": GOOD}))
    assert (report.ok, report.reason) == (True, "")
    assert [row.label for row in report.rows] == ["empty", "banana", "stub", "identity", "reference"]
    assert [row.verdict.passed for row in report.rows] == [False, False, False, False, True]


async def test_tests_that_a_stub_passes_are_refused():
    """What returns None always is not a solution."""
    task = Task(id="v", prompt="p", entry_point="f", tests=("assert f(1) is None",))
    report, _ = await asked(lambda run: prove(run, UnitTests(), task))
    assert not report.ok
    assert report.reason == "the known-bad output 'stub' passes, so a pass means nothing"


async def test_tests_that_refuse_the_known_good_answer_are_refused():
    """The reason is the tests' own."""
    report, _ = await asked(lambda run: prove(run, UnitTests(), CLAMP, good={"mine": "def clamp(x, a, b): return x"}))
    assert not report.ok
    assert report.reason.startswith("the known-good output 'mine' fails: 1 of 3 checks passed")


async def test_no_tests_are_an_error_and_not_a_gate():
    """Zero tests never pass."""
    report, result = await asked(lambda run: prove(run, UnitTests(), Task(id="t", prompt="p")))
    assert (report, result.status) == (None, Status.FAILED)


@pytest.mark.parametrize("text", ['{"passed": true}', "passed, I think"])
async def test_a_judge_that_passes_everything_or_says_nothing_clear_is_refused(text):
    """The gate works for every kind of evaluator."""
    model = Model(lambda request: reply(text))
    report, _ = await asked(lambda run: prove(run, Judge("names the price"), Task(id="t", prompt="p")), model=model)
    assert not report.ok
    assert "'banana'" in report.reason


async def test_a_rubric_that_a_banana_keeps_is_refused():
    """An upper bound alone is no evaluator."""
    rubric = evaluator_from({"kind": "rubric", "max_words": 50})
    report, _ = await asked(lambda run: prove(run, rubric, Task(id="t", prompt="p")))
    assert report.reason == "the known-bad output 'banana' passes, so a pass means nothing"


async def test_mutants_that_no_test_notices_are_shown():
    """At the bounds these tests look at neither side, and the survivors say so; better tests leave fewer."""
    report, _ = await asked(lambda run: mutation_score(run, CLAMP, f"Sure:\n```python\n{GOOD}```"))
    assert 0 < report.killed < report.total
    assert report.score == report.killed / report.total
    assert [one.splitlines()[0] for one in report.survivors] == ["line 2: < becomes <=", "line 4: > becomes >="]
    assert report.survivors[0].splitlines()[-2:] == ["-    if x < low:", "+    if x <= low:"]


async def test_a_weak_test_scores_low_and_a_loop_without_end_is_noticed():
    """A test that looks at nothing notices only what crashes or hangs."""
    task = Task(id="w", prompt="p", entry_point="f", tests=("assert isinstance(f(3), int)",), timeout=2)
    good = "def f(n):\n    total = 0\n    while n > 0:\n        total += n\n        n -= 1\n    return total * 2 + 1\n"
    report, _ = await asked(lambda run: mutation_score(run, task, good))
    assert report.score < 0.5
    assert not any("n += 1" in one for one in report.survivors)


async def test_a_known_good_answer_that_fails_breaks_the_measure():
    """There is nothing to measure then."""
    report, result = await asked(lambda run: mutation_score(run, CLAMP, "def clamp(x, a, b):\n    return x\n"))
    assert report is None
    assert "does not pass" in result.error


CODE = '''
def grade(points, bonus=0, strict=True):
    """Docstrings are left alone."""
    total = points + bonus
    if not strict and total >= 50 or total == 42:
        return "pass"
    for step in range(3):
        total -= step
    while total > 100:
        total = total // 2
    return f"{total % 7}" if total in (1, 2.5) else None
'''


def test_mutants_differ_parse_and_are_bounded():
    """Each is another program, in the order of lines, the same every time."""
    made = mutants(CODE)
    assert made == mutants(CODE)
    assert len({mutant.code for mutant in made}) == len(made)
    for mutant in made:
        ast.parse(mutant.code)
        assert mutant.code != ast.unparse(ast.parse(CODE))
        assert 2 <= len(mutant.diff.splitlines()) <= 5
    names = " ".join(mutant.name for mutant in made)
    for change in ("+ becomes -", "not is removed", "or becomes and", ">= becomes >", "== becomes !=", "50 becomes 51"):
        assert change in names
    for change in (
        "True becomes False",
        "the branch is removed",
        "the returned value",
        "// becomes /",
        "in becomes not",
    ):
        assert change in names
    assert len(mutants(CODE * 5)) == MAX_MUTANTS
    assert len(mutants(CODE, most=3)) == 3


def test_code_without_anything_to_change_has_no_mutants_and_other_text_none_either():
    """A function that passes has nothing wrong to become; what is no Python is an error."""
    assert mutants("def f():\n    pass\n") == ()
    with pytest.raises(EvaluatorError):
        mutants("def f(:")


@given(
    st.lists(
        st.sampled_from(["a < b", "a + 1", "not a", "a and b", "[x for x in a if x]", "a if b else 2"]), min_size=1
    )
)
def test_every_mutant_of_any_expressions_is_another_program(parts):
    """For combinations of expressions."""
    code = "def f(a, b):\n" + "".join(f"    y = {part}\n" for part in parts) + "    return y\n"
    for mutant in mutants(code):
        assert ast.dump(ast.parse(mutant.code)) != ast.dump(ast.parse(code))
