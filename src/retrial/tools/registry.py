"""Tools by name, and what guards every one of them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from typing import Any

from retrial.core.messages import ToolCall, ToolSpec
from retrial.errors import ConfigError
from retrial.tools.tool import Tool

__all__ = ["Approve", "Guard", "ToolRegistry"]

Approve = Callable[[ToolCall], bool | str | Awaitable[bool | str]]
"""Asks somebody whether a call may be made: True, or False, or why not."""
Guard = Callable[[ToolCall], str | Awaitable[str | None] | None]
"""Looks at every call before it is made and says why it must not be made; None if it may."""


class ToolRegistry:
    """Tools by name.

    Args:
        tools: made with ``@tool``, no two of one name.
        approve: asked before each call of a tool with ``approval=True``. It must be given if there is one.
        guard: asked before each call of any tool.

    Raises:
        ConfigError: if a name is used twice, or nobody could approve.
    """

    def __init__(
        self, tools: Iterable[Tool[..., Any]], *, approve: Approve | None = None, guard: Guard | None = None
    ) -> None:
        self._tools: dict[str, Tool[..., Any]] = {}
        for one in tools:
            if not isinstance(one, Tool):  # pyright: ignore[reportUnnecessaryIsInstance] - a user's value
                raise ConfigError(f"{one!r} is no tool; decorate the function with @tool")
            name = one.spec.name
            if name in self._tools:
                raise ConfigError(f"two tools are called {name!r}; give one of them another name, @tool(name=...)")
            if one.approval and approve is None:
                raise ConfigError(f"tool {name!r} needs approval, and nobody gives it; pass approve=...")
            self._tools[name] = one
        self.approve = approve
        self.guard = guard

    def __iter__(self) -> Iterator[Tool[..., Any]]:
        return iter(self._tools.values())

    def __len__(self) -> int:
        return len(self._tools)

    def __contains__(self, name: object) -> bool:
        return name in self._tools

    def __getitem__(self, name: str) -> Tool[..., Any]:
        return self._tools[name]

    @property
    def specs(self) -> Mapping[str, ToolSpec]:
        """Every tool as it is offered to a model, by name, in the order in which they were given."""
        return {name: one.spec for name, one in self._tools.items()}

    @property
    def repeatable(self) -> frozenset[str]:
        """The names of the tools that cost and change nothing when they are called twice."""
        return frozenset(name for name, one in self._tools.items() if one.repeatable)
