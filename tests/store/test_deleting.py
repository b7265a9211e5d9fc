"""Deletion is real: no prompt, no journal, no export and no byte of the compacted file holds a deleted lesson."""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from retrial.core.codec import encode
from retrial.core.events import event_to_json, fact
from retrial.core.tasks import Lesson, Status
from retrial.errors import JournalError, RunBusy, RunRedacted
from retrial.log.deletions import deleted_lessons
from retrial.log.views import result_of, transcript, trials
from retrial.memory.trajectories import Trajectory
from retrial.store import LessonBook, SqliteStore
from retrial.store.erasing import compact
from retrial.store.insights import InsightShelf
from retrial.store.schema import APPLICATION_ID, MIGRATIONS
from retrial.store.trajectories import TrajectoryShelf
from worlds import Model, engine_with, reply, said

WORD = "xylophone"
SECRET = f'Next time, ask the {WORD} for "naïve" totals </lessons>\nbefore you answer.'
TESTS = Path(__file__).parents[1]


def algorithm():
    from retrial.algorithms import Reflexion

    return Reflexion(validator="right", store_lessons=True, start_from_stored=True)


def forgetful(request):
    """Learns the secret from the first failure, repeats it in its second reply, and is right with it."""
    if request.role == "reflector":
        return reply(f"  {SECRET}\n ")
    return reply(f"right, since I was told: {json.dumps(SECRET)}" if WORD in said(request) else "wrong")


async def learnt(path, run="r", task="t"):
    """A store in which a run learnt the secret."""
    store = SqliteStore(str(path))
    engine = engine_with(Model(forgetful), store)
    LessonBook(store.writer).attach(engine)
    result = await engine.run(algorithm(), {"task": task}, run_id=run)
    assert result.passed
    return engine, LessonBook(store.writer)


def bytes_of(path):
    return b"".join(file.read_bytes() for file in path.parent.glob(f"{path.name}*"))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "store.db"


async def test_a_deleted_lesson_is_nowhere(path):
    """The run still folds, its export does not hold the words, and after compacting no byte of the files does."""
    engine, book = await learnt(path)
    (lesson,) = await book.lessons()
    await book.edit(lesson.id, text=f"Ask the {WORD} at once, and twice.")
    assert WORD.encode() in bytes_of(path)
    done = await book.delete([lesson.id], because="it is private")
    assert done.runs == ("r",)
    events = await engine.journal.events("r")
    exported = "\n".join(map(event_to_json, events))
    assert WORD not in exported
    assert f"[deleted lesson {lesson.id}]" in exported
    assert deleted_lessons(events) == (lesson.id,)
    assert result_of(events).status is Status.COMPLETED
    assert (len(trials(events)), len(transcript(events))) == (2, 3)
    assert await book.lessons() == []
    assert await book.search(WORD) == []
    await engine.close()
    before, after = compact(str(path))
    assert after <= before
    assert WORD.encode() not in bytes_of(path)


async def test_what_the_bank_was_told_goes_too(path):
    """Trajectories that carried the lesson, insights and operations that repeat it, and what an extractor was answered."""
    engine, book = await learnt(path)
    (lesson,) = await book.lessons()
    trials, bank = TrajectoryShelf(engine.journal.writer), InsightShelf(engine.journal.writer)
    tried = Trajectory(id="x", task_id="t", task="t", outcome="passed", steps=("right",), lessons=(SECRET,))
    await trials.add(encode(tried), {"batch": 20}, "e", "me")
    await bank.apply({"source": "e", "operations": [{"kind": "ADD", "text": f"As was learnt: {SECRET}"}]})
    assert WORD in json.dumps([await bank.best(), await bank.journal(), encode(await trials.every())])
    await book.delete([lesson.id])
    assert WORD not in json.dumps([await bank.best(), await bank.journal(), encode(await trials.every())])
    assert len(await bank.best()) == len(await trials.every()) == 1
    await engine.close()
    compact(str(path))
    assert WORD.encode() not in bytes_of(path)


async def test_no_prompt_holds_it_and_the_same_words_are_not_kept_again(path):
    """A later run of the task starts without it; learning it anew does not put it back."""
    engine, book = await learnt(path)
    (lesson,) = await book.lessons()
    await book.delete([lesson.id])
    model = Model(forgetful)
    again = engine_with(model, engine.journal)
    book.attach(again)
    await again.run(algorithm(), {"task": "t"}, run_id="s")
    assert WORD not in said(model.requests[0])
    assert await book.lessons() == []
    assert (await book.keep(encode(Lesson(id="x", text=SECRET, task_id=lesson.task_id)))).outcome == "deleted"
    (grave,) = await book.lessons(state="deleted")
    assert (grave.id, grave.text) == (lesson.id, "")
    await engine.close()


async def test_such_a_run_is_neither_replayed_nor_resumed_and_says_why(path):
    """Whoever tries is told which lesson was deleted; an unfinished run does not bring it back either."""
    engine, book = await learnt(path)
    store = engine.journal
    begun = [event for event in await store.events("r") if event.kind != "run.finished"]
    copies = [fact("u", event.seq, event.key, event.kind, event.data, at=event.at) for event in begun]
    await store.append([copy for copy in copies if copy.seq < len(begun) - 2], last=True)
    (lesson,) = await book.lessons()
    assert set((await book.outlook([lesson.id])).runs) == {"r", "u"}
    await book.delete([lesson.id])
    for run in ("r", "u"):
        with pytest.raises(RunRedacted, match=lesson.id):
            await engine.resume(run, algorithm(), adopt=True)
    with pytest.raises(RunRedacted, match="deleted"):
        await engine.replay("r", algorithm())
    await engine.close()


async def test_the_same_words_about_other_tasks_go_with_it(path):
    """A text is deleted and not one copy of it."""
    engine, book = await learnt(path)
    await book.keep(encode(Lesson(id="copy", text=SECRET.upper(), task_id="other")))
    (lesson,) = await book.lessons(task_id=(await book.lessons())[-1].task_id)
    done = await book.delete([lesson.id])
    assert {one.id for one in done.lessons} == {lesson.id, "copy"}
    assert await book.lessons() == []
    await engine.close()


async def test_a_few_words_that_anybody_says_are_taken_out_of_their_own_runs_alone(path):
    """Deleting "State the unit." leaves a run alone that says it without having learnt it."""
    store = SqliteStore(str(path))
    book = LessonBook(store.writer)
    start = {"algorithm": "a", "version": "1", "parameters": {}, "input": {"task": "State the unit."}}
    lesson = Lesson(id="abc", text="State the unit.", task_id="t", run_id="own")
    await store.append([fact("other", 0, "run", "run.started", start)])
    await store.append(
        [
            fact("own", 0, "run", "run.started", {**start, "input": {"task": "How far?"}}),
            fact("own", 1, "trial.1/reflexion.lesson", "reflexion.lesson", {"lesson": lesson}),
        ]
    )
    await book.keep(encode(lesson))
    assert (await book.delete(["abc"])).runs == ("own",)
    assert (await store.events("own"))[1].data["lesson"]["text"].startswith("[deleted")
    assert (await store.events("other"))[0].data["input"]["task"] == "State the unit."
    await store.close()


async def test_a_run_that_is_being_worked_on_holds_the_deletion_up(path):
    """Its process has the words in memory and would write them again, so nothing is deleted."""
    engine, book = await learnt(path)
    (lesson,) = await book.lessons()

    def refuse(events):
        raise RunBusy(f"run {events[0].run_id!r} is being worked on")

    with pytest.raises(RunBusy, match="'r'"):
        await book.delete([lesson.id], refuse=refuse)
    assert len(await book.lessons()) == 1
    assert WORD in (await engine.journal.events("r"))[-1].text
    await engine.close()


async def test_an_old_store_is_migrated_without_loss(path):
    """A file of the first version keeps its runs and lessons, and its lessons can be searched."""
    old = sqlite3.connect(path)
    old.executescript(MIGRATIONS[0])
    old.execute("PRAGMA user_version = 1")
    old.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    items = [encode(Lesson(id=f"l{n}", text=f"Refund the order {n}.", task_id="t", created_at="2026")) for n in (1, 2)]
    for item in items:
        row = (item["id"], "t", item["text"].lower(), "active", "2026", json.dumps(item))
        old.execute("INSERT INTO lesson VALUES (?, ?, ?, ?, ?, ?)", row)
    old.execute("INSERT INTO run VALUES (1, 'r')")
    old.execute("INSERT INTO event VALUES (1, 0, 'run', 'run.started', '{}', '', 1.0, 1)")
    old.commit()
    old.close()
    store = SqliteStore(str(path))
    book = LessonBook(store.writer)
    assert [item["text"] for item in await book.recall({"task_id": "t"})] == [
        "Refund the order 1.",
        "Refund the order 2.",
    ]
    assert {one.id for one in await book.search("order refunds")} == {"l1", "l2"}
    assert len(await store.events("r")) == 1
    await store.close()


async def test_what_is_in_use_is_not_compacted(path):
    """A reader in the middle of its work keeps the old pages, and that is said."""
    engine, _ = await learnt(path)
    await engine.close()
    reader = sqlite3.connect(path, isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM event").fetchall()
    with pytest.raises(JournalError, match="compact"):
        compact(str(path), busy_seconds=0.1)
    reader.close()


SHARER = """
    import asyncio, sys
    from retrial.store import LessonBook, SqliteStore

    async def main(name):
        store = SqliteStore(sys.argv[1])
        book = LessonBook(store.writer)
        for number in range(30):
            text = f"Rule {number} of everybody."
            item = {"id": f"{name}{number}", "text": text, "task_id": "t"}
            await book.keep(item)
            await book.keep({**item, "id": f"{name}.own{number}", "text": f"Rule {number} of {name}."})
            assert any(one["text"] == text for one in await book.recall({"task_id": "t", "limit": 200}))
            if number % 3 == 0:
                await book.delete([f"{name}.own{number}"])
        await store.close()
    asyncio.run(main(sys.argv[2]))
"""


def test_two_processes_share_a_book(path):
    """Both add, recall and delete at once: nothing is lost, nothing is kept twice, and the index stays true."""
    command = [sys.executable, "-c", textwrap.dedent(SHARER), str(path)]
    both = [subprocess.Popen([*command, name], env={**os.environ, "PYTHONPATH": str(TESTS)}) for name in "ab"]
    assert [one.wait() for one in both] == [0, 0]

    async def look():
        store = SqliteStore(str(path))
        book = LessonBook(store.writer)
        texts = [one.text for one in await book.lessons()]
        found = await book.search("rule everybody", 200)
        await store.close()
        return texts, found

    texts, found = asyncio.run(look())
    assert len(texts) == len({*texts}) == len(found) == 30 + 2 * 20
    checked = sqlite3.connect(path)
    checked.execute("INSERT INTO lesson_index (lesson_index, rank) VALUES ('integrity-check', 1)")
    assert checked.execute("SELECT lessons FROM lesson_word WHERE word = 'rule'").fetchone() == (70,)
    checked.close()
