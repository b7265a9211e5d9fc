"""Functions of the host that act and reflect: any async or plain function, a Pydantic AI agent.

They stand on the other side of ``run.host``: what they answer is one event in the journal, so a resumed or replayed run
does not call them again. What they do inside (their model calls, their tools) is theirs: it is neither counted by the
budget nor recorded, except for the steps that they tell.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from retrial.core.effects import CallHost, Handlers
from retrial.errors import HostError
from retrial.evaluate.validator import ValidationHandler

__all__ = [
    "ActorFunction",
    "ActorHandler",
    "HostFunctions",
    "ReflectorFunction",
    "ReflectorHandler",
    "ValidatorFunction",
    "pydantic_ai_actor",
]

Answer = str | tuple[str, Sequence[str]]
"""An output, or an output with the steps that led to it."""
ActorFunction = Callable[[str], Answer | Awaitable[Answer]]
"""``prompt -> output`` or ``prompt -> (output, steps)``, async or not; a plain one runs in a thread of its own."""
ReflectorFunction = Callable[[Mapping[str, Any]], str | Awaitable[str]]
"""``context -> lesson``; the context holds task, attempt, reason, trial, and steps where the actor told them."""

ValidatorFunction = Callable[[str, Mapping[str, Any]], Any]
"""``(answer, context) -> passed``, or what else ``ValidationHandler`` takes."""


class ActorHandler:
    """Calls actors by name: ``ActorHandler({"agent": function}).attach(engine)``, then ``harness(actor="agent")``."""

    def __init__(self, actors: Mapping[str, ActorFunction]) -> None:
        self._actors = actors

    def attach(self, engine: Handlers) -> None:
        """Take the calls of these actors."""
        for name in self._actors:
            engine.handle(CallHost, self, name)

    async def __call__(self, effect: CallHost, key: str) -> dict[str, Any]:
        """Call the actor and return its answer as ``{"output", "steps"}``.

        Raises:
            HostError: if it raised, or answered with something else than a text or a text with steps.
        """
        answer = await _called(self._actors[effect.function], effect.arguments["prompt"], key)
        match answer:
            case str():
                return {"output": answer, "steps": []}
            case (str() as output, [*steps]):
                return {"output": output, "steps": [str(step) for step in cast("Sequence[object]", steps)]}
            case _:
                raise HostError(f"actor {effect.function!r} answered {answer!r:.200}; return a text or (text, [steps])")


class ReflectorHandler:
    """Calls functions that write lessons by name. What they say is trusted: its faults are marked, not refused."""

    def __init__(self, reflectors: Mapping[str, ReflectorFunction]) -> None:
        self._reflectors = reflectors

    def attach(self, engine: Handlers) -> None:
        """Take the calls of these reflectors."""
        for name in self._reflectors:
            engine.handle(CallHost, self, name)

    async def __call__(self, effect: CallHost, key: str) -> str:
        """Call the reflector and return its lesson.

        Raises:
            HostError: if it raised, or answered with something else than a text.
        """
        lesson = await _called(self._reflectors[effect.function], dict(effect.arguments), key)
        if not isinstance(lesson, str):
            raise HostError(f"reflector {effect.function!r} answered {lesson!r:.200}; return the lesson as a text")
        return lesson


@dataclass(frozen=True, slots=True, kw_only=True)
class HostFunctions:
    """Functions that play roles, each under the role's name."""

    actor: ActorFunction | None = None
    """What acts."""
    reflector: ReflectorFunction | None = None
    """What writes lessons."""
    validator: ValidatorFunction | None = None
    """What judges."""

    def attach(self, engine: Handlers) -> None:
        """Attach those that there are."""
        if self.actor is not None:
            ActorHandler({"actor": self.actor}).attach(engine)
        if self.reflector is not None:
            ReflectorHandler({"reflector": self.reflector}).attach(engine)
        if self.validator is not None:
            ValidationHandler({"validator": self.validator}).attach(engine)

    def named(self) -> dict[str, str]:
        """Return what a recipe is told of them: their names, by role."""
        return {role: role for role in ("actor", "reflector", "validator") if getattr(self, role) is not None}


async def _called(function: Callable[[Any], Any], given: Any, key: str) -> Any:
    """Call a function of the host, in a thread if it is a plain one, so that other tasks go on meanwhile."""
    is_async = inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(getattr(function, "__call__", None))  # noqa: B004 - looked at, not called
    try:
        answer = function(given) if is_async else await asyncio.to_thread(function, given)
        return await answer if inspect.isawaitable(answer) else answer
    except HostError:
        raise
    except Exception as error:
        raise HostError(f"{type(error).__name__}: {error} (at {key!r})") from error


def pydantic_ai_actor(agent: Any) -> ActorFunction:
    """Return a Pydantic AI agent as an actor: its output as text, and what it said, called and got as the steps.

    ``agent`` is anything with ``await agent.run(prompt)`` that answers with ``output`` and ``new_messages()``. An
    output that is no text is written as JSON.
    """

    async def act(prompt: str) -> Answer:
        result = await agent.run(prompt)
        parts = [part for message in result.new_messages() for part in message.parts]
        return _as_text(result.output), [step for step in map(_step, parts) if step]

    return act


def _as_text(output: Any) -> str:
    """An agent's output as a text."""
    if isinstance(output, str):
        return output
    from pydantic_core import to_json  # noqa: PLC0415 - there wherever an agent of Pydantic AI is

    return to_json(output, fallback=str).decode()


def _step(part: Any) -> str:
    """What a part of a message tells, in a line; empty for what the prompt said itself."""
    kind = str(getattr(part, "part_kind", ""))
    if kind == "tool-call":
        return f"called {part.tool_name}({part.args_as_json_str()})"
    if kind == "tool-return":
        return f"{part.tool_name} returned {part.model_response_str()}"
    if kind == "retry-prompt":
        return f"was told: {part.model_response()}"
    return {"text": "said: ", "thinking": "thought: "}[kind] + str(part.content) if kind in ("text", "thinking") else ""
