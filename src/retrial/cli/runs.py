"""``retrial runs``: what is in the store."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from retrial.cli.options import as_json, store_option

if TYPE_CHECKING:
    from retrial.cli.screen import Screen
    from retrial.core.events import Event

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
            return [await journal.events(head.first.run_id) for head in await journal.heads(limit)]

    screen = Screen(as_json=as_json)
    rows = [_row(events) for events in asynchronously(look())]
    if as_json:
        screen.json({"runs": rows})
        return
    if not rows:
        screen.remark("there are no runs yet; `retrial run TASK` makes one")
        return
    _print(screen, rows)


def _row(events: list[Event]) -> dict[str, Any]:
    """One run as JSON values."""
    from retrial.cli.finding import standing, task_id_of
    from retrial.cli.reports import usage_record
    from retrial.log.views import trials, usage_of

    start = events[0]
    return {
        "run_id": start.run_id,
        "task_id": task_id_of(start),
        "algorithm": start.data.get("metadata", {}).get("recipe", {}).get("name") or start.data.get("algorithm", ""),
        "status": standing(events),
        "trials": len(trials(events)),
        "usage": usage_record(usage_of(events)),
        "started": datetime.fromtimestamp(start.at, UTC).isoformat(timespec="seconds"),
        "model": start.data.get("metadata", {}).get("label", ""),
    }


def _print(screen: Screen, rows: list[dict[str, Any]]) -> None:
    """Print the table; a narrow one leaves out the recipe and, since the id begins with it, the time."""
    from retrial.cli.render import money, new_table, status_text

    narrow = screen.out.width < 100
    more = () if narrow else ("recipe", "started")
    table = new_table(("id", "task", "status", "trials", "calls", "cost", *more), ("trials", "calls"))
    for row in rows:
        cost = row["usage"]["cost_usd"]
        table.add_row(
            screen.text((row["run_id"], "cyan")),
            screen.text(_short(row["task_id"])),
            status_text(screen, row["status"]),
            str(row["trials"]),
            str(row["usage"]["calls"]),
            screen.text("?" if cost is None else money(cost)),
            *(() if narrow else (screen.text(row["algorithm"]), _moment(row["started"]))),
        )
    screen.show(table)


def _short(task_id: str) -> str:
    """A task's id, or the beginning of one that is a digest or a whole prompt."""
    line = " ".join(task_id.split())
    return line if len(line) <= 40 else f"{line[:12]}…"


def _moment(iso: str) -> str:
    """A time as a person of this machine reads it."""
    return f"{datetime.fromisoformat(iso).astimezone():%m-%d %H:%M}"
