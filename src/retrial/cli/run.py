"""``retrial run``: solve tasks."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from retrial.cli import exits
from retrial.cli.options import (
    LEVELS,
    Amount,
    algorithm_of,
    algorithm_options,
    as_json,
    budget_of,
    budget_options,
    count,
    jobs_option,
    store_option,
    verbose_option,
)

if TYPE_CHECKING:
    from retrial.cli.allotting import Allotment
    from retrial.core.tasks import Task
    from retrial.engine.run import Algorithm

    Plan = tuple[Algorithm, Mapping[str, Any]]

__all__ = ["chosen_tasks", "run", "run_ids"]

MAKE_ONE = "`retrial new NAME` makes one"

_EXAMPLES = (
    "name a model with --model, or set RETRIAL_MODEL. OpenAI: --model openai:gpt-5-mini (and OPENAI_API_KEY). "
    "Ollama: --model ollama:qwen2.5-coder:7b. llama.cpp and other compatible servers: --model openai:NAME "
    "--base-url http://127.0.0.1:8080/v1."
)


@click.command()
@click.argument("tasks", nargs=-1, required=True, metavar="TASK...", type=click.Path(path_type=Path))
@click.option("--model", envvar="RETRIAL_MODEL", help="provider:name, or recorded:FILE.  [default: $RETRIAL_MODEL]")
@click.option("--reflector-model", help="Another model for writing lessons.")
@click.option("--judge-model", help="Another model for judging, where a task's evaluator is a model.")
@click.option("--base-url", metavar="URL", help="Where the models are served, if not at the provider's address.")
@algorithm_options
@click.option(
    "--trials",
    "--attempts",
    type=click.IntRange(1, 10),
    help="At most.  [default: 4, 3 with --patience, else 1 with --algorithm]",
)
@click.option(
    "--lessons",
    callback=count,
    metavar="N|all",
    help="How many of the newest are told.  [default: 3; all where a judge decides alone]",
)
@click.option(
    "--carry",
    type=click.Choice(["lessons", "checks", "both", "nothing"]),
    default="lessons",
    show_default=True,
    help="What a fresh trial is told: lessons, the failed checks, both, or nothing (a blind retry).",
)
@click.option(
    "--patience",
    type=click.IntRange(min=1),
    metavar="N",
    help="Stop after N trials without a higher score, asking for better lessons on the way (recipes.harness).",
)
@click.option(
    "--memory",
    type=click.Choice(["episodic", "persistent"]),
    help="Whether lessons live for this run, or are stored and begun with.  [default: stored]",
)
@budget_options
@click.option("--timeout", type=Amount(0, 3600, min_open=True), help="Seconds for all tests of one attempt.")
@jobs_option
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Only the first N tasks.")
@store_option
@click.option("--record", metavar="FILE", help="Append every reply to FILE, for --model recorded:FILE.")
@click.option("--from-stored", is_flag=True, help="Begin with the lessons that are stored for the task.")
@click.option(
    "--insights", is_flag=True, help="Learn across tasks: tell what other tasks taught, and keep every trial for that."
)
@click.option(
    "--insight-batch", type=click.IntRange(min=1), metavar="N", help="Extract after N new trials.  [default: 20]"
)
@click.option("--gate", is_flag=True, help="First make every evaluator prove itself (see `retrial check`).")
@click.option("--confirm", is_flag=True, help="Judge a passing attempt once more in a fresh process.")
@click.option("--sandbox", type=click.Choice(LEVELS), help="Isolate generated code at this level.")
@click.option("--require-isolation", type=click.Choice(LEVELS), help="Refuse any weaker level.")
@click.option("--dry-run", is_flag=True, help="Print the most calls and the most cost, and do nothing.")
@as_json
@verbose_option
def run(tasks: tuple[Path, ...], **options: Any) -> int:
    """Solve tasks by their tests, or by whatever else their files say judges them.

    Attempt, judge, write a lesson about a failure, and attempt afresh with the lessons.

    TASK is a .toml file (`retrial new NAME` writes one), a .jsonl file of HumanEval-shaped tasks, or a folder of both.
    """
    from retrial.assembly import algorithm_for
    from retrial.cli.allotting import allot
    from retrial.gating import gate_for

    budget = budget_of(options)
    chosen = chosen_tasks(tasks, options["timeout"], options["limit"])
    actor = algorithm_of(options)
    options["trials"] = options["trials"] or (3 if options["patience"] else 4 if actor is None else 1)
    recipe = {name: options[name] for name in ("trials", "carry", "from_stored", "confirm")} | {"actor": actor}
    recipe |= {name: options[name] for name in ("patience", "memory") if options[name] is not None}
    if options["lessons"] is not None:
        recipe["lessons"] = options["lessons"] or None
    model = options["model"] or "scripted"
    names = {"actor": model, "judge": options["judge_model"] or model}
    plans = [algorithm_for(task, recipe | _insights(options), names) for task in chosen]
    allotted = allot(budget, [one for one, _ in plans], options["jobs"])
    gates = [gate_for(task, names) for task in chosen] if options["gate"] else []
    if options["dry_run"]:
        from retrial.cli.dry import foretell

        return foretell(chosen, [one for one, _ in plans], allotted, options, [one for one, _ in gates])
    if not options["model"]:
        raise click.UsageError(_EXAMPLES)
    return _start(chosen, plans, allotted, tasks[0].name, options, gates=gates)


def _insights(options: Mapping[str, Any]) -> dict[str, Any]:
    """What the recipe is told of the insight bank; empty without it."""
    batch = options["insight_batch"]
    if options["insights"]:
        return {"insights": {"batch": batch} if batch else {}}
    if batch:
        raise click.UsageError("--insight-batch is for --insights; give both.")
    return {}


def _start(
    tasks: list[Task],
    plans: list[Plan],
    allotted: Allotment,
    task_file: str,
    options: dict[str, Any],
    *,
    gates: list[Plan],
) -> int:
    """Write the runs down and work on them, behind the gates if there are any.

    ``plans`` and ``gates`` hold an algorithm for each task, and what to record of it.
    """
    from retrial.cli.proving import pass_gates
    from retrial.cli.screen import Screen
    from retrial.cli.work import Job, Setup, carry_out, label_of
    from retrial.core.codec import encode
    from retrial.engine.engine import new_run_id

    screen = Screen(as_json=options["as_json"], store=options["store"])
    setup = Setup(
        actor=options["model"],
        reflector=options["reflector_model"],
        judge=options["judge_model"],
        base_url=options["base_url"],
        record=options["record"],
        store=options["store"],
        sandbox=options["sandbox"],
        require=options["require_isolation"],
        learning=allotted.learning,
    )
    common = {"task_file": task_file, **setup.metadata(label_of(setup, screen))}
    proofs = [(allotted.share, "")] * len(tasks)
    if gates:
        proofs = pass_gates(
            setup,
            screen,
            list(zip(run_ids(new_run_id(), len(tasks)), tasks, gates, strict=True)),
            share=allotted.share,
            metadata=common,
            at_once=options["jobs"],
        )
    batch = new_run_id()
    jobs = [
        Job(
            run_id=run_id,
            task_id=task.id,
            algorithm=algorithm,
            given={"task": encode(task.identified())},
            budget=left,
            metadata={**recipe, **common, **({"gate": proof} if proof else {})},
        )
        for run_id, task, (algorithm, recipe), (left, proof) in zip(
            run_ids(batch, len(tasks)), tasks, plans, proofs, strict=True
        )
    ]
    return carry_out(setup, jobs, screen, batch=batch, at_once=options["jobs"], verbose=options["verbose"])


def chosen_tasks(paths: tuple[Path, ...], timeout: float | None, limit: int | None) -> list[Task]:
    """Return the tasks that are meant: at most ``limit``, with ``timeout`` in place of their own if it is given.

    Raises:
        ConfigError: if a file cannot be read or is wrong; Stopped if there is no task.
    """
    from dataclasses import replace

    from retrial.taskfile import load_tasks

    files = [file for path in paths for file in _files(path)]
    tasks = load_tasks(files)[:limit]
    if not tasks:
        names = ", ".join(str(path) for path in paths)
        inside = next((child for path in paths for child in sorted(path.glob("*/*.toml"))), None)
        hint = f"folders in it are not looked into; name one, such as {inside.parent}" if inside else MAKE_ONE
        raise exits.Stopped(f"nothing to run: {names} holds no task; {hint}", exits.NOTHING)
    return tasks if timeout is None else [replace(task, timeout=timeout) for task in tasks]


def _files(path: Path) -> list[Path]:
    """The task files that a path means: itself, or those in it, without the recordings that --record left there."""
    if not path.is_dir():
        return [path]
    children = sorted(child for child in path.iterdir() if child.suffix in (".toml", ".jsonl"))
    recordings = [child for child in children if child.suffix == ".jsonl" and _is_recording(child)]
    for child in recordings:
        click.echo(f"note: {click.format_filename(child)} is a recording and no task; it is left out", err=True)
    return [child for child in children if child not in recordings]


def _is_recording(path: Path) -> bool:
    """Whether a file's first line is a recorded reply."""
    import json

    try:
        with path.open("rb") as file:
            first: Any = json.loads(file.readline())
    except (OSError, ValueError):
        return False
    return isinstance(first, dict) and "digest" in first and "request" in first


def run_ids(batch: str, count: int) -> list[str]:
    """The ids of a batch's runs, which sort in the order of its tasks.

    >>> run_ids("a", 1), run_ids("a", 10)[0]
    (['a'], 'a.01')
    """
    width = len(str(count))
    return [batch] if count == 1 else [f"{batch}.{number:0{width}d}" for number in range(1, count + 1)]
