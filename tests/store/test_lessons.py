"""The lesson book: keeping, recalling, changing, counting and its cap."""

from __future__ import annotations

import pytest

from retrial.core.codec import encode
from retrial.core.events import fact
from retrial.core.tasks import Lesson
from retrial.errors import ConfigError, LessonNotFound
from retrial.store import LessonBook, SqliteStore
from worlds import Model, engine_with, learner, learning


@pytest.fixture
async def store(tmp_path):
    store = SqliteStore(str(tmp_path / "store.db"))
    yield store
    await store.close()


@pytest.fixture
def book(store):
    return LessonBook(store.writer)


def lesson(text, task="t", name=None, **fields):
    return encode(Lesson(id=name or text, text=text, task_id=task, **fields))


async def told(book, task="t", limit=None, **more):
    return [item["text"] for item in await book.recall({"task_id": task, "limit": limit, **more})]


async def test_lessons_are_deduplicated(book):
    """The same words about the same task, whatever their case and punctuation, are kept once."""
    assert (await book.keep(lesson("use the email, not the id"))).new
    again = await book.keep(lesson("Use the email, not the id.", name="other"))
    assert (again.outcome, again.other) == ("duplicate", "use the email, not the id")
    assert len(await told(book)) == 1
    assert (await book.keep(lesson("Use the email, not the id.", task="u", name="third"))).new


async def test_a_lesson_is_kept_for_its_task_alone_with_its_date(book):
    """Another task does not see it, its own does, and it says when it was kept."""
    await book.keep(lesson("one"))
    assert await told(book, "u") == []
    (kept,) = await book.recall({"task_id": "t"})
    assert kept["created_at"].startswith("20")


async def test_the_newest_are_returned_oldest_first(book):
    """Of five lessons the three newest come back, in the order in which they were learnt."""
    for text in ("a", "b", "c", "d", "e"):
        await book.keep(lesson(text))
    assert await told(book, limit=3) == ["c", "d", "e"]


REFUND = "Look the account up by email before you refund an order."


async def test_lessons_of_other_tasks_are_recalled_where_they_are_relevant(book):
    """A prompt recalls those that share words with it and are for any task, before the task's own; only when asked."""
    await book.keep(lesson(REFUND, "a", scope="any"))
    await book.keep(lesson("Sort dates before comparing them.", "a", scope="any"))
    await book.keep(lesson("Refund an order by its account only.", "b"))
    await book.keep(lesson("Mine.", "t"))
    prompt = "Refund the last order of the account of Mia."
    assert await told(book, task="t", limit=3) == ["Mine."]
    found = await book.recall({"task_id": "t", "limit": 3, "task": prompt})
    assert [item["text"] for item in found] == [REFUND, "Mine."]
    assert [item["text"] for item in await book.recall({"task_id": "t", "limit": 1, "task": prompt})] == ["Mine."]


async def test_a_function_of_vectors_ranks_what_shares_words(store):
    """It chooses among the lessons of other tasks, the most alike nearest to the task's own; the rest stays as it was."""
    asked = []

    def embed(texts):
        asked.append(list(texts))
        return [[text.count("refund") + text.count("Refund"), text.count("account"), 0.1] for text in texts]

    book = LessonBook(store.writer, embed=embed)
    for text in ("The account of an order is an account.", "Refund the order, and refund it once."):
        await book.keep(lesson(text, "a", scope="any"))
    await book.keep(lesson("Mine.", "t"))
    prompt = "Refund the refund of the order of this account."
    found = await book.recall({"task_id": "t", "limit": 2, "task": prompt})
    assert [item["text"] for item in found] == ["Refund the order, and refund it once.", "Mine."]
    assert asked[0][0] == prompt
    assert "Mine." not in asked[0]
    assert [item["text"] for item in await book.recall({"task_id": "t", "limit": 2})] == ["Mine."]


async def test_chance_leaves_lessons_of_other_tasks_out_of_some_runs(book):
    """Of a hundred runs about half leave a new lesson out, which ones is fixed, and those told are told with it."""
    await book.keep(lesson(REFUND, "a", scope="any"))
    query = {"task_id": "t", "limit": 3, "task": "Refund the order of this account."}
    found = [(await book.recall({**query, "run_id": str(run)}))[0] for run in range(100)]
    assert {item["left_out_with"] for item in found} == {0.5}
    assert 30 < sum(item["left_out"] for item in found) < 70
    assert found[7] == (await book.recall({**query, "run_id": "7"}))[0]


async def test_an_expired_lesson_is_not_recalled(store):
    """Until the moment it names it is told, from then on it is not."""
    time = ["2026-01-01T00:00:00+00:00"]
    book = LessonBook(store.writer, clock=lambda: time[0])
    await book.keep(lesson("one", expires_at="2026-06-01T00:00:00+00:00"))
    assert await told(book) == ["one"]
    time[0] = "2026-06-01T00:00:00+00:00"
    assert await told(book) == []


async def test_a_quarantined_lesson_is_told_to_nobody_until_it_is_released(book):
    """It stays in the book with the reason and the evidence, and its words are not learnt again meanwhile."""
    await book.keep(lesson("one"))
    assert await book.quarantine("one", "it does harm", {"p": 0.01})
    assert not await book.quarantine("one", "it does harm")
    assert await told(book) == []
    assert (await book.keep(lesson("One.", name="again"))).outcome == "duplicate"
    kept, (change,), _ = await book.get("one")
    assert (kept.state, change.because, change.data) == ("quarantined", "it does harm", {"evidence": {"p": 0.01}})
    assert await book.release("one", "the API was mended")
    assert await told(book) == ["one"]


async def test_an_edit_is_a_new_version_and_keeps_the_old(book):
    """The next recall says the new words, the history the old ones, and search finds the new alone."""
    await book.keep(lesson("Always use the cache."))
    edited = await book.edit("Always use the cache.", text="Ask the server first.", because="it was mended")
    assert (edited.version, edited.origin) == (2, "person")
    assert await told(book) == ["Ask the server first."]
    _, (change,), _ = await book.get("Always use the cache.")
    assert change.data["before"]["text"] == "Always use the cache."
    assert [one.text for one in await book.search("server")] == ["Ask the server first."]
    assert await book.search("cache") == []


async def test_an_edit_may_not_repeat_another_lesson(book):
    """Two lessons of one task never say the same."""
    await book.keep(lesson("one"))
    await book.keep(lesson("two"))
    with pytest.raises(ConfigError, match="says the same"):
        await book.edit("two", text="One!")
    with pytest.raises(LessonNotFound, match="three"):
        await book.edit("three", text="x")


async def test_a_full_book_drops_the_expired_then_the_oldest_and_the_quarantined_last(store):
    """What goes first is fixed, and no more is kept than was said."""
    book = LessonBook(store.writer, capacity=3, clock=lambda: "2026-06-01")
    for text in ("quarantined", "oldest", "old"):
        await book.keep(lesson(text))
    await book.quarantine("quarantined", "why")
    await book.keep(lesson("expired", expires_at="2026-05-01"))
    assert [one.id for one in await book.lessons()] == ["old", "oldest", "quarantined"]
    await book.keep(lesson("new"))
    await book.keep(lesson("newer"))
    assert [one.id for one in await book.lessons()] == ["newer", "new", "quarantined"]
    with pytest.raises(ConfigError, match="capacity=0"):
        LessonBook(store.writer, capacity=0)


async def test_a_lesson_is_meant_by_the_beginning_of_its_id(book):
    """One that is the beginning of several is refused, a whole id is always itself."""
    for name in ("abc", "abd", "ab"):
        await book.keep(lesson(name, name=name))
    assert await book.find("abc") == "abc"
    assert await book.find("ab") == "ab"
    with pytest.raises(ConfigError, match="several"):
        await book.find("a")
    with pytest.raises(LessonNotFound, match="zz"):
        await book.find("zz")


def trial(run, number, passed, lessons, seq):
    attempt = {"trial": number, "output": "", "verdict": {"passed": passed, "score": 0.0}, "lessons_used": lessons}
    return fact(run, seq, f"trial.{number}/reflexion.feedback", "reflexion.feedback", {"attempt": attempt}, at=seq)


def started(run, task="t"):
    data = {"algorithm": "a", "version": "1", "parameters": {}, "input": {"task": {"prompt": "p", "id": task}}}
    return fact(run, 0, "run", "run.started", data)


async def test_uses_and_wins_are_counted_from_the_runs(store, book):
    """Imported runs count as well, a run that goes on is counted once, and an edit begins afresh."""
    await book.keep(lesson("one"))
    await store.append([started("r"), trial("r", 1, False, [], 1), trial("r", 2, False, ["one"], 2)])
    (kept,) = await book.lessons()
    assert (kept.uses, kept.wins) == (1, 0)
    await store.append([trial("r", 3, True, ["one"], 3)])
    kept, _, used = await book.get("one")
    assert (kept.uses, kept.wins) == (2, 1)
    assert [(use.run_id, use.trial, use.passed) for use in used] == [("r", 2, False), ("r", 3, True)]
    facts, _ = await book.trials()
    assert [(one.task_id, one.trial, one.lessons) for one in facts] == [
        ("t", 1, ()),
        ("t", 2, ("one",)),
        ("t", 3, ("one",)),
    ]
    await book.edit("one", text="two")
    kept, _, used = await book.get("one")
    assert (kept.uses, kept.wins, len(used)) == (0, 0, 2)
    _, afresh = await book.trials()
    assert afresh["one"] > 1e9


async def test_a_run_that_cannot_be_told_counts_nothing(store, book):
    """Odd events of another program neither count nor stop the others from being counted."""
    await book.keep(lesson("one"))
    odd = fact("odd", 1, "trial.1/reflexion.feedback", "reflexion.feedback", {"attempt": "?"})
    await store.append([started("odd"), odd])
    await store.append([started("r"), trial("r", 1, True, ["one"], 1)])
    (kept,) = await book.lessons()
    assert (kept.uses, kept.wins) == (1, 1)


async def test_a_lesson_says_what_it_was_learnt_under(store, book):
    """The book takes prompts, evaluator and models from the run that the lesson came from."""
    engine = engine_with(Model(learner), store)
    book.attach(engine)
    metadata = {"models": {"actor": "ollama:small"}}
    await engine.run(learning(), {"task": "t"}, run_id="r", metadata=metadata)
    await book.keep(lesson("one", run_id="r"))
    (kept,) = await book.lessons()
    assert kept.environment["models"] == {"actor": "ollama:small"}
    assert kept.environment["prompts"] == learning().parameters()["prompts"]
    assert len(kept.environment["evaluator"]) == 64
