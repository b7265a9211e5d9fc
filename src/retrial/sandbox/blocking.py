"""How an event loop meets a sandbox: it is opened when it is first needed, and its work blocks in a thread."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import TypeVar

from retrial.sandbox.program import Sandbox

__all__ = ["OpenedOnce", "interruptible"]

T = TypeVar("T")


class OpenedOnce:
    """A sandbox, or a function that opens it when it is first needed. Safe to call from several threads."""

    def __init__(self, sandbox: Sandbox | Callable[[], Sandbox]) -> None:
        self._given = sandbox
        self._opened: Sandbox | None = None
        self._lock = threading.Lock()

    def __call__(self) -> Sandbox:
        """Return the sandbox.

        Raises:
            SandboxError: if it cannot be opened; the next call tries again.
        """
        with self._lock:
            if self._opened is None:
                self._opened = self._given() if callable(self._given) else self._given
            return self._opened


async def interruptible(work: Callable[[], T], interrupt: Callable[[], None]) -> T:
    """Do blocking work in a thread; a cancellation calls ``interrupt`` and waits up to 5 s until the work noticed."""
    doing = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        return await asyncio.shield(doing)
    except asyncio.CancelledError:
        interrupt()  # Not in a thread: every thread may be busy with what is to be interrupted.
        await asyncio.wait([doing], timeout=5)
        if doing.done() and not doing.cancelled():
            doing.exception()
        raise
