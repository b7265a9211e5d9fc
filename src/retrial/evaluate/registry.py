"""Evaluators by the name that task files and journals use. A new evaluator is one file and one line here."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Mapping
from typing import Any, cast

from retrial.errors import ConfigError
from retrial.evaluate.command import Command
from retrial.evaluate.compose import AllOf, FirstFailing, Weighted
from retrial.evaluate.critic import Critic
from retrial.evaluate.evaluator import Evaluator
from retrial.evaluate.faithfulness import Faithfulness
from retrial.evaluate.json_schema import JsonSchema
from retrial.evaluate.judge import Judge
from retrial.evaluate.match import exact, f1, fuzzy, normalised
from retrial.evaluate.numeric import Numeric
from retrial.evaluate.panel import Panel
from retrial.evaluate.person import Person
from retrial.evaluate.pydantic_model import PydanticModel
from retrial.evaluate.rubric import Rubric
from retrial.evaluate.sql import Sql
from retrial.evaluate.unit_tests import UnitTests
from retrial.evaluate.validator import Validator

__all__ = ["EVALUATORS", "evaluator_from", "register"]

EVALUATORS: dict[str, Callable[..., Evaluator]] = {
    "all_of": AllOf,
    "command": Command,
    "critic": Critic,
    "exact": exact,
    "f1": f1,
    "faithfulness": Faithfulness,
    "first_failing": FirstFailing,
    "fuzzy": fuzzy,
    "json_schema": JsonSchema,
    "judge": Judge,
    "normalised": normalised,
    "numeric": Numeric,
    "panel": Panel,
    "person": Person,
    "pydantic_model": PydanticModel,
    "rubric": Rubric,
    "sql": Sql,
    "unit_tests": UnitTests,
    "validator": Validator,
    "weighted": Weighted,
}
"""What makes an evaluator, by kind; the rest of its spec are keyword arguments."""

_NESTED = ("parts", "judges")
"""The arguments that hold evaluators: specs in a spec."""


def register(kind: str, make: Callable[..., Evaluator]) -> None:
    """Make ``{"kind": kind, ...}`` known to task files and recipes of this process.

    Raises:
        ConfigError: if another evaluator has the name.
    """
    if EVALUATORS.get(kind, make) is not make:
        raise ConfigError(f"an evaluator is called {kind!r} already; choose another name")
    EVALUATORS[kind] = make


def evaluator_from(spec: Mapping[str, Any]) -> Evaluator:
    """Make the evaluator that a spec describes.

    Raises:
        ConfigError: if the kind is unknown, naming the nearest, or the arguments are not the kind's.
    """
    kind = str(spec.get("kind"))
    if kind not in EVALUATORS:
        near = difflib.get_close_matches(kind, EVALUATORS, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"it can be one of {', '.join(sorted(EVALUATORS))}"
        raise ConfigError(f"no evaluator is called {kind!r}; {hint}")
    given = {name: value for name, value in spec.items() if name != "kind"}
    _refuse_unknown(kind, given)
    for name in _NESTED:
        if name in given:
            given[name] = [_part(kind, name, part) for part in _list(kind, name, given[name])]
    try:
        return EVALUATORS[kind](**given)
    except TypeError as error:
        raise ConfigError(f"evaluator {kind!r}: {error}") from error


def _refuse_unknown(kind: str, given: Mapping[str, Any]) -> None:
    """Refuse an option that the kind does not have.

    Raises:
        ConfigError: naming the option and the nearest there is.
    """
    known = inspect.signature(EVALUATORS[kind]).parameters
    open_ended = any(one.kind is one.VAR_KEYWORD for one in known.values())
    for name in () if open_ended else given:
        if name not in known:
            near = difflib.get_close_matches(name, known, 1)
            hint = f"did you mean {near[0]!r}?" if near else f"it can be one of {', '.join(known) or 'none'}"
            raise ConfigError(f"evaluator {kind!r} takes no {name!r}; {hint}")


def _list(kind: str, name: str, value: Any) -> list[Any]:
    if not isinstance(value, list | tuple):
        raise ConfigError(f"evaluator {kind!r}: {name}={value!r} must be a list of evaluators")
    return list(cast("list[Any]", value))


def _part(kind: str, name: str, part: Any) -> Evaluator:
    """One evaluator of a list."""
    if not isinstance(part, Mapping):
        raise ConfigError(f'evaluator {kind!r}: {name} holds {part!r}; each is {{ kind = "...", ... }}')
    return evaluator_from(cast("Mapping[str, Any]", part))
