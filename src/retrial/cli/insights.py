"""``retrial insights``: what many tasks taught, where each insight came from, and what was done to it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from retrial.cli.insights_change import delete, edit, taint, undo
from retrial.cli.insights_evaluate import evaluate
from retrial.cli.options import as_json, store_option

if TYPE_CHECKING:
    from retrial.cli.screen import Screen
    from retrial.memory.insights import Bank
    from retrial.store.insights import InsightShelf
    from retrial.store.trajectories import TrajectoryShelf

__all__ = ["age", "insights"]


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def insights() -> None:
    """See, trace, change and undo what tasks taught for others.

    `retrial run --insights` fills the bank. An insight is meant by its number.
    """


@insights.command("list")
@store_option
@as_json
def list_(store: str | None, as_json: bool) -> None:
    """List the insights as actors are told them, the highest score first."""
    from dataclasses import asdict

    from retrial.cli.banked import with_bank
    from retrial.cli.render import new_table
    from retrial.cli.screen import Screen
    from retrial.memory.insights import best

    async def look(shelf: InsightShelf, trials: TrajectoryShelf) -> tuple[Bank, int]:
        return await shelf.bank(), sum(one.waiting for one in await trials.kept())

    screen = Screen(as_json=as_json, store=store)
    bank, waiting = with_bank(store, look)
    found = best(bank, None)
    if as_json:
        screen.json({"insights": [asdict(one) for one in found], "trajectories_waiting": waiting})
        return
    if not found:
        screen.remark(_nothing(screen, waiting))
        return
    table = new_table(("id", "score", "support", "age", "insight"), ("id", "score", "support", "age"), ("insight",))
    now = datetime.now(UTC)
    for one in found:
        numbers = str(one.score), str(len(one.trajectory_ids)), age(one.created_at, now)
        table.add_row(screen.text((str(one.id), "cyan")), *numbers, screen.text(one.text))
    screen.show(table)


@insights.command()
@click.argument("insight_id", metavar="ID", type=int)
@store_option
@as_json
def show(insight_id: int, store: str | None, as_json: bool) -> None:
    """Show an insight: its score, dates and sources, and every operation on it, before and after.

    One that is gone is shown as well, with what took it away.
    """
    from retrial.cli.screen import Screen

    screen = Screen(as_json=as_json, store=store)
    found = _record(insight_id, store)
    if as_json:
        screen.json(found)
        return
    gone = "" if found["in_bank"] else ", not in the bank any more"
    screen.line((str(found["id"]), "cyan"), f"  score {found['score']}{gone}")
    screen.verbatim(f"\n{found['text']}\n")
    for label, words in (
        ("made", found["created_at"]),
        ("changed", found["updated_at"]),
        ("from", ", ".join(found["trajectory_ids"]) or "a person"),
    ):
        if words:
            screen.line((f"{label:<9}", "dim"), words)
    for one in found["operations"]:
        who = f"extraction {one['run_id']}" if one["run_id"] else "a person"
        void = "" if one["counts"] else ", does not count any more"
        screen.line((f"{one['number']:>4} {one['kind']:<9}", "yellow"), f"{one['at']} by {who}{void}")
        for label, brief in (("before", one["before"]), ("after", one["after"])):
            screen.line(
                (f"     {label:<9}", "dim"), f"{brief['text']} (score {brief['score']})" if brief else "not there"
            )
    screen.remark(f"the trials behind it: {screen.command(f'insights trace {insight_id}')}")


@insights.command()
@click.argument("insight_id", metavar="ID", type=int)
@store_option
@as_json
def trace(insight_id: int, store: str | None, as_json: bool) -> None:
    """Show the trials that an insight came from: task, outcome and run."""
    from retrial.cli.banked import with_bank
    from retrial.cli.render import new_table, short
    from retrial.cli.screen import Screen

    screen = Screen(as_json=as_json, store=store)
    found = _record(insight_id, store)
    kept = {one.trajectory.id: one for one in with_bank(store, lambda _, trials: trials.kept())}
    rows = [_source(name, kept.get(name)) for name in found["trajectory_ids"]]
    if as_json:
        screen.json({"id": insight_id, "text": found["text"], "trajectories": rows})
        return
    screen.line((str(insight_id), "cyan"), f"  {found['text']}")
    if not rows:
        screen.remark("no trial stands behind it: a person added it")
        return
    table = new_table(("trajectory", "task", "outcome", "trial", "run"), ("trial",))
    for row in rows:
        outcome = f"{row['outcome']}{', tainted' if row['tainted'] else ''}" if row["kept"] else "(deleted)"
        cells = screen.text(short(row["task_id"])), screen.text(outcome), str(row["trial"] or ""), row["run_id"]
        table.add_row(screen.text((row["id"], "cyan")), *cells[:3], screen.text(cells[3]))
    screen.show(table)
    screen.remark(f"remove what came from one of them: {screen.command('insights taint TRAJECTORY')}")


def age(since: str, now: datetime) -> str:
    """Return how long ago an ISO 8601 time was, roughly; empty where there is none.

    >>> age("2027-01-31T10:00:00+00:00", datetime(2027, 2, 2, 12, tzinfo=UTC)), age("", datetime.now(UTC))
    ('2 d', '')
    """
    if not since:
        return ""
    seconds = max(0, int((now - datetime.fromisoformat(since)).total_seconds()))
    size, unit = next((pair for pair in ((86400, "d"), (3600, "h"), (60, "min")) if seconds >= pair[0]), (1, "s"))
    return f"{seconds // size} {unit}"


def _nothing(screen: Screen, waiting: int) -> str:
    """What to do where there are no insights."""
    from retrial.cli.render import plural

    again = screen.command("run TASK --insights")
    there = f"; {plural(waiting, 'trial')} {'waits' if waiting == 1 else 'wait'} for an extraction" if waiting else ""
    return f"there are no insights{there}; `{again}` keeps trials and extracts after every 20 (--insight-batch N)"


def _record(insight_id: int, store: str | None) -> dict[str, Any]:
    """Everything about an insight as JSON values, also about one that is gone."""
    from retrial.cli.banked import with_bank
    from retrial.core.codec import decode
    from retrial.errors import ConfigError
    from retrial.memory.insights import Operation, void

    async def look(shelf: InsightShelf, _: TrajectoryShelf) -> tuple[Bank, list[Any]]:
        return await shelf.bank(), await shelf.journal()

    bank, journal = with_bank(store, look)
    operations = [decode(Operation, entry["operation"]) for entry in journal]
    left_out, name = void(operations), str(insight_id)
    steps = [
        (one, entry["before"].get(name), entry["after"].get(name))
        for one, entry in zip(operations, journal, strict=True)
        if name in entry["before"] or name in entry["after"]
    ]
    if not steps:
        raise ConfigError(f"there is no insight {insight_id}; `retrial insights list` names those there are")
    here = next((one for one in bank.insights if one.id == insight_id), None)
    last = [before or after for _, before, after in steps][-1]
    sources = dict.fromkeys(one for operation, _, _ in steps for one in operation.trajectory_ids)
    return {
        "id": insight_id,
        "in_bank": here is not None,
        "text": here.text if here else last["text"],
        "score": here.score if here else 0,
        "created_at": here.created_at if here else steps[0][0].at,
        "updated_at": here.updated_at if here else steps[-1][0].at,
        "trajectory_ids": list(here.trajectory_ids if here else sources),
        "operations": [
            {
                "number": one.number,
                "kind": one.kind,
                "at": one.at,
                "run_id": one.run_id,
                "counts": one.number not in left_out,
                "trajectory_ids": list(one.trajectory_ids),
                "before": before,
                "after": after,
            }
            for one, before, after in steps
        ],
    }


def _source(name: str, kept: Any) -> dict[str, Any]:
    """A trial behind an insight as JSON values; one that was deleted has its id alone."""
    if kept is None:
        empty = {"task_id": "", "outcome": "", "score": None, "trial": None, "run_id": "", "tainted": False}
        return {"id": name, "kept": False, **empty}
    one = kept.trajectory
    values = {field: getattr(one, field) for field in ("task_id", "outcome", "score", "trial", "run_id")}
    return {"id": name, "kept": True, **values, "tainted": kept.tainted}


for _command in (edit, delete, undo, taint, evaluate):
    insights.add_command(_command)
