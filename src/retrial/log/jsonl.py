"""Runs as lines of JSON in a file: one event a line, for exchange and for keeping.

A file that was cut off in the middle of its last line is read up to there. Anything else that is not an event is an
error that names the line, because guessing would invent a past.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from retrial.core.events import Event, event_from_json, event_to_json
from retrial.errors import ConfigError, CorruptJournal
from retrial.log.upcast import upcast

__all__ = ["Lines", "read_events", "write_events"]


@dataclass(frozen=True, slots=True)
class Lines:
    """What a file held."""

    events: tuple[Event, ...]
    """Every whole event, in the order of the file."""
    torn: str
    """The unfinished last line that was left out; empty if the file ends well."""


def write_events(path: Path, events: Iterable[Event]) -> int:
    """Write events to a new file, whole or not at all, and return how many.

    Raises:
        ConfigError: if the file cannot be written.
    """
    partial = path.with_name(f"{path.name}.partial-{os.getpid()}")
    count = 0
    try:
        with partial.open("w", encoding="utf-8") as file:
            for event in events:
                file.write(event_to_json(event) + "\n")
                count += 1
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            partial.unlink()
        raise ConfigError(f"cannot write {str(path)!r}: {error.strerror}; name a file in a folder you own") from error
    return count


def read_events(path: Path) -> Lines:
    """Read a file of events, repairing a torn last line by leaving it out.

    Raises:
        ConfigError: if the file cannot be read.
        CorruptJournal: if a line is not an event, or a run's events are not 0, 1, 2, ...; naming the line.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ConfigError(f"cannot read {str(path)!r}: {error.strerror}; check the name") from error
    events: list[Event] = []
    due: dict[str, int] = {}
    torn = ""
    for number, line, ended in _lines(content):
        try:
            event = upcast(event_from_json(line.decode("utf-8")))
        except ValueError as error:
            if not ended:
                torn = line.decode("utf-8", "replace")
                break
            raise CorruptJournal(f"{path.name}, line {number}: {error}; restore the line or remove the run") from error
        if event.seq != due.get(event.run_id, 0):
            raise CorruptJournal(
                f"{path.name}, line {number}: run {event.run_id!r} goes on with seq {event.seq}, "
                f"expected {due.get(event.run_id, 0)}; a line is missing or out of order"
            )
        due[event.run_id] = event.seq + 1
        events.append(event)
    return Lines(tuple(events), torn)


def _lines(content: bytes) -> Iterator[tuple[int, bytes, bool]]:
    """Yield (number from 1, line, whether a line end follows) for each line that is not empty."""
    parts = content.split(b"\n")
    for index, part in enumerate(parts):
        if part.strip():
            yield index + 1, part, index < len(parts) - 1
