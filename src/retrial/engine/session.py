"""One session of work on a run: what was recorded before, what is written now.

Knows keys, digests and durability, and nothing of what an algorithm does with them. Within one run events are numbered
when they are written and appended in that order, so once an event is durable everything before it is.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from retrial import errors
from retrial.core.codec import canonical_json, decode, encode
from retrial.core.effects import Effect, Handler
from retrial.core.events import COMPLETED, FAILED, REQUESTED, RUN_FINISHED, Event
from retrial.core.keys import digest_of_text, first_difference
from retrial.core.tasks import Status
from retrial.errors import DuplicateKey, EffectError, EvaluatorError, ReplayIncomplete, ReplayMismatch, RetrialError
from retrial.log.journal import Journal
from retrial.log.views import usage_of

__all__ = ["Session"]


class Session:
    """Looks effects up in the journal, and performs and records those that are not there."""

    def __init__(
        self,
        run_id: str,
        journal: Journal,
        handler_for: Callable[[Effect], Handler],
        *,
        events: Sequence[Event] = (),
        replaying: bool = False,
        adopt: bool = False,
        observer: Callable[[Event], None] | None = None,
    ) -> None:
        self.run_id = run_id
        self.events = list(events)
        self._count = len(events)
        self.kept: Callable[[], Any] = lambda: None
        self.performed = False
        self._journal = journal
        self._handler_for = handler_for
        self._replaying = replaying
        self._adopt = adopt
        self._observer = observer
        self._unwritten: list[Event] = []
        self._append: Awaitable[None] | None = None
        self._names: set[str] = {"run"}
        self._outcomes: dict[str, Event] = {}
        self._requests: dict[str, Event] = {}
        self._notes: dict[str, Event] = {}
        self._seconds_before = usage_of(events).seconds if events else 0.0
        self._started = time.monotonic()
        self._index(events)

    @property
    def seconds(self) -> float:
        """How long the run has been worked on, earlier sessions included."""
        return self._seconds_before + time.monotonic() - self._started

    def claim(self, key: str) -> str:
        """Take a key for one effect or note.

        Raises:
            DuplicateKey: if it was taken before.
        """
        if key in self._names:
            raise DuplicateKey(
                f"{key!r} is used twice in run {self.run_id!r}; put what distinguishes the two into the name"
            )
        self._names.add(key)
        return key

    def has_outcome(self, key: str) -> bool:
        """Whether the journal holds what became of an effect."""
        return key in self._outcomes

    async def perform(self, key: str, effect: Effect) -> Any:
        """Return the recorded outcome of ``effect``, or perform it and record the outcome.

        Raises:
            EffectError: if the world failed, now or when it was recorded.
            ReplayMismatch: if the key was recorded with another request.
            ReplayIncomplete: if this is a replay and nothing was recorded.
        """
        text = canonical_json(effect)
        mark = digest_of_text(text)
        recorded = self._recorded(key, effect, mark)
        if recorded is not None:
            data = recorded.data
            if recorded.kind.endswith(FAILED):
                raise _restored(key, data)
            return decode(effect.outcome, data["outcome"])
        if self._replaying:
            raise ReplayIncomplete(f"run {self.run_id!r} holds no outcome for {key!r}; resume it instead of replaying")
        handler = self._handler_for(effect)
        first, self.performed = not self.performed, True
        if effect.repeatable:
            if first:
                # The event that begins the session is its claim on the run, and must stand before anything is done.
                await self.flush()
            return await self._settle(handler, key, effect, mark, {"effect": effect, "began": time.time()})
        self.write(key, f"{effect.kind}.{REQUESTED}", {"effect": effect}, mark, f'{{"effect":{text}}}')
        await self.flush()
        return await self._settle(handler, key, effect, mark, {})

    def note(self, key: str, kind: str, data: Mapping[str, Any]) -> None:
        """Write a fact that the algorithm states, once.

        It is written out with the next effect: nothing that depends on it can become durable before it.
        """
        text = canonical_json(data)
        mark = digest_of_text(text)
        recorded = self._notes.get(key)
        if recorded is not None:
            if recorded.digest == mark and not self._adopt:
                return
            if not self._adopt:
                raise _mismatch(self.run_id, key, recorded.data, json.loads(text))
        if self._replaying:
            raise ReplayIncomplete(f"run {self.run_id!r} holds no note {key!r}; resume it instead of replaying")
        self.write(key, kind, data, mark, text)

    def now(self, key: str) -> str:
        """Return the time as ISO 8601 in UTC: the recorded one, or this moment's."""
        recorded = self._notes.get(key)
        if recorded is not None:
            return str(recorded.data["at"])
        at = datetime.now(UTC).isoformat()
        self.note(key, "now", {"at": at})
        return at

    def write(self, key: str, kind: str, data: Mapping[str, Any], mark: str = "", text: str = "") -> None:
        """Add an event to those that the next ``flush`` writes out; ``text`` is its canonical JSON if at hand."""
        event = Event(self.run_id, self._count, key, kind, text or canonical_json(data), mark, time.time())
        self._count += 1
        # What was asked is the larger half of a run, and no Result needs it.
        if not kind.endswith(REQUESTED):
            self.events.append(event)
        self._unwritten.append(event)
        if self._observer is not None:
            self._observer(event)

    async def flush(self, *, last: bool = False) -> None:
        """Make everything durable that was written so far; ``last`` if nothing more will come in this session."""
        self._hand_over(last=last)
        # Appends become durable in the order in which they were handed over, so the last one stands for all.
        append, self._append = self._append, None
        if append is not None:
            await append

    def _hand_over(self, *, last: bool = False) -> None:
        """Give the journal what was written and not yet given."""
        if self._unwritten:
            batch, self._unwritten = self._unwritten, []
            self._append = self._journal.append(batch, last=last)

    def _index(self, events: Sequence[Event]) -> None:
        """Sort what was recorded by key, leaving out failures that ended the run: they are to be tried again."""
        for event in events:
            _, _, stage = event.kind.rpartition(".")
            if stage == REQUESTED:
                # Asked anew: what an earlier asking came to no longer counts.
                self._requests[event.key] = event
                self._outcomes.pop(event.key, None)
            elif stage in (COMPLETED, FAILED):
                self._outcomes[event.key] = event
                asked = self._requests.get(event.key)
                if asked is None or asked.digest != event.digest:
                    # An effect that is safe to repeat has its request in this event, and no other.
                    self._requests[event.key] = event
            elif event.kind == RUN_FINISHED and event.data["status"] == Status.FAILED:
                for key in event.data["failed_keys"]:
                    self._outcomes.pop(key, None)
            elif event.key != "run":
                self._notes[event.key] = event

    def _recorded(self, key: str, effect: Effect, mark: str) -> Event | None:
        """The recorded outcome of an effect, None if there is none."""
        asked = self._requests.get(key)
        if asked is not None and (asked.digest != mark or not asked.kind.startswith(f"{effect.kind}.")):
            if self._adopt:
                return None
            raise _mismatch(self.run_id, key, asked.data.get("effect"), encode(effect))
        return self._outcomes.get(key)

    async def _settle(self, handler: Handler, key: str, effect: Effect, mark: str, about: Mapping[str, Any]) -> Any:
        """Perform an effect and record what came of it, with what is to be said ``about`` it."""
        try:
            outcome = await handler(effect, key)
        except (EffectError, EvaluatorError) as error:
            error.keys = (key,)
            data = {**about, "type": type(error).__name__, "message": str(error)}
            self.write(key, f"{effect.kind}.{FAILED}", data, mark)
            raise
        else:
            self.write(key, f"{effect.kind}.{COMPLETED}", {**about, "outcome": outcome}, mark)
            return outcome
        finally:
            # Nothing that cannot be repeated leaves this process before the outcome is durable: the next such effect
            # and the end of the run wait for it. It is handed over now or, together with what the algorithm does next
            # without waiting, a moment later.
            asyncio.get_running_loop().call_soon(self._hand_over)


def _restored(key: str, data: Mapping[str, Any]) -> RetrialError:
    """The failure that was recorded, as the exception it was."""
    kind = getattr(errors, str(data["type"]), EffectError)
    error = kind(data["message"]) if issubclass(kind, RetrialError) else EffectError(data["message"])
    error.keys = (key,)
    return error


def _mismatch(run_id: str, key: str, recorded: Any, present: Any) -> ReplayMismatch:
    """The error that names the key and the first field that differs."""
    place, before, now = first_difference(recorded, present) or ("kind", "another effect", "this one")
    return ReplayMismatch(
        f"run {run_id!r}, {key!r}: {place} was {_short(before)} when it was recorded and is {_short(now)} now; "
        f"finish it with the code that began it, adopt what still matches, or start again"
    )


def _short(value: Any) -> str:
    """A value for a message, cut to one line."""
    text = repr(value)
    return text if len(text) <= 120 else f"{text[:117]}..."
