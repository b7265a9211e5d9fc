"""Answers RunTests: the door through which the engine reaches the test bench.

Knows the event loop and which sandbox is in use; the work itself blocks, in a thread.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

from retrial.core.effects import Handlers, RunTests
from retrial.core.reports import TestReport
from retrial.sandbox.program import Sandbox
from retrial.testbench.session import Session
from retrial.testbench.supervisor import examine, open_session

__all__ = ["TestsHandler"]


class TestsHandler:
    """Runs tests in ``sandbox``, which may be given as a function that opens it when it is first needed."""

    __test__ = False

    def __init__(self, sandbox: Sandbox | Callable[[], Sandbox]) -> None:
        self._given = sandbox
        self._opened: Sandbox | None = None
        self._lock = threading.Lock()

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
        work = asyncio.ensure_future(asyncio.to_thread(examine, effect, session))
        try:
            return await asyncio.shield(work)
        except asyncio.CancelledError:
            await _end(session, work)
            raise

    def _sandbox(self) -> Sandbox:
        with self._lock:
            if self._opened is None:
                self._opened = self._given() if callable(self._given) else self._given
            return self._opened


async def _end(session: Session, work: asyncio.Future[TestReport]) -> None:
    """Kill what runs and wait until the thread noticed, which is soon."""
    session.interrupt()
    await asyncio.wait([work], timeout=5)
    if work.done() and not work.cancelled():
        work.exception()
