"""What a journal is, and the one that lives in memory.

A journal keeps the events of many runs, each in order. It knows nothing of what an event means.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from retrial.core.events import Event
from retrial.errors import JournalError, RunBusy, RunNotFound

__all__ = ["Journal", "MemoryJournal", "RunHead"]


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

    async def claim(self, run_id: str) -> None:
        """Become the one writer of a run, new or old, until ``release``.

        Raises:
            RunBusy: if another process or task is its writer; the claim of a dead process is taken over.
        """
        ...

    async def release(self, run_id: str) -> None:
        """Let others write to the run."""
        ...

    async def append(self, events: Sequence[Event]) -> None:
        """Add events of one run; they are durable once this returns, and so is everything appended before."""
        ...

    async def events(self, run_id: str) -> list[Event]:
        """Return all events of a run, in order.

        Raises:
            RunNotFound: if there are none.
        """
        ...

    async def heads(self, limit: int | None = None, prefix: str = "") -> list[RunHead]:
        """Return the ends of runs whose id starts with ``prefix``, newest first."""
        ...

    async def close(self) -> None:
        """Write out what is waiting and let go of the store."""
        ...


class MemoryJournal:
    """Keeps events until the process ends."""

    def __init__(self) -> None:
        self._runs: dict[str, list[Event]] = {}
        self._claimed: set[str] = set()

    async def claim(self, run_id: str) -> None:
        """Become the one writer of a run."""
        if run_id in self._claimed:
            raise RunBusy(f"run {run_id!r} is already being worked on in this process; wait for it, or use another id")
        self._claimed.add(run_id)

    async def release(self, run_id: str) -> None:
        """Let others write to the run."""
        self._claimed.discard(run_id)

    async def append(self, events: Sequence[Event]) -> None:
        """Add events of one run."""
        for event in events:
            stored = self._runs.setdefault(event.run_id, [])
            if event.seq != len(stored):
                raise JournalError(f"run {event.run_id!r} has {len(stored)} events, so seq {event.seq} cannot be next")
            stored.append(event)

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
