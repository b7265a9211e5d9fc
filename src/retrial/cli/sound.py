"""Whether a run can be told from its events. A store may hold what another program, or a person, put into it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from retrial.cli.finding import standing
from retrial.cli.render import value_of
from retrial.cli.reports import record
from retrial.core.events import RUN_FINISHED, RUN_RESUMED, RUN_STARTED, Event
from retrial.core.tasks import Status
from retrial.log.views import in_doubt, result_of, timeline, transcript

__all__ = ["first_fault", "why_unreadable"]

_FIELDS: Mapping[str, tuple[type, str]] = {
    "algorithm": (str, "a text"),
    "version": (str, "a text"),
    "parameters": (dict, "an object"),
    "input": (dict, "an object"),
}
"""What the first event must hold."""


def why_unreadable(events: Sequence[Event]) -> str:
    """Return why a run cannot be told, in words; empty if it can."""
    fault = first_fault(events)
    if fault is not None:
        return fault[1]
    try:
        standing(events)
        in_doubt(events)
        timeline(events)
        transcript(events)
        result = result_of(events)
        float(record("", result)["score"] or 0)
        value = value_of(result)
        if "hidden" in value:
            float(value["hidden"]["score"])
    except Exception as error:  # noqa: BLE001 - whatever odd values lead to
        return f"its events hold something odd ({type(error).__name__}: {error})"
    return ""


def first_fault(events: Sequence[Event]) -> tuple[int, str] | None:
    """Return which event of a run is no event of a run, and why; None if all are."""
    for index, event in enumerate(events):
        try:
            why = _of_start(event) if index == 0 else _of_later(event)
        except (TypeError, ValueError, AttributeError) as error:
            why = f"event {event.seq} holds something odd ({type(error).__name__}: {error})"
        if why:
            return index, why
    return None


def _of_start(event: Event) -> str:
    """What is wrong with a run's first event."""
    if event.kind != RUN_STARTED:
        return f"its first event is {event.kind!r} and not {RUN_STARTED!r}"
    data = event.data
    for name, (kind, words) in _FIELDS.items():
        if not isinstance(data.get(name), kind):
            return f"{name} is {data[name]!r:.80} and not {words}" if name in data else f"its first event has no {name}"
    for name in ("metadata", "budget"):
        if not isinstance(data.get(name, {}), dict):
            return f"{name} is {data[name]!r:.80} and not an object"
    if not isinstance(data["input"].get("task", ""), (str, dict)):
        return f"its task is {data['input']['task']!r:.80}"
    return _of_metadata(data.get("metadata", {})) or _of_owner(data)


def _of_metadata(metadata: Mapping[str, Any]) -> str:
    """What is wrong with what a run says of its recipe and its models."""
    if not all(isinstance(metadata.get(name, {}), dict) for name in ("recipe", "models")):
        return f"metadata is {metadata!r:.80} and says nothing of the recipe and the models"
    named = [metadata.get("label", ""), *metadata.get("models", {}).values()]
    if not all(isinstance(name, str) for name in named):
        return f"metadata names a model {next(name for name in named if not isinstance(name, str))!r:.80}"
    return ""


def _of_later(event: Event) -> str:
    """What is wrong with a later event of the engine's; notes and effects are looked at by the views."""
    if event.kind == RUN_RESUMED:
        return _of_owner(event.data)
    if event.kind != RUN_FINISHED:
        return ""
    status, error = event.data.get("status"), event.data.get("error", "")
    if status not in [*Status]:
        return f"its status {status!r:.80} is none of {', '.join(Status)}"
    return "" if isinstance(error, str) else f"error is {error!r:.80} and not a text"


def _of_owner(data: Mapping[str, Any]) -> str:
    """What is wrong with the name of the process that works on a run."""
    owner = data.get("owner", "")
    parts = owner.split(":") if isinstance(owner, str) else []
    if owner == "" or (len(parts) == 3 and parts[1].isdecimal()):
        return ""
    return f"owner {owner!r:.80} names no process"
