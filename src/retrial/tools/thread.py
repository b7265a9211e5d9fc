"""One call in a thread of its own, which neither a full pool nor a call that never ends can hold up."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import threading
from collections.abc import Callable
from typing import Any

__all__ = ["in_thread"]


async def in_thread(function: Callable[[], Any]) -> Any:
    """Call ``function`` in a thread of its own and return what it returns, or raise what it raises.

    A thread cannot be stopped: whoever gives up waiting leaves it to end by itself, and it does not keep the process
    alive. Context variables are those of the caller.
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

    threading.Thread(target=work, name="retrial-tool", daemon=True).start()
    value, error = await ended
    if error is not None:
        raise error
    return value
