"""Lessons that do harm are found, and those that do none are left alone."""

from __future__ import annotations

import doctest
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrial.core.trials import Tried
from retrial.errors import ConfigError
from retrial.memory import poison
from retrial.memory.poison import examine, held_out, hold_out_share
from retrial.stats.exact import Table

NAMES = ("a", "b", "c")


@st.composite
def histories(draw):
    """A few runs over a few tasks, with lessons used, left out by chance, or not recalled."""
    rows = []
    for number in range(draw(st.integers(0, 15))):
        recalled = draw(st.lists(st.sampled_from(NAMES), unique=True))
        lessons = tuple(lesson for lesson in recalled if draw(st.booleans()))
        rows.append(
            Tried(
                task_id=draw(st.sampled_from("tu")),
                trial=draw(st.integers(1, 2)),
                passed=draw(st.booleans()),
                lessons=lessons,
                recalled=dict.fromkeys(recalled, 0.3) if draw(st.booleans()) else {},
                run_id=f"run {number}",
                order=draw(st.integers(0, 9)),
            )
        )
    return rows


def world(lessons, *, tasks=40, rounds=6, seed=0, share=0.3, beside=()):
    """Rounds over the same tasks, each lesson recalled in every run: ``lessons`` says what becomes of the pass rate."""
    chance, rows = random.Random(seed), []
    for number in range(rounds * tasks):
        run = f"run {number} of {seed}"
        left_out = {lesson for lesson in lessons if held_out(lesson, run, share)}
        rate = 0.7
        for lesson, factor in lessons.items():
            rate *= 1 if lesson in left_out else factor
        rows.append(
            Tried(
                task_id=f"task {number % tasks}",
                trial=1,
                passed=chance.random() < rate,
                lessons=tuple(lesson for lesson in (*lessons, *beside) if lesson not in left_out),
                recalled=dict.fromkeys(lessons, share),
                run_id=run,
                order=number,
            )
        )
    return rows


def found(rows, **options):
    """The ids of the lessons called harmful."""
    return {finding.lesson_id for finding in examine(rows, **options) if finding.harmful}


def pairs(count, *, with_it=False, without=True, start=0):
    """Tasks that were tried once without and once with the lesson ``x``."""
    rows = []
    for number in range(start, start + count):
        same = {"task_id": f"{number}", "trial": 1}
        rows.append(Tried(**same, passed=without, lessons=(), run_id=f"{number} without", order=2 * number))
        rows.append(Tried(**same, passed=with_it, lessons=("x",), run_id=f"{number} with", order=2 * number + 1))
    return rows


def test_the_examples_in_the_docstrings_hold():
    """The docstrings of the check show what it does."""
    failed, tried = doctest.testmod(poison)
    assert tried
    assert not failed


@settings(max_examples=30)
@given(histories(), st.randoms())
def test_the_order_in_which_rows_are_given_does_not_matter(rows, chance):
    """Time is what a row says, not where it stands."""
    mixed = chance.sample(rows, len(rows))
    assert examine(rows) == examine(mixed)


@given(histories())
def test_a_lesson_that_always_wins_is_never_called_harmful(rows):
    """Whatever became of other trials, one whose trials all passed is left alone, at any level."""
    assert not [f for f in examine(rows, level=0.99) if f.harmful and f.uses and f.wins == f.uses]


def test_luck_with_the_coins_is_no_evidence():
    """A lesson that was left out of 40 runs and used in 2, all of which passed, is left alone."""
    rows = [
        Tried(task_id=f"{n}", trial=1, passed=True, lessons=("x",) * (n < 2), recalled={"x": 0.5}, run_id=f"{n}")
        for n in range(42)
    ]
    (finding,) = examine(rows, level=0.99)
    assert finding.stake > 1000
    assert not finding.harmful


@settings(max_examples=30)
@given(histories())
def test_without_a_trial_to_compare_with_nothing_is_called_harmful(rows):
    """A lesson that is in every prompt and never left to chance has no evidence against it, however often it fails."""
    always = [Tried(task_id=r.task_id, trial=r.trial, passed=False, lessons=("x",), run_id=r.run_id) for r in rows]
    for finding in examine(always, level=0.99):
        assert (finding.harmful, finding.p_value, finding.effect) == (False, 1.0, 0.0)
        assert "Nothing to compare with" in finding.evidence


@settings(max_examples=30)
@given(histories())
def test_counts_are_those_of_the_rows(rows):
    """Uses and wins are counted over all trials, and the q value is never below the p value."""
    for finding in examine(rows):
        used = [row for row in rows if finding.lesson_id in row.lessons]
        assert (finding.uses, finding.wins) == (len(used), sum(row.passed for row in used))
        assert finding.q_value >= finding.p_value


@settings(max_examples=30)
@given(histories(), st.integers(0, 9))
def test_a_released_lesson_is_judged_by_later_trials_only(rows, when):
    """Releasing forgets, for that lesson, what came up to then."""
    released = {finding.lesson_id: finding for finding in examine(rows, released={"a": when})}
    later = {finding.lesson_id: finding for finding in examine([row for row in rows if row.order > when])}
    assert ("a" in released) == ("a" in later)
    if "a" in later:
        for name in ("uses", "wins", "look", "chance", "runs"):
            assert getattr(released["a"], name) == getattr(later["a"], name)


def test_like_is_compared_with_like():
    """Where tasks passed without a lesson and fail with it, it is called harmful, and the evidence says why."""
    (finding,) = examine(pairs(20))
    assert finding.harmful
    assert finding.effect == -1.0
    assert [stratum.table for stratum in finding.look.strata] == [Table(0, 1, 1, 1)] * finding.look.runs
    assert finding.evidence.startswith(
        "0 of 20 trials with it passed. Like with like, 0 of 19 passed with it and 19 of 19 without it: -100 points."
    )
    assert finding.runs[0] == "19 with"


def test_few_trials_are_no_evidence():
    """Four failures where it passed before can be chance."""
    assert not found(pairs(4))


def test_another_setting_is_no_comparison():
    """Trials with another model say nothing about a lesson."""
    rows = [
        Tried(
            task_id=row.task_id,
            trial=1,
            passed=row.passed,
            lessons=row.lessons,
            run_id=row.run_id,
            order=row.order,
            setting="large" if row.passed else "small",
        )
        for row in pairs(30)
    ]
    assert not found(rows)


def test_a_good_lesson_is_not_blamed_for_its_neighbour():
    """Two lessons recalled together in tasks that passed before: the coins tell the bad one from the good one."""
    rows = world({"bad": 0.3, "good": 1.0})
    chance = random.Random(1)
    before = [
        Tried(
            task_id=f"task {n % 40}", trial=1, passed=chance.random() < 0.7, lessons=(), run_id=f"before {n}", order=-1
        )
        for n in range(400)
    ]
    assert found(rows + before) == {"bad"}


def test_tasks_that_do_not_come_back_are_compared_by_chance():
    """With every task tried once, a hold-out share finds the bad lesson; without one nothing can be found."""
    assert found(world({"bad": 0.3, "good": 1.0}, tasks=240, rounds=1)) == {"bad"}
    assert not found(world({"bad": 0.3, "good": 1.0}, tasks=240, rounds=1, share=0))


def test_a_finding_stays_found():
    """Once called harmful by its record, later trials of other lessons do not change that record."""
    rows = pairs(20)
    (before,) = examine(rows)
    (after,) = [f for f in examine([*rows, *world({"other": 1.0})]) if f.lesson_id == "x"]
    assert (before.p_value, before.look) == (after.p_value, after.look)


def test_a_released_lesson_is_caught_again_only_by_new_evidence():
    """After a release the old failures do not count, and new ones do."""
    rows = pairs(20)
    assert not found(rows, released={"x": 1000})
    assert not found(rows + pairs(5, start=600), released={"x": 1000})
    assert found(rows + pairs(20, start=600), released={"x": 1000})


def test_later_trials_of_a_run_are_no_further_evidence():
    """A run that fails ten times with a lesson has failed once."""
    rows = [
        Tried(task_id="t", trial=trial, passed=passed, lessons=lessons, run_id=f"{run}", order=run)
        for run, (passed, lessons) in enumerate([(True, ()), (False, ("x",))] * 3)
        for trial in range(1, 11)
    ]
    (finding,) = examine(rows)
    assert (finding.uses, finding.look.runs, finding.harmful) == (30, 0, False)


@given(st.text(), st.text(), st.floats(0, 1), st.floats(0, 1))
def test_the_coin_is_the_same_each_time_and_a_larger_share_holds_out_more(lesson, run, one, other):
    """Whoever is held out at a share is held out at every larger one."""
    assert held_out(lesson, run, one) == held_out(lesson, run, one)
    assert held_out(lesson, run, min(one, other)) <= held_out(lesson, run, max(one, other))


def test_coins_of_lessons_and_runs_have_nothing_to_do_with_each_other():
    """Two lessons are left out of the same run about as often as chance has it."""
    both = sum(held_out("a", f"{n}", 0.5) and held_out("b", f"{n}", 0.5) for n in range(4000))
    assert both == pytest.approx(1000, abs=100)


def test_a_lesson_is_held_out_often_until_it_is_cleared():
    """A harmless lesson ends up with the small share, a harmful one keeps the large one."""
    stakes = {finding.lesson_id: finding.stake for finding in examine(world({"bad": 0.4, "good": 1.1}))}
    assert hold_out_share(stakes["good"]) < hold_out_share(stakes["bad"]) == hold_out_share()


@pytest.mark.parametrize("call", [lambda: examine([], level=5), lambda: held_out("a", "b", -0.1)])
def test_levels_and_shares_out_of_range_are_refused(call):
    """The value is named."""
    with pytest.raises(ConfigError, match=r"level=5|share=-0.1"):
        call()
