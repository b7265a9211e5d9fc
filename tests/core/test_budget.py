"""Budgets and usage."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrial.core.budget import Budget, Usage, reserve
from retrial.errors import BudgetExceeded, ConfigError

numbers = st.integers(0, 1000)


@given(
    st.lists(
        st.builds(Usage, calls=numbers, input_tokens=numbers, output_tokens=numbers, cost_usd=st.none() | st.just(0.5)),
        max_size=6,
    ),
    st.randoms(),
)
def test_usage_adds_up_in_any_order(parts, chance):
    """The sum does not depend on the order, and one unpriced part makes the whole unpriced."""
    shuffled = [*parts]
    chance.shuffle(shuffled)
    one, two = sum(parts, Usage()), sum(shuffled, Usage())
    assert one == two
    assert (one.cost_usd is None) == any(part.cost_usd is None for part in parts)


@given(numbers, numbers, st.integers(0, 20))
def test_calls_are_reserved_exactly(limit, used, wanted):
    """A reservation is granted exactly if used and wanted fit into the limit, and asking for none is always granted."""
    fits = used + wanted <= limit or wanted == 0
    if fits:
        reserve(Budget(max_calls=limit), Usage(calls=used), wanted)
    else:
        with pytest.raises(BudgetExceeded, match=f"allows {limit} model calls: {used} used, {wanted} more"):
            reserve(Budget(max_calls=limit), Usage(calls=used), wanted)


@given(numbers, st.integers(1, 50))
def test_shares_never_add_up_to_more_than_the_whole(calls, parts):
    """Equal shares of a budget stay within it."""
    assert Budget(max_calls=calls).share(parts).max_calls * parts <= calls


@given(st.integers(1, 50), st.integers(1, 10))
def test_shares_of_time_fill_the_whole_when_they_run_at_once(parts, at_once):
    """Tasks that run a few at a time take no longer together than the whole was allowed."""
    share = Budget(max_seconds=100).share(parts, at_once).max_seconds
    assert share * parts / min(at_once, parts) == pytest.approx(100)


@pytest.mark.parametrize("name", ["max_calls", "max_tokens", "max_cost_usd", "max_seconds"])
def test_a_limit_below_zero_is_refused_by_name(name):
    """The error names the limit and the value."""
    with pytest.raises(ConfigError, match=f"{name}=-1"):
        Budget(**{name: -1})
