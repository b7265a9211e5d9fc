"""Programming by tests that the model wrote: they steer, the reference scores, and the two are never confused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from retrial.algorithms import TestAccuracy, WrittenTests
from retrial.algorithms.own_tests import asserts_in
from retrial.assembly import assemble
from retrial.core.codec import encode
from retrial.core.tasks import Status, Task
from worlds import said

ADD, SUBTRACT = "def add(a, b):\n    return a + b", "def add(a, b):\n    return a - b"
TASK = Task(prompt="Write add(a, b).", hidden_tests=("assert add(41, 1) == 42",), entry_point="add")
CORPUS = Path(__file__).resolve().parents[3] / "shared" / "data" / "corpus"


async def worked(tests, code, task=TASK, **options):
    """A run with these own tests and this code, and everything that any model was told."""
    told = []

    def model(request):
        told.append((request.role, said(request)))
        if request.role == "tester":
            return tests if isinstance(tests, str) else next(tests)
        return "Add them." if request.role == "reflector" else code

    async with assemble(model) as engine:
        return await engine.run(WrittenTests(**{"max_trials": 2, **options}), {"task": encode(task)}), told


@pytest.mark.parametrize(
    ("tests", "code", "case", "status"),
    [
        ("assert add(1, 2) == 3", ADD, "TP", Status.COMPLETED),
        ("assert add(0, 0) == 0", SUBTRACT, "FP", Status.NO_SOLUTION),
        ("assert add(1, 2) == 4", ADD, "FN", Status.COMPLETED),
        ("assert add(1, 2) == 3", SUBTRACT, "TN", Status.NO_SOLUTION),
    ],
)
async def test_own_and_reference_tests_are_told_apart(tests, code, case, status):
    """The four cases of the paper's table; passing its own tests never hides that the reference failed."""
    out, told = await worked(tests, code)
    assert (out.value["case"], out.status) == (case, status)
    assert (out.value["own"], out.value["reference"]) == (case[1] == "P", case in ("TP", "FN"))
    assert not [words for _, words in told if "41" in words], "the reference reaches no prompt"


async def test_visible_tests_are_the_reference_where_there_are_no_hidden_ones():
    """They score, and steer nothing."""
    task = Task(prompt="Write add(a, b).", tests=("assert add(41, 1) == 42",), entry_point="add")
    out, told = await worked("assert add(0, 0) == 0", SUBTRACT, task)
    assert out.value["case"] == "FP"
    assert not [words for _, words in told if "41" in words]


async def test_without_any_reference_its_own_tests_decide():
    """Then there is no case, and the value says that nothing else judged."""
    out, _ = await worked("assert add(1, 2) == 3", ADD, Task(prompt="Write add(a, b)."))
    assert (out.status, out.value["reference"], out.value["case"]) == (Status.COMPLETED, None, None)


@pytest.mark.parametrize(("strategy", "hears"), [("reflexion", True), ("immediate_reflexion", False)])
async def test_immediate_reflexion_reflects_without_what_the_tests_said(strategy, hears):
    """The one difference to reflexion is what the reflector is told."""
    _, told = await worked("assert add(1, 2) == 3", SUBTRACT, strategy=strategy)
    (words,) = [words for role, words in told if role == "reflector"]
    assert ("expected 3" in words) is hears


@pytest.mark.parametrize("strategy", ["immediate_refinement", "ucs"])
async def test_refinement_and_search_write_no_lesson(strategy):
    """The next program is written from the last one and what the tests said of it."""
    out, told = await worked("assert add(1, 2) == 3", SUBTRACT, strategy=strategy)
    assert "reflector" not in {role for role, _ in told}
    assert any("expected 3" in words and "a - b" in words for _, words in told)
    assert out.value["case"] == "TN"


async def test_tests_that_cannot_be_read_are_asked_for_once_more_and_then_the_run_fails():
    """Without a test nothing could fail, so nothing counts as passed; a resume asks anew."""
    out, told = await worked(iter(["I cannot.", "assert add(1, 2) == 3"]), ADD)
    assert out.value["case"] == "TP"
    out, told = await worked("I cannot.", ADD)
    assert out.status is Status.FAILED
    assert "wrote no test" in out.error
    assert [role for role, _ in told] == ["tester", "tester"]


@pytest.mark.parametrize(
    ("reply", "tests"),
    [
        ("assert f(1) == 2\nassert f(2) == 3", ("assert f(1) == 2", "assert f(2) == 3")),
        ("1. assert f(1) == 2", ()),
        ("```python\nassert f(\n    1,\n) == 2\n```\nDone.", ("assert f(\n    1,\n) == 2",)),
        ("assert f(1) == 2  # one\nassert f(1 == 2", ("assert f(1) == 2",)),
        ("assert True\nassert 1 == 1", ()),
        ("", ()),
    ],
)
def test_only_asserts_that_python_reads_and_that_call_something_are_tests(reply, tests):
    """Whether an expected value is true is not decided here."""
    assert asserts_in(reply) == tests


@pytest.mark.skipif(not CORPUS.exists(), reason=f"the project's data is not at {CORPUS}")
async def test_the_accuracy_of_recorded_tests_is_the_recorded_one():
    """Real tests that a model wrote, run against the canonical solution, hold where the record says so."""
    rows = [json.loads(line) for line in (CORPUS / "model_written_tests.jsonl").read_text().splitlines()]
    tasks = {row["task_id"]: row for row in map(json.loads, (CORPUS / "humaneval_py.jsonl").read_text().splitlines())}
    wrong = {row["task_id"] for row in rows if not row["holds_for_canonical"]}
    chosen = [*sorted(wrong & {*tasks})[:4], *[name for name in tasks if name not in wrong][:2]]
    for name in chosen:
        mine = [row for row in rows if row["task_id"] == name and row["test"].startswith("assert")]
        about = tasks[name]
        task = Task(
            id=name,
            prompt=about["prompt"],
            answer=about["prompt"] + about["canonical_solution"],
            entry_point=about["entry_point"],
        )
        written = "\n".join(row["test"] for row in mine)
        async with assemble(lambda request, written=written: written) as engine:
            out = await engine.run(TestAccuracy(max_tests=20), {"task": encode(task)})
        recorded = {row["test"]: row["holds_for_canonical"] for row in mine}
        measured = dict(zip(out.value["tests"], out.value["hold"], strict=True))
        assert measured
        assert {test: recorded[test] for test in measured if test in recorded} == measured, name
