"""What was deleted from a run afterwards. Its first event says so, and goes wherever the run goes.

Such a run still folds. It does not replay and is not resumed: what it asked and what it was told is no longer there.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from retrial.core.codec import canonical_json
from retrial.core.events import Event
from retrial.errors import RunRedacted

__all__ = ["deleted_lessons", "marked", "refuse_redacted"]

_FIELD = "redacted"


def marked(start: Event, lesson_id: str, at: str) -> Event:
    """Return a run's first event with the note that a lesson was deleted from the run."""
    before: list[Mapping[str, Any]] = start.data.get(_FIELD, [])
    kept = [one for one in before if one["lesson"] != lesson_id]
    return dataclasses.replace(
        start, text=canonical_json({**start.data, _FIELD: [*kept, {"lesson": lesson_id, "at": at}]})
    )


def deleted_lessons(events: Sequence[Event]) -> tuple[str, ...]:
    """Return the ids of the lessons that were deleted from a run."""
    return tuple(str(one["lesson"]) for one in events[0].data.get(_FIELD, ()))


def refuse_redacted(events: Sequence[Event]) -> None:
    """Refuse to go through a run again from which a lesson was deleted.

    Raises:
        RunRedacted: naming the lessons.
    """
    gone = deleted_lessons(events)
    if gone:
        several = len(gone) > 1
        raise RunRedacted(
            f"run {events[0].run_id!r} held {'lessons' if several else 'lesson'} {', '.join(gone)}, which "
            f"{'were' if several else 'was'} deleted: its words are gone from the record, so it cannot be gone through "
            f"again; look at it with `retrial show`, or start the same task anew with `retrial resume --restart`"
        )
