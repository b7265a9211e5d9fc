"""Calls in threads of their own, which neither a full pool nor a call that never ends can hold up."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import os
import queue
import threading
from collections.abc import Callable
from typing import Any

__all__ = ["in_thread"]

_Work = Callable[[], None]


async def in_thread(function: Callable[[], Any]) -> Any:
    """Call ``function`` in a thread and return what it returns, or raise what it raises.

    There is a thread for every call that is under way. A thread cannot be stopped: whoever gives up waiting leaves it
    to end by itself, and it does not keep the process alive. Context variables are those of the caller.
    """
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[tuple[Any, BaseException | None]] = loop.create_future()
    context = contextvars.copy_context()

    def settle(value: Any, error: BaseException | None) -> None:
        if not ended.done():
            ended.set_result((value, error))

    def work() -> None:
        value, error = None, None
        try:
            value = context.run(function)
        except BaseException as caught:  # noqa: BLE001 - raised again where it is awaited
            error = caught
        with contextlib.suppress(RuntimeError):  # The loop has closed, and nobody waits.
            loop.call_soon_threadsafe(settle, value, error)

    _THREADS.do(work)
    value, error = await ended
    if error is not None:
        raise error
    return value


class _Threads:
    """Daemon threads that wait for work once they have ended theirs, since starting one takes longer than most calls.

    A pool of the standard library waits for its threads when the process ends, and so for a call that never does.
    """

    def __init__(self) -> None:
        self._idle: list[queue.SimpleQueue[_Work]] = []
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._idle.clear)  # A forked process has none of the threads.

    def do(self, work: _Work) -> None:
        """Have ``work`` done, by an idle thread if there is one."""
        try:
            given = self._idle.pop()
        except IndexError:
            given = queue.SimpleQueue[_Work]()
            threading.Thread(target=self._wait, args=(given,), name="retrial-tool", daemon=True).start()
        given.put(work)

    def _wait(self, given: queue.SimpleQueue[_Work]) -> None:
        while True:
            given.get()()
            self._idle.append(given)


_THREADS = _Threads()
