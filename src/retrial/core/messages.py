"""What is said to and by a model, without a word about any provider."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from retrial.core.budget import Usage

__all__ = ["Message", "ModelRequest", "ModelResponse", "ToolCall", "ToolResult", "ToolSpec", "Tools"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A model's wish to have a tool called."""

    id: str
    """The model's own name for this call; the tool message that answers it repeats it."""
    name: str
    """The tool's name."""
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """JSON values by parameter name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSpec:
    """A tool as it is offered to a model."""

    name: str
    """The name that the model calls it by."""
    description: str = ""
    """What it does, in a sentence for the model."""
    parameters: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """A JSON Schema of type object."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """What a tool came to, faults of the call included: a model reads them and goes on."""

    value: Any = None
    """The JSON value that the tool returned, or in words what was wrong."""
    error: str = ""
    """What kind of fault it is: UnknownTool, InvalidArguments, NotCalled, Refused, ToolFailed or ToolTimeout; empty if
    there is none."""

    @property
    def text(self) -> str:
        """The result as a model reads it: a text as it is, any other value as JSON, a fault with its kind.

        >>> ToolResult(value={"open": True}).text, ToolResult(value="no such order", error="ToolFailed").text
        ('{"open": true}', 'ToolFailed: no such order')
        """
        text = self.value if isinstance(self.value, str) else json.dumps(self.value, ensure_ascii=False)
        return f"{self.error}: {text}" if self.error else text


class Tools(Protocol):
    """Tools that can be offered to a model, by name; a ToolRegistry is one."""

    @property
    def specs(self) -> Mapping[str, ToolSpec]:
        """Every tool as it is offered, by name, in the order in which it is."""
        ...

    @property
    def repeatable(self) -> frozenset[str]:
        """The names of those that cost and change nothing when they are called twice."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One turn of a conversation."""

    role: str
    """system, user, assistant or tool."""
    content: str | None = None
    """The text; None where an assistant only calls tools."""
    tool_calls: tuple[ToolCall, ...] = ()
    """What an assistant wants called, in its order."""
    tool_call_id: str | None = None
    """For role tool: which call this answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """One question to a model."""

    role: str = "actor"
    """The part the model plays: actor, reflector, judge, critic, extractor. Decides which model is asked."""
    messages: tuple[Message, ...]
    """The conversation, oldest first."""
    tools: tuple[ToolSpec, ...] = ()
    """The tools offered."""
    temperature: float | None = None
    """0 to 2; None for the provider's default."""
    max_tokens: int | None = None
    """The most tokens to write, at least 1; None for the provider's default."""
    stop: tuple[str, ...] = ()
    """Texts at which the model stops."""
    output_schema: Mapping[str, Any] | None = None
    """A JSON Schema that the reply must follow; None for free text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelResponse:
    """What a model answered."""

    text: str = ""
    """The text of the reply, empty where it only calls tools."""
    tool_calls: tuple[ToolCall, ...] = ()
    """The tools that it wants called, in its order."""
    finish_reason: str = "stop"
    """stop, length, tool_calls or content_filter."""
    usage: Usage = field(default_factory=Usage)
    """What the call used. ``calls`` is 1 for an answered call; ``cost_usd`` is None for an unpriced model."""
    model: str = ""
    """The model that answered, as ``provider:name``; empty for a scripted one."""
