"""One recorded fact, and its JSON form.

An effect leaves two events under its key, ``model.requested`` before it leaves and ``model.completed`` or
``model.failed`` after it came back; one that is safe to repeat leaves the second alone, with the request in it. The
engine writes ``run.started``, ``run.resumed`` and ``run.finished`` under the key ``run``. Every other kind is a note
that an algorithm wrote, such as ``reflexion.lesson``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from retrial.core.codec import canonical_json
from retrial.core.keys import digest_of_text
from retrial.errors import ConfigError

__all__ = [
    "COMPLETED",
    "CURRENT_VERSION",
    "FAILED",
    "REQUESTED",
    "RUN_FINISHED",
    "RUN_RESUMED",
    "RUN_STARTED",
    "Event",
    "event_from_json",
    "event_to_json",
    "fact",
]

CURRENT_VERSION = 1
"""The shape of events that this code writes; older ones are lifted when they are read."""

RUN_STARTED = "run.started"
RUN_RESUMED = "run.resumed"
RUN_FINISHED = "run.finished"
REQUESTED = "requested"
COMPLETED = "completed"
FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Event:
    """One fact about a run. Facts are only ever added."""

    run_id: str
    """Which run."""
    seq: int
    """Position in the run's journal, counted from 0 without gaps."""
    key: str
    """The call path that it belongs to, such as ``trial.2/actor``."""
    kind: str
    """What happened, such as ``model.completed`` or ``reflexion.lesson``."""
    text: str
    """The values that belong to the kind, as canonical JSON. Text, because most events are written and never read."""
    digest: str
    """The digest of the request (of the data, for a note); empty where there is none."""
    at: float
    """When, in seconds since 1970 (UTC)."""
    v: int = CURRENT_VERSION
    """The shape of the values."""

    @property
    def data(self) -> Mapping[str, Any]:
        """The values that belong to the kind, read anew each time."""
        return json.loads(self.text)


def fact(run_id: str, seq: int, key: str, kind: str, data: Mapping[str, Any], *, at: float = 0.0) -> Event:
    """Return an event that holds ``data``, with its digest."""
    text = canonical_json(data)
    return Event(run_id, seq, key, kind, text, digest_of_text(text), at)


def event_to_json(event: Event) -> str:
    """Write an event as one line of JSON."""
    return json.dumps(
        {
            "run_id": event.run_id,
            "seq": event.seq,
            "key": event.key,
            "kind": event.kind,
            "data": event.data,
            "digest": event.digest,
            "at": event.at,
            "v": event.v,
        },
        separators=(",", ":"),
    )


def event_from_json(line: str) -> Event:
    """Read what ``event_to_json`` wrote.

    Raises:
        ValueError: if the line is not an event.
    """
    read: Any = json.loads(line)
    if not isinstance(read, dict):
        raise ValueError("an event is a JSON object")  # noqa: TRY004 - one kind of error for a line that is no event
    fields = cast("dict[str, Any]", read)
    data, seq = fields.pop("data", None), fields.get("seq")
    if not isinstance(seq, int) or not isinstance(data, dict):
        raise ValueError("an event has a whole number 'seq' and an object 'data'")  # noqa: TRY004 - as above
    try:
        return Event(text=canonical_json(cast("dict[str, Any]", data)), **fields)
    except (TypeError, ConfigError) as error:
        raise ValueError(f"not the fields of an event: {error}") from error
