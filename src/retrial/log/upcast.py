"""Old shapes of events to the present one.

When the shape of an event's data changes, CURRENT_VERSION grows by one and a function is added here that lifts the
version before it. Journals on disk are never rewritten; they are lifted when they are read.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from retrial.core.codec import canonical_json
from retrial.core.events import CURRENT_VERSION, Event
from retrial.errors import StoreTooNew

__all__ = ["upcast"]

_LIFTS: Mapping[int, Callable[[str, Mapping[str, Any]], Mapping[str, Any]]] = {}
"""By version: a function of (kind, data) that gives the data of the next version."""


def upcast(event: Event) -> Event:
    """Return the event in the present shape.

    Raises:
        StoreTooNew: if a later version of retrial wrote it.
    """
    if event.v == CURRENT_VERSION:
        return event
    if event.v > CURRENT_VERSION:
        raise StoreTooNew(
            f"event {event.seq} of run {event.run_id!r} has shape {event.v}, this version reads up to "
            f"{CURRENT_VERSION}; install a newer retrial"
        )
    data = event.data
    for version in range(event.v, CURRENT_VERSION):
        data = _LIFTS[version](event.kind, data)
    return dataclasses.replace(event, text=canonical_json(data), v=CURRENT_VERSION)
