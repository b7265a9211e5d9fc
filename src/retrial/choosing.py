"""Which recipe solves a task: by what judges it and by what was asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from retrial.core.tasks import Task
from retrial.engine.run import Algorithm
from retrial.errors import ConfigError
from retrial.gating import judged_by
from retrial.placing import judged_by_command
from retrial.recipes.registry import recorded

__all__ = ["HARNESS_OPTIONS", "algorithm_for"]

HARNESS_OPTIONS = frozenset({"patience", "reflector", "threshold", "validator"})
"""What only the harness recipe can be told."""


def algorithm_for(
    task: Task,
    recipe: Mapping[str, Any],
    names: Mapping[str, str],
    evaluator: str | Mapping[str, Any] | None = None,
) -> tuple[Algorithm, Mapping[str, Any]]:
    """Return what solves a task, and the metadata to record: by its evaluator, its tests or its answer.

    ``recipe`` holds what the recipe is told, ``names`` what each role's model is called, under ``actor`` the one whose
    work is judged. ``evaluator`` is a kind or a spec and comes before the task's own. The recipe is ``harness`` where
    only that one can be told what it is (see ``HARNESS_OPTIONS``), ``judge`` where a model judges alone, and
    ``insight_bank`` where ``insights`` stands in it: what that recipe is told besides, empty for its own defaults.

    Raises:
        ConfigError: if nothing could fail, or a judge would judge its own work.
    """
    insights = recipe.get("insights")
    if insights is not None:
        return _with_insights(task, recipe, insights, judged_by(task, names, evaluator))
    if "validator" in recipe:
        if evaluator is not None:
            raise ConfigError(f"a validator and evaluator={evaluator!r} are both given; choose one")
        return recorded("harness", _for_harness(recipe))
    spec = judged_by(task, names, evaluator)
    if HARNESS_OPTIONS & {*recipe}:
        return recorded("harness", {**_for_harness(recipe), "evaluator": spec or {"kind": "unit_tests"}})
    recipe = _with_memory(recipe)
    if spec is None:
        return recorded("unit_tests", recipe)
    if spec["kind"] == "judge":
        return recorded("judge", {**recipe, **{name: value for name, value in spec.items() if name != "kind"}})
    return recorded("project" if judged_by_command(spec) else "checked", {**recipe, "evaluator": spec})


def _with_insights(
    task: Task, recipe: Mapping[str, Any], insights: Mapping[str, Any], spec: Mapping[str, Any] | None
) -> tuple[Algorithm, Mapping[str, Any]]:
    """The recipe that learns across tasks."""
    strange = HARNESS_OPTIONS & {*recipe}
    if strange:
        raise ConfigError(f"{min(strange)}={recipe[min(strange)]!r} does not go with insights; leave one of them out")
    if spec is not None and judged_by_command(spec):
        raise ConfigError(f"task {task.id!r} changes a project, from which no insights are taken yet; leave them out")
    told = {name: value for name, value in _with_memory(recipe).items() if name != "insights"}
    return recorded("insight_bank", {**told, **insights, **({"evaluator": spec} if spec is not None else {})})


def _for_harness(recipe: Mapping[str, Any]) -> dict[str, Any]:
    """What the harness recipe is told: the same, without what it does not know."""
    unknown = {"from_stored": False, "carry": "lessons", "confirm": False}
    for name, absent in unknown.items():
        if recipe.get(name, absent) != absent:
            way = "say memory='persistent' instead" if name == "from_stored" else "leave it or the former out"
            raise ConfigError(f"{name}={recipe[name]!r} does not go with a validator or patience; {way}")
    return {name: value for name, value in recipe.items() if name not in unknown}


def _with_memory(recipe: Mapping[str, Any]) -> Mapping[str, Any]:
    """What the other recipes are told, ``memory`` in their words."""
    told = dict(recipe)
    memory = told.pop("memory", None)
    if memory not in (None, "episodic", "persistent"):
        raise ConfigError(f"memory={memory!r} is not possible; it can be 'episodic' or 'persistent'")
    if memory == "episodic" and told.get("from_stored"):
        raise ConfigError("memory='episodic' keeps nothing to begin with; leave from_stored out")
    if memory is not None:
        told["from_stored"] = told["store_lessons"] = memory == "persistent"
    return told
