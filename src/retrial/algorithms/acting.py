"""One attempt of a loop: let whoever acts answer a prompt, and have the answer judged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from retrial.core.codec import encode
from retrial.core.messages import Message, ModelRequest
from retrial.core.tasks import Attempt, Task, Verdict, answer_of
from retrial.engine.run import Algorithm, Run
from retrial.evaluate.evaluator import Evaluator

__all__ = ["Actor", "act", "actor_calls", "actor_spec", "judged"]

Actor = str | Algorithm | None
"""Who acts: a host function by name, an algorithm, or None for the model in the role ``actor``."""


def actor_calls(actor: Actor) -> int:
    """Return the most model calls of one attempt."""
    if actor is None:
        return 1
    return 0 if isinstance(actor, str) else actor.max_calls


def actor_spec(actor: Actor) -> Any:
    """Return what decides how an actor acts, as JSON values."""
    if actor is None or isinstance(actor, str):
        return actor
    return {"name": actor.name, "version": actor.version, "parameters": actor.parameters()}


async def act(scope: Run, actor: Actor, task: Task, prompt: str, trial: int) -> tuple[str, tuple[str, ...]]:
    """Have ``prompt`` answered, and return the output and the steps that led to it (none for a plain model call).

    An algorithm that acts gets the task with ``prompt`` in place of its own, which stays what its judges read, and
    without the hidden tests and the known outputs. A host function gets ``prompt`` and ``trial``, and answers with a
    text or with ``{"output": text, "steps": [texts]}``.
    """
    if actor is None:
        request = ModelRequest(role="actor", messages=(Message(role="user", content=prompt),))
        return (await scope.model("actor", request)).text, ()
    if isinstance(actor, str):
        answer = await scope.host("actor", actor, {"prompt": prompt, "trial": trial})
        held = _held(answer)
        return str(held.get("output", answer)), _texts(held)
    given = replace(task, prompt=prompt, stated=task.statement, hidden_tests=(), known_good={}, known_bad={})
    value = (await actor(scope.child("actor"), {"task": encode(given)})).value
    return answer_of(value), _texts(_held(value))


async def judged(
    scope: Run, evaluator: Evaluator, task: Task, output: str, earlier: Sequence[Attempt], *, confirm: bool
) -> Verdict:
    """Judge an output; with ``confirm`` one that passed is judged once more in a fresh process.

    An output that passes although an equal one failed before, or fails when it is judged again, is marked ``flaky``.
    """
    verdict = await evaluator(scope, task, output)
    if verdict.passed and confirm:
        again = await evaluator(scope.child("confirm"), task, output)
        if not again.passed:
            return replace(again, flaky=True)
    failed_before = any(one.output == output and not one.verdict.passed for one in earlier)
    return replace(verdict, flaky=True) if verdict.passed and failed_before else verdict


def _held(value: Any) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


def _texts(held: Mapping[str, Any]) -> tuple[str, ...]:
    """The steps that a host function or an algorithm tells."""
    return tuple(str(step) for step in held.get("steps", ()))
