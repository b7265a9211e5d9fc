"""``retrial resume`` and ``retrial replay``: go on with a run, or go through a finished one again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from retrial.cli.options import as_json, budget_of, budget_options, jobs_option, store_option, verbose_option

if TYPE_CHECKING:
    from collections.abc import Mapping

    from retrial.cli.screen import Screen
    from retrial.core.budget import Budget
    from retrial.core.events import Event
    from retrial.core.tasks import Result

__all__ = ["replay", "resume"]


@click.command()
@click.argument("name", metavar="RUN")
@click.option("--model", help="Ask another model from now on.")
@budget_options
@jobs_option
@click.option("--adopt", is_flag=True, help="Go on although the algorithm changed: reuse what is still asked the same.")
@click.option("--restart", is_flag=True, help="Start the same task anew, under a new id.")
@store_option
@click.option("--record", metavar="FILE", help="Append every reply to FILE.")
@as_json
@verbose_option
def resume(name: str, **options: Any) -> int:
    """Go on with the unfinished runs of an invocation.

    What was answered before is not asked again.

    RUN is an id, the beginning of one, or `last`. Limits count what was used before.
    """
    from dataclasses import replace

    from retrial.cli.allotting import nothing_more
    from retrial.cli.reports import report
    from retrial.cli.screen import Screen
    from retrial.cli.work import Setup, carry_out, label_of

    budget = budget_of(options)
    screen = Screen(as_json=options["as_json"], store=options["store"])
    found = _look(screen, name, options["store"])
    chosen = _unfinished(found) or (found if options["restart"] else [])
    if not chosen:
        return _say_finished(screen, found, report)
    first = chosen[0][0].data
    setup = Setup.of_run(first, model=options["model"], store=options["store"], record=options["record"])
    if options["restart"]:
        told = setup.metadata(label_of(setup, screen))
        batch, jobs = _anew(chosen, budget, options["jobs"], told)
    else:
        batch, jobs = _common(found), _again(screen, chosen, budget, options["jobs"])
    setup = replace(setup, learning=nothing_more(jobs[0].budget))
    return carry_out(
        setup,
        jobs,
        screen,
        batch=batch,
        at_once=options["jobs"],
        verbose=options["verbose"],
        adopt=options["adopt"],
    )


@click.command()
@click.argument("name", metavar="RUN")
@store_option
@as_json
def replay(name: str, store: str | None, as_json: bool) -> int:
    """Verify a finished run, asking no model.

    The algorithm goes through the record again and must come to the same result.
    """
    from retrial.cli.finding import opened, task_id_of
    from retrial.cli.reports import report
    from retrial.cli.screen import Screen
    from retrial.cli.work import asynchronously
    from retrial.engine.engine import Engine
    from retrial.recipes import rebuild

    screen = Screen(as_json=as_json, store=store)
    found = _look(screen, name, store)

    async def again() -> dict[str, Result]:
        async with opened(store) as journal:
            engine = Engine(journal)
            return {
                events[0].run_id: await engine.replay(events[0].run_id, rebuild(events[0].data)) for events in found
            }

    ends = asynchronously(again())
    tasks = {events[0].run_id: task_id_of(events[0]) for events in found}
    code = report(screen, _common(found), tasks, ends, label=_label(found[0][0]))
    screen.remark(f"replayed without a model call: {len(ends)} of {len(ends)} came to the recorded result")
    return code


def _look(screen: Screen, name: str, store: str | None) -> list[list[Event]]:
    """The events of the runs that are meant, without those that cannot be told."""
    from retrial.cli import exits
    from retrial.cli.finding import find_some, opened
    from retrial.cli.sound import why_unreadable
    from retrial.cli.work import asynchronously

    async def look() -> list[list[Event]]:
        async with opened(store) as journal:
            return [await journal.events(run_id) for run_id in await find_some(journal, name)]

    every = asynchronously(look())
    odd = {events[0].run_id: why for events in every if (why := why_unreadable(events))}
    if len(odd) == len(every):
        raise exits.Stopped("; ".join(f"unreadable: run {one}: {why}" for one, why in odd.items()), exits.ENVIRONMENT)
    for run_id, why in odd.items():
        screen.remark(f"left out: run {run_id} is unreadable: {why}")
    return [events for events in every if events[0].run_id not in odd]


def _unfinished(found: list[list[Event]]) -> list[list[Event]]:
    """The runs that have something left to do."""
    from retrial.log.views import status_of

    return [events for events in found if (status := status_of(events)) is None or not status.final]


def _say_finished(screen: Screen, found: list[list[Event]], report: Any) -> int:
    """Print the results of runs that have nothing left to do."""
    from retrial.cli.finding import task_id_of
    from retrial.log.views import result_of

    screen.remark(f"{'the run is' if len(found) == 1 else 'the runs are'} finished; --restart starts anew")
    tasks = {events[0].run_id: task_id_of(events[0]) for events in found}
    ends = {events[0].run_id: result_of(events) for events in found}
    return report(screen, _common(found), tasks, ends, label=_label(found[0][0]))


def _again(screen: Screen, chosen: list[list[Event]], budget: Budget, at_once: int) -> list[Any]:
    """Jobs that go on with runs."""
    from retrial.cli.allotting import shares
    from retrial.cli.finding import task_id_of
    from retrial.cli.work import Job
    from retrial.engine.owner import refuse_if_busy
    from retrial.errors import RunBusy
    from retrial.log.views import in_doubt
    from retrial.recipes import rebuild

    share = shares(budget, len(chosen), at_once)
    jobs: list[Any] = []
    for events in chosen:
        start = events[0]
        try:
            refuse_if_busy(events)
        except RunBusy as error:
            if len(chosen) == 1:
                raise
            screen.remark(f"left out: {error}")
            continue
        for key in in_doubt(events):
            screen.remark(f"in doubt: {start.run_id} {key} had left when the last session ended; it is asked again")
        jobs.append(
            Job(
                run_id=start.run_id,
                task_id=task_id_of(start),
                algorithm=rebuild(start.data),
                budget=_merged(events, share),
            )
        )
    if not jobs:
        raise RunBusy("every unfinished run of it is being worked on by another process; wait until that is done")
    return jobs


def _anew(chosen: list[list[Event]], budget: Budget, at_once: int, told: Mapping[str, Any]) -> tuple[str, list[Any]]:
    """A new batch id, and jobs that start the tasks of runs again; ``told`` is what they record of their models."""
    from retrial.cli.allotting import shares
    from retrial.cli.finding import task_id_of
    from retrial.cli.run import run_ids
    from retrial.cli.work import Job
    from retrial.engine.engine import new_run_id
    from retrial.recipes import rebuild

    share, batch = shares(budget, len(chosen), at_once), new_run_id()
    return batch, [
        Job(
            run_id=run_id,
            task_id=task_id_of(events[0]),
            algorithm=rebuild(events[0].data),
            given=_without_deleted(events[0].data["input"]),
            budget=_merged(events, share),
            metadata={**events[0].data.get("metadata", {}), **told},
        )
        for run_id, events in zip(run_ids(batch, len(chosen)), chosen, strict=True)
    ]


def _without_deleted(given: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a run is given, without lessons that were deleted since.

    Raises:
        ConfigError: if the task itself held the words of one.
    """
    from retrial.errors import ConfigError
    from retrial.memory.redaction import mentions_deletion

    if mentions_deletion(given.get("task")):
        raise ConfigError("the task held the words of a lesson that was deleted; run it again from its file")
    if "reflections" not in given:
        return given
    return {**given, "reflections": [one for one in given["reflections"] if not mentions_deletion(one)]}


def _merged(events: list[Event], share: Budget) -> Budget:
    """The budget that the newest session was given, with the limits that are given now in their place."""
    from retrial.core.budget import Budget
    from retrial.core.codec import encode
    from retrial.log.views import budget_of

    return Budget(**{**encode(budget_of(events)), **encode(share)})


def _common(found: list[list[Event]]) -> str:
    """What the ids of runs that were started together have in common; the id of a single one."""
    from retrial.cli.finding import batch_of

    run_id = found[0][0].run_id
    return run_id if len(found) == 1 else batch_of(run_id)


def _label(start: Event) -> str:
    """What output calls the replies of a run."""
    return str(start.data.get("metadata", {}).get("label", ""))
