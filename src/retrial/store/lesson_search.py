"""Finding lessons: those of a task, those relevant to another, and those that a person looks for."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from retrial.log.uses import LEFT_OUT, LEFT_OUT_WITH
from retrial.memory.copying import normalised
from retrial.memory.likeness import SHORTLIST
from retrial.memory.poison import held_out, hold_out_share
from retrial.memory.searching import arranged, rare_words, search_words, shares_enough

__all__ = ["own", "recalled", "relevant", "searched", "shortlisted"]

Item = Mapping[str, Any]
"""A lesson as its JSON values."""

_ALIVE = "+state = 'active' AND (expires_at = '' OR expires_at > ?)"

SPARE = 3
"""How many lessons of other tasks are recalled where no limit is given."""


def recalled(
    connection: sqlite3.Connection, query: Mapping[str, Any], at: str, ranked: Sequence[Item] | None = None
) -> list[Item]:
    """Return what a task is to be told, what matters most last.

    ``query`` holds ``task_id`` and, if lessons of other tasks are wanted, the prompt as ``task``; ``limit`` is how many
    at most. ``at`` is the time, by which lessons expire. With ``run_id``, chance leaves some lessons of other tasks out
    of that run (they are marked), so that what a lesson does can be told from what its tasks do. ``ranked`` are the
    lessons of other tasks in an order of one's own, from ``shortlisted``.
    """
    limit = query.get("limit")
    mine = own(connection, query["task_id"], limit, at)
    room = SPARE if limit is None else limit - len(mine)
    if "task" not in query or room < 1:
        return mine
    if ranked is None:
        others = relevant(connection, query["task"], task_id=query["task_id"], limit=room, at=at, told=mine)
    else:
        said = {normalised(item["text"]) for item in mine}
        others = [item for item in ranked if normalised(item["text"]) not in said][:room]
    if "run_id" in query:
        others = [_tossed(connection, item, query["run_id"]) for item in others]
    return arranged(mine, others, limit, SPARE)


def shortlisted(connection: sqlite3.Connection, query: Mapping[str, Any], at: str) -> list[Item]:
    """Return the lessons of other tasks that share words with a prompt, for another measure to choose from."""
    return relevant(connection, query["task"], task_id=query["task_id"], limit=SHORTLIST, at=at)


def _tossed(connection: sqlite3.Connection, item: Item, run_id: str) -> Item:
    """A lesson with the chance of its being left out, and whether it is."""
    (stake,) = connection.execute("SELECT stake FROM lesson WHERE id = ?", (item["id"],)).fetchone()
    share = hold_out_share(stake)
    return {**item, LEFT_OUT_WITH: share, LEFT_OUT: held_out(item["id"], run_id, share)}


def own(connection: sqlite3.Connection, task_id: str, newest: int | None, at: str) -> list[Item]:
    """Return the lessons of a task that hold, the ``newest`` if a number is given, oldest first."""
    rows = connection.execute(
        f"SELECT data FROM lesson WHERE task_id = ? AND {_ALIVE} ORDER BY number DESC LIMIT ?",  # noqa: S608 - ours
        (task_id, at, -1 if newest is None else newest),
    ).fetchall()
    return [json.loads(row[0]) for row in reversed(rows)]


def relevant(
    connection: sqlite3.Connection, prompt: str, *, task_id: str, limit: int, at: str, told: Sequence[Item] = ()
) -> list[Item]:
    """Return lessons of other tasks that are relevant to a prompt, the most relevant first.

    None says the same as another, or as one of those that are ``told`` anyway.
    """
    asked = search_words(prompt)
    rows = _matches(
        connection, asked, f"scope = 'any' AND task_id <> ? AND {_ALIVE}", (task_id, at), 4 * limit + len(told) + 8
    )
    return _distinct(rows, limit, told, lambda words: shares_enough(asked, words))


def searched(connection: sqlite3.Connection, text: str, limit: int) -> list[Item]:
    """Return the lessons that hold a text's words, of whatever state and task, the best match first."""
    rows = _matches(connection, search_words(text), "state <> 'deleted'", (), limit)
    return [json.loads(data) for data, _ in rows]


def _matches(
    connection: sqlite3.Connection, asked: Sequence[str], condition: str, values: Sequence[Any], limit: int
) -> list[tuple[str, list[str]]]:
    """The data and the words of lessons that match the rare ones among ``asked``, by BM25, the best first."""
    chosen = rare_words(_counts(connection, {*asked}))
    if not chosen:
        return []
    # Row by row, because a join of the two would look at every match before it gives the first.
    matches = connection.execute(
        "SELECT rowid FROM lesson_index WHERE lesson_index MATCH ? ORDER BY rank",
        (" OR ".join(f'"{word}"' for word in chosen),),
    )
    found: list[tuple[str, list[str]]] = []
    for (number,) in matches:
        row = connection.execute(
            f"SELECT data, words FROM lesson WHERE number = ? AND {condition}",  # noqa: S608 - ours
            (number, *values),
        ).fetchone()
        if row is not None:
            found.append((row[0], row[1].split(" ")))
            if len(found) == limit:
                break
    return found


def _counts(connection: sqlite3.Connection, words: Iterable[str]) -> dict[str, int]:
    """In how many lessons each of the words stands that are in any."""
    query = "SELECT word, lessons FROM json_each(?) CROSS JOIN lesson_word ON word = value"
    return dict(connection.execute(query, (json.dumps(list(words)),)).fetchall())


def _distinct(
    rows: Sequence[tuple[str, list[str]]], limit: int, told: Sequence[Item], wanted: Callable[[list[str]], bool]
) -> list[Item]:
    """The first lessons that are wanted and say something new."""
    seen = {normalised(item["text"]) for item in told}
    found: list[Item] = []
    for data, words in rows:
        if len(found) == limit:
            break
        item = json.loads(data)
        same = normalised(item["text"])
        if same not in seen and wanted(words):
            seen.add(same)
            found.append(item)
    return found
