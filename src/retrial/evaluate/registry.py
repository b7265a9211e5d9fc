"""Evaluators by the name that task files and journals use. A new evaluator is one file and one line here."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from typing import Any

from retrial.errors import ConfigError
from retrial.evaluate.critic import Critic
from retrial.evaluate.evaluator import Evaluator
from retrial.evaluate.unit_tests import UnitTests
from retrial.evaluate.validator import Validator

__all__ = ["EVALUATORS", "evaluator_from"]

EVALUATORS: Mapping[str, Callable[..., Evaluator]] = {
    "critic": Critic,
    "unit_tests": UnitTests,
    "validator": Validator,
}
"""What makes an evaluator, by kind; the rest of its spec are keyword arguments."""


def evaluator_from(spec: Mapping[str, Any]) -> Evaluator:
    """Make the evaluator that a spec describes.

    Raises:
        ConfigError: if the kind is unknown, naming the nearest, or the arguments are not the kind's.
    """
    kind = str(spec.get("kind"))
    if kind not in EVALUATORS:
        near = difflib.get_close_matches(kind, EVALUATORS, 1) or sorted(EVALUATORS)
        raise ConfigError(f"no evaluator is called {kind!r}; did you mean {near[0]!r}?")
    try:
        return EVALUATORS[kind](**{name: value for name, value in spec.items() if name != "kind"})
    except TypeError as error:
        raise ConfigError(f"evaluator {kind!r}: {error}") from error
