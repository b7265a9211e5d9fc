"""The gate as a run: journaled, bounded and replayed like any other, and ahead of what it guards."""

from __future__ import annotations

import pytest

import retrial
from retrial.algorithms.gate import Gate
from retrial.algorithms.judging import Judging
from retrial.assembly import assemble
from retrial.core.codec import decode, encode
from retrial.core.effects import CallModel
from retrial.core.tasks import Status, Task, Verdict
from retrial.errors import ConfigError, EvaluatorError, GateRefused
from retrial.evaluate import Judge, UnitTests, evaluator_from
from retrial.store.sqlite import SqliteStore
from worlds import Model, reply

ADD = Task(
    id="add",
    prompt="add(a, b)",
    entry_point="add",
    tests=("assert add(1, 2) == 3", "assert add(0, 0) == 0"),
    known_good={"right.py": "def add(a, b):\n    return a + b\n"},
    known_bad={"minus": "def add(a, b):\n    return a - b\n"},
)
TASK = {"task": encode(ADD)}


async def ran(algorithm, given=TASK, model=None):
    async with assemble(model) as engine:
        result = await engine.run(algorithm, given)
        return result, await engine.journal.events(result.run_id), engine


async def test_the_proof_of_an_evaluator_is_a_run():
    """Rows, mutants and warnings are its value, and the note says what was put to it."""
    result, events, _ = await ran(Gate(UnitTests(), outputs=5, mutants=10))
    assert (result.status, result.value["ok"], result.value["reason"]) == (Status.COMPLETED, True, "")
    assert [row["label"] for row in result.value["rows"]] == ["empty", "banana", "stub", "minus", "right.py"]
    assert all(row["ok"] for row in result.value["rows"])
    assert result.value["mutants"]["killed"] == result.value["mutants"]["total"] > 0
    assert result.value["warnings"] == []
    assert [event.kind for event in events if event.kind.startswith("gate.")] == ["gate.proved", "gate.mutants"]


async def test_a_refused_evaluator_is_a_result_and_a_replay_comes_to_it():
    """The run ends as NO_SOLUTION with the reason, and can be replayed."""
    task = Task(id="v", prompt="p", entry_point="f", tests=("assert f(1) is None",))
    gate = Gate(UnitTests(), outputs=3)
    async with assemble() as engine:
        result = await engine.run(gate, {"task": encode(task)})
        assert result.status is Status.NO_SOLUTION
        assert (await engine.replay(result.run_id, gate)).value == result.value
    assert "'stub' passes" in result.value["reason"]
    assert "no known-good output is given, so nothing shows that a right one passes" in result.value["warnings"]


async def test_a_judge_is_asked_as_often_as_was_announced_and_vague_items_are_named():
    """Its bound is stated when the gate is made; a warning refuses nothing."""
    gate = Gate(Judge(["names the price", "sounds nice"]), outputs=2)
    assert gate.max_calls == 4
    model = Model(lambda request: reply('{"passed": false, "reason": "no price"}'))
    result, events, _ = await ran(gate, {"task": encode(Task(id="j", prompt="p"))}, model)
    assert result.passed
    assert len([event for event in events if event.kind == f"{CallModel.kind}.completed"]) == 2
    assert result.value["warnings"][0].startswith("rubric item 'sounds nice': 'nice' is a matter of taste")


async def test_a_person_is_not_asked_about_a_banana():
    """Nothing is put to a person, and the warning says so."""
    gate = Gate(evaluator_from({"kind": "all_of", "parts": [{"kind": "exact"}, {"kind": "person"}]}), outputs=2)
    result, _, _ = await ran(gate, {"task": encode(Task(id="p", prompt="p", answer="1"))})
    assert (result.passed, result.value["rows"]) == (True, [])
    assert "a person judges" in result.value["warnings"][0]


async def test_more_outputs_than_were_announced_are_refused():
    """The bound of calls would not hold."""
    with pytest.raises(ConfigError, match="5 known outputs, and at most 4"):
        await ran(Gate(UnitTests(), outputs=4))
    for wrong in ({"outputs": 0}, {"outputs": 1, "mutants": -1}):
        with pytest.raises(ConfigError):
            Gate(UnitTests(), **wrong)


async def test_one_output_is_judged():
    """The value is the verdict, whatever it says."""
    for code, status in (("a + b", Status.COMPLETED), ("a - b", Status.NO_SOLUTION)):
        result, _, _ = await ran(Judging(UnitTests()), {**TASK, "output": f"def add(a, b):\n    return {code}\n"})
        assert result.status is status
        assert decode(Verdict, result.value).passed is (status is Status.COMPLETED)


def replies(request):
    return "I subtracted." if request.role == "reflector" else "def add(a, b):\n    return a + b\n"


async def test_solve_refuses_to_start_behind_an_unsound_evaluator(tmp_path):
    """Nothing is asked of the actor; what the gate found is in the store, and an EvaluatorError to whoever catches."""
    weak = Task(id="weak", prompt="p", entry_point="add", tests=("assert add(1, 2) is None",))
    model = Model(replies)
    with pytest.raises(GateRefused, match="'weak' is refused: the known-bad output 'stub' passes"):
        await retrial.solve_async(weak, model=model, gate=True, store=tmp_path / "s.db")
    assert issubclass(GateRefused, EvaluatorError)
    assert model.requests == []
    async with assemble(store=tmp_path / "s.db") as engine:
        (head,) = await engine.journal.heads()
        assert head.first.data["algorithm"] == "gate"


async def test_solve_goes_on_behind_a_sound_one(tmp_path):
    """The gate's run stands before the task's; known outputs never reach a prompt."""
    model = Model(replies)
    result = await retrial.solve_async(ADD, model=model, gate=True, store=tmp_path / "s.db")
    assert result.passed
    assert not [request for request in model.requests if "a - b" in str(request)]
    journal = SqliteStore(str(tmp_path / "s.db"))
    heads = await journal.heads()
    await journal.close()
    assert sorted(head.first.data["algorithm"] for head in heads) == ["gate", "reflexion"]


async def test_what_the_gate_uses_of_the_budget_is_gone(tmp_path):
    """A judge that is put to the proof is paid from the same allowance."""

    def judge(request):
        return '{"passed": false, "reason": "no"}' if request.role == "judge" else "a lesson: next time name it."

    result = await retrial.solve_async(
        "Describe it.",
        evaluator={"kind": "judge", "rubric": "names the price"},
        model=Model(judge),
        budget=retrial.Budget(max_calls=3),
        gate=True,
        store=tmp_path / "s.db",
    )
    assert (result.status, result.usage.calls) == (Status.BUDGET_EXCEEDED, 1)
