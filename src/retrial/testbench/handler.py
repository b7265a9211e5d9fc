"""Answers RunTests: the door through which the engine reaches the test bench.

Knows the event loop and which sandbox is in use; the work itself blocks, in a thread.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from retrial.core.effects import Handlers, RunTests
from retrial.core.reports import TestReport
from retrial.sandbox.blocking import OpenedOnce, interruptible
from retrial.sandbox.program import Sandbox
from retrial.testbench.supervisor import examine, open_session

__all__ = ["TestsHandler"]


class TestsHandler:
    """Runs tests in ``sandbox``, which may be given as a function that opens it when it is first needed."""

    __test__ = False

    def __init__(self, sandbox: Sandbox | Callable[[], Sandbox]) -> None:
        self._sandbox = sandbox if isinstance(sandbox, OpenedOnce) else OpenedOnce(sandbox)

    def attach(self, engine: Handlers) -> None:
        """Have ``engine`` send every RunTests here."""
        engine.handle(RunTests, self)

    async def __call__(self, effect: RunTests, key: str = "") -> TestReport:
        """Run the tests of ``effect``.

        Raises:
            EvaluatorError: if there is no valid test.
            SandboxError: if the sandbox, or a module that the task declares, is not available.
        """
        sandbox = await asyncio.to_thread(self._sandbox)
        session = await asyncio.to_thread(open_session, effect, sandbox)
        return await interruptible(lambda: examine(effect, session), session.interrupt)
