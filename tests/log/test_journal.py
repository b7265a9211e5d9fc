"""What every journal promises, in memory and in SQLite."""

from __future__ import annotations

import asyncio

import pytest

from retrial.core.events import fact
from retrial.errors import JournalError, RunNotFound
from retrial.log.journal import MemoryJournal
from retrial.store import SqliteStore


@pytest.fixture(params=["memory", "sqlite", "sqlite in memory"])
async def journal(request, tmp_path):
    made = {
        "memory": MemoryJournal,
        "sqlite": lambda: SqliteStore(str(tmp_path / "store.db")),
        "sqlite in memory": lambda: SqliteStore(":memory:"),
    }[request.param]()
    yield made
    await made.close()


def events(run_id, *numbers, at=1.0):
    return [
        fact(run_id, number, f"key.{number}", "model.completed", {"n": number}, at=at + number) for number in numbers
    ]


async def test_events_come_back_in_order_as_they_were(journal):
    """What is appended in several batches is returned whole and in order."""
    await journal.append(events("r", 0, 1))
    await journal.append(events("r", 2))
    assert await journal.events("r") == events("r", 0, 1, 2)


async def test_a_gap_is_refused_and_nothing_of_it_is_kept(journal):
    """Events that do not follow those stored raise, and the journal stays as it was."""
    await journal.append(events("r", 0))
    with pytest.raises(JournalError, match="event 2 cannot be next"):
        await journal.append(events("r", 2))
    assert len(await journal.events("r")) == 1
    await journal.append(events("r", 1))


async def test_of_two_writers_only_one_goes_on(journal):
    """The second to append the same number is refused."""
    await journal.append(events("r", 0))
    first, second = journal.append(events("r", 1)), journal.append(events("r", 1))
    ends = await asyncio.gather(first, second, return_exceptions=True)
    assert ends[0] is None
    assert isinstance(ends[1], JournalError)


async def test_a_run_id_is_taken_once(journal):
    """Beginning a run that exists is refused."""
    await journal.append(events("r", 0), last=True)
    with pytest.raises(JournalError):
        await journal.append(events("r", 0))


async def test_a_refused_append_does_not_take_others_down(journal):
    """Of many appends at once, one of which is wrong, all others are kept."""
    appends = [journal.append(events(f"r{number}", 0 if number != 7 else 1)) for number in range(20)]
    ends = await asyncio.gather(*appends, return_exceptions=True)
    assert [number for number, end in enumerate(ends) if end is not None] == [7]
    assert len(await journal.heads()) == 19


async def test_an_unknown_run_says_how_to_list_those_there_are(journal):
    """The error names the id and the command."""
    with pytest.raises(RunNotFound, match=r"'nope'; `retrial runs`"):
        await journal.events("nope")


async def test_heads_are_the_newest_first_and_can_be_narrowed(journal):
    """Heads hold both ends and the count, newest run first, by prefix and limit."""
    for number, name in enumerate(["a.1", "a.2", "b.1"]):
        await journal.append(events(name, 0, 1, at=float(number)))
    heads = await journal.heads()
    assert [(head.first.run_id, head.last.seq, head.count) for head in heads] == [
        ("b.1", 1, 2),
        ("a.2", 1, 2),
        ("a.1", 1, 2),
    ]
    assert [head.first.run_id for head in await journal.heads(prefix="a.")] == ["a.2", "a.1"]
    assert [head.first.run_id for head in await journal.heads(limit=1)] == ["b.1"]


async def test_a_thousand_runs_at_once_are_all_kept(journal):
    """Interleaved appends of a thousand runs lose nothing."""

    async def one(number):
        for seq in range(3):
            await journal.append(events(f"r{number:04}", seq))

    await asyncio.gather(*(one(number) for number in range(1000)))
    heads = await journal.heads()
    assert (len(heads), {head.count for head in heads}) == (1000, {3})
