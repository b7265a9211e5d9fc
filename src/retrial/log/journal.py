"""What a journal is, and the one that lives in memory.

A journal keeps the events of many runs, each in order. It knows nothing of what an event means.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from typing import Protocol

from retrial.core.events import Event
from retrial.errors import JournalError, RunBusy, RunNotFound

__all__ = ["Journal", "MemoryJournal", "NoJournal", "RunHead", "not_next"]


@dataclass(frozen=True, slots=True)
class RunHead:
    """The two ends of a run's journal: enough to list it."""

    first: Event
    """How it was started."""
    last: Event
    """The newest event."""
    count: int
    """How many events there are."""


class Journal(Protocol):
    """Keeps events. Every method may raise JournalError."""

    def append(self, events: Sequence[Event], *, last: bool = False) -> Awaitable[None]:
        """Take events of one run; once this was awaited they are durable, and so is everything appended before.

        Awaiting raises a JournalError if they cannot be stored, or if their numbers do not follow those that are
        stored: that is how of two writers only one goes on. ``last`` says that no more will come for now.
        """
        ...

    async def events(self, run_id: str) -> list[Event]:
        """Return all events of a run, in order.

        Raises:
            RunNotFound: if there are none.
        """
        ...

    async def heads(self, limit: int | None = None, prefix: str = "") -> list[RunHead]:
        """Return the ends of runs whose id starts with ``prefix``, newest first.

        A run whose events have a newer shape than this version reads is among them, its events as they are.
        """
        ...

    async def close(self) -> None:
        """Write out what is waiting and let go of the store."""
        ...


def not_next(run_id: str, stored: int, seq: int) -> JournalError:
    """Return the error for an event that does not follow those stored: somebody went on, or a write was lost."""
    text = f"run {run_id!r} has {stored} events, so event {seq} cannot be next: "
    if seq < stored:
        return RunBusy(text + "there is a run of that id, or another process goes on with it; wait, or resume it")
    return JournalError(text + "an earlier write failed; resume it")


class MemoryJournal:
    """Keeps events until the process ends."""

    def __init__(self) -> None:
        self._runs: dict[str, list[Event]] = {}

    def append(self, events: Sequence[Event], *, last: bool = False) -> asyncio.Future[None]:
        """Add events of one run."""
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        run_id, seq = events[0].run_id, events[0].seq
        stored = self._runs.get(run_id, [])
        if seq != len(stored):
            done.set_exception(not_next(run_id, len(stored), seq))
            return done
        stored += events
        self._runs[run_id] = stored
        done.set_result(None)
        return done

    async def events(self, run_id: str) -> list[Event]:
        """Return all events of a run, in order."""
        try:
            return list(self._runs[run_id])
        except KeyError:
            raise RunNotFound(f"no run {run_id!r}; `retrial runs` lists those there are") from None

    async def heads(self, limit: int | None = None, prefix: str = "") -> list[RunHead]:
        """Return the ends of runs, newest first."""
        chosen = [events for run_id, events in self._runs.items() if run_id.startswith(prefix)]
        chosen.sort(key=lambda events: (events[0].at, events[0].run_id), reverse=True)
        return [RunHead(events[0], events[-1], len(events)) for events in chosen[:limit]]

    async def close(self) -> None:
        """Keep everything; there is nothing to let go of."""


class NoJournal:
    """Keeps nothing, for runs that nobody looks at again: they can be neither resumed nor replayed."""

    def append(self, events: Sequence[Event], *, last: bool = False) -> asyncio.Future[None]:
        """Take events of one run and let them go."""
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        done.set_result(None)
        return done

    async def events(self, run_id: str) -> list[Event]:
        """Raise RunNotFound: nothing is kept."""
        raise RunNotFound(f"run {run_id!r} was not kept")

    async def heads(self, limit: int | None = None, prefix: str = "") -> list[RunHead]:
        """Return no ends, since nothing is kept."""
        return []

    async def close(self) -> None:
        """Let go of nothing."""
