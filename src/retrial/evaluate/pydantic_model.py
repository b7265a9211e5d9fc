"""A reply is data that a Pydantic model accepts.

``PydanticHandler`` stands on the other side: it finds the model by name or import path, validates where the engine
performs effects, and imports core alone.
"""

from __future__ import annotations

import difflib
import importlib
import json
from collections.abc import Mapping
from typing import Any, cast

from retrial.core.effects import CallHost, Handlers
from retrial.core.reports import Check
from retrial.core.tasks import Task, Verdict
from retrial.engine.run import Run
from retrial.errors import ConfigError, EvaluatorError
from retrial.evaluate.json_answer import ABSENT, place_of, read_json, value_in_words
from retrial.evaluate.json_schema import shape_verdict

__all__ = ["PydanticHandler", "PydanticModel"]


class PydanticModel:
    """Judges a reply by a Pydantic model.

    Args:
        model: the name under which the host registered it, or an import path ``module:Class``.
        repair: whether a reply that is nearly JSON is mended before it is judged.

    The score is 1 / (1 + faults), and 0 for a reply that is no JSON.
    """

    max_calls = 0

    def __init__(self, model: str, *, repair: bool = True) -> None:
        if not model.strip():
            raise ConfigError(f"pydantic_model: model={model!r} names nothing; give a name or 'module:Class'")
        self._model, self._repair = model, repair

    def spec(self) -> Mapping[str, Any]:
        """Return what makes an equal evaluator."""
        return {"kind": "pydantic_model", "model": self._model, "repair": self._repair}

    async def __call__(self, run: Run, task: Task, output: str) -> Verdict:
        """Judge ``output``.

        Raises:
            EvaluatorError: if there is no such model.
        """
        value, message = read_json(output, repair=self._repair)
        if value is ABSENT:
            return shape_verdict("", [Check(name="JSON", passed=False, message=message, kind="schema")])
        given = {"model": self._model, "value": value}
        faults = cast("list[Mapping[str, Any]]", await run.host("shape", "pydantic", given, repeatable=True))
        checks = [
            Check(
                name=fault["where"],
                passed=False,
                message=f"{fault['where']}: {fault['actual']}: {fault['message']}"
                if fault["actual"] is not None
                else f"{fault['where']}: {fault['message']}",
                actual=fault["actual"],
                expected=fault["message"],
                kind="schema",
            )
            for fault in faults
        ]
        return shape_verdict(json.dumps(value, ensure_ascii=False), checks)


class PydanticHandler:
    """Answers the host function ``pydantic``: ``{"model", "value"}`` with the faults, each where, what and why.

    Args:
        models: the models by the name that tasks use; a name with a colon that is not here is imported.
    """

    def __init__(self, models: Mapping[str, Any] | None = None) -> None:
        self._models = dict(models or {})

    def attach(self, engine: Handlers) -> None:
        """Take the calls of ``pydantic``."""
        engine.handle(CallHost, self, "pydantic")

    async def __call__(self, effect: CallHost, key: str) -> list[dict[str, Any]]:
        """Validate a value as JSON is validated, so that a text can be a date.

        Raises:
            EvaluatorError: if there is no such model, or its own validators break.
        """
        adapter = self._adapter(str(effect.arguments["model"]))
        pydantic: Any = importlib.import_module("pydantic")
        try:
            adapter.validate_json(json.dumps(effect.arguments["value"]))
        except pydantic.ValidationError as error:
            return [_fault(one) for one in error.errors(include_url=False, include_context=False)]
        except Exception as error:
            name = effect.arguments["model"]
            raise EvaluatorError(f"model {name!r} broke (at {key!r}): {type(error).__name__}: {error}") from error
        return []

    def _adapter(self, name: str) -> Any:
        """What validates for the model of that name."""
        try:
            adapter: Any = importlib.import_module("pydantic").TypeAdapter
        except ImportError as error:
            raise EvaluatorError(
                "the evaluator needs the package pydantic; install it: pip install pydantic"
            ) from error
        if name in self._models:
            return adapter(self._models[name])
        module, colon, attribute = name.partition(":")
        if not colon:
            near = difflib.get_close_matches(name, self._models, 1)
            hint = f"did you mean {near[0]!r}?" if near else "register it, or name it as 'module:Class'"
            raise EvaluatorError(f"no Pydantic model is called {name!r}; {hint}")
        try:
            found: Any = importlib.import_module(module)
            for part in attribute.split("."):
                found = getattr(found, part)
            return adapter(found)
        except Exception as error:
            raise EvaluatorError(f"model {name!r} cannot be had: {type(error).__name__}: {error}") from error


def _fault(error: Mapping[str, Any]) -> dict[str, Any]:
    """A fault as JSON values; what is missing was not there to be shown."""
    actual = None if error["type"] == "missing" else value_in_words(error["input"])
    return {"where": place_of(error["loc"]), "actual": actual, "message": str(error["msg"])}
