"""Many tests at once, and one test again and again."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrial.stats.many import at_look, benjamini_hochberg, looks_until

p_values = st.lists(st.floats(0, 1), max_size=30)


@given(p_values, st.floats(0.001, 0.5))
def test_adjusted_values_pick_what_the_step_up_rule_picks(values, level):
    """Adjusted at or below the level is the same as the rule in its first form: the largest k with p(k) <= k q / m."""
    adjusted = benjamini_hochberg(values)
    ranked = sorted(values)
    last = max((k for k, p in enumerate(ranked, 1) if p * len(values) / k <= level), default=0)
    assert sum(q <= level for q in adjusted) == last
    assert all(q >= p * (1 - 1e-12) for p, q in zip(values, adjusted, strict=True))


@given(p_values, st.integers(0, 100))
def test_more_tests_make_it_harder(values, more):
    """Tests that found nothing still count."""
    plain, counted = benjamini_hochberg(values), benjamini_hochberg(values, len(values) + more)
    assert all(q <= r + 1e-12 for q, r in zip(plain, counted, strict=True))
    assert counted == pytest.approx(benjamini_hochberg([*values, *[1.0] * more])[: len(values)])


@given(st.integers(0, 5000))
def test_looks_are_fixed_before_anything_is_seen(count):
    """A longer record has the looks of a shorter one, in growing steps."""
    looks = looks_until(count)
    assert looks == [size for size in looks_until(5000) if size <= count]
    assert all(before < after for before, after in pairwise(looks))


def test_the_shares_of_all_looks_add_up_to_one():
    """However many looks there are, together they spend no more than the whole error."""
    assert sum(1 / at_look(1e-9, look) for look in range(1, 2000)) * 1e-9 == pytest.approx(1, abs=1e-3)


def test_paying_for_looks_holds_the_level():
    """Watching a fair coin at every look finds it unfair in at most 5 of 100 lives; not paying finds far more."""
    chance, paid, free = random.Random(3), 0, 0
    for _ in range(300):
        heads, found, raw = 0, 1.0, 1.0
        looks = {size: look for look, size in enumerate(looks_until(300), 1)}
        for size in range(1, 301):
            heads += chance.random() < 0.5
            if size in looks:
                p_value = tail(size, heads)
                found, raw = min(found, at_look(p_value, looks[size])), min(raw, p_value)
        paid, free = paid + (found <= 0.05), free + (raw <= 0.05)
    assert paid / 300 <= 0.05
    assert free / 300 > 0.1


def tail(size, heads):
    """How likely so few heads are."""
    from math import comb

    return sum(comb(size, k) for k in range(heads + 1)) / 2**size
