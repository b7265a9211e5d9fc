"""Algorithms by the name that task files and recipes use. A new algorithm is one file and one line here."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from typing import Any

from retrial.algorithms.acting import Actor
from retrial.algorithms.debate import Debate
from retrial.algorithms.self_consistency import SelfConsistency
from retrial.algorithms.tree import TreeOfThoughts
from retrial.engine.run import Algorithm
from retrial.errors import ConfigError

__all__ = ["ALGORITHMS", "actor_from", "algorithm_from"]

ALGORITHMS: dict[str, Callable[..., Algorithm]] = {
    "debate": Debate,
    "self_consistency": SelfConsistency,
    "tree": TreeOfThoughts,
}
"""What makes an algorithm, by kind; the rest of its spec are keyword arguments."""


def algorithm_from(spec: Mapping[str, Any]) -> Algorithm:
    """Make the algorithm that a spec such as ``{"kind": "debate", "agents": 3}`` describes.

    Raises:
        ConfigError: if the kind is unknown, naming the nearest, or the arguments are not the kind's.
    """
    kind = str(spec.get("kind"))
    if kind not in ALGORITHMS:
        near = difflib.get_close_matches(kind, ALGORITHMS, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"it can be one of {', '.join(sorted(ALGORITHMS))}"
        raise ConfigError(f"no algorithm is called {kind!r}; {hint}")
    try:
        return ALGORITHMS[kind](**{name: value for name, value in spec.items() if name != "kind"})
    except TypeError as error:
        raise ConfigError(f"algorithm {kind!r}: {error}") from error


def actor_from(actor: str | Mapping[str, Any] | None) -> Actor:
    """Return who acts: a host function by its name, an algorithm by its spec, or None for the model."""
    return actor if actor is None or isinstance(actor, str) else algorithm_from(actor)
