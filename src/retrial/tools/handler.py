"""Performs the tool calls of a run: looks at the arguments, asks the guards, calls the function and reads its result.

Whatever a model can mend by another call is a result that it reads; only a world that is away is an error.
"""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from retrial.core.codec import encode
from retrial.core.effects import CallTool, Handlers
from retrial.core.messages import ToolCall, ToolResult
from retrial.errors import ConfigError, EffectError, ToolError
from retrial.tools.registry import ToolRegistry
from retrial.tools.thread import in_thread
from retrial.tools.tool import Tool

__all__ = ["ToolHandler"]

LONGEST_FAULT = 2000
"""How much of an exception's text a model reads, in characters."""


class ToolHandler:
    """Calls the tools of a registry. Tools of several registries can serve one engine, each by its name."""

    def __init__(self, registry: ToolRegistry) -> None:
        self._registry = registry

    def attach(self, engine: Handlers) -> ToolHandler:
        """Take the calls of these tools, and return this handler."""
        for name in self._registry.specs:
            engine.handle(CallTool, self, name)
        return self

    async def __call__(self, effect: CallTool, key: str) -> ToolResult:
        """Make one call: InvalidArguments, Refused, ToolFailed and ToolTimeout are results.

        Raises:
            EffectError: if the tool's world is away, or a guard broke: then nothing was called.
        """
        tool = self._registry[effect.tool]
        try:
            problems = tool.problems(effect.arguments)
        except (RecursionError, ArithmeticError):
            problems = ["the arguments are nested too deeply, or a number is too large"]
        if problems:
            return ToolResult(value=_short("; ".join(problems)), error="InvalidArguments")
        refused = await self._refused(tool, ToolCall(id=key, name=effect.tool, arguments=effect.arguments))
        if refused is not None:
            return ToolResult(value=refused, error="Refused")
        try:
            values = tool.read(effect.arguments)
        except Exception as error:  # noqa: BLE001 - a dataclass of the user's may refuse its fields
            return ToolResult(value=_told(error), error="InvalidArguments")
        return await _called(tool, values)

    async def _refused(self, tool: Tool[..., Any], call: ToolCall) -> str | None:
        """Why the call must not be made; None if it may.

        Raises:
            ToolError: if whoever decides broke, or gave no answer that is one.
        """
        guard, approve = self._registry.guard, self._registry.approve if tool.approval else None
        if guard is not None:
            answer = await _asked(guard, call, "guard")
            if answer is not None:
                return _reason(answer, "guard", call)
        if approve is not None:
            answer = await _asked(approve, call, "approval")
            if answer is not True:
                return "it was not approved" if answer is False else _reason(answer, "approval", call)
        return None


async def _asked(hook: Callable[[ToolCall], Any], call: ToolCall, what: str) -> Any:
    """What a hook answers."""
    try:
        answer = hook(call)
        return await answer if inspect.isawaitable(answer) else answer
    except EffectError:
        raise
    except Exception as error:
        raise ToolError(f"the {what} of tool {call.name!r} broke: {_told(error)} (at {call.id!r})") from error


def _reason(answer: Any, what: str, call: ToolCall) -> str:
    if not isinstance(answer, str):
        raise ToolError(
            f"the {what} of tool {call.name!r} answered {answer!r}; it answers with a text, or lets it pass"
        )
    return answer


async def _called(tool: Tool[..., Any], values: dict[str, Any]) -> ToolResult:
    """Call the function, and make a result of whatever comes of it.

    Raises:
        EffectError: if its world is away.
    """
    clock = asyncio.timeout(tool.timeout)
    try:
        async with clock:
            if inspect.iscoroutinefunction(tool.function):
                value = await tool.function(**values)
            else:
                value = await in_thread(lambda: tool.function(**values))
                value = await value if inspect.isawaitable(value) else value
    except EffectError:
        raise
    except tool.environmental as error:
        raise ToolError(f"tool {tool.spec.name!r}: {_told(error)}") from error
    except (KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as error:  # SystemExit and what libraries derive beside it are the tool's.
        task = asyncio.current_task()
        if isinstance(error, asyncio.CancelledError) and task is not None and task.cancelling():
            raise
        if isinstance(error, TimeoutError) and clock.expired():
            late = f"it did not end within {tool.timeout:g} seconds; it may have taken effect all the same"
            return ToolResult(value=late, error="ToolTimeout")
        return ToolResult(value=_told(error), error="ToolFailed")
    result = value if isinstance(value, ToolResult) else ToolResult(value=value)
    return replace(result, value=_bounded(_json(result.value), tool.max_characters))


def _told(error: BaseException) -> str:
    """An exception in a line or two."""
    words = _text(error)
    return _short(f"{type(error).__name__}: {words}" if words else type(error).__name__)


def _short(text: str) -> str:
    return text if len(text) <= LONGEST_FAULT else f"{text[:LONGEST_FAULT]}..."


def _text(value: object) -> str:
    """A value as text; one whose text cannot be made, or that no prompt can hold, all the same."""
    try:
        return str(value).encode("utf-8", "backslashreplace").decode()
    except Exception as error:  # noqa: BLE001 - whatever a stranger's __str__ does
        return f"(a {type(value).__name__} without a text: {type(error).__name__})"


def _json(value: Any) -> Any:
    """A result as JSON holds it; what it cannot hold, as text."""
    try:
        return _text(value) if isinstance(value, str) else encode(value)
    except (ConfigError, ValueError, RecursionError):
        return _text(value)
    except Exception as error:  # noqa: BLE001 - the encoder asks an object for its repr, which may do anything
        return f"(a {type(value).__name__} without a text: {type(error).__name__})"


def _bounded(value: Any, most: int) -> Any:
    """A result that a prompt can hold: a longer one is cut, and says so."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return value if len(text) <= most else f"{text[:most]}\n(cut: the first {most} of {len(text)} characters)"
