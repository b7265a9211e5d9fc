"""Runs algorithms: starts, resumes and replays them over a journal, and turns every end into a Result."""

from __future__ import annotations

import asyncio
import inspect
import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, Self

from retrial.core.budget import Budget
from retrial.core.codec import encode
from retrial.core.effects import Effect, Handler
from retrial.core.events import RUN_FINISHED, RUN_RESUMED, RUN_STARTED, Event
from retrial.core.keys import first_difference
from retrial.core.tasks import Result, Status
from retrial.engine.account import Account
from retrial.engine.owner import active, myself, refuse_if_busy
from retrial.engine.run import Algorithm, Run
from retrial.engine.session import Session
from retrial.errors import (
    BudgetExceeded,
    EffectError,
    EvaluatorError,
    HandlerMissing,
    JournalError,
    ReplayError,
    ReplayIncomplete,
    ReplayMismatch,
    ResumeRefused,
    RetrialError,
)
from retrial.log.deletions import refuse_redacted
from retrial.log.journal import Journal, MemoryJournal
from retrial.log.views import budget_of, in_doubt, result_of, status_of

__all__ = ["Engine", "new_run_id"]

Waiter = Callable[[], Awaitable[Sequence[Result | Exception]]]
"""Waits for runs in the background, and returns what became of them."""


class Engine:
    """Performs what algorithms ask for, and remembers it.

    Knows no provider, no sandbox and no store: handlers attach themselves, and the journal is given. Without one,
    events are kept in memory until the process ends.
    """

    def __init__(self, journal: Journal | None = None, budget: Budget | None = None) -> None:
        self.journal: Journal = journal if journal is not None else MemoryJournal()
        self.budget = budget or Budget()
        self._handlers: dict[tuple[type[Effect], str | None], Handler] = {}
        self._observers: list[Callable[[Event], None]] = []
        self._closers: list[Callable[[], Any]] = []
        self._background: list[tuple[Waiter, Callable[[], int]]] = []

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Let go of the journal, and of what was to be closed with the engine."""
        for closer in reversed(self._closers):
            pending = closer()
            if inspect.isawaitable(pending):
                await pending
        self._closers.clear()
        await self.journal.close()

    def handle(self, effect: type[Effect], handler: Handler, address: str | None = None) -> None:
        """Send every ``effect`` (with this address, where one is given) to ``handler``; the last to attach wins."""
        self._handlers[effect, address] = handler

    def observe(self, observer: Callable[[Event], None]) -> None:
        """Call ``observer`` with every event as it is written, for showing progress. It must not raise."""
        self._observers.append(observer)

    def close_with(self, closer: Callable[[], Any]) -> None:
        """Call ``closer``, which may be async, when the engine closes; the last one first."""
        self._closers.append(closer)

    def settle_with(self, waiter: Waiter, busy: Callable[[], int]) -> None:
        """Await ``waiter`` in ``settled``: for runs that a handler works on in the background, ``busy`` at a moment."""
        self._background.append((waiter, busy))

    @property
    def busy(self) -> int:
        """How many runs go on in the background, such as extractions of insights."""
        return sum(busy() for _, busy in self._background)

    async def settled(self) -> list[Result | Exception]:
        """Wait until no run goes on in the background, and return what became of each.

        Cancelling this leaves them as they are; closing the engine ends them, to be resumed.
        """
        return [end for waiter, _ in self._background for end in await waiter()]

    async def create(
        self,
        algorithm: Algorithm,
        given: Mapping[str, Any],
        *,
        run_id: str | None = None,
        budget: Budget | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> str:
        """Write a run down without working on it, and return its id; ``resume`` does the work.

        Raises:
            JournalError: if there is a run of that id.
        """
        session = self._started(algorithm, given, run_id=run_id, budget=budget, metadata=metadata, owner="")
        await session.flush(last=True)
        return session.run_id

    async def run(
        self,
        algorithm: Algorithm,
        given: Mapping[str, Any],
        *,
        run_id: str | None = None,
        budget: Budget | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> Result:
        """Run ``algorithm`` on ``given`` (JSON values) and return what it came to.

        ``budget`` holds for this run in place of the engine's. ``metadata`` is kept beside the input and interpreted
        by nobody. A world that fails ends the run as FAILED, not as an exception.

        Raises:
            ConfigError, ReplayError, JournalError: if the run cannot be worked on at all.
        """
        session = self._started(algorithm, given, run_id=run_id, budget=budget, metadata=metadata, owner=myself())
        return await self._work(session, algorithm, given, budget or self.budget)

    async def resume(
        self, run_id: str, algorithm: Algorithm, *, budget: Budget | None = None, adopt: bool = False
    ) -> Result:
        """Go on with a run: what came back before is not asked again.

        ``algorithm`` must be of the version and have the parameters that the run was started with; ``adopt=True``
        takes another one, reuses every recorded outcome whose request is still the same and performs the rest. A
        finished run is replayed.

        Raises:
            RunNotFound, RunBusy: if it cannot be had.
            RunRedacted: if a lesson was deleted from it.
            ResumeRefused: if the algorithm is another one.
            ReplayMismatch: if the algorithm asks for something else under a recorded key.
        """
        events = await self.journal.events(run_id)
        refuse_redacted(events)
        if not adopt:
            _check_same(events, algorithm)
        status = status_of(events)
        if status is not None and status.final and not adopt:
            return await self.replay(run_id, algorithm)
        refuse_if_busy(events)
        limits = budget or budget_of(events)
        session = self._session(run_id, events=events, adopt=adopt)
        begun = {"in_doubt": in_doubt(events), "budget": limits, "adopt": adopt, "owner": myself()}
        session.write("run", RUN_RESUMED, {**begun, **_identity(algorithm)} if adopt else begun)
        return await self._work(session, algorithm, events[0].data["input"], limits)

    async def replay(self, run_id: str, algorithm: Algorithm) -> Result:
        """Run ``algorithm`` over a finished run's journal, without a single effect, and return the same Result.

        Raises:
            ReplayMismatch: if it asks for something else, or comes to another end.
            ReplayIncomplete: if the run is not finished.
            RunRedacted: if a lesson was deleted from it.
        """
        events = await self.journal.events(run_id)
        refuse_redacted(events)
        _check_same(events, algorithm)
        status = status_of(events)
        if status is None or not status.final:
            raise ReplayIncomplete(f"run {run_id!r} is not finished; resume it instead of replaying")
        session = self._session(run_id, events=events, replaying=True)
        outcome = await algorithm(Run(session, Account(Budget())), events[0].data["input"])
        recorded, present = events[-1].data.get("value"), encode(outcome.value)
        if status is not outcome.status or recorded != present:
            place, before, now = first_difference(recorded, present) or ("status", status, outcome.status)
            raise ReplayMismatch(f"run {run_id!r}: {place} of the result was {before!r} and is {now!r} in the replay")
        return result_of(events)

    def _session(self, run_id: str, **options: Any) -> Session:
        return Session(
            run_id, self.journal, self._handler_for, observer=self._notify if self._observers else None, **options
        )

    def _started(
        self,
        algorithm: Algorithm,
        given: Mapping[str, Any],
        *,
        run_id: str | None,
        budget: Budget | None,
        metadata: Mapping[str, Any] | None,
        owner: str,
    ) -> Session:
        """A session whose first event says what the run is."""
        session = self._session(run_id or new_run_id())
        start = {
            **_identity(algorithm),
            "input": given,
            "budget": budget or self.budget,
            "metadata": metadata or {},
            "owner": owner,
        }
        session.write("run", RUN_STARTED, start)
        return session

    async def _work(self, session: Session, algorithm: Algorithm, given: Mapping[str, Any], budget: Budget) -> Result:
        """Run the algorithm to whatever end, and return the Result."""
        with active(session.run_id):
            await self._to_the_end(session, algorithm, given, budget)
        return result_of(session.events)

    async def _to_the_end(
        self, session: Session, algorithm: Algorithm, given: Mapping[str, Any], budget: Budget
    ) -> None:
        """Run the algorithm and make its end durable. What cannot be recorded is raised and leaves no end."""
        try:
            outcome = await algorithm(Run(session, Account(budget)), given)
            end = {"status": str(outcome.status), "value": outcome.value, "error": ""}
            session.write("run", RUN_FINISHED, end)
        except JournalError:
            raise
        except ReplayError:
            # No end is recorded, since the algorithm and the journal disagree; what was paid for is kept.
            await session.flush(last=True)
            raise
        except BudgetExceeded as error:
            _finish(session, Status.BUDGET_EXCEEDED, error)
        except (EffectError, EvaluatorError) as error:
            _finish(session, Status.FAILED, error)
        except asyncio.CancelledError:
            _finish(session, Status.CANCELLED, RetrialError("it was interrupted"))
            await session.flush(last=True)
            raise
        except Exception as error:
            # A fault of the program, not of the world: recorded so that the run can be resumed, and raised.
            _finish(session, Status.FAILED, error)
            await session.flush(last=True)
            raise
        await session.flush(last=True)

    def _handler_for(self, effect: Effect) -> Handler:
        """The handler of an effect: the one for its address, else the one for its kind."""
        kind = type(effect)
        handler = self._handlers.get((kind, effect.address)) or self._handlers.get((kind, None))
        if handler is None:
            name = f" {effect.address!r}" if effect.address else ""
            raise HandlerMissing(f"nothing handles {kind.__name__}{name}; attach a handler to the engine first")
        return handler

    def _notify(self, event: Event) -> None:
        for observer in self._observers:
            observer(event)


def new_run_id() -> str:
    """Return an id that sorts by time and is short enough to type: ``261130-1842-4f9a1c03b7e2``."""
    return f"{datetime.now(UTC):%y%m%d-%H%M}-{secrets.token_hex(6)}"


def _finish(session: Session, status: Status, error: BaseException) -> None:
    """Write how a run was ended, with the effects whose failure ended it."""
    keys: list[str] = []
    cause: BaseException | None = error
    while cause is not None:
        keys += [key for key in getattr(cause, "keys", ()) if key not in keys]
        cause = cause.__cause__
    session.write(
        "run",
        RUN_FINISHED,
        {
            "status": str(status),
            "value": session.kept(),
            "error": str(error) if isinstance(error, RetrialError) else f"{type(error).__name__}: {error}",
            "error_type": type(error).__name__,
            "failed_keys": keys,
        },
    )


def _identity(algorithm: Algorithm) -> dict[str, Any]:
    """What makes an algorithm the same as another."""
    return {"algorithm": algorithm.name, "version": algorithm.version, "parameters": algorithm.parameters()}


def _check_same(events: Sequence[Event], algorithm: Algorithm) -> None:
    """Refuse an algorithm that is not the one the run was started with, or adopted since."""
    begun = [event.data for event in events if event.kind in (RUN_STARTED, RUN_RESUMED)]
    recorded = next(data for data in reversed(begun) if "algorithm" in data)
    present = encode(_identity(algorithm))
    found = first_difference({name: recorded[name] for name in present}, present)
    if found:
        place, before, now = found
        raise ResumeRefused(
            f"run {events[0].run_id!r} was started with {place} {before!r}, this is {now!r}: finish it with what it "
            f"was started with, start again (--restart), or adopt what still matches (--adopt)"
        )
