"""Options that several commands share, and what they turn into."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from retrial.core.budget import Budget

__all__ = [
    "LEVELS",
    "Amount",
    "algorithm_of",
    "algorithm_options",
    "as_json",
    "bench_options",
    "budget_of",
    "budget_options",
    "count",
    "jobs_option",
    "store_option",
    "verbose_option",
]

F = TypeVar("F", bound=Callable[..., Any])

LEVELS = ("jailed", "confined", "limited")
"""Levels of isolation, strongest first."""


class Amount(click.FloatRange):
    """A number that can limit something, which neither infinity nor the number that is none can."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Read it."""
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value!r} limits nothing; give a number such as 30, or leave the option out.", param, ctx)
        return number


def _store(context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    """Read the name of a store; an empty one stands for none."""
    if value == ":memory:":
        raise click.BadParameter(f"{value!r} keeps nothing once the command ends; name a file.", context, parameter)
    return value or None


def count(context: click.Context, parameter: click.Parameter, value: str | None) -> int | None:
    """Read a number from 1, or ``all`` (which becomes 0, since None means that nothing was given)."""
    if value is None:
        return None
    if value == "all":
        return 0
    try:
        number = int(value)
    except ValueError:
        number = 0
    if number < 1:
        raise click.BadParameter(f"{value!r} is neither a number from 1 nor 'all'.", context, parameter)
    return number


store_option = click.option(
    "--store",
    metavar="FILE",
    callback=_store,
    help="Where runs and lessons are kept.  [default: $RETRIAL_STORE or .retrial/retrial.db]",
)
as_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON object on standard output.")
verbose_option = click.option("-v", "--verbose", is_flag=True, help="With several tasks, show every trial of each.")
jobs_option = click.option(
    "--jobs", type=click.IntRange(min=1), default=4, show_default=True, help="Tasks worked on at once."
)


def algorithm_options(function: F) -> F:
    """Add what says who acts in place of one model call."""
    function = click.option(
        "--set",
        "settings",
        multiple=True,
        metavar="NAME=VALUE",
        help="A parameter of the algorithm, such as agents=5; may be given several times.",
    )(function)
    return click.option(
        "--algorithm",
        metavar="NAME",
        help="Who makes an attempt instead of one call of the model: debate, tree, self_consistency, best_of, "
        "generator_critic, generate_test_repair, ucs or written_tests.",
    )(function)


def algorithm_of(options: dict[str, Any]) -> dict[str, Any] | None:
    """Take the algorithm's options out of ``options``, as a spec such as ``{"kind": "debate", "agents": 5}``.

    A value is read as JSON where it is JSON, and as a text where it is not.
    """
    kind: str | None = options.pop("algorithm")
    settings: tuple[str, ...] = options.pop("settings")
    spec: dict[str, Any] = {"kind": kind}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals or not name.strip() or name == "kind":
            raise click.BadParameter(
                f"{setting!r} sets nothing; write NAME=VALUE, such as agents=5.", param_hint="--set"
            )
        try:
            spec[name.strip()] = json.loads({"True": "true", "False": "false", "None": "null"}.get(value, value))
        except ValueError:
            spec[name.strip()] = value
    if kind is None and settings:
        raise click.UsageError(f"--set {settings[0]} is for an algorithm; name one with --algorithm.")
    return None if kind is None else spec


def bench_options(function: F) -> F:
    """Add what a command needs that judges without a store."""
    for option in (
        click.option("--require-isolation", type=click.Choice(LEVELS), help="Refuse any weaker level."),
        click.option("--sandbox", type=click.Choice(LEVELS), help="Isolate generated code at this level."),
        click.option("--record", metavar="FILE", help="Append every reply of the judge to FILE, for recorded:FILE."),
        click.option("--base-url", metavar="URL", help="Where the judge is served, if not at the provider's address."),
        click.option("--judge-model", metavar="MODEL", help="What judges where an evaluator is a model."),
    ):
        function = option(function)
    return function


def budget_options(function: F) -> F:
    """Add the four limits of a budget."""
    for name, kind, text in (
        ("seconds", Amount(min=0, min_open=True), "Seconds of the whole invocation; shared equally by the tasks."),
        ("usd", Amount(min=0), "US dollars, at most; may overshoot by a call a task."),
        ("tokens", click.IntRange(min=0), "Tokens read and written, at most; may overshoot by a call a task."),
        ("calls", click.IntRange(min=0), "Model calls of the whole invocation, at most; shared equally by the tasks."),
    ):
        function = click.option(f"--budget-{name}", type=kind, metavar="N", help=text)(function)
    return function


def budget_of(options: dict[str, Any]) -> Budget:
    """Take the budget's options out of ``options``."""
    from retrial.core.budget import Budget

    return Budget(
        max_calls=options.pop("budget_calls"),
        max_tokens=options.pop("budget_tokens"),
        max_cost_usd=options.pop("budget_usd"),
        max_seconds=options.pop("budget_seconds"),
    )
