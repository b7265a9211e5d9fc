"""The insight bank beside the journal: its operations, and the insights that they make.

Operations are only ever added. The insights are kept as they stand, so that reading them does not fold the journal; a
change that reaches back, such as undoing one, folds it anew.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from retrial.core.codec import decode, encode
from retrial.memory.copying import normalised
from retrial.memory.insights import Bank, Insight, Operation, apply, best, fold, resolved
from retrial.store.writer import Writer

__all__ = ["InsightShelf"]

REACHES_BACK = frozenset({"UNDO", "TAINT"})


class InsightShelf:
    """Keeps one bank."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer

    async def best(self, count: int | None = None) -> list[Mapping[str, Any]]:
        """Return the highest-scored insights as JSON values, all of them if no number is given."""
        return await self._writer.do(lambda connection: [encode(one) for one in best(_bank(connection), count)])

    async def apply(self, item: Mapping[str, Any]) -> Mapping[str, Any]:
        """Record the operations that an extractor asked for, once for each ``source``, and return what became of them.

        ``item`` holds ``source``, a name that no other request has, and ``operations`` as JSON values. The answer says
        of each operation what it was recorded as, and how many insights there are then.
        """

        def write(connection: sqlite3.Connection) -> Mapping[str, Any]:
            known = connection.execute("SELECT answer FROM insight_applied WHERE source = ?", (item["source"],))
            row = known.fetchone()
            if row is not None:
                return json.loads(row[0])
            asked = [decode(Operation, one) for one in item["operations"]]
            recorded = _record(connection, asked, recalled=_recalled(connection, asked))
            answer = {
                "recorded": [encode(one) for one in recorded],
                "insights": connection.execute("SELECT count(*) FROM insight").fetchone()[0],
            }
            connection.execute("INSERT INTO insight_applied VALUES (?, ?)", (item["source"], json.dumps(answer)))
            return answer

        return await self._writer.do(write)

    async def record(self, operation: Operation) -> Operation:
        """Record what a person did to the bank, and return it with its number."""
        return await self._writer.do(lambda connection: _record(connection, [operation], recalled={})[0])

    async def journal(self) -> list[Mapping[str, Any]]:
        """Return every operation in order: ``operation``, and what it changed, ``before`` and ``after``, by id."""

        def read(connection: sqlite3.Connection) -> list[Mapping[str, Any]]:
            rows = connection.execute("SELECT data FROM insight_operation ORDER BY number")
            return [json.loads(data) for (data,) in rows.fetchall()]

        return await self._writer.do(read)

    async def bank(self) -> Bank:
        """Return the bank as it stands."""
        return await self._writer.do(_bank)


def _record(
    connection: sqlite3.Connection, operations: Sequence[Operation], recalled: Mapping[str, int]
) -> list[Operation]:
    """Add operations to the journal and bring the insights up to date."""
    bank = before_all = _bank(connection)
    recorded: list[Operation] = []
    for asked in operations:
        at = asked.at or datetime.now(UTC).isoformat(timespec="seconds")
        one = resolved(bank, replace(asked, number=bank.count + 1, at=at), recalled)
        if one.kind in REACHES_BACK:
            after = fold([*_operations(connection), one])
            _mark_tainted(connection, one)
        else:
            after = apply(bank, one)
        row = {"operation": encode(one), **_change(bank, after)}
        values = (one.number, one.kind, one.target, json.dumps(row))
        connection.execute("INSERT INTO insight_operation VALUES (?, ?, ?, ?)", values)
        bank = after
        recorded.append(one)
    _keep(connection, before_all, bank)
    return recorded


def _change(before: Bank, after: Bank) -> dict[str, Any]:
    """What an operation did: the insights that it changed, as they were and as they are, and those that are gone."""
    old = {one.id: one for one in before.insights}
    new = {one.id: one for one in after.insights}
    changed = sorted(name for name in {*old, *new} if old.get(name) != new.get(name))
    return {
        "before": {str(name): _brief(old[name]) for name in changed if name in old},
        "after": {str(name): _brief(new[name]) for name in changed if name in new},
    }


def _brief(one: Insight) -> dict[str, Any]:
    return {"text": one.text, "score": one.score}


def _bank(connection: sqlite3.Connection) -> Bank:
    """The bank as it stands."""
    rows = connection.execute("SELECT data FROM insight ORDER BY id").fetchall()
    (count,) = connection.execute("SELECT coalesce(max(number), 0) FROM insight_operation").fetchone()
    added = connection.execute(
        "SELECT target FROM insight_operation WHERE kind = 'ADD' ORDER BY target DESC LIMIT 1"
    ).fetchone()
    insights = tuple(decode(Insight, json.loads(data)) for (data,) in rows)
    return Bank(insights=insights, next_id=added[0] + 1 if added else 1, count=count)


def _keep(connection: sqlite3.Connection, before: Bank, after: Bank) -> None:
    """Write what changed."""
    old = {one.id: one for one in before.insights}
    kept = {one.id for one in after.insights}
    connection.executemany("DELETE FROM insight WHERE id = ?", [(name,) for name in old if name not in kept])
    changed = [one for one in after.insights if old.get(one.id) != one]
    rows = [(one.id, json.dumps(encode(one))) for one in changed]
    connection.executemany("INSERT OR REPLACE INTO insight VALUES (?, ?)", rows)


def _operations(connection: sqlite3.Connection) -> list[Operation]:
    rows = connection.execute("SELECT data FROM insight_operation ORDER BY number").fetchall()
    return [decode(Operation, json.loads(data)["operation"]) for (data,) in rows]


def _recalled(connection: sqlite3.Connection, operations: Iterable[Operation]) -> dict[str, int]:
    """Every text that the insights ever had which the actors of the sources were told."""
    sources = dict.fromkeys(name for one in operations for name in one.trajectory_ids)
    told: set[int] = set()
    for name in sources:
        row = connection.execute("SELECT json_extract(data, '$.insights') FROM trajectory WHERE id = ?", (name,))
        (found,) = row.fetchone() or (None,)
        told |= {*json.loads(found or "[]")}
    texts: dict[str, int] = {}
    for insight_id in told:
        rows = connection.execute(
            "SELECT json_extract(data, '$.operation.text') FROM insight_operation "
            "WHERE target = ? AND kind IN ('ADD', 'EDIT')",
            (insight_id,),
        )
        texts |= {normalised(text): insight_id for (text,) in rows.fetchall()}
    return texts


def _mark_tainted(connection: sqlite3.Connection, operation: Operation) -> None:
    """Keep a tainted trajectory from being recalled or compared, until the taint is undone."""
    if operation.kind == "TAINT":
        connection.execute("UPDATE trajectory SET tainted = 1 WHERE id = ?", (operation.text,))
        return
    rows = connection.execute("SELECT data FROM insight_operation WHERE number = ?", (operation.target,)).fetchall()
    for (data,) in rows:
        undone = decode(Operation, json.loads(data)["operation"])
        if undone.kind == "TAINT":
            connection.execute("UPDATE trajectory SET tainted = 0 WHERE id = ?", (undone.text,))
