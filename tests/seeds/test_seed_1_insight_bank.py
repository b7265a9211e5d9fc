"""Seed 1, third part: the insight bank. One test a requirement, in the words of the seed."""

from __future__ import annotations

import asyncio
import sqlite3

import pytest

from retrial.assembly import assemble
from retrial.bank import InsightBank
from retrial.core.codec import encode
from retrial.core.tasks import Status, Task
from retrial.errors import ModelUnavailable
from retrial.memory.insights import Operation
from retrial.recipes import insight_bank
from retrial.store.trajectories import TrajectoryShelf
from worlds import Model, said

DOUBLE = Task(id="double", prompt="Write double(n), which doubles a number.", tests=("assert double(2) == 4",))
TRIPLE = Task(id="triple", prompt="Write triple(n), which triples a number.", tests=("assert triple(2) == 6",))
ANSWERS = {"double": "def double(n):\n    return 2 * n", "triple": "def triple(n):\n    return 3 * n"}


def solver(request, extracted="ADD: check 29 February"):
    """Solves what it is asked, and extracts what it is told."""
    if request.role == "extractor":
        return extracted
    name = "double" if "<task>Write double" in said(request) else "triple"
    return ANSWERS[name]


async def test_stub_extractor_check_29_february(tmp_path):
    """Requirement 5: batch 1; after one saved trajectory the next new task's first prompt holds the insight."""
    model = Model(solver)
    async with assemble(model, store=tmp_path / "store.db") as engine:
        await engine.run(insight_bank(batch=1), {"task": encode(DOUBLE)})
        await engine.settled()
        await engine.run(insight_bank(batch=1), {"task": encode(TRIPLE)})
        first, second = model.asked("actor")
        assert "check 29 February" not in said(first)
        assert "check 29 February" in said(second)
        assert len(model.asked("extractor")) == 1


WRONG = "def double(n):\n    return n"


def learner(request):
    """Fails double at first, then passes with the lesson."""
    if request.role == "reflector":
        return "Next time, multiply by two."
    if request.role == "extractor":
        return "ADD: multiply\nthis is no operation\nUPVOTE 9\nADD: check the type"
    return ANSWERS["double"] if "Next time" in said(request) else WRONG


async def bank_of(engine):
    """The bank of an engine's store."""
    bank = InsightBank(engine, engine.journal.writer)
    bank.attach()
    return bank


async def test_every_finished_trial_is_saved_failures_and_successes_alike(tmp_path):
    """How it works 1: two trials, one failed and one passed, with their task, steps and outcome."""
    async with assemble(Model(learner), store=tmp_path / "store.db") as engine:
        await bank_of(engine)
        result = await engine.run(insight_bank(), {"task": encode(DOUBLE)})
        saved = await TrajectoryShelf(engine.journal.writer).every()
    assert [(one.task_id, one.outcome, one.trial) for one in saved] == [
        ("double", "failed", 1),
        ("double", "passed", 2),
    ]
    assert [one.answer.strip() for one in saved] == [WRONG, ANSWERS["double"]]
    assert {one.run_id for one in saved} == {result.run_id}


async def test_the_extractor_gets_the_pair_and_the_numbered_list(tmp_path):
    """How it works 2: a failed and a passed trial of the same task, with the current insights by number."""
    model = Model(learner)
    async with assemble(model, store=tmp_path / "store.db") as engine:
        bank = await bank_of(engine)
        await bank.insights.record(Operation(kind="ADD", text="be brief"))
        await engine.run(insight_bank(batch=2), {"task": encode(DOUBLE)})
        await bank.settled()
        (asked,) = model.asked("extractor")
        text = said(asked)
        assert f"Failed:\n{WRONG}" in text
        assert f"Passed:\n{ANSWERS['double']}" in text
        assert "1. be brief" in text


async def test_lines_that_do_not_parse_are_skipped_and_logged_and_the_rest_is_applied(tmp_path):
    """Requirement 2: two ADD lines count; the other two are in the bank's journal, word for word, with a reason."""
    async with assemble(Model(learner), store=tmp_path / "store.db") as engine:
        bank = await bank_of(engine)
        await engine.run(insight_bank(batch=2), {"task": encode(DOUBLE)})
        (end,) = await bank.settled()
        assert end.value == {"applied": 2, "skipped": 2, "insights": 2}
        entries = [entry["operation"] for entry in await bank.insights.journal()]
        skipped = [(one["text"], one["reason"]) for one in entries if one["kind"] == "SKIP"]
        assert skipped == [
            ("this is no operation", "it is no operation"),
            ("UPVOTE 9", "no insight 9 is listed, there are 0"),
        ]
        events = await engine.journal.events(end.run_id)
        assert [len(event.data["skipped"]) for event in events if event.kind == "expel.applied"] == [2]


async def test_each_insight_has_its_score_creation_date_and_trajectory_ids(tmp_path):
    """Requirement 3: so that a bad one can be traced."""
    async with assemble(Model(learner), store=tmp_path / "store.db") as engine:
        bank = await bank_of(engine)
        await engine.run(insight_bank(batch=2), {"task": encode(DOUBLE)})
        await bank.settled()
        saved = await bank.trajectories.every()
        for one in (await bank.insights.bank()).insights:
            assert one.score == 2
            assert one.created_at.startswith("20")
            assert {*one.trajectory_ids} == {trial.id for trial in saved}


async def test_the_prompt_holds_5_insights_and_2_examples_by_default_and_the_numbers_are_parameters(tmp_path):
    """How it works 4 and requirement 1: the highest-scored ones, in the first prompt alone."""
    model = Model(lambda request: WRONG if request.role == "actor" else "Next time, multiply.")
    async with assemble(model, store=tmp_path / "store.db") as engine:
        bank = await bank_of(engine)
        for number in range(7):
            await bank.insights.record(Operation(kind="ADD", text=f"insight {number}"))
        await bank.insights.record(Operation(kind="UPVOTE", target=1))
        await engine.run(insight_bank(trials=2), {"task": encode(DOUBLE)})
        await engine.run(insight_bank(trials=1, insights=1), {"task": encode(DOUBLE)})
        await engine.run(insight_bank(trials=2, every_trial=True), {"task": encode(DOUBLE)})
    first, second, third, _, fifth = (said(one) for one in model.asked("actor"))
    assert [f"insight {number}" in first for number in range(7)] == [True, False, False, True, True, True, True]
    assert "<insights>" not in second
    assert third.count("- insight") == 1
    assert "<insights>" in fifth


def test_the_defaults_are_those_of_the_seed():
    """Requirement 1 and 4: batch 20, 5 insights, 2 examples, at most 30 insights, 4 trials, 3 lessons."""
    loop = insight_bank()
    known = loop.experience
    assert (known.batch, known.insights, known.examples, known.cap) == (20, 5, 2, 30)
    assert (loop.max_trials, loop.keep_reflections, loop.keep) == (4, 3, "best")


async def test_extraction_never_blocks_or_fails_a_task(tmp_path):
    """Stop rule: a task ends while the extractor has not answered, and an extractor that is down fails no task."""
    asked, answer = asyncio.Event(), asyncio.Event()

    async def slow(request):
        if request.role == "extractor":
            asked.set()
            await answer.wait()
            raise ModelUnavailable("down")
        return ANSWERS["double"]

    async with assemble(slow, store=tmp_path / "store.db") as engine:
        bank = await bank_of(engine)
        result = await engine.run(insight_bank(batch=1), {"task": encode(DOUBLE)})
        assert result.passed
        await asked.wait()
        assert engine.busy == 1
        answer.set()
        (end,) = await bank.settled()
        assert end.status is Status.FAILED


@pytest.mark.parametrize("kept", range(1, 12))
async def test_an_extraction_that_was_killed_loses_nothing_and_applies_nothing_twice(tmp_path, kept):
    """However much of it was written when the process died, the next one ends it, with each insight once."""
    store = tmp_path / "store.db"
    async with assemble(Model(learner), store=store) as engine:
        bank = await bank_of(engine)
        await engine.run(insight_bank(batch=2), {"task": encode(DOUBLE)})
        (end,) = await bank.settled()
    connection = sqlite3.connect(store)
    (run,) = connection.execute("SELECT id FROM run WHERE name = ?", (end.run_id,)).fetchone()
    connection.execute("DELETE FROM event WHERE run = ? AND seq >= ?", (run, kept))
    connection.execute("UPDATE extraction SET state = 'open', owner = 'gone:1:1'")
    connection.commit()
    connection.close()
    async with assemble(Model(learner), store=store) as engine:
        bank = await bank_of(engine)
        (again,) = await bank.settled()
        assert (again.run_id, again.status, again.value) == (end.run_id, Status.COMPLETED, end.value)
        assert [(one.text, one.score) for one in (await bank.insights.bank()).insights] == [
            ("multiply", 2),
            ("check the type", 2),
        ]
        assert await bank.trajectories.waiting() == []


async def test_of_several_processes_one_extracts_a_batch(tmp_path):
    """Two engines on one store keep twenty trials together, and every batch of five is extracted once."""
    models = [Model(solver), Model(solver)]
    engines = [assemble(model, store=tmp_path / "store.db") for model in models]
    runs = [engine.run(insight_bank(batch=5), {"task": encode(DOUBLE)}) for engine in engines for _ in range(10)]
    await asyncio.gather(*runs)
    for engine in engines:
        await engine.settled()
    assert sum(len(model.asked("extractor")) for model in models) == 4
    for engine in engines:
        await engine.close()
