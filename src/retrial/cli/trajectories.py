"""``retrial trajectories``: the trials that the insight bank keeps, to see, delete and exchange."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from retrial.cli import exits
from retrial.cli.options import as_json, store_option
from retrial.cli.trajectories_exchange import export, import_

if TYPE_CHECKING:
    from retrial.memory.insights import Bank
    from retrial.store.insights import InsightShelf
    from retrial.store.trajectories import TrajectoryShelf
    from retrial.store.trajectory_rows import Kept

__all__ = ["trajectories"]


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def trajectories() -> None:
    """See, delete and exchange the trials from which insights are made.

    `retrial run --insights` keeps them. A trajectory is meant by its id or the beginning of one.
    """


@trajectories.command("list")
@click.option("--outcome", type=click.Choice(["passed", "failed"]), help="Only those.")
@click.option("--task", "task_id", metavar="ID", help="Only those of this task.")
@click.option("--limit", type=click.IntRange(min=1), default=20, show_default=True, help="At most so many.")
@store_option
@as_json
def list_(outcome: str | None, task_id: str | None, limit: int, store: str | None, as_json: bool) -> None:
    """List the trials, newest first."""
    from retrial.cli.banked import with_bank
    from retrial.cli.render import new_table, short
    from retrial.cli.screen import Screen

    screen = Screen(as_json=as_json, store=store)
    every = with_bank(store, lambda _, trials: trials.kept())
    found = [
        one
        for one in reversed(every)
        if outcome in (None, one.trajectory.outcome) and task_id in (None, one.trajectory.task_id)
    ][:limit]
    if as_json:
        screen.json({"trajectories": [_record(one) for one in found]})
        return
    if not found:
        again = screen.command("run TASK --insights")
        screen.remark("there are no such trajectories" if every else f"there are no trajectories; `{again}` keeps some")
        return
    table = new_table(("id", "task", "outcome", "score", "trial", "run", "date"), ("score", "trial"))
    for kept in found:
        one = kept.trajectory
        table.add_row(
            screen.text((one.id, "cyan")),
            screen.text(short(one.task_id)),
            screen.text(one.outcome, (", tainted" if kept.tainted else "", "yellow")),
            f"{one.score:.2f}",
            str(one.trial),
            screen.text(one.run_id),
            screen.text(one.created_at[:10]),
        )
    screen.show(table)


@trajectories.command()
@click.argument("name", metavar="TRAJECTORY")
@store_option
@as_json
def show(name: str, store: str | None, as_json: bool) -> None:
    """Show a trial: the task, what was done, what was said of it, and which insights came from it."""
    from retrial.cli.screen import Screen

    screen = Screen(as_json=as_json, store=store)
    bank, (kept,) = _look((name,), store, screen.command("trajectories list"))
    one = kept.trajectory
    if as_json:
        screen.json({**_record(kept), "insights_from_it": _derived(bank, one.id)})
        return
    state = f"{', tainted' if kept.tainted else ''}{', waits for an extraction' if kept.waiting else ''}"
    screen.line((one.id, "cyan"), f"  {one.outcome}, score {one.score:.2f}{state}")
    screen.verbatim(f"\n{one.task}\n")
    for number, step in enumerate(one.steps, 1):
        label = "answer" if number == len(one.steps) else f"step {number}"
        screen.line((label, "dim"))
        screen.verbatim(f"{step.rstrip()}\n")
    for label, words in (
        ("why", one.reason),
        ("from", f"trial {one.trial} of run {one.run_id or '(unknown)'}, {one.created_at}"),
        ("lessons", "; ".join(one.lessons)),
        ("told", ", ".join(f"insight {number}" for number in one.insights)),
        ("shown", ", ".join(f"trajectory {example}" for example in one.examples)),
        ("taught", ", ".join(f"insight {number}" for number in _derived(bank, one.id))),
    ):
        if words:
            screen.line((f"{label:<9}", "dim"), words)


@trajectories.command()
@click.argument("names", metavar="TRAJECTORY...", nargs=-1, required=True)
@click.option("--taint", is_flag=True, help="Remove what came from them as well (see `retrial insights taint`).")
@click.option("--yes", is_flag=True, help="Do not ask.")
@store_option
@as_json
def delete(names: tuple[str, ...], taint: bool, yes: bool, store: str | None, as_json: bool) -> int:
    """Delete trials from the bank and from its index. Their runs stay, and so do insights without --taint."""
    from retrial.cli.render import plural, short
    from retrial.cli.screen import Screen
    from retrial.memory.insights import Operation

    screen = Screen(as_json=as_json, store=store)
    bank, found = _look(names, store, screen.command("trajectories list"))
    ids = [kept.trajectory.id for kept in found]
    derived = sorted({number for one in ids for number in _derived(bank, one)})
    for kept in found:
        one = kept.trajectory
        screen.remark(f"{one.id}: {one.outcome}, task {short(one.task_id)}")
    if derived:
        how = "goes as well" if taint else "stays; --taint, or `retrial insights taint` afterwards, takes it back"
        screen.remark(f"what they taught {how}: insight {', '.join(str(number) for number in derived)}")
    if not yes:
        count = f"{len(ids)} trajector{'y' if len(ids) == 1 else 'ies'}"
        click.confirm(f"Delete {count}?", abort=True, err=True)

    async def work(shelf: InsightShelf, trials: TrajectoryShelf) -> None:
        for kept in found if taint else ():
            if not kept.tainted:
                await shelf.record(Operation(kind="TAINT", text=kept.trajectory.id))
        await trials.delete(ids)

    _with(store, work)
    if as_json:
        screen.json({"deleted": ids, "insights_from_them": derived, "tainted": taint})
    else:
        screen.line(f"deleted {', '.join(ids)}")
    runs = dict.fromkeys(kept.trajectory.run_id for kept in found if kept.trajectory.run_id)
    if runs:
        screen.remark(f"the journal still holds {plural(len(runs), 'run')} of them: {', '.join(runs)}")
    return exits.SOLVED


def _with(store: str | None, work: Any) -> Any:
    """Do something with the bank of the store."""
    from retrial.cli.banked import with_bank

    return with_bank(store, work)


def _look(names: tuple[str, ...], store: str | None, listing: str) -> tuple[Bank, list[Kept]]:
    """The bank, and the trajectories that are meant, each once."""
    from retrial.cli.finding import one_of

    async def look(shelf: InsightShelf, trials: TrajectoryShelf) -> tuple[Bank, list[Kept]]:
        return await shelf.bank(), await trials.kept()

    bank, every = _with(store, look)
    by_id = {kept.trajectory.id: kept for kept in every}
    meant = dict.fromkeys(one_of(by_id, name, "trajectory", listing) for name in names)
    return bank, [by_id[name] for name in meant]


def _derived(bank: Bank, name: str) -> list[int]:
    """The insights that a trajectory stands behind."""
    return [one.id for one in bank.insights if name in one.trajectory_ids]


def _record(kept: Kept) -> dict[str, Any]:
    """A trajectory as JSON values, every field present."""
    from dataclasses import asdict

    return {**asdict(kept.trajectory), "tainted": kept.tainted, "waiting": kept.waiting}


for _command in (delete, export, import_):
    trajectories.add_command(_command)
