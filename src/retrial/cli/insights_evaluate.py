"""``retrial insights evaluate``: whether the bank, and each insight in it, helps on tasks that one names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from retrial.cli import exits
from retrial.cli.options import LEVELS, as_json, jobs_option, store_option

if TYPE_CHECKING:
    from retrial.cli.screen import Screen
    from retrial.core.messages import ModelRequest, ModelResponse
    from retrial.core.tasks import Result, Task
    from retrial.engine.engine import Engine
    from retrial.engine.run import Algorithm
    from retrial.memory.insights import Insight
    from retrial.models import ModelClient

__all__ = ["evaluate"]

WITH, WITHOUT = "with the bank", "without the bank"

TOLD = 5
"""How many insights an actor is told; leaving out another changes nothing."""


@dataclass(frozen=True, slots=True)
class Plan:
    """One task in one arm."""

    arm: str
    task: Task
    run_id: str
    algorithm: Algorithm
    metadata: Mapping[str, Any]


class AtZero:
    """A client that answers at temperature 0, so that arms differ in what was told alone."""

    def __init__(self, client: ModelClient) -> None:
        self._client, self.name = client, client.name

    async def complete(self, request: ModelRequest, key: str) -> ModelResponse:
        """Ask the client."""
        return await self._client.complete(replace(request, temperature=0.0), key)

    async def aclose(self) -> None:
        """Let go of the client."""
        close = getattr(self._client, "aclose", None)
        if close is not None:
            await close()


@click.command()
@click.argument("tasks", nargs=-1, required=True, metavar="TASK...", type=click.Path(path_type=Path))
@click.option("--model", envvar="RETRIAL_MODEL", help="What acts: provider:name, or recorded:FILE.")
@click.option("--judge-model", help="Another model for judging, where a task's evaluator is a model.")
@click.option("--base-url", metavar="URL", help="Where the models are served, if not at the provider's address.")
@click.option("--each", is_flag=True, help="Also leave out, one by one, each insight that actors are told.")
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Only the first N tasks.")
@jobs_option
@store_option
@click.option("--sandbox", type=click.Choice(LEVELS), help="Isolate generated code at this level.")
@click.option("--require-isolation", type=click.Choice(LEVELS), help="Refuse any weaker level.")
@click.option("--dry-run", is_flag=True, help="Print the most calls, and do nothing.")
@as_json
def evaluate(tasks: tuple[Path, ...], **options: Any) -> int:
    """Try tasks with the bank and without it, and say what the difference is worth.

    Each task gets one trial in every arm, at temperature 0. Nothing of it is kept in the bank, and no example is a
    trial of the same task. Every trial is a run in the store, so the same command goes on where it was stopped. Take
    tasks that the bank has not learnt from.
    """
    from retrial.cli.banked import with_bank
    from retrial.cli.run import chosen_tasks
    from retrial.cli.screen import Screen
    from retrial.cli.work import asynchronously
    from retrial.memory.insights import best

    screen = Screen(as_json=options["as_json"], store=options["store"])
    chosen = [task.identified() for task in chosen_tasks(tasks, None, options["limit"])]
    known = best(with_bank(options["store"], lambda shelf, _: shelf.bank()), None)
    if not known:
        again = screen.command("run TASK --insights")
        raise exits.Stopped(f"nothing to evaluate: the bank holds no insight; `{again}` fills it", exits.NOTHING)
    arms: dict[str, dict[str, Any]] = {WITH: {}, WITHOUT: {"insights": 0, "examples": 0}}
    if options["each"]:
        arms |= {f"without insight {one.id}": {"without": one.id} for one in known[:TOLD]}
    plans = _plans(chosen, arms, known, options)
    if options["dry_run"]:
        calls = sum(plan.algorithm.max_calls for plan in plans)
        if screen.as_json:
            screen.json({"dry_run": True, "tasks": len(chosen), "arms": list(arms), "max_calls": calls})
        else:
            screen.line(f"calls   at most {calls:,}: {len(chosen)} tasks in {len(arms)} arms, one trial each")
        return exits.SOLVED
    if not options["model"]:
        raise click.UsageError("name a model with --model, or set RETRIAL_MODEL.")
    ends = asynchronously(_tried(plans, screen, options))
    _report(screen, {arm: [ends[plan.run_id] for plan in plans if plan.arm == arm] for arm in arms}, known)
    return exits.SOLVED


def _plans(
    tasks: Sequence[Task], arms: Mapping[str, Mapping[str, Any]], known: Sequence[Insight], options: Mapping[str, Any]
) -> list[Plan]:
    """Every task in every arm, under ids that the same bank, model and task get again."""
    from retrial.assembly import algorithm_for
    from retrial.core.keys import digest

    model = options["model"] or "scripted"
    names = {"actor": model, "judge": options["judge_model"] or model}
    bank = [[one.id, one.text, one.score] for one in known]
    found: list[Plan] = []
    for task in tasks:
        for arm, settings in arms.items():
            told = {"keeps": False, "others_only": True, **settings}
            algorithm, metadata = algorithm_for(task, {"trials": 1, "memory": "episodic", "insights": told}, names)
            run_id = f"evaluate-{digest([task, arm, bank, names])[:16]}"
            found.append(Plan(arm, task, run_id, algorithm, {**metadata, "models": names, "arm": arm}))
    return found


async def _tried(plans: Sequence[Plan], screen: Screen, options: Mapping[str, Any]) -> dict[str, Result]:
    """Work on every plan that has no end yet, and return the ends by run."""
    import asyncio

    from retrial.assembly import assemble, store_path
    from retrial.cli.bar import Bar
    from retrial.models.resolve import client_for

    judge = options["judge_model"]
    engine = assemble(
        AtZero(client_for(options["model"], base_url=options["base_url"])),
        models={"judge": judge} if judge else {},
        store=store_path(options["store"]),
        base_url=options["base_url"],
        sandbox=options["sandbox"],
        require_isolation=options["require_isolation"],
    )
    ends: dict[str, Result] = {}
    gate = asyncio.Semaphore(options["jobs"])
    async with engine:
        with Bar(screen, len(plans)) as bar:

            async def one(plan: Plan) -> None:
                async with gate:
                    ends[plan.run_id] = await _tried_once(engine, plan)
                    bar.advance(1, plan.arm)

            async with asyncio.TaskGroup() as group:
                for plan in plans:
                    group.create_task(one(plan))
    lost = next((end for end in ends.values() if not end.status.final), None)
    if lost is not None:
        raise exits.Stopped(f"a trial did not end ({lost.error}); the same command goes on", exits.ENVIRONMENT)
    return ends


async def _tried_once(engine: Engine, plan: Plan) -> Result:
    """Begin a trial, go on with it, or read it."""
    from retrial.core.codec import encode
    from retrial.errors import RunNotFound

    try:
        await engine.journal.events(plan.run_id)
    except RunNotFound:
        given = {"task": encode(plan.task)}
        return await engine.run(plan.algorithm, given, run_id=plan.run_id, metadata=plan.metadata)
    return await engine.resume(plan.run_id, plan.algorithm)


def _report(screen: Screen, ends: Mapping[str, Sequence[Result]], known: Sequence[Insight]) -> None:
    """Print each arm's pass rate, and by how much the whole bank does better than it."""
    from dataclasses import asdict

    from retrial.cli.render import new_table
    from retrial.stats.intervals import paired_difference, wilson

    texts = {f"without insight {one.id}": one.text for one in known}
    passed = {arm: [float(end.passed) for end in of_arm] for arm, of_arm in ends.items()}
    rows: list[dict[str, Any]] = []
    columns = ("arm", "passed", "95 %", "the bank adds", "p", "calls", "insight")
    table = new_table(columns, ("passed", "p", "calls"), ("insight",))
    for arm, of_arm in ends.items():
        rate = wilson(int(sum(passed[arm])), len(of_arm))
        calls = sum(end.usage.calls for end in of_arm)
        row: dict[str, Any] = {"arm": arm, "passed": int(sum(passed[arm])), "tried": len(of_arm), "calls": calls}
        cells = ["", ""]
        if arm != WITH:
            difference = paired_difference(list(zip(passed[arm], passed[WITH], strict=True)))
            span = difference.interval
            row |= {"difference": asdict(span), "p_value": difference.p_value}
            cells = [f"{span.estimate:+.2f} [{span.low:+.2f}, {span.high:+.2f}]", f"{difference.p_value:.2f}"]
        rows.append(row)
        shown = (f"{row['passed']} of {row['tried']}", f"{rate.low:.2f} to {rate.high:.2f}", *cells, str(calls))
        table.add_row(arm, *shown, screen.text(texts.get(arm, "")))
    if screen.as_json:
        screen.json({"arms": rows})
        return
    screen.show(table)
    screen.remark("an interval that holds 0 is no evidence either way; more tasks make it narrower")
