"""Seed 1, third part: the insight bank. One test a requirement, in the words of the seed."""

from __future__ import annotations

from retrial.assembly import assemble
from retrial.core.codec import encode
from retrial.core.tasks import Task
from retrial.recipes import insight_bank
from worlds import Model, said

DOUBLE = Task(id="double", prompt="Write double(n), which doubles a number.", tests=("assert double(2) == 4",))
TRIPLE = Task(id="triple", prompt="Write triple(n), which triples a number.", tests=("assert triple(2) == 6",))
ANSWERS = {"double": "def double(n):\n    return 2 * n", "triple": "def triple(n):\n    return 3 * n"}


def solver(request, extracted="ADD: check 29 February"):
    """Solves what it is asked, and extracts what it is told."""
    if request.role == "extractor":
        return extracted
    name = "double" if "<task>Write double" in said(request) else "triple"
    return ANSWERS[name]


async def test_stub_extractor_check_29_february(tmp_path):
    """Requirement 5: batch 1; after one saved trajectory the next new task's first prompt holds the insight."""
    model = Model(solver)
    async with assemble(model, store=tmp_path / "store.db") as engine:
        await engine.run(insight_bank(batch=1), {"task": encode(DOUBLE)})
        await engine.settled()
        await engine.run(insight_bank(batch=1), {"task": encode(TRIPLE)})
        first, second = model.asked("actor")
        assert "check 29 February" not in said(first)
        assert "check 29 February" in said(second)
        assert len(model.asked("extractor")) == 1
