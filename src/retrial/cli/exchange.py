"""``retrial export`` and ``retrial import``: runs as lines of JSON."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from retrial.cli import exits
from retrial.cli.options import as_json, store_option

if TYPE_CHECKING:
    from retrial.core.events import Event
    from retrial.store.sqlite import SqliteStore

__all__ = ["export", "import_"]


@click.command()
@click.argument("names", metavar="RUN...", nargs=-1)
@click.option("--all", "everything", is_flag=True, help="Every run in the store.")
@click.option("-o", "--output", metavar="FILE", type=click.Path(path_type=Path), help="A file; else standard output.")
@store_option
def export(names: tuple[str, ...], everything: bool, output: Path | None, store: str | None) -> None:
    """Write runs as JSON, one event a line. They hold prompts, replies and tests, and no keys."""
    from retrial.cli.finding import find_some, opened
    from retrial.cli.work import asynchronously
    from retrial.core.events import event_to_json
    from retrial.errors import ConfigError
    from retrial.log.jsonl import write_events

    if bool(names) == everything:
        raise click.UsageError("name the runs to write, or say --all.")

    async def look() -> list[Event]:
        async with opened(store) as journal:
            chosen = [run_id for name in names for run_id in await find_some(journal, name)]
            if everything:
                chosen = sorted(head.first.run_id for head in await journal.heads())
            return [event for run_id in dict.fromkeys(chosen) for event in await journal.events(run_id)]

    events = asynchronously(look())
    if output is None:
        for event in events:
            sys.stdout.write(event_to_json(event) + "\n")
        return
    try:
        write_events(output, events)
    except ConfigError as error:
        raise exits.Stopped(f"error: {error}", exits.ENVIRONMENT) from error
    count = len({event.run_id for event in events})
    click.echo(f"wrote {count} run{'' if count == 1 else 's'} ({len(events)} events) to {output}", err=True)


@click.command("import")
@click.argument("file", type=click.Path(path_type=Path))
@store_option
@as_json
def import_(file: Path, store: str | None, as_json: bool) -> int:
    """Read runs that `retrial export` wrote. What is there already is never changed."""
    from retrial.assembly import store_path
    from retrial.cli.screen import Screen
    from retrial.cli.work import asynchronously
    from retrial.errors import ConfigError, CorruptJournal
    from retrial.log.jsonl import read_events
    from retrial.store.sqlite import SqliteStore

    try:
        lines = read_events(file)
    except CorruptJournal as error:
        raise ConfigError(str(error)) from error
    by_run: dict[str, list[tuple[int, Event]]] = {}
    for number, event in zip(_numbers(file), lines.events, strict=False):
        by_run.setdefault(event.run_id, []).append((number, event))

    async def take() -> list[tuple[str, str, str]]:
        journal = SqliteStore(store_path(store))
        try:
            return [await _take(journal, run_id, numbered) for run_id, numbered in by_run.items()]
        finally:
            await journal.close()

    screen = Screen(as_json=as_json, store=store)
    ends = asynchronously(take()) if by_run else []
    if as_json:
        runs = [{"run_id": run_id, "outcome": outcome, "detail": detail} for run_id, outcome, detail in ends]
        screen.json({"runs": runs, "torn": bool(lines.torn)})
    else:
        for run_id, outcome, detail in ends:
            screen.line((run_id, "cyan"), f"  {outcome}{': ' if detail else ''}{detail}")
    if lines.torn:
        screen.remark(f"note: the last line of {file} was cut off and is left out")
    if not ends:
        raise exits.Stopped(f"nothing to import: {file} holds no whole event", exits.NOTHING)
    return (
        exits.USAGE if any(outcome in ("conflicting", "busy", "unreadable") for _, outcome, _ in ends) else exits.SOLVED
    )


async def _take(journal: SqliteStore, run_id: str, numbered: list[tuple[int, Event]]) -> tuple[str, str, str]:
    """Bring one run into the store; return its id, what was done, and why."""
    from retrial.cli.sound import first_fault
    from retrial.engine.owner import refuse_if_busy
    from retrial.errors import RunBusy, RunNotFound

    events = [event for _, event in numbered]
    fault = first_fault(events)
    if fault is not None:
        return run_id, "unreadable", f"line {numbered[fault[0]][0]}: {fault[1]}; left out"
    try:
        stored = await journal.events(run_id)
    except RunNotFound:
        await journal.append(events, last=True)
        return run_id, "added", f"{len(events)} events"
    for (number, event), there in zip(numbered, stored, strict=False):
        if event != there:
            return run_id, "conflicting", f"line {number} differs from event {event.seq} in the store; left out"
    if len(events) <= len(stored):
        return run_id, "skipped", "it is in the store already"
    try:
        refuse_if_busy(stored)
    except RunBusy as error:
        return run_id, "busy", str(error)
    await journal.append(events[len(stored) :], last=True)
    return run_id, "continued", f"{len(events) - len(stored)} events more"


def _numbers(file: Path) -> list[int]:
    """The numbers of the lines that are not empty, from 1."""
    return [number for number, line in enumerate(file.read_bytes().split(b"\n"), 1) if line.strip()]
