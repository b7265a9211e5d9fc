"""Exact tests: they count what they say they count."""

from __future__ import annotations

import doctest
from fractions import Fraction
from itertools import combinations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrial.stats import exact, intervals, many
from retrial.stats.exact import Table, lower_tail, mcnemar, shortfall, sign_flip


@st.composite
def small_tables(draw):
    """A few strata with up to six trials each."""
    tables = []
    for _ in range(draw(st.integers(0, 3))):
        with_it, without = draw(st.integers(0, 3)), draw(st.integers(0, 3))
        tables.append(Table(draw(st.integers(0, with_it)), with_it, draw(st.integers(0, without)), without))
    return tables


def counted(tables):
    """The same tail by writing down every way to deal the labels out, stratum by stratum."""
    ways = []
    for table in tables:
        outcomes = [1] * table.passed + [0] * (table.tried - table.passed)
        ways.append([sum(outcomes[i] for i in chosen) for chosen in combinations(range(table.tried), table.tried_with)])
    observed = sum(table.passed_with for table in tables)
    totals = [sum(way) for way in product(*ways)]
    return Fraction(sum(total <= observed for total in totals), len(totals))


@pytest.mark.parametrize("module", [exact, intervals, many], ids=lambda module: module.__name__)
def test_the_examples_in_the_docstrings_hold(module):
    """Textbook values stand in the docstrings, and are checked."""
    failed, tried = doctest.testmod(module)
    assert tried
    assert not failed


@given(small_tables())
def test_the_tail_is_what_dealing_out_the_labels_gives(tables):
    """The convolution over strata agrees with counting every relabelling."""
    assert lower_tail(tables) == pytest.approx(float(counted(tables)), rel=1e-12)


@given(small_tables())
def test_the_order_of_strata_does_not_matter(tables):
    """A sum over strata has no order."""
    assert lower_tail(tables) == pytest.approx(lower_tail(tables[::-1]), rel=1e-12)
    assert shortfall(tables) == pytest.approx(shortfall(tables[::-1]))


@given(small_tables())
def test_whoever_does_better_than_expected_is_not_suspected(tables):
    """With as many passing as expected or more, the p value is above a third."""
    if shortfall(tables) <= 0:
        assert lower_tail(tables) > 1 / 3


def test_a_stratum_without_a_comparison_says_nothing():
    """Trials all with it, all without it, or all of one outcome leave the p value alone."""
    mute = [Table(0, 9, 0, 0), Table(0, 0, 9, 9), Table(0, 5, 0, 5), Table(5, 5, 5, 5)]
    assert lower_tail(mute) == 1.0
    table = Table(1, 6, 5, 6)
    assert lower_tail([*mute, table]) == lower_tail([table])


def test_many_strata_are_counted_too():
    """A thousand pairs of one with and one without are a binomial: its tail is known."""
    p_value = lower_tail([Table(0, 1, 1, 1)] * 30 + [Table(1, 1, 0, 1)] * 10)
    assert p_value == pytest.approx(mcnemar(30, 10) / 2, rel=1e-12)
    assert lower_tail([Table(0, 1, 1, 1)] * 1000) == pytest.approx(0.5**1000)


@given(st.lists(st.sampled_from([-1.0, -0.5, -0.25, 0.0, 0.25, 0.5, 1.0]), max_size=8))
def test_flipping_signs_is_counted(differences):
    """The p value is the share of sign patterns with a sum at least as far from zero."""
    sums = [
        sum(s * d for s, d in zip(signs, differences, strict=True))
        for signs in product((1, -1), repeat=len(differences))
    ]
    assert sign_flip(differences) == sum(abs(one) >= abs(sum(differences)) for one in sums) / len(sums)


@given(st.integers(0, 9), st.integers(0, 9))
def test_mcnemar_is_the_flip_of_whole_tasks(lost, gained):
    """For tasks that are won or lost, flipping signs is McNemar's exact test."""
    if lost + gained <= 12:
        assert mcnemar(lost, gained) == pytest.approx(sign_flip([1.0] * gained + [-1.0] * lost))


def test_too_many_flips_to_count_are_drawn():
    """A drawn p value is close to the counted one, the same each time, and never 0."""
    assert sign_flip([1.0] * 20 + [-1.0] * 10) == pytest.approx(mcnemar(10, 20), abs=0.015)
    assert sign_flip([1.0] * 60) == sign_flip([1.0] * 60) == 1 / 10_001
