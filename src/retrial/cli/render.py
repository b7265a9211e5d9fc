"""Trials, verdicts, lessons and results as lines for a person."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from rich import box
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from retrial.cli.screen import Screen
from retrial.core.budget import Usage
from retrial.core.tasks import Attempt, Lesson, Result, Verdict

__all__ = [
    "closing",
    "diff_text",
    "header",
    "lesson_lines",
    "money",
    "new_table",
    "plural",
    "short",
    "status_text",
    "trial_lines",
    "usage_words",
    "value_of",
    "verdict_words",
]

MAX_LINES = 5
"""How many lines of a failed verdict are shown while a run goes on."""

_WORDS = {
    "COMPLETED": ("solved", "green"),
    "NO_SOLUTION": ("not solved", "red"),
    "BUDGET_EXCEEDED": ("budget ended it", "yellow"),
    "FAILED": ("failed", "yellow"),
    "CANCELLED": ("interrupted", "yellow"),
}
_DIFF = {"+": "green", "-": "red", "@": "cyan"}


def header(screen: Screen, task_id: str, label: str, level: str) -> None:
    """Print what is worked on, by whom, and how far generated code is kept from the machine."""
    where = (level, "green") if level == "jailed" else (f"not jailed: {level}", "yellow")
    screen.line((short(task_id), "bold"), " · ", label, *((" · ", where) if level else ()))


def trial_lines(screen: Screen, attempt: Attempt) -> None:
    """Print a trial and what was wrong with it."""
    verdict = attempt.verdict
    words, *details = verdict_words(verdict).splitlines()
    mark = screen.sign(verdict.passed)
    flaky = screen.text(("  flaky: the same attempt got another verdict", "yellow")) if verdict.flaky else Text()
    _row(screen, f"trial {attempt.trial}", Text.assemble(mark, " ", screen.text(words), flaky))
    for line in details[:MAX_LINES]:
        _row(screen, "", screen.text((line, "dim")), indent=2)
    if len(details) > MAX_LINES:
        _row(screen, "", screen.text((f"and {plural(len(details) - MAX_LINES, 'more line')}", "dim")), indent=2)


def verdict_words(verdict: Verdict) -> str:
    """Return what a verdict says, its first line short."""
    if not verdict.passed:
        return verdict.reason or "not accepted"
    if not verdict.checks:
        return "accepted"
    return f"{verdict.passed_count} of {verdict.valid_count} checks passed"


def lesson_lines(screen: Screen, lesson: Lesson, *, again: bool = False) -> None:
    """Print a lesson, with what is unusual about it; ``again``: the reflector was asked twice for it."""
    marks = list(lesson.faults)
    if again or lesson.refused:
        why = f" ({', '.join(lesson.refused)})" if lesson.refused else ""
        marks.insert(0, f"asked again, since the first reply could not be used{why}")
    if lesson.origin == "fallback":
        marks.insert(0, "no usable lesson was written, so this is the evaluator's output")
    text = screen.text((lesson.text, "cyan"))
    if marks:
        text.append(screen.shown(f"  ({', '.join(marks)})"), "yellow")
    _row(screen, "lesson", text)


def closing(screen: Screen, result: Result, *, answer: bool = True) -> None:
    """Print how a run ended, what it used, and the answer."""
    count = len(result.attempts)
    words, style = _WORDS[result.status]
    parts: list[str | tuple[str, str]] = [(words, f"bold {style}")]
    if count:
        parts += [f" {'at trial' if result.passed else 'after'} {count if result.passed else plural(count, 'trial')}"]
    screen.line(*parts, f" · {usage_words(result.usage)} · {result.run_id}")
    if result.error:
        screen.line(("why      ", "dim"), result.error)
    for key in result.in_doubt:
        screen.line(("in doubt ", "yellow"), f"{key} had left when an earlier session ended, and was asked again")
    value = value_of(result)
    if "hidden" in value:
        hidden = value["hidden"]
        screen.line(("hidden   ", "dim"), f"{'passed' if hidden['passed'] else 'failed'}, score {hidden['score']:.2f}")
    if answer and result.output:
        if not result.passed:
            screen.line((f"the best attempt, of trial {value.get('trial')}:", "dim"))
        screen.verbatim(f"\n{result.output.rstrip()}\n")


def diff_text(screen: Screen, lines: Iterable[str]) -> Text:
    """Return the lines of a diff, set in by two, what goes in red and what comes in green."""
    text = Text()
    for line in lines:
        text.append(f"  {screen.shown(line)}\n", _DIFF.get(line[:1], "dim"))
    text.rstrip()
    return text


def value_of(result: Result) -> Mapping[str, Any]:
    """Return what a run came to by name; nothing by name where it came to something else."""
    value: Any = result.value
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


def status_text(screen: Screen, status: str) -> Text:
    """Return a run's status in words."""
    words, style = _WORDS.get(status, (status, "yellow"))
    return screen.text((words, style))


def usage_words(usage: Usage) -> str:
    """Return calls, tokens, cost and seconds in a line.

    >>> usage_words(Usage(calls=1, input_tokens=1200, seconds=2.0))
    '1 call · 1,200 tokens · $0 · 2.0 s'
    """
    return f"{plural(usage.calls, 'call')} · {usage.tokens:,} tokens · {money(usage.cost_usd)} · {usage.seconds:.1f} s"


def money(cost: float | None) -> str:
    """Return a cost in words.

    >>> money(None), money(0.0), money(0.00123), money(12.5)
    ('no price known', '$0', '$0.0012', '$12.50')
    """
    if cost is None:
        return "no price known"
    if not cost:
        return "$0"
    return f"${cost:.2f}" if cost >= 1 else f"${cost:.4f}"


def plural(count: int, noun: str) -> str:
    """Return a count with its noun.

    >>> plural(1, "trial"), plural(2, "trial")
    ('1 trial', '2 trials')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def short(task_id: str) -> str:
    r"""Return a task's id in a line, or the beginning of one that is a digest or a whole prompt.

    >>> short("two\nsum"), short("0f" * 32)
    ('two sum', '0f0f0f0f0f0f')
    """
    if re.fullmatch(r"[0-9a-f]{64}", task_id):
        return task_id[:12]
    line = " ".join(task_id.split())
    return line if len(line) <= 40 else f"{line[:39]}…"


def new_table(columns: Sequence[str], numbers: Iterable[str] = (), wrapped: Iterable[str] = ("task", "why")) -> Table:
    """Return an empty table; the columns in ``numbers`` are set to the right, only those in ``wrapped`` are broken."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold", show_edge=False, collapse_padding=True)
    right, broken = {*numbers}, {*wrapped}
    for name in columns:
        table.add_column(
            name, justify="right" if name in right else "left", no_wrap=name not in broken, overflow="fold"
        )
    return table


def _row(screen: Screen, label: str, text: Text, indent: int = 0) -> None:
    """Print a text beside its label, wrapped within its own column, which is set in by ``indent`` more."""
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(width=8, no_wrap=True)
    grid.add_column(overflow="fold")
    grid.add_row(screen.text((label, "bold" if label else "")), Padding(text, (0, 0, 0, indent)))
    screen.show(grid)
