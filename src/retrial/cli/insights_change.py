"""``retrial insights edit``, ``delete``, ``undo`` and ``taint``: a person decides, and every decision can be undone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from retrial.cli import exits
from retrial.cli.options import as_json, store_option

if TYPE_CHECKING:
    from retrial.cli.screen import Screen
    from retrial.memory.insights import Operation
    from retrial.store.insights import InsightShelf
    from retrial.store.trajectories import TrajectoryShelf

__all__ = ["delete", "edit", "taint", "undo"]

_yes = click.option("--yes", is_flag=True, help="Do not ask.")


@click.command()
@click.argument("insight_id", metavar="ID", type=int)
@click.option("--text", help="The new words; without it, $EDITOR opens.")
@store_option
@as_json
def edit(insight_id: int, text: str | None, store: str | None, as_json: bool) -> int:
    """Change the words of an insight, which counts as support."""
    from retrial.cli.banked import with_bank
    from retrial.cli.screen import Screen
    from retrial.memory.insights import Operation

    screen = Screen(as_json=as_json, store=store)
    bank = with_bank(store, lambda shelf, _: shelf.bank())
    before = bank[insight_id].text if insight_id in bank else None
    if text is None and before is not None:
        text = click.edit(before)
    words = (before or "") if text is None else text.strip()
    if words == before:
        return _unchanged(screen)
    return _do(screen, store, Operation(kind="EDIT", target=insight_id, text=words), yes=True)


@click.command()
@click.argument("insight_id", metavar="ID", type=int)
@_yes
@store_option
@as_json
def delete(insight_id: int, yes: bool, store: str | None, as_json: bool) -> int:
    """Take an insight out of the bank. What it said stays in the bank's journal, so it can be undone."""
    from retrial.cli.screen import Screen
    from retrial.memory.insights import Operation

    screen = Screen(as_json=as_json, store=store)
    return _do(screen, store, Operation(kind="DELETE", target=insight_id), yes=yes)


@click.command()
@click.argument("number", metavar="[OPERATION]", type=int, required=False)
@_yes
@store_option
@as_json
def undo(number: int | None, yes: bool, store: str | None, as_json: bool) -> int:
    """Make the bank as if an operation had not been: the last one that counts, or the one of that number.

    What came after it stays. Undoing an undo brings the operation back. `retrial insights show ID` has the numbers.
    """
    from retrial.cli.banked import with_bank
    from retrial.cli.screen import Screen
    from retrial.core.codec import decode
    from retrial.memory.changing import undoable
    from retrial.memory.insights import Operation

    screen = Screen(as_json=as_json, store=store)
    if number is None:
        entries = with_bank(store, lambda shelf, _: shelf.journal())
        number = undoable([decode(Operation, entry["operation"]) for entry in entries])
        if not number:
            raise exits.Stopped("nothing to undo: no operation on the bank counts", exits.NOTHING)
    return _do(screen, store, Operation(kind="UNDO", target=number), yes=yes)


@click.command()
@click.argument("name", metavar="TRAJECTORY")
@click.option("--dry-run", is_flag=True, help="Say what would be removed, and change nothing.")
@_yes
@store_option
@as_json
def taint(name: str, dry_run: bool, yes: bool, store: str | None, as_json: bool) -> int:
    """Remove everything that came from a trial, and neither show nor compare it any more.

    Whatever an extraction did after it was shown the trial does not count any more, so other insights may come back.
    TRAJECTORY is an id or the beginning of one; a deleted trial can be tainted as well.
    """
    from retrial.cli.banked import with_bank
    from retrial.cli.finding import one_of
    from retrial.cli.screen import Screen
    from retrial.memory.insights import Operation

    async def known(shelf: InsightShelf, trials: TrajectoryShelf) -> set[str]:
        used = [one for entry in await shelf.journal() for one in entry["operation"].get("trajectory_ids", ())]
        return {one.trajectory.id for one in await trials.kept()} | {*used}

    screen = Screen(as_json=as_json, store=store)
    found = one_of(with_bank(store, known), name, "trajectory", screen.command("trajectories list"))
    return _do(screen, store, Operation(kind="TAINT", text=found), yes=yes, dry_run=dry_run)


def _do(screen: Screen, store: str | None, operation: Operation, *, yes: bool, dry_run: bool = False) -> int:
    """Say what an operation does, ask unless ``yes``, record it, and say what came of it."""
    from retrial.cli.banked import changes, say_changes, with_bank
    from retrial.cli.render import plural

    outlook = with_bank(store, lambda shelf, _: shelf.outlook(operation))
    found = changes(outlook)
    if dry_run or not yes:
        if not screen.as_json or not dry_run:
            say_changes(screen, found, only_if=True)
        if not found and not screen.as_json:
            screen.remark("no insight would change")
        if dry_run:
            if screen.as_json:
                screen.json({"dry_run": True, "operation": _brief(outlook["operation"]), "changes": found})
            return exits.SOLVED
        click.confirm(f"{_question(operation)} ({plural(len(found), 'insight')} concerned)", abort=True, err=True)

    async def record(shelf: InsightShelf, _: TrajectoryShelf) -> Any:
        number = (await shelf.record(operation)).number
        return next(entry for entry in reversed(await shelf.journal()) if entry["operation"]["number"] == number)

    entry = with_bank(store, record)
    done, number = changes(entry), entry["operation"]["number"]
    if screen.as_json:
        screen.json({"operation": _brief(entry["operation"]), "changes": done})
        return exits.SOLVED
    say_changes(screen, done)
    if not done:
        screen.line("no insight changed")
    screen.remark(f"operation {number}; take it back: {screen.command(f'insights undo {number}')}")
    return exits.SOLVED


def _question(operation: Operation) -> str:
    """What to ask before an operation."""
    return {
        "DELETE": f"Take insight {operation.target} out of the bank?",
        "UNDO": f"Undo operation {operation.target}?",
        "TAINT": f"Remove everything that came from trajectory {operation.text}?",
    }[operation.kind]


def _brief(operation: dict[str, Any]) -> dict[str, Any]:
    """An operation as JSON values, every field present that tells what was done."""
    return {
        name: operation.get(name, empty) for name, empty in (("number", 0), ("kind", ""), ("target", 0), ("text", ""))
    }


def _unchanged(screen: Screen) -> int:
    """Say that nothing was done."""
    if screen.as_json:
        screen.json({"operation": None, "changes": []})
    screen.remark("nothing was changed")
    return exits.SOLVED
