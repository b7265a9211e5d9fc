"""The insight bank beside the journal: its operations, and the insights that they make.

Operations are only ever added. The insights are kept as they stand, so that neither reading them nor adding to them
folds the journal; a change that reaches back, such as undoing one, folds it anew, one operation at a time. From which
operations and trajectories an insight came grows for as long as it lives, and is read only by who asks for it.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import chain
from typing import Any

from retrial.core.codec import decode, encode
from retrial.errors import ConfigError
from retrial.memory.changing import refusal
from retrial.memory.copying import normalised
from retrial.memory.insights import Bank, Insight, Operation, apply, best, fold, resolved
from retrial.store.writer import Writer

__all__ = ["InsightShelf"]

REACHES_BACK = frozenset({"UNDO", "TAINT"})


class InsightShelf:
    """Keeps one bank."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer

    async def best(self, count: int | None = None, *, without: int | None = None) -> list[Mapping[str, Any]]:
        """Return the highest-scored insights as JSON values without where they came from, all if no number is given.

        ``without`` is the id of one that is left out; nothing takes its place.
        """

        def read(connection: sqlite3.Connection) -> list[Mapping[str, Any]]:
            return [_plain(one) for one in best(_bank(connection), count) if one.id != without]

        return await self._writer.do(read)

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
        """Record what a person did to the bank, and return it with its number.

        Raises:
            ConfigError: if it names an insight, an operation or a trajectory that is not there.
        """

        def write(connection: sqlite3.Connection) -> Operation:
            _refuse_unknown(connection, operation)
            return _record(connection, [operation], recalled={})[0]

        return await self._writer.do(write)

    async def outlook(self, operation: Operation) -> Mapping[str, Any]:
        """Return what recording an operation of a person would add to the journal; nothing is changed.

        Raises:
            ConfigError: if it names an insight, an operation or a trajectory that is not there.
        """

        def read(connection: sqlite3.Connection) -> Mapping[str, Any]:
            _refuse_unknown(connection, operation)
            bank = _traced(connection) if operation.kind in REACHES_BACK else _bank(connection)
            one, after = _applied(connection, bank, operation, recalled={})
            return _entry(one, bank, after)

        return await self._writer.do(read)

    async def journal(self, limit: int | None = None) -> list[Mapping[str, Any]]:
        """Return the newest operations in order, all if no number is given.

        Each holds ``operation``, and what it changed, ``before`` and ``after``, by id.
        """

        def read(connection: sqlite3.Connection) -> list[Mapping[str, Any]]:
            newest = "SELECT data FROM insight_operation ORDER BY number DESC LIMIT ?"
            rows = connection.execute(newest, (-1 if limit is None else limit,)).fetchall()
            return [json.loads(data) for (data,) in reversed(rows)]

        return await self._writer.do(read)

    async def bank(self) -> Bank:
        """Return the bank as it stands, each insight with where it came from."""
        return await self._writer.do(_traced)


def _record(
    connection: sqlite3.Connection, operations: Sequence[Operation], recalled: Mapping[str, int]
) -> list[Operation]:
    """Add operations to the journal and bring the insights up to date."""
    reaching = any(one.kind in REACHES_BACK for one in operations)
    bank = before_all = _traced(connection) if reaching else _bank(connection)
    recorded: list[Operation] = []
    for asked in operations:
        one, after = _applied(connection, bank, asked, recalled)
        if one.kind in REACHES_BACK:
            _mark_tainted(connection, one)
        values = (one.number, one.kind, one.target, json.dumps(_entry(one, bank, after)))
        connection.execute("INSERT INTO insight_operation VALUES (?, ?, ?, ?)", values)
        bank = after
        recorded.append(one)
    if reaching:
        connection.execute("DELETE FROM insight_trace")
        before_all = replace(before_all, insights=tuple(replace(one, history=()) for one in before_all.insights))
    _keep(connection, before_all, bank)
    return recorded


def _applied(
    connection: sqlite3.Connection, bank: Bank, asked: Operation, recalled: Mapping[str, int]
) -> tuple[Operation, Bank]:
    """An operation as it is to be recorded, and the bank after it."""
    at = asked.at or datetime.now(UTC).isoformat(timespec="seconds")
    one = resolved(bank, replace(asked, number=bank.count + 1, at=at), recalled)
    after = _folded(connection, one) if one.kind in REACHES_BACK else apply(bank, one)
    return one, after


def _entry(one: Operation, before: Bank, after: Bank) -> dict[str, Any]:
    """What the journal keeps of an operation."""
    return {"operation": encode(one), **_change(before, after)}


def _refuse_unknown(connection: sqlite3.Connection, operation: Operation) -> None:
    """Raise a ConfigError if an operation names what is not there."""
    kept = [name for (name,) in connection.execute("SELECT id FROM trajectory WHERE id = ?", (operation.text,))]
    why = refusal(operation, _bank(connection), [*_operations(connection)], kept)
    if why:
        raise ConfigError(why)


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
    """The bank as it stands, without where the insights came from."""
    rows = connection.execute("SELECT data FROM insight ORDER BY id").fetchall()
    (count,) = connection.execute("SELECT coalesce(max(number), 0) FROM insight_operation").fetchone()
    added = connection.execute(
        "SELECT target FROM insight_operation WHERE kind = 'ADD' ORDER BY target DESC LIMIT 1"
    ).fetchone()
    insights = tuple(decode(Insight, json.loads(data)) for (data,) in rows)
    return Bank(insights=insights, next_id=added[0] + 1 if added else 1, count=count)


def _traced(connection: sqlite3.Connection) -> Bank:
    """The bank as it stands, with where the insights came from."""
    bank = _bank(connection)
    return replace(bank, insights=tuple(_with_trace(connection, one) for one in bank.insights))


def _with_trace(connection: sqlite3.Connection, one: Insight) -> Insight:
    """An insight with the operations that changed it, and the trajectories of those that supported it."""
    rows = connection.execute(
        "SELECT number, kind <> 'DOWNVOTE', json_extract(data, '$.operation.trajectory_ids') "
        "FROM insight_trace JOIN insight_operation ON number = insight_trace.operation WHERE insight = ? ORDER BY 1",
        (one.id,),
    ).fetchall()
    sources = dict.fromkeys(name for _, supports, names in rows if supports for name in json.loads(names or "[]"))
    return replace(one, history=tuple(number for number, _, _ in rows), trajectory_ids=tuple(sources))


def _keep(connection: sqlite3.Connection, before: Bank, after: Bank) -> None:
    """Write what changed; of where an insight came from, what ``before`` did not know of."""
    old = {one.id: one for one in before.insights}
    kept = {one.id for one in after.insights}
    gone = [(name,) for name in old if name not in kept]
    connection.executemany("DELETE FROM insight WHERE id = ?", gone)
    connection.executemany("DELETE FROM insight_trace WHERE insight = ?", gone)
    changed = [one for one in after.insights if old.get(one.id) != one]
    rows = [(one.id, json.dumps(_plain(one))) for one in changed]
    connection.executemany("INSERT OR REPLACE INTO insight VALUES (?, ?)", rows)
    trace = [(one.id, number) for one in changed for number in one.history]
    connection.executemany("INSERT OR IGNORE INTO insight_trace VALUES (?, ?)", trace)


def _plain(one: Insight) -> dict[str, Any]:
    """An insight as JSON values, without where it came from."""
    return encode(replace(one, history=(), trajectory_ids=()))


def _folded(connection: sqlite3.Connection, last: Operation) -> Bank:
    """The bank that the journal and one more operation make; the journal is read as it is folded."""
    reaching = [*_operations(connection, "WHERE kind IN ('UNDO', 'TAINT')"), last]
    return fold(chain(_operations(connection), [last]), reaching)


def _operations(connection: sqlite3.Connection, condition: str = "") -> Iterator[Operation]:
    """The operations that meet a condition, in order."""
    rows = connection.execute(f"SELECT data FROM insight_operation {condition} ORDER BY number")  # noqa: S608 - ours
    return (decode(Operation, json.loads(data)["operation"]) for (data,) in rows)


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
