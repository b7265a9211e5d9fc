"""Recipes by name, so that a run can be resumed by whoever finds it in a store.

``rebuild`` makes the algorithm again from what the run recorded. A new recipe is one file and one line here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from retrial.engine.run import Algorithm
from retrial.errors import ConfigError
from retrial.recipes.gate import gate
from retrial.recipes.harness import harness
from retrial.recipes.insight_bank import extraction, insight_bank
from retrial.recipes.judge import checked, judge
from retrial.recipes.project import project
from retrial.recipes.unit_tests import unit_tests

__all__ = ["RECIPES", "rebuild", "recorded"]

RECIPES: Mapping[str, Callable[..., Algorithm]] = {
    "checked": checked,
    "extraction": extraction,
    "gate": gate,
    "harness": harness,
    "insight_bank": insight_bank,
    "judge": judge,
    "project": project,
    "unit_tests": unit_tests,
}
"""The recipes by the name that task files and journals use."""


def recorded(name: str, options: Mapping[str, Any]) -> tuple[Algorithm, Mapping[str, Any]]:
    """Return a recipe's algorithm, and the metadata from which ``rebuild`` makes it again."""
    return RECIPES[name](**options), {"recipe": {"name": name, "options": dict(options)}}


def rebuild(start: Mapping[str, Any]) -> Algorithm:
    """Make the algorithm of a run again, from the data of its first event.

    Raises:
        ConfigError: if the run was not started from a recipe.
    """
    recipe = start.get("metadata", {}).get("recipe")
    if recipe is None or recipe["name"] not in RECIPES:
        raise ConfigError(
            f"the run was started by a program ({start.get('algorithm')!r}), not from a recipe; "
            f"resume or replay it with Engine.resume or Engine.replay from that program"
        )
    return RECIPES[recipe["name"]](**recipe["options"])
