"""One trial as far as lessons are concerned: what the journal tells of it, and what harm is found by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["Tried"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """One trial, as far as lessons are concerned."""

    task_id: str
    """The task."""
    trial: int
    """Which trial of its run, counted from 1."""
    passed: bool
    """Whether the evaluator accepted it. A verdict that could not be read is no trial and must be left out."""
    lessons: tuple[str, ...]
    """The ids of the lessons in the prompt."""
    recalled: Mapping[str, float] = field(default_factory=dict[str, float])
    """Where chance decides which recalled lessons are used: the id of each one that the recall found, used or not, and
    the chance with which it was to be left out of this run, above 0 and below 1."""
    run_id: str
    """The run, for the evidence."""
    order: float = 0.0
    """When, as a number that grows, such as seconds since 1970: it says where a look falls and what a release hides."""
    setting: str = ""
    """What else must be equal for trials to be compared, such as the model and the recipe."""
