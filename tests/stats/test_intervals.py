"""Intervals: they hold the estimate, mirror, and cover as often as they say."""

from __future__ import annotations

import random
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrial.errors import ConfigError
from retrial.stats.intervals import newcombe, paired_difference, wilson

counts = st.integers(0, 200).flatmap(lambda tried: st.tuples(st.integers(0, tried), st.just(tried)))
binary = st.lists(st.tuples(st.sampled_from([0, 1]), st.sampled_from([0, 1])), min_size=1, max_size=40)
thirds = st.lists(st.tuples(*[st.sampled_from([0, 1 / 3, 2 / 3, 1])] * 2), min_size=1, max_size=12)


@given(counts)
def test_a_rate_lies_in_its_interval(count):
    """The interval holds the estimate and stays within 0 to 1, and failures mirror passes."""
    found, mirrored = wilson(*count), wilson(count[1] - count[0], count[1])
    assert 0 <= found.low <= found.estimate <= found.high <= 1
    assert (found.low, found.high) == pytest.approx((1 - mirrored.high, 1 - mirrored.low))


@given(counts)
def test_more_confidence_is_wider(count):
    """An interval at 99 % holds the one at 95 %."""
    wide, narrow = wilson(*count, level=0.99), wilson(*count)
    assert wide.low <= narrow.low
    assert narrow.high <= wide.high


@given(counts, counts)
def test_a_difference_changes_its_sign_with_the_order_of_the_arms(first, second):
    """Comparing the other way round mirrors estimate and bounds."""
    one, other = newcombe(first, second), newcombe(second, first)
    assert -1 <= one.low <= one.estimate <= one.high <= 1
    assert (one.low, one.high) == pytest.approx((-other.high, -other.low))


@given(binary | thirds)
def test_a_paired_difference_changes_its_sign_with_the_order_of_the_arms(pairs):
    """Comparing the other way round mirrors the estimate and keeps the p value; the order of tasks does not matter."""
    one = paired_difference(pairs)
    other = paired_difference([(second, first) for first, second in pairs])
    assert one.interval.low <= one.interval.estimate <= one.interval.high
    assert one.interval.estimate == pytest.approx(one.second - one.first)
    assert one.interval.estimate == pytest.approx(-other.interval.estimate)
    assert one.p_value == pytest.approx(other.p_value)
    if one.method.startswith("newcombe"):
        assert one.interval.low == pytest.approx(-other.interval.high)
        assert paired_difference(pairs[::-1]) == one


@given(binary)
def test_equal_arms_do_not_differ(pairs):
    """Two arms with the same outcome on every task differ by nothing, with zero inside."""
    found = paired_difference([(first, first) for first, _ in pairs])
    assert (found.interval.estimate, found.p_value) == (0.0, 1.0)
    assert found.interval.low <= 0 <= found.interval.high


def test_wilson_covers_as_often_as_it_says():
    """Over rates from 2 % to 98 % and 30 trials, the interval holds the truth in 95 % of cases on average."""
    covered = []
    for rate in (step / 50 for step in range(1, 50)):
        chance = [comb(30, k) * rate**k * (1 - rate) ** (30 - k) for k in range(31)]
        covered.append(sum(p for k, p in enumerate(chance) if wilson(k, 30).low <= rate <= wilson(k, 30).high))
    assert sum(covered) / len(covered) == pytest.approx(0.95, abs=0.01)
    assert min(covered) > 0.85


def test_the_paired_interval_covers_as_often_as_it_says():
    """Arms that share what a task is like: the interval holds the true difference about 95 times in 100."""
    chance, covered = random.Random(7), 0
    for _ in range(400):
        pairs = []
        for _ in range(60):
            ease = chance.random()
            pairs.append((chance.random() < 0.8 * ease, chance.random() < ease))
        found = paired_difference(pairs).interval
        covered += found.low <= 0.1 <= found.high
    assert 0.92 <= covered / 400 <= 0.99


def test_tasks_tried_several_times_are_resampled_whole():
    """With fractions as rates the method says so, and the same seed gives the same interval."""
    pairs = [(0.0, 1 / 3), (1 / 3, 2 / 3), (1.0, 1.0), (2 / 3, 1.0)] * 5
    found = paired_difference(pairs)
    assert found.method == "bootstrap, sign flip"
    assert found == paired_difference(pairs)
    assert 0 < found.interval.low < 0.25 < found.interval.high
    assert found.p_value < 0.001


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: wilson(3, 2), "passed=3"),
        (lambda: wilson(1, 2, level=95), "level=95"),
        (lambda: paired_difference([]), "no task"),
        (lambda: paired_difference([(0, 2)]), r"\(0, 2\)"),
    ],
)
def test_nonsense_is_refused(call, words):
    """Counts, rates and levels out of range are named."""
    with pytest.raises(ConfigError, match=words):
        call()
