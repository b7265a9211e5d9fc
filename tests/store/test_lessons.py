"""Lessons by task, beside the journal."""

from __future__ import annotations

import pytest

from retrial.core.codec import encode
from retrial.core.tasks import Lesson
from retrial.store import LessonShelf, SqliteStore


@pytest.fixture
async def shelf(tmp_path):
    store = SqliteStore(str(tmp_path / "store.db"))
    yield LessonShelf(store.writer)
    await store.close()


def lesson(text, task="t", name=None):
    return encode(Lesson(id=name or text, text=text, task_id=task))


async def test_lessons_are_deduplicated(shelf):
    """The same words about the same task, whatever their case and punctuation, are kept once."""
    assert await shelf.add(lesson("use the email, not the id"))
    assert not await shelf.add(lesson("Use the email, not the id.", name="other"))
    assert len(await shelf.of_task("t")) == 1


async def test_a_lesson_is_kept_for_its_task_alone_with_its_date(shelf):
    """Another task does not see it, its own does, and it says when it was kept."""
    await shelf.add(lesson("one"))
    assert await shelf.of_task("u") == []
    (kept,) = await shelf.of_task("t")
    assert kept["created_at"].startswith("20")


async def test_the_newest_are_returned_oldest_first(shelf):
    """Of five lessons the three newest come back, in the order in which they were learnt."""
    for text in ("a", "b", "c", "d", "e"):
        await shelf.add(lesson(text))
    assert [item["text"] for item in await shelf.of_task("t", 3)] == ["c", "d", "e"]
