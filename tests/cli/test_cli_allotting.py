"""The budget of an invocation is for all it does, extractions of insights included."""

import json

from hypothesis import given
from hypothesis import strategies as st

from cli_tasks import write_task
from retrial.cli.allotting import allot
from retrial.core.budget import Budget
from retrial.recipes import insight_bank, unit_tests


@given(st.integers(1, 9), st.integers(1, 5), st.integers(1, 30), st.integers(0, 200))
def test_shares_and_extractions_are_never_more_than_the_budget(count, trials, batch, spare):
    """Every task has a call at least, and what extractions may use comes out of the same total."""
    total = count + spare
    found = allot(Budget(max_calls=total, max_cost_usd=1.0), [insight_bank(trials=trials, batch=batch)] * count, 4)
    assert found.share.max_calls >= 1
    assert count * found.share.max_calls + found.learning.max_calls <= total
    assert found.extractor_calls <= found.learning.max_calls
    assert abs(count * found.share.max_cost_usd + found.learning.max_cost_usd - 1.0) < 1e-9


def test_without_the_bank_the_tasks_have_it_all():
    """Neither a recipe without insights nor one that keeps no trial sets anything aside."""
    for algorithm in (unit_tests(), insight_bank(keeps=False)):
        found = allot(Budget(max_calls=20), [algorithm] * 2, 1)
        assert (found.share.max_calls, found.learning, found.extractor_calls) == (10, None, 0)


def test_a_dry_run_counts_extractions(folder, retrial):
    """Three tasks of four trials and three lessons each, and an extraction for every five trials."""
    tasks = [write_task(folder, f"t{number}") for number in range(3)]
    words = ("run", *tasks, "--insights", "--insight-batch", 5, "--dry-run")
    plain, bank = (json.loads(retrial(*given, "--json").stdout) for given in (("run", *tasks, "--dry-run"), words))
    assert bank["extraction_calls"] == 3
    assert bank["max_calls"] == plain["max_calls"] + 3
    less = json.loads(retrial(*words, "--budget-calls", 10, "--json").stdout)
    assert (less["max_calls"], less["extraction_calls"]) == (9, 3)
    assert "3 in all to extract insights" in retrial(*words).stdout
