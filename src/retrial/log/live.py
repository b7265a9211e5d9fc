"""Telling a host of each attempt and lesson as it happens."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable
from typing import Any

from retrial.core.codec import decode
from retrial.core.events import Event
from retrial.core.tasks import Attempt, Lesson
from retrial.errors import ConfigError

__all__ = ["watcher"]

_LOGGER = logging.getLogger("retrial")


def watcher(
    on_attempt: Callable[[Attempt], object] | None = None, on_lesson: Callable[[Lesson], object] | None = None
) -> Callable[[Event], None]:
    """Return what ``Engine.observe`` takes, which calls these with every attempt and lesson of a loop.

    Each is called once, when the event is written: a resumed run calls them for what is new in it, a replay never. (A
    run that another algorithm adopts states its trials anew, and they are told anew.) A callback that raises is logged,
    under the logger ``retrial``, and the run goes on: what was paid for is worth more than what looks on.

    Raises:
        ConfigError: if a callback is async, since nobody would await it.
    """
    for name, callback in (("on_attempt", on_attempt), ("on_lesson", on_lesson)):
        if inspect.iscoroutinefunction(callback):
            raise ConfigError(f"{name}={callback!r} is async, and nobody waits for it; make it a plain function")

    def observe(event: Event) -> None:
        if event.kind == "reflexion.feedback" and on_attempt is not None:
            _tell("on_attempt", on_attempt, decode(Attempt, event.data["attempt"]))
        elif event.kind == "reflexion.lesson" and on_lesson is not None:
            _tell("on_lesson", on_lesson, decode(Lesson, event.data["lesson"]))

    return observe


def _tell(name: str, callback: Callable[[Any], object], what: Attempt | Lesson) -> None:
    try:
        callback(what)
    except Exception:
        _LOGGER.exception("%s raised; the run goes on", name)
