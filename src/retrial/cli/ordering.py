"""Working on many things at once, with the results in the order of the things and few of them in memory."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Generator, Iterable
from typing import Any, Generic, TypeVar

__all__ = ["InThread", "each", "in_order"]

T = TypeVar("T")
R = TypeVar("R")

AHEAD = 4
"""So many times the number that is worked on at once may have begun, so that a slow one does not stop the others."""


async def in_order(
    items: AsyncIterator[T], work: Callable[[T], Awaitable[R]], *, at_once: int
) -> AsyncGenerator[tuple[T, R]]:
    """Yield each item with what ``work`` made of it, in the order of the items, as soon as its turn comes.

    ``at_once`` items are worked on at a time, and no more than ``AHEAD * at_once`` are held. What ``work`` raises ends
    it, and the rest is cancelled.
    """
    doors = asyncio.Semaphore(at_once)
    room = asyncio.Semaphore(AHEAD * at_once)
    turns: asyncio.Queue[tuple[T, asyncio.Future[R]] | None] = asyncio.Queue()
    begun: set[asyncio.Future[R]] = set()

    async def one(item: T) -> R:
        async with doors:
            return await work(item)

    async def begin() -> None:
        try:
            async for item in items:
                await room.acquire()
                job = asyncio.ensure_future(one(item))
                begun.add(job)
                await turns.put((item, job))
        finally:
            await turns.put(None)

    beginning = asyncio.ensure_future(begin())
    try:
        while (turn := await turns.get()) is not None:
            item, job = turn
            result = await job
            begun.discard(job)
            room.release()
            yield item, result
        await beginning
    finally:
        left: list[asyncio.Future[Any]] = [beginning, *begun]
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)


async def each(items: Iterable[T]) -> AsyncGenerator[T]:
    """Yield what is at hand."""
    for item in items:
        yield item


class InThread(Generic[T]):
    """A generator that may wait for a person or a pipe, gone through in a thread that nobody has to wait for.

    It is closed in that thread too: what it holds open cannot be closed while it is being read.
    """

    def __init__(self, items: Generator[T]) -> None:
        self._items = items
        self._asked: queue.SimpleQueue[asyncio.Future[T] | None] = queue.SimpleQueue()
        self._loop = asyncio.get_running_loop()
        threading.Thread(target=self._read, name="retrial-read", daemon=True).start()

    def __aiter__(self) -> InThread[T]:
        return self

    async def __anext__(self) -> T:
        future: asyncio.Future[T] = self._loop.create_future()
        self._asked.put(future)
        return await future

    def stop(self) -> None:
        """Have the generator closed as soon as it does not wait any more, and do not wait for that."""
        self._asked.put(None)

    def _read(self) -> None:
        """Answer what is asked, one item each, until there is none."""
        while (future := self._asked.get()) is not None:
            try:
                item = next(self._items)
            except BaseException as error:  # noqa: BLE001 - handed to whoever asked
                end = StopAsyncIteration() if isinstance(error, StopIteration) else error
                self._tell(future, lambda future=future, end=end: future.done() or future.set_exception(end))
                return
            self._tell(future, lambda future=future, item=item: future.done() or future.set_result(item))
        self._items.close()

    def _tell(self, future: asyncio.Future[T], how: Callable[[], object]) -> None:
        """Have the loop do it, if there still is one."""
        try:
            self._loop.call_soon_threadsafe(how)
        except RuntimeError:
            future.cancel()
