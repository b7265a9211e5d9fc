"""Which recalled lessons do harm, beyond chance at a stated level, however often one looks.

Two kinds of evidence, each of its own worth half the error:

* *Like with like* (``comparing``): trials of the same task at the same trial number with the same other lessons, with
  and without this one. Exact and one-sided: fewer passed with it. Taken when the lesson was used in 4, 5, 7, 9, 12, …
  runs, fixed before anything is seen, and paid for at every such look.
* *By chance* (``wager``): where tasks do not come back there is nothing like to compare with, and where other lessons
  stand beside it, little. So a memory that recalls leaves a lesson out now and then, by a coin (``held_out``, with the
  chance ``hold_out_share`` says), and what is left out is compared with what was used. Valid at any time, whatever else
  is in the prompt. The place that was left empty must stay empty.

What is controlled: each lesson's p value holds over its whole life and all looks. Over lessons the rule of Benjamini
and Hochberg picks: at each check, the expected share of harmless ones among the lessons called harmful is at most
``level``. A lesson that is released starts anew with the trials after its release.

What it assumes: by chance, nothing. Like with like, that runs of one task are alike in all but lessons, also those from
before the lesson was learnt; what changes, such as the model, goes into ``Tried.setting``.

One ``Tried`` for each trial goes in, in any order; one ``Finding`` for each lesson comes out, by id. Where the rows
come from, and what happens to a lesson, is not known here. Whoever keeps trials must keep for each recalled lesson,
used or left out, the chance with which it was to be left out; a lesson that came into a prompt otherwise has none.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from retrial.core.trials import Tried
from retrial.errors import ConfigError
from retrial.memory.comparing import Look, Record, best_look, in_time, records_of
from retrial.memory.wager import Wager, wagers_on
from retrial.stats.exact import Table
from retrial.stats.many import FIRST_LOOK, benjamini_hochberg

__all__ = ["LEVEL", "Finding", "examine", "held_out", "hold_out_share"]

LEVEL = 0.05
"""The false discovery rate that is controlled unless another is asked for."""

CLEARED_BELOW = 0.5
"""A lesson is cleared, until further notice, when a stake against it has shrunk below this."""

SHARE_IN_DOUBT = 0.5
"""How often a lesson is left out that is not cleared yet: half and half tells most."""

SHARE_CLEARED = 0.1
"""How often a lesson is left out that is cleared, so that it can be found out later."""

RUNS_SHOWN = 10
"""How many runs stand in a finding."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What is known about one lesson."""

    lesson_id: str
    """The lesson."""
    uses: int
    """Trials with it in the prompt, since its release if it was released."""
    wins: int
    """Those of them that passed."""
    look: Look
    """Like with like: what was compared at the look that tells most."""
    chance: Table
    """By chance: runs that used it and runs from which it was left out."""
    stake: float
    """What became of a stake of 1 against it by now: above 1 speaks for harm, below 1 against."""
    effect: float
    """By how much the pass rate is higher with it, by the evidence that tells more: -1 to 1, negative for harm."""
    p_value: float
    """How likely such evidence ever comes up, of either kind and at any look, if the lesson makes no difference."""
    q_value: float
    """The same after counting all lessons; at most the level for a harmful one."""
    harmful: bool
    """Whether it is to be quarantined."""
    evidence: str
    """The same in words, for a person."""
    runs: tuple[str, ...]
    """Runs in which a trial with it failed, the newest first."""


def held_out(lesson_id: str, run_id: str, share: float) -> bool:
    """Return whether a recalled lesson is left out of this run: a coin whose side the two names decide.

    A lesson that is held out is left out of every trial of the run, and nothing takes its place.

    >>> sum(held_out("a lesson", f"run {number}", 0.1) for number in range(10_000))
    1021
    >>> held_out("a lesson", "run 1", 0.0), held_out("a lesson", "run 1", 1.0)
    (False, True)

    Raises:
        ConfigError: if the share is outside 0 to 1.
    """
    if not 0 <= share <= 1:
        raise ConfigError(f"share={share!r} must be between 0 and 1, such as {SHARE_CLEARED}")
    said = hashlib.sha256(f"{lesson_id}\0{run_id}".encode()).digest()
    return int.from_bytes(said[:8]) < share * 2**64


def hold_out_share(stake: float = 1.0) -> float:
    """Return with which chance to leave a lesson out, given the stake against it; a new lesson's is 1.

    Half of the recalls while it is in doubt, which also halves the harm of a bad one; few once it is cleared.

    >>> hold_out_share(), hold_out_share(0.2), hold_out_share(7.0)
    (0.5, 0.1, 0.5)
    """
    return SHARE_CLEARED if stake < CLEARED_BELOW else SHARE_IN_DOUBT


def examine(
    rows: Iterable[Tried], *, level: float = LEVEL, released: Mapping[str, float] | None = None
) -> tuple[Finding, ...]:
    """Return what is known about every lesson that was recalled, and which of them do harm.

    ``released`` holds, for each lesson that a person released, the ``order`` of its release: only later rows count.

    >>> bad = [Tried(task_id=f"{n}", trial=1, passed=False, lessons=("x",), run_id=f"{n}b") for n in range(15)]
    >>> bare = [Tried(task_id=f"{n}", trial=1, passed=True, lessons=(), run_id=f"{n}a") for n in range(15)]
    >>> (finding,) = examine(bad + bare)
    >>> finding.harmful, finding.effect, finding.look.p_value == 0.5**15
    (True, -1.0, True)

    Raises:
        ConfigError: if the level is outside 0 to 1.
    """
    if not 0 < level < 1:
        raise ConfigError(f"level={level!r} must be between 0 and 1, such as {LEVEL}")
    ordered, released = in_time(rows), released or {}
    records, wagers = records_of(ordered, released), wagers_on(ordered, released)
    known = {
        lesson: (records.get(lesson) or Record(), wagers.get(lesson) or Wager())
        for lesson in sorted({*records, *wagers})
    }
    looks = [best_look(record) for record, _ in known.values()]
    p_values = [
        min(1.0, 2 * min(look.paid, wager.p_value)) for look, (_, wager) in zip(looks, known.values(), strict=True)
    ]
    # Every lesson that was looked at counts, also where nothing could be compared.
    family = sum(max(record.runs, wager.used + wager.withheld) >= FIRST_LOOK for record, wager in known.values())
    q_values = benjamini_hochberg(p_values, family)
    return tuple(
        Finding(
            lesson_id=lesson,
            uses=record.uses,
            wins=record.wins,
            look=look,
            chance=wager.table,
            stake=wager.stake,
            effect=_effect(_decisive(look, wager)),
            p_value=p_value,
            q_value=q_value,
            harmful=q_value <= level,
            evidence=_words(record, look, wager, f"p = {p_value:.2g}, {q_value:.2g} among {family} lessons"),
            runs=tuple(dict.fromkeys(reversed(record.lost)))[:RUNS_SHOWN],
        )
        for (lesson, (record, wager)), look, p_value, q_value in zip(
            known.items(), looks, p_values, q_values, strict=True
        )
    )


def _decisive(look: Look, wager: Wager) -> list[Table]:
    """The tables of the evidence that tells more."""
    return [wager.table] if wager.p_value <= look.paid and wager.table.compares else [one.table for one in look.strata]


def _effect(tables: list[Table]) -> float:
    """The common difference over strata; 0 where nothing was compared."""
    tables = [table for table in tables if table.compares]
    weight = sum(table.weight for table in tables)
    return sum(table.weight * table.difference for table in tables) / weight if weight else 0.0


def _words(record: Record, look: Look, wager: Wager, conclusion: str) -> str:
    """The evidence for a person: what was counted, against what, and what it comes to."""
    said = [f"{record.wins} of {record.uses} trials with it passed."]
    for title, tables in (
        ("Like with like", [stratum.table for stratum in look.strata]),
        ("Left to chance", [wager.table] if wager.table.compares else []),
    ):
        if tables:
            with_it = f"{sum(table.passed_with for table in tables)} of {sum(table.tried_with for table in tables)}"
            others = f"{sum(one.passed_without for one in tables)} of {sum(one.tried_without for one in tables)}"
            change = f"{100 * _effect(tables):+.0f} points"
            said.append(f"{title}, {with_it} passed with it and {others} without it: {change}.")
    if len(said) == 1:
        return f"{said[0]} Nothing to compare with: no trial had everything but this lesson."
    return f"{' '.join(said)} {conclusion}."
