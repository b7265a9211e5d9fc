"""What trials say of lessons: which were told, and whether the trial passed. Folds of a run's events.

Uses and wins are never counted up anywhere: they are these facts, counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from retrial.core.codec import decode
from retrial.core.events import RUN_RESUMED, Event
from retrial.core.keys import digest
from retrial.core.tasks import Task
from retrial.core.trials import Tried

__all__ = [
    "FEEDBACK",
    "LEFT_OUT",
    "LEFT_OUT_WITH",
    "RECALLED",
    "environment_of",
    "task_id_of_run",
    "trial_facts",
]

FEEDBACK = "reflexion.feedback"
"""The note that a trial leaves."""

RECALLED = "recall.completed"
"""The event that holds what a memory answered."""

LEFT_OUT_WITH = "left_out_with"
"""In a recalled lesson: the chance with which it was to be left out of the run."""

LEFT_OUT = "left_out"
"""In a recalled lesson: whether it was."""


def trial_facts(events: Sequence[Event]) -> tuple[Tried, ...]:
    """Return the trials of a run's outermost loop, in order; of events, those of the engine, recalls and notes suffice.

    Attempts that a judge gave no readable verdict on say nothing of lessons and are left out, as is the loop of an
    actor that is itself a loop.
    """
    adopted = [index for index, event in enumerate(events) if event.kind == RUN_RESUMED and event.data.get("adopt")]
    notes = {event.key: event for event in events[adopted[-1] if adopted else 0 :] if event.kind == FEEDBACK}
    if not notes:
        return ()
    start = events[0].data
    task_id, setting = task_id_of_run(start), digest([start.get("algorithm"), environment_of(start)])[:12]
    recalled = _chances(events)
    outermost = min(key.count("/") for key in notes)
    facts: dict[int, Tried] = {}
    for key, event in notes.items():
        attempt = event.data["attempt"]
        verdict = attempt["verdict"]
        if key.count("/") == outermost and not verdict.get("unparsed"):
            number = int(attempt["trial"])
            facts[number] = Tried(
                run_id=event.run_id,
                task_id=task_id,
                trial=number,
                passed=bool(verdict["passed"]),
                lessons=_names(attempt.get("lessons_used", ())),
                recalled=recalled,
                setting=setting,
                order=event.at,
            )
    return tuple(facts[number] for number in sorted(facts))


def task_id_of_run(start: Mapping[str, Any]) -> str:
    """Return the id under which lessons about a run's task are kept, from the data of its first event.

    >>> task_id_of_run({"input": {"task": {"prompt": "p", "id": "add"}}}), len(task_id_of_run({"input": {"task": "p"}}))
    ('add', 64)
    """
    task = start["input"].get("task", "")
    return (Task(prompt=task) if isinstance(task, str) else decode(Task, task)).identified().id


def environment_of(start: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what a lesson of a run was learnt under, from the data of its first event: what is not known is left out.

    >>> start = {"parameters": {"evaluator": {"kind": "numeric"}, "prompts": {"actor": "0f" * 32}}}
    >>> environment_of({**start, "metadata": {"models": {"actor": "ollama:qwen"}}})["models"]
    {'actor': 'ollama:qwen'}
    """
    parameters, metadata = _mapping(start.get("parameters")), _mapping(start.get("metadata"))
    found: dict[str, Any] = {"models": metadata.get("models"), "prompts": parameters.get("prompts")}
    if parameters.get("evaluator"):
        found["evaluator"] = digest(parameters["evaluator"])
    return {name: value for name, value in found.items() if value}


def _chances(events: Sequence[Event]) -> Mapping[str, float]:
    """The lessons that were recalled, and the chances with which they were to be left out."""
    found: dict[str, float] = {}
    for event in events:
        items: Any = event.data["outcome"] if event.kind == RECALLED else ()
        for item in cast("list[Any]", items) if isinstance(items, list) else ():
            chance = _mapping(item).get(LEFT_OUT_WITH)
            if chance:
                found[str(item["id"])] = float(chance)
    return found


def _names(ids: Iterable[object]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(str(one) for one in ids))


def _mapping(value: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}
