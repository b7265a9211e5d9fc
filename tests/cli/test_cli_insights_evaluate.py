"""retrial insights evaluate: the same tasks with the bank, without it, and without each insight."""

import asyncio
import json

import pytest

from cli_tasks import write_task
from retrial.models.fake import FakeLLMClient
from retrial.store import SqliteStore
from retrial.store.insights import InsightShelf

USEFUL, USELESS = "Add with a plus sign.", "Be of good cheer."


def fill(path, *texts):
    """Put insights into a store's bank."""

    async def add():
        store = SqliteStore(str(path))
        operations = [{"kind": "ADD", "text": text} for text in texts]
        await InsightShelf(store.writer).apply({"source": "s", "operations": operations})
        await store.close()

    asyncio.run(add())


@pytest.fixture
def asked(monkeypatch):
    """The requests to a model that is right if it was told the useful insight."""
    requests = []

    def answer(request):
        requests.append(request)
        right = USEFUL in request.messages[-1].content
        return "def add(a, b):\n    return a + b" if right else "def add(a, b):\n    return a - b"

    monkeypatch.setattr("retrial.models.resolve.client_for", lambda *args, **options: FakeLLMClient(answer))
    return requests


def test_each_insight_is_weighed_and_nothing_is_kept(folder, retrial, asked):
    """The bank and the useful insight make the difference; a second command asks nothing; the bank is as before."""
    task, store = write_task(folder), folder / ".retrial" / "retrial.db"
    store.parent.mkdir(exist_ok=True)
    fill(store, USEFUL, USELESS)
    words = ("insights", "evaluate", task, "--model", "openai:x", "--each", "--json")
    done = retrial(*words)
    assert done.exit_code == 0, done.stderr
    arms = {one["arm"]: one for one in json.loads(done.stdout)["arms"]}
    assert {name: one["passed"] for name, one in arms.items()} == {
        "with the bank": 1,
        "without the bank": 0,
        "without insight 1": 0,
        "without insight 2": 1,
    }
    assert arms["without the bank"]["difference"]["estimate"] == 1.0
    assert {request.temperature for request in asked} == {0.0}
    assert (len(asked), len(retrial(*words).stdout), len(asked)) == (4, len(done.stdout), 4)
    assert json.loads(retrial("trajectories", "list", "--json").stdout)["trajectories"] == []
    assert len(json.loads(retrial("insights", "list", "--json").stdout)["insights"]) == 2
    table = retrial(*words[:-1])
    assert USELESS in table.stdout


def test_the_bound_is_told_before_anything_is_paid(folder, retrial, asked):
    """Two arms of one trial for one task are two calls at most."""
    task, store = write_task(folder), folder / ".retrial" / "retrial.db"
    store.parent.mkdir(exist_ok=True)
    fill(store, USEFUL)
    done = retrial("insights", "evaluate", task, "--dry-run", "--json")
    assert json.loads(done.stdout)["max_calls"] == 2
    assert not asked


def test_an_empty_bank_says_what_fills_it(folder, retrial, asked):
    """There is nothing to weigh: exit code 5, and the next step."""
    task, store = write_task(folder), folder / ".retrial" / "retrial.db"
    store.parent.mkdir(exist_ok=True)
    asyncio.run(SqliteStore(str(store)).close())
    done = retrial("insights", "evaluate", task, "--model", "openai:x")
    assert done.exit_code == 5
    assert "run TASK --insights" in done.stderr
