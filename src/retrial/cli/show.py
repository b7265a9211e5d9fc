"""``retrial show``: one run, trial by trial."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from retrial.cli.options import as_json, store_option

if TYPE_CHECKING:
    from retrial.core.events import Event

__all__ = ["show"]


@click.command()
@click.argument("name", metavar="RUN")
@click.option("--full", is_flag=True, help="Print every attempt whole, not what changed in it.")
@click.option("--timeline", is_flag=True, help="Print when each effect ran and how long.")
@click.option("--transcript", is_flag=True, help="Print every prompt and reply.")
@store_option
@as_json
def show(name: str, *, full: bool, timeline: bool, transcript: bool, store: str | None, as_json: bool) -> int:
    """Show a run trial by trial: attempts, verdicts, lessons.

    RUN is an id, the beginning of one, or `last`.
    """
    from retrial.cli import exits, story
    from retrial.cli.finding import find_some, opened
    from retrial.cli.screen import Screen
    from retrial.cli.sound import why_unreadable
    from retrial.cli.work import asynchronously

    async def look() -> list[list[Event]]:
        async with opened(store) as journal:
            return [await journal.events(run_id) for run_id in await find_some(journal, name)]

    screen = Screen(as_json=as_json, store=store)
    every = asynchronously(look())
    odd = {events[0].run_id: why for events in every if (why := why_unreadable(events))}
    found = [events for events in every if events[0].run_id not in odd]
    for run_id, why in odd.items():
        screen.remark(f"unreadable: run {run_id}: {why}")
    if as_json:
        records: list[dict[str, Any]] = [
            {"run_id": run_id, "standing": "unreadable", "reason": why} for run_id, why in odd.items()
        ]
        records += [story.as_values(events, timeline=timeline, transcript=transcript) for events in found]
        screen.json(records[0] if len(records) == 1 else {"runs": records})
    elif not found:
        pass
    elif len(found) > 1:
        story.of_batch(screen, found)
    elif timeline:
        story.of_time(screen, found[0])
    elif transcript:
        story.of_words(screen, found[0])
    else:
        story.of_trials(screen, found[0], full=full)
    return exits.ENVIRONMENT if odd else exits.SOLVED
