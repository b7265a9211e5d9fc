"""The door to the engine."""

from __future__ import annotations

import asyncio

import pytest

from retrial.core.effects import RunTests
from retrial.errors import SandboxError
from retrial.testbench.handler import TestsHandler

GOOD = RunTests(output="def f(): return 1", tests=("assert f() == 1",), entry_point="f")


async def test_a_request_becomes_a_report(sandbox):
    """Attached to an engine, the handler answers RunTests."""
    attached = {}

    class Engine:
        def handle(self, effect, handler, address=None):
            attached[effect] = handler

    TestsHandler(sandbox).attach(Engine())
    report = await attached[RunTests](GOOD, "trial.1/tests")
    assert report.passed_count == 1


async def test_the_sandbox_is_opened_once_and_late(sandbox):
    """A sandbox that is given as a function is opened by the first request only."""
    opened = []
    handler = TestsHandler(lambda: opened.append(1) or sandbox)
    assert opened == []
    await asyncio.gather(handler(GOOD), handler(GOOD))
    assert opened == [1]


async def test_cancelling_ends_the_program(sandbox):
    """A cancelled request does not wait for the time limit."""
    effect = RunTests(output="def f():\n    while True: pass", tests=("assert f() == 1",), entry_point="f", timeout=600)
    task = asyncio.ensure_future(TestsHandler(sandbox)(effect))
    await asyncio.sleep(0.5)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(task, 20)


async def test_a_broken_sandbox_is_no_verdict():
    """A sandbox that does not open raises."""

    def broken():
        raise SandboxError("none here")

    with pytest.raises(SandboxError):
        await TestsHandler(broken)(GOOD)
