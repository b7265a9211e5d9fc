"""``retrial runs``: what is in the store."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from retrial.cli.options import as_json, store_option

if TYPE_CHECKING:
    from retrial.cli.screen import Screen
    from retrial.core.events import Event
    from retrial.log.journal import RunHead
    from retrial.store.sqlite import SqliteStore

__all__ = ["runs"]


@click.command()
@click.option("--limit", type=click.IntRange(min=1), default=20, show_default=True, help="At most so many.")
@store_option
@as_json
def runs(limit: int, store: str | None, as_json: bool) -> None:
    """List the runs, newest first."""
    from retrial.cli.finding import opened
    from retrial.cli.screen import Screen
    from retrial.cli.work import asynchronously

    async def look() -> list[list[Event]]:
        async with opened(store) as journal:
            return [await _told(journal, head) for head in await journal.heads(limit)]

    screen = Screen(as_json=as_json, store=store)
    rows = [_row(events) for events in asynchronously(look())]
    if as_json:
        screen.json({"runs": rows})
        return
    if not rows:
        screen.remark(f"there are no runs yet; `{screen.command('run TASK')}` makes one")
        return
    _print(screen, rows)


async def _told(journal: SqliteStore, head: RunHead) -> list[Event]:
    """The events of a run; its ends alone if a newer version wrote it, which `_row` will say."""
    from retrial.errors import StoreTooNew

    try:
        return await journal.events(head.first.run_id)
    except StoreTooNew:
        return [head.first, head.last]


def _row(events: list[Event]) -> dict[str, Any]:
    """One run as JSON values."""
    from retrial.cli.finding import standing, task_id_of
    from retrial.cli.reports import usage_record
    from retrial.cli.sound import why_unreadable
    from retrial.core.budget import Usage
    from retrial.core.events import CURRENT_VERSION
    from retrial.log.views import trials, usage_of

    start = events[0]
    newer = max(event.v for event in events) > CURRENT_VERSION
    why = "a newer version of retrial wrote it; install that one" if newer else why_unreadable(events)
    if why:
        odd = {"task_id": "", "algorithm": "", "status": "unreadable", "trials": 0, "usage": usage_record(Usage())}
        return {"run_id": start.run_id, **odd, "started": _iso(start.at), "model": "", "reason": why}
    return {
        "run_id": start.run_id,
        "task_id": task_id_of(start),
        "algorithm": start.data.get("metadata", {}).get("recipe", {}).get("name") or start.data.get("algorithm", ""),
        "status": standing(events),
        "trials": len(trials(events)),
        "usage": usage_record(usage_of(events)),
        "started": _iso(start.at),
        "model": start.data.get("metadata", {}).get("label", ""),
    }


def _print(screen: Screen, rows: list[dict[str, Any]]) -> None:
    """Print the table; a narrow one leaves out the recipe and, since the id begins with it, the time."""
    from retrial.cli.render import money, new_table, short, status_text

    gate = {"COMPLETED": "evaluator sound", "NO_SOLUTION": "evaluator refused"}

    narrow = screen.out.width < 100
    more = () if narrow else ("recipe", "started")
    table = new_table(("id", "task", "status", "trials", "calls", "cost", *more), ("trials", "calls"))
    for row in rows:
        cost, status = row["usage"]["cost_usd"], str(row["status"])
        table.add_row(
            screen.text((row["run_id"], "cyan")),
            screen.text(short(row["task_id"])),
            status_text(screen, gate.get(status, status) if row["algorithm"] == "gate" else status),
            str(row["trials"]),
            str(row["usage"]["calls"]),
            screen.text("?" if cost is None else money(cost)),
            *(() if narrow else (screen.text(row["algorithm"]), _moment(row["started"]))),
        )
    screen.show(table)
    odd = next((row["run_id"] for row in rows if row["status"] == "unreadable"), None)
    if odd is not None:
        screen.remark(f"why one is unreadable: {screen.command(f'show {odd}')}")


def _iso(at: Any) -> str:
    """A time in UTC; an odd one is the beginning of all."""
    known = at if isinstance(at, (int, float)) and 0 <= at < 1e11 else 0.0
    return datetime.fromtimestamp(known, UTC).isoformat(timespec="seconds")


def _moment(iso: str) -> str:
    """A time as a person of this machine reads it."""
    return f"{datetime.fromisoformat(iso).astimezone():%m-%d %H:%M}"
