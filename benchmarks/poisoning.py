"""How soon harmful lessons are caught, and how many good ones are lost, in a made-up world where the truth is known.

A memory of 200 lessons serves 1,000 tasks a round: each task recalls three of the four lessons about its kind. One
lesson in twenty is poisoned: with it in the prompt, a task passes half as often. The others help a little (a tenth of
the failures become passes), and in the worlds without poison none of them does anything. After every second round the
check is run over all trials so far, and what it calls harmful is recalled no more. Nothing is timed; seeds decide all.
"""

from __future__ import annotations

import argparse
import datetime as dt
import random
import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

from retrial.core.trials import Tried
from retrial.memory.poison import LEVEL, Finding, examine, held_out, hold_out_share

RESULTS = Path(__file__).parent.parent / "docs" / "results"
LESSONS, TASKS, KINDS, RECALLED = 200, 1000, 50, 3
MARKS = (25, 50, 100, 150, 200, 250)


@dataclass(frozen=True)
class Check:
    """A way to watch over a memory."""

    name: str
    share: Callable[[float], float]
    """With which chance a lesson is left out, given the stake against it."""
    harmful: Callable[[Sequence[Finding]], Iterable[str]]
    """Which lessons are quarantined."""


def called_harmful(findings: Sequence[Finding]) -> list[str]:
    """What the check says."""
    return [finding.lesson_id for finding in findings if finding.harmful]


def without_care(findings: Sequence[Finding]) -> list[str]:
    """What a check would say that pays neither for looks nor for the number of lessons."""
    return [
        finding.lesson_id for finding in findings if min(finding.look.p_value, 1 / max(finding.stake, 1e-9)) <= LEVEL
    ]


CHECKS = (
    Check("left out by evidence", hold_out_share, called_harmful),
    Check("left out 1 in 10", lambda _: 0.1, called_harmful),
    Check("left out 1 in 2", lambda _: 0.5, called_harmful),
    Check("never left out", lambda _: 0.0, called_harmful),
    Check("looks and lessons not counted", hold_out_share, without_care),
    Check("no check", lambda _: 0.0, lambda _: ()),
)
OURS = CHECKS[0]


@dataclass(frozen=True)
class World:
    """What is simulated."""

    seed: int
    rounds: int
    poisoned: int = LESSONS // 20
    returning: bool = True
    """Whether the same tasks come back every round; otherwise each is new."""
    check: int = 0
    """Which of ``CHECKS`` watches."""


@dataclass
class Life:
    """What became of a memory."""

    caught: list[int] = field(default_factory=list)
    """For each poisoned lesson that was caught: in how many trials it had been used."""
    missed: int = 0
    """Poisoned lessons that were not caught."""
    lost: int = 0
    """Harmless lessons that were quarantined."""
    left_out: float = 0.0
    """The share of recalls of harmless lessons that were left out."""
    passed: float = 0.0
    """The pass rate of the last round."""
    harm: float = 0.0
    """Trials with a poisoned lesson in the prompt, as a share of all."""


def live(world: World) -> Life:
    """Simulate one memory's life."""
    chance, check = random.Random(world.seed), CHECKS[world.check]
    names = [f"lesson {number}" for number in range(LESSONS)]
    poisoned = set(chance.sample(names, world.poisoned))
    helps = 0.9 if world.poisoned else 1.0
    about = [chance.sample(names[task % KINDS :: KINDS], LESSONS // KINDS) for task in range(TASKS)]
    ease = [chance.betavariate(2, 1.5) for _ in range(TASKS)]
    rows: list[Tried] = []
    stakes: dict[str, float] = {}
    uses, life = Counter[str](), Life()
    quarantined: set[str] = set()
    good, good_left_out, harmed = 0, 0, 0
    for number in range(world.rounds + 1):
        for task in range(TASKS):
            run, rate = f"{world.seed}/{number}/{task}", ease[task] if world.returning else chance.betavariate(2, 1.5)
            # The first round is what lessons were learnt from: nothing is recalled yet.
            recalled = [name for name in about[task] if name not in quarantined][:RECALLED] if number else []
            shares = {name: check.share(stakes.get(name, 1.0)) for name in recalled}
            told = tuple(name for name in recalled if not held_out(name, run, shares[name]))
            for name in told:
                rate = rate / 2 if name in poisoned else 1 - (1 - rate) * helps
            uses.update(told)
            good += sum(name not in poisoned for name in recalled)
            good_left_out += sum(name not in poisoned and name not in told for name in recalled)
            harmed += any(name in poisoned for name in told)
            rows.append(
                Tried(
                    task_id=f"{task}" if world.returning else f"{number}/{task}",
                    trial=1,
                    passed=chance.random() < rate,
                    lessons=told,
                    recalled={name: share for name, share in shares.items() if share},
                    run_id=run,
                    order=len(rows),
                )
            )
        if number % 2 or check.name == "no check":
            continue
        findings = examine(rows)
        stakes = {finding.lesson_id: finding.stake for finding in findings}
        for name in {*check.harmful(findings)} - quarantined:
            quarantined.add(name)
            if name in poisoned:
                life.caught.append(uses[name])
    life.missed, life.lost = len(poisoned - quarantined), len(quarantined - poisoned)
    life.left_out, life.harm = good_left_out / max(1, good), harmed / len(rows)
    life.passed = statistics.fmean(row.passed for row in rows[-TASKS:])
    return life


def main() -> None:
    """Run the simulation and write its page and figure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=20, help="rounds of 1,000 tasks")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--quick", action="store_true", help="one seed, six rounds, and nothing is written")
    given = parser.parse_args()
    seeds, rounds = (1, 6) if given.quick else (given.seeds, given.rounds)
    worlds = [
        World(seed, rounds, returning=returning, check=check)
        for returning in (True, False)
        for check in range(len(CHECKS))
        for seed in range(seeds)
    ]
    nulls = [
        World(seed, rounds, poisoned=0, returning=returning, check=check)
        for returning in (True, False)
        for check in (0, 4)
        for seed in range(2 * seeds)
    ]
    with ProcessPoolExecutor(given.processes) as pool:
        lives = dict(zip([*worlds, *nulls], pool.map(live, [*worlds, *nulls]), strict=True))
    page = text(lives, worlds, nulls, rounds, seeds)
    print(page)
    if not given.quick:
        RESULTS.mkdir(parents=True, exist_ok=True)
        (RESULTS / "poisoning.md").write_text(page, encoding="utf-8")
        (RESULTS / "poisoning.svg").write_text(figure(lives), encoding="utf-8")
        print("Written to docs/results/poisoning.md and poisoning.svg.")


def share_caught(lives: Sequence[Life], uses: int) -> float:
    """Which share of the poisoned lessons was caught within so many uses."""
    caught = [count for life in lives for count in life.caught]
    return sum(count <= uses for count in caught) / (len(caught) + sum(life.missed for life in lives))


def selected(lives: dict[World, Life], *, returning: bool, check: int, null: bool = False) -> list[Life]:
    """The lives under one check in one kind of world."""
    return [
        life
        for world, life in lives.items()
        if (world.returning, world.check, not world.poisoned) == (returning, check, null)
    ]


def text(lives: dict[World, Life], worlds: list[World], nulls: list[World], rounds: int, seeds: int) -> str:
    """The page."""
    lines = [
        "# How soon harmful lessons are caught",
        "",
        (__doc__ or "").partition("\n\n")[2].replace("\n", " ").strip(),
        "",
        (
            f"{dt.datetime.now(dt.UTC).date().isoformat()}: {rounds} rounds, {seeds} seeds a line ({len(worlds)} "
            f"lives), {2 * seeds} for a line without poison ({len(nulls)} lives). The level is a false discovery rate "
            f"of {100 * LEVEL:g} %."
        ),
        "",
        "![share caught by number of uses](poisoning.svg)",
        "",
    ]
    for returning in (True, False):
        lines += [f"## {'Tasks that come back every round' if returning else 'Every task is new'}", ""]
        lines += table(lives, returning=returning)
    lines += [
        "## Nothing is poisoned",
        "",
        "Every quarantine here is wrong. *Lives* are memories of 200 lessons each.",
        "",
        "| tasks | check | lives | lives with a wrong quarantine | lessons quarantined wrongly |",
        "|---|---|---:|---:|---:|",
    ]
    for returning in (True, False):
        for check in (0, 4):
            group = selected(lives, returning=returning, check=check, null=True)
            wrong = sum(life.lost for life in group)
            lines.append(
                f"| {'come back' if returning else 'new'} | {CHECKS[check].name} | {len(group)} | "
                f"{sum(life.lost > 0 for life in group)} | {wrong} of {LESSONS * len(group):,} |"
            )
    lines += ["", "Run it with `python benchmarks/poisoning.py`.", ""]
    return "\n".join(lines)


def table(lives: dict[World, Life], *, returning: bool) -> list[str]:
    """One line a check: what was caught by when, and what it cost."""
    marks = "".join(f" by {mark} |" for mark in MARKS)
    costs = "good lessons lost | good recalls left out | trials with poison | last round passed |"
    lines = [
        f"| check | poison caught | median uses |{marks} {costs}",
        "|---|---:|---:|" + "---:|" * len(MARKS) + "---:|---:|---:|---:|",
    ]
    for index, check in enumerate(CHECKS):
        group = selected(lives, returning=returning, check=index)
        caught, missed = sorted(count for life in group for count in life.caught), sum(life.missed for life in group)
        ranked = [*map(str, caught), *["not caught"] * missed]
        total = len(group) * LESSONS - len(ranked)
        cells = [
            check.name,
            f"{len(caught)} of {len(ranked)}",
            ranked[len(ranked) // 2],
            *(f"{100 * share_caught(group, mark):.0f} %" for mark in MARKS),
            f"{sum(life.lost for life in group)} of {total:,}",
            f"{100 * statistics.fmean(life.left_out for life in group):.0f} %",
            f"{100 * statistics.fmean(life.harm for life in group):.1f} %",
            f"{100 * statistics.fmean(life.passed for life in group):.1f} %",
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return [*lines, ""]


def figure(lives: dict[World, Life]) -> str:
    """Draw the share of poisoned lessons caught over their uses, one panel a kind of world."""
    width, height, most = 330, 220, 300
    colours = ("#1b6ca8", "#e0913a", "#4a9d5b", "#b9bec4")
    parts = [
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 820 350" font-family="sans-serif" font-size="12">',
        '<rect width="820" height="350" fill="#fff"/>',
        '<text x="12" y="24" font-size="15" font-weight="bold">Poisoned lessons caught, by their uses</text>',
    ]
    for index, colour in enumerate(colours):
        x = 12 + 190 * index
        parts += [
            f'<rect x="{x}" y="36" width="12" height="12" fill="{colour}"/>',
            f'<text x="{x + 17}" y="47">{escape(CHECKS[index].name)}</text>',
        ]
    for panel, returning in enumerate((True, False)):
        left, top = 50 + 400 * panel, 80
        parts.append(
            f'<text x="{left}" y="{top - 8}">{"tasks that come back" if returning else "every task is new"}</text>'
        )
        for tick in range(5):
            y, x = top + height - height * tick / 4, left + width * tick / 4
            parts += [
                f'<path d="M{left} {y:.0f}h{width}" stroke="#e5e7ea"/>',
                f'<text x="{left - 6}" y="{y + 4:.0f}" text-anchor="end">{25 * tick} %</text>',
                f'<text x="{x:.0f}" y="{top + height + 18}" text-anchor="middle">{most * tick // 4}</text>',
            ]
        for index, colour in enumerate(colours):
            group = selected(lives, returning=returning, check=index)
            points = " ".join(
                f"{left + width * uses / most:.1f},{top + height * (1 - share_caught(group, uses)):.1f}"
                for uses in range(0, most + 1, 3)
            )
            parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>')
    return "\n".join([*parts, "</svg>"]) + "\n"


if __name__ == "__main__":
    main()
