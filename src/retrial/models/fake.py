"""A model that is a Python function: for tests, examples and benchmarks. Offline, free and exact."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from typing import Any

from retrial.core.budget import Usage
from retrial.core.messages import ModelRequest, ModelResponse, ToolCall
from retrial.errors import ConfigError

__all__ = ["FakeLLMClient", "Reply", "text", "tool_call"]

Reply = ModelResponse | str
"""What a scripted function returns; a string is the text of a reply."""

_ONE_CALL = Usage(calls=1)


def text(content: str) -> ModelResponse:
    """Make a reply of text. It counts as one call, no tokens and no cost.

    >>> text("42 km").text
    '42 km'
    """
    return ModelResponse(text=content, usage=_ONE_CALL)


def tool_call(name: str, call_id: str = "c1", /, **arguments: Any) -> ModelResponse:
    """Make a reply that calls one tool. The first two are positional, so that a tool may take a ``name``.

    >>> tool_call("refund", "c2", order="A1").tool_calls[0].arguments
    {'order': 'A1'}
    """
    call = ToolCall(id=call_id, name=name, arguments=arguments)
    return ModelResponse(tool_calls=(call,), finish_reason="tool_calls", usage=_ONE_CALL)


class FakeLLMClient:
    """Answers every request with what a function makes of it.

    Args:
        function: takes the ModelRequest and returns a reply, plain or awaitable. What it raises passes through, so a
            failing provider is scripted by raising a ModelError.
        name: how the client is called in output.
    """

    def __init__(self, function: Callable[[ModelRequest], Reply | Awaitable[Reply]], *, name: str = "scripted") -> None:
        self._function = function
        self.name = name

    def __repr__(self) -> str:
        return f"FakeLLMClient({self.name!r})"

    async def complete(self, request: ModelRequest, key: str) -> ModelResponse:
        """Call the function.

        Raises:
            ConfigError: if it returns neither a reply nor a string.
        """
        reply: Any = self._function(request)
        if inspect.isawaitable(reply):
            reply = await reply
        if isinstance(reply, ModelResponse):
            return reply
        if isinstance(reply, str):
            return text(reply)
        raise ConfigError(
            f"the scripted model returned {reply!r} for {key!r}; return text(…), tool_call(…) or a string"
        )
