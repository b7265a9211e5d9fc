"""What is said to and by a model, without a word about any provider."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from retrial.core.budget import Usage

__all__ = ["Message", "ModelRequest", "ModelResponse", "ToolCall", "ToolSpec"]


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
