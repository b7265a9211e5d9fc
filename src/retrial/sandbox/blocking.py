"""How an event loop meets a sandbox: it is opened when it is first needed, and its work blocks in a thread."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable
from typing import TypeVar, cast

from retrial.sandbox.program import Sandbox

__all__ = ["OpenedOnce", "interruptible"]

T = TypeVar("T")


class OpenedOnce:
    """A sandbox that is opened when it is first needed. Safe to call from several threads."""

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


async def interruptible(work: Callable[[], T], interrupt: Callable[[], object]) -> T:
    """Do blocking work in a thread; a cancellation calls ``interrupt`` and waits up to 5 s until the work noticed.

    ``interrupt`` has a thread of its own, since it may block and every other thread may be busy with what it ends. Work
    that waits for a thread is not begun after a cancellation.
    """
    begun, dropped = threading.Event(), threading.Event()

    def do() -> T | None:
        begun.set()
        return None if dropped.is_set() else work()

    doing = asyncio.ensure_future(asyncio.to_thread(do))
    try:
        return cast("T", await asyncio.shield(doing))
    except asyncio.CancelledError:
        dropped.set()
        if begun.is_set():
            threading.Thread(target=_logged, args=(interrupt,), name="retrial-interrupt", daemon=True).start()
            await asyncio.wait([doing], timeout=5)
        if doing.done() and not doing.cancelled():
            doing.exception()
        raise


def _logged(interrupt: Callable[[], object]) -> None:
    try:
        interrupt()
    except Exception:
        logging.getLogger("retrial").exception("what was cancelled may go on until its time limit")
