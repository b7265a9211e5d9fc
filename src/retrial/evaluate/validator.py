"""A function of the host as the evaluator.

``ValidationHandler`` stands on the other side: it calls the function where the engine performs effects, and imports
core alone.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, cast

from retrial.core.effects import CallHost, Handlers
from retrial.core.tasks import Task, Verdict
from retrial.engine.run import Run
from retrial.errors import EvaluatorError, HostError

__all__ = ["ValidationHandler", "Validator"]


class Validator:
    """Judges an output by a registered function ``(answer, context) -> (passed, reason)``."""

    max_calls = 0

    def __init__(self, name: str, trust: str = "match", threshold: float = 1.0) -> None:
        """``threshold`` is the score, above 0 and at most 1, from which an output passes whatever the function says."""
        self._name = name
        self._trust = trust
        self._threshold = threshold

    def spec(self) -> Mapping[str, Any]:
        """Return what makes an equal evaluator."""
        return {"kind": "validator", "name": self._name, "trust": self._trust, "threshold": self._threshold}

    async def __call__(self, run: Run, task: Task, output: str) -> Verdict:
        """Judge ``output`` by asking the function.

        Raises:
            EvaluatorError: if the function raised, or answered with something that is no verdict.
        """
        context = {"task": task.statement, "task_id": task.id, "metadata": task.metadata}
        try:
            given = {"answer": output, "context": context}
            answer = await run.host("validator", self._name, given, repeatable=True)
        except HostError as error:
            raise EvaluatorError(f"validator {self._name!r} broke: {error}") from error
        passed = bool(answer["passed"]) or float(answer["score"]) >= self._threshold
        reason = "" if passed else str(answer["reason"]) or "the validator gave no reason"
        return Verdict(passed=passed, score=float(answer["score"]), reason=reason, trust=self._trust)


class ValidationHandler:
    """Calls validators by name.

    A function may be async. It answers with ``passed``, ``(passed, reason)``, ``(passed, reason, score)`` or a mapping
    with these keys; the score is 0 to 1.
    """

    def __init__(self, validators: Mapping[str, Callable[[str, Mapping[str, Any]], Any]]) -> None:
        self._validators = validators

    def attach(self, engine: Handlers) -> None:
        """Take the calls of these validators."""
        for name in self._validators:
            engine.handle(CallHost, self, name)

    async def __call__(self, effect: CallHost, key: str) -> dict[str, Any]:
        """Call the validator and return its answer as ``{"passed", "reason", "score"}``.

        Raises:
            HostError: if it raised, or its answer is no verdict.
        """
        validate = self._validators[effect.function]
        try:
            answer = validate(effect.arguments["answer"], effect.arguments["context"])
            if inspect.isawaitable(answer):
                answer = await answer
        except Exception as error:
            raise HostError(f"{type(error).__name__}: {error} (at {key!r})") from error
        return _read(effect.function, answer)


def _read(name: str, answer: Any) -> dict[str, Any]:
    """A validator's answer in its one form."""
    passed, reason, score = answer, "", None
    if isinstance(answer, Mapping):
        given = cast("Mapping[str, Any]", answer)
        passed, reason, score = given.get("passed"), given.get("reason", ""), given.get("score")
    elif isinstance(answer, tuple):
        parts = cast("tuple[Any, ...]", answer)
        passed, reason, score = (*parts, None, None, None)[:3]
    if not isinstance(passed, bool):
        raise HostError(f"validator {name!r} answered {answer!r}; return passed or (passed, reason)")
    score = float(passed) if score is None else float(score)
    if not 0 <= score <= 1:
        raise HostError(f"validator {name!r} gave the score {score!r}; scores are 0 to 1")
    return {"passed": passed, "reason": str(reason or ""), "score": score}
