"""Algorithms by the name that task files and recipes use. A new algorithm is one file and one line here."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Mapping
from typing import Any

from retrial.algorithms.acting import Actor
from retrial.algorithms.best_of import BestOf
from retrial.algorithms.debate import Debate
from retrial.algorithms.generate_test_repair import GenerateTestRepair
from retrial.algorithms.generator_critic import GeneratorCritic
from retrial.algorithms.self_consistency import SelfConsistency
from retrial.algorithms.tree import TreeOfThoughts
from retrial.algorithms.ucs import UniformCostSearch
from retrial.algorithms.written_tests import WrittenTests
from retrial.engine.run import Algorithm
from retrial.errors import ConfigError
from retrial.evaluate.registry import evaluator_from

__all__ = ["ALGORITHMS", "actor_from", "algorithm_from"]

ALGORITHMS: dict[str, Callable[..., Algorithm]] = {
    "best_of": BestOf,
    "debate": Debate,
    "generate_test_repair": GenerateTestRepair,
    "generator_critic": GeneratorCritic,
    "self_consistency": SelfConsistency,
    "tree": TreeOfThoughts,
    "ucs": UniformCostSearch,
    "written_tests": WrittenTests,
}
"""What makes an algorithm, by kind; the rest of its spec are keyword arguments."""

_WITH_TOOLS = ("tool_loop", "swarm")

_KINDS = {"int": "a whole number", "bool": "true or false", "float": "a number", "str": "a text"}


def algorithm_from(spec: Mapping[str, Any]) -> Algorithm:
    """Make the algorithm that a spec such as ``{"kind": "debate", "agents": 3}`` describes.

    Raises:
        ConfigError: if the kind is unknown, naming the nearest, or the arguments are not the kind's.
    """
    kind = str(spec.get("kind"))
    if kind in _WITH_TOOLS:
        raise ConfigError(f"algorithm {kind!r} needs tools, which are functions; use it from Python (docs/tools.md)")
    if kind not in ALGORITHMS:
        raise ConfigError(f"no algorithm is called {kind!r}; {_nearest(kind, ALGORITHMS)}")
    given = {name: value for name, value in spec.items() if name != "kind"}
    known = inspect.signature(ALGORITHMS[kind]).parameters
    for name, value in given.items():
        if name not in known:
            raise ConfigError(f"algorithm {kind!r} takes no {name!r}; {_nearest(name, known)}")
        _check(kind, name, value, str(known[name].annotation))
    missing = [name for name, one in known.items() if one.default is one.empty and name not in given]
    if missing:
        hint = "; on the command line: --set n=5" if missing == ["n"] else ""
        raise ConfigError(f"algorithm {kind!r} needs {' and '.join(missing)}{hint}")
    if isinstance(given.get("evaluator"), Mapping):
        given["evaluator"] = evaluator_from(given["evaluator"])
    try:
        return ALGORITHMS[kind](**given)
    except TypeError as error:
        raise ConfigError(f"algorithm {kind!r}: {error}") from error


def actor_from(actor: str | Mapping[str, Any] | None, evaluator: Mapping[str, Any] | None = None) -> Actor:
    """Return who acts: a host function by its name, an algorithm by its spec, or None for the model.

    An algorithm that judges its own attempts does so by the spec ``evaluator``, unless its own spec says otherwise.

    Raises:
        ConfigError: if it is none of them, or the spec is none.
    """
    if actor is None or isinstance(actor, str):
        return actor
    if not isinstance(actor, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance] - a user's value
        raise ConfigError(
            f'actor={actor!r:.80} is not possible; give a function, or a spec such as {{"kind": "debate"}}'
        )
    make = ALGORITHMS.get(str(actor.get("kind")))
    judges = make is not None and "evaluator" in inspect.signature(make).parameters
    if judges and evaluator is not None and not {"evaluator", "validator"} & {*actor}:
        return algorithm_from({**actor, "evaluator": evaluator})
    return algorithm_from(actor)


def _check(kind: str, name: str, value: Any, annotation: str) -> None:
    """Refuse a value of a wrong kind for a parameter that is a plain value.

    Raises:
        ConfigError: naming the parameter, the value and what it can be.
    """
    wanted = [one.strip() for one in annotation.split("|")]
    if not {*wanted} <= {*_KINDS, "None"}:
        return
    is_whole = type(value) is int
    fits = {"int": is_whole, "bool": isinstance(value, bool), "float": is_whole or isinstance(value, float)}
    fits |= {"str": isinstance(value, str), "None": value is None}
    if not any(fits[one] for one in wanted):
        allowed = " or ".join(_KINDS.get(one, "none") for one in wanted)
        raise ConfigError(f"algorithm {kind!r}: {name}={value!r} is not possible; it can be {allowed}")


def _nearest(name: str, known: Mapping[str, Any]) -> str:
    near = difflib.get_close_matches(name, known, 1)
    return f"did you mean {near[0]!r}?" if near else f"it can be one of {', '.join(sorted(known))}"
