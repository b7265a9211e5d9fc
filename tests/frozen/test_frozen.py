"""Any journal that was ever written still loads, and every view still folds it to what it was."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from retrial.algorithms.registry import ALGORITHMS
from retrial.log.jsonl import read_events
from retrial.store import SqliteStore
from worlds import seen

JOURNALS = sorted(Path(__file__).parent.glob("*/*.jsonl"))


def includes(now, then, place="") -> None:
    """Whatever was there then is there now; a view may have learnt to say more."""
    if isinstance(then, dict):
        for name, value in then.items():
            assert name in now, f"{place}.{name} is gone"
            includes(now[name], value, f"{place}.{name}")
    elif isinstance(then, list):
        assert len(now) == len(then), place
        for index, value in enumerate(then):
            includes(now[index], value, f"{place}[{index}]")
    else:
        assert now == then, place


@pytest.mark.parametrize("path", JOURNALS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_frozen_journal_folds_as_it_did(path):
    """Every view of an old journal says what it said when it was written."""
    events = read_events(path).events
    includes(seen(events), json.loads(path.with_suffix(".views.json").read_text()))


@pytest.mark.parametrize("path", JOURNALS, ids=lambda path: f"{path.parent.name}/{path.stem}")
async def test_a_frozen_journal_can_be_stored(path, tmp_path):
    """An old journal goes into the present store and comes back the same."""
    events = list(read_events(path).events)
    store = SqliteStore(str(tmp_path / "store.db"))
    await store.append(events, last=True)
    assert await store.events(events[0].run_id) == events
    await store.close()


def test_there_are_frozen_journals_of_every_kind():
    """A solved, an unsolved, a cut, a failed, a resumed and a killed run are kept."""
    assert {path.stem for path in JOURNALS} >= {"slugify", "no-solution", "over-budget", "failed", "resumed", "killed"}


def test_there_is_a_frozen_journal_of_every_algorithm():
    """Whatever an algorithm writes today is promised to be readable."""
    names = {read_events(path).events[0].data["algorithm"] for path in JOURNALS}
    assert names >= {*ALGORITHMS, "reflexion", "swarm"}
