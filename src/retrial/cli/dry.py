"""What a run would cost at most, before anything is paid."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from retrial.algorithms.acting import actor_calls
from retrial.algorithms.reflexion import Reflexion
from retrial.cli import exits
from retrial.cli.allotting import Allotment
from retrial.cli.render import money, plural, short
from retrial.cli.screen import Screen
from retrial.core.tasks import Task
from retrial.engine.run import Algorithm
from retrial.errors import ConfigError
from retrial.models.prices import upper_bound_usd
from retrial.models.resolve import client_for

__all__ = ["foretell"]

OUTPUT_TOKENS = 4000
"""The most that one call is assumed to write."""
EXTRA_INPUT_TOKENS = 2000
"""The most that lessons, an attempt and the tests' words are assumed to add to a task's prompt."""
CHARACTERS_A_TOKEN = 2
"""Few, so that the number of tokens is rather too high."""


def foretell(
    tasks: Sequence[Task],
    algorithms: Sequence[Algorithm],
    allotted: Allotment,
    options: Mapping[str, Any],
    gates: Sequence[Algorithm] = (),
) -> int:
    """Print the bounds of a run over ``tasks``, as the budget is allotted, and return the exit code.

    ``gates`` are the proofs of the evaluators that stand before the tasks, where that was asked for.
    """
    screen, share, learning = Screen(as_json=options["as_json"]), allotted.share, allotted.extractor_calls
    proving = [one.max_calls for one in gates] or [0] * len(tasks)
    wished = [one.max_calls + proof for one, proof in zip(algorithms, proving, strict=True)]
    bounds = [most if share.max_calls is None else min(most, share.max_calls) for most in wished]
    each, calls = max(bounds), sum(bounds) + learning
    acting = max(one.max_trials * actor_calls(one.actor) for one in algorithms if isinstance(one, Reflexion))
    cost = _cost(tasks, max(each - max(proving), 0), acting, max(proving), options)
    cost = _with_extractions(cost, allotted, options)
    limit = None if share.max_cost_usd is None else share.max_cost_usd * len(tasks)
    if limit is not None and allotted.learning is not None:
        limit += allotted.learning.max_cost_usd or 0.0
    trouble = _trouble(options)
    if screen.as_json:
        known: dict[str, Any] = {"tasks": len(tasks), "max_calls": calls, "max_cost_usd": cost, "budget_usd": limit}
        known |= {"extraction_calls": learning} if options["insights"] else {}
        known |= {"gate_calls": sum(proving)} if gates else {}
        screen.json({"dry_run": True, **known, "task_ids": [task.id for task in tasks], "problem": trouble})
        return exits.SOLVED
    for task, algorithm in list(zip(tasks, algorithms, strict=True))[:20]:
        screen.line((short(task.identified().id), "bold"), f"  {_judged_by(task, algorithm)}")
    if len(tasks) > 20:
        screen.line(f"and {plural(len(tasks) - 20, 'task')} more")
    screen.line(f"calls   at most {calls:,}: {plural(len(tasks), 'task')}, {each} each at most")
    for line in _beside(sum(proving), allotted, options):
        screen.line(f"        {line}")
    assumed = (
        f"if no call writes more than {OUTPUT_TOKENS:,} tokens or reads more than {EXTRA_INPUT_TOKENS:,} and its "
        f"task's prompt"
    )
    if not options["model"]:
        screen.line("cost    name a --model to see it")
    elif cost is None:
        screen.line("cost    no price known")
    else:
        screen.line(f"cost    at most {money(cost)}, {assumed}" if cost else "cost    $0")
    if limit is not None:
        screen.line(f"        and the budget ends it at {money(limit)}")
    if trouble:
        screen.line(("note    ", "yellow"), f"it would not start: {trouble}")
    screen.line("Nothing was asked and nothing was written; the level of isolation was not probed.")
    return exits.SOLVED


def _judged_by(task: Task, algorithm: Algorithm) -> str:
    """What judges a task: its tests and how long they may take, or another evaluator by its kind."""
    kind = algorithm.judge.spec()["kind"] if isinstance(algorithm, Reflexion) else "unit_tests"
    if kind != "unit_tests":
        return str(kind)
    return f"{plural(len(task.tests), 'test file' if task.style == 'check' else 'test')}, {task.timeout:g} s"


def _cost(tasks: Sequence[Task], calls: int, acting: int, proving: int, options: Mapping[str, Any]) -> float | None:
    """The most that ``calls`` for each task can cost, ``acting`` of them the actor's, after ``proving`` of a judge.

    None without a price.
    """
    actor = options["model"]
    if not actor:
        return None
    acting = min(calls, acting)
    total = 0.0
    reflector, judge = options["reflector_model"] or actor, options["judge_model"] or actor
    for model, count in ((actor, acting), (reflector, calls - acting), (judge, proving)):
        if not count:
            continue
        for task in tasks:
            read = len(task.prompt) // CHARACTERS_A_TOKEN + EXTRA_INPUT_TOKENS
            try:
                price = upper_bound_usd(model, read, OUTPUT_TOKENS, options["base_url"])
            except ConfigError:
                return None
            if price is None:
                return None
            total += price * count
    return total


def _beside(proving: int, allotted: Allotment, options: Mapping[str, Any]) -> list[str]:
    """What is asked besides the attempts and their lessons."""
    lines = [f"of them {proving:,} to prove the evaluators, before any attempt"] if options["gate"] else []
    if options["insights"]:
        limited = allotted.share.max_calls is not None
        more = "" if limited else ", and more if earlier runs left trials or extractions behind"
        lines.append(f"and {allotted.extractor_calls:,} in all to extract insights{more}")
    return lines


def _with_extractions(cost: float | None, allotted: Allotment, options: Mapping[str, Any]) -> float | None:
    """The most that the tasks and the extractions of their trials can cost; None without a price."""
    if cost is None or not allotted.extractor_calls:
        return cost
    read = allotted.extractor_reads // CHARACTERS_A_TOKEN + EXTRA_INPUT_TOKENS
    price = upper_bound_usd(options["model"], read, OUTPUT_TOKENS, options["base_url"])
    return None if price is None else cost + price * allotted.extractor_calls


def _trouble(options: Mapping[str, Any]) -> str:
    """Why the models could not be asked; empty if they could."""
    for model in (options["model"], options["reflector_model"]):
        if model:
            try:
                client_for(model, base_url=options["base_url"])
            except ConfigError as error:
                return str(error)
    return ""
