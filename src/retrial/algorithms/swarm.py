"""A swarm: one conversation that specialised agents hand to each other.

A handoff is a tool call, ``transfer_to_<agent>``, that the algorithm answers itself. The model picks the transitions;
what it may pick is decided here: from the next model call on, only the tools and transfers of the agent that was handed
to are offered, one handoff a turn, and so many a run.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

from retrial.algorithms.parameters import refuse_unless
from retrial.algorithms.tool_loop import Conversation, ToolLoop
from retrial.core.messages import ToolCall, ToolResult, Tools, ToolSpec
from retrial.core.tasks import Task
from retrial.engine.run import Run
from retrial.errors import ConfigError

__all__ = ["LIMIT_HANDOFFS", "Agent", "Swarm"]

LIMIT_HANDOFFS = 20
"""No conversation may be handed on more often."""
_NAME = re.compile(r"[A-Za-z0-9_-]{1,52}")


@dataclass(frozen=True, slots=True)
class Agent:
    """One specialist."""

    instructions: str
    """What it is to do: the system message where it starts, and part of the result of a transfer to it."""
    _: KW_ONLY
    tools: Sequence[str] = ()
    """The names of the tools that it may call."""
    handoffs: Sequence[str] = ()
    """The names of the agents that it may hand the conversation to."""
    description: str = ""
    """What it is for, in a sentence for the agents that may hand over to it."""


class Swarm(ToolLoop):
    """Several agents in one conversation; otherwise a ``ToolLoop``.

    Its value is ``{"text", "turns", "agent", "handoffs", "steps"}``: the answer, how often the model was asked,
    which agent answered, every ``[from, to]``, and the transcript.

    Args:
        agents: by name.
        registry: the tools of all agents; ``ToolHandler(registry)`` performs them.
        start: the agent that reads the task.
        max_handoffs: how often the conversation is handed on at most, 0 to 20. After that no transfers are offered.
        max_turns: how often the model is asked at most, 1 to 100.
        recall: as in ``ToolLoop``.
        role: the part that the model plays, which decides which model is asked.

    Raises:
        ConfigError: if an agent or a tool is named that is not there, or a bound is not possible.
    """

    name = "swarm"
    version = "1"

    def __init__(
        self,
        agents: Mapping[str, Agent],
        registry: Tools,
        *,
        start: str = "triage",
        max_handoffs: int = 6,
        max_turns: int = 20,
        recall: str | None = None,
        role: str = "actor",
    ) -> None:
        super().__init__(registry, max_turns=max_turns, recall=recall, role=role)
        self.agents = dict(agents)
        self.start = start
        self.max_handoffs = max_handoffs
        refuse_unless(self, {"max_handoffs": (0 <= max_handoffs <= LIMIT_HANDOFFS, f"0 to {LIMIT_HANDOFFS}")})
        _check(self.agents, registry.specs, start)

    def parameters(self) -> Mapping[str, Any]:
        """Return everything that decides what a run does, the tools as digests of what is offered."""
        ours = {"agents": self.agents, "start": self.start, "max_handoffs": self.max_handoffs}
        return {**super().parameters(), **ours}

    def conversation(self, task: Task, remembered: str) -> Conversation:
        """Begin the conversation about a task with the agent that starts."""
        system = "\n\n".join(part for part in (self.agents[self.start].instructions, remembered) if part)
        return _Relay(self, task, system)


class _Relay(Conversation):
    """A conversation that changes hands."""

    def __init__(self, swarm: Swarm, task: Task, system: str) -> None:
        super().__init__(swarm.registry, task, system)
        self._agents = swarm.agents
        self._left = swarm.max_handoffs
        self._agent = swarm.start
        self._handoffs: list[tuple[str, str]] = []

    @property
    def offered(self) -> tuple[ToolSpec, ...]:
        """The tools of the agent that has the conversation, and its transfers while there are handoffs left."""
        agent = self._agents[self._agent]
        return (*(self._specs[name] for name in agent.tools), *self._transfers().values())

    def value(self) -> dict[str, Any]:
        """Return what the run came to so far."""
        handoffs = [list(pair) for pair in self._handoffs]
        return {**super().value(), "agent": self._agent, "handoffs": handoffs}

    async def results(self, scope: Run, calls: Sequence[ToolCall]) -> list[ToolResult]:
        """Hand over if the model wants to, the first transfer of the turn alone; else make its calls."""
        targets = {spec.name: name for name, spec in self._transfers().items()}
        first = next((place for place, call in enumerate(calls) if call.name in targets), None)
        if first is None:
            return await super().results(scope, calls)
        source, target = self._agent, targets[calls[first].name]
        scope.note("swarm.handoff", {"from": source, "to": target})
        self._agent, self._left = target, self._left - 1
        self._handoffs.append((source, target))
        done = ToolResult(value=TRANSFERRED.format(agent=target, instructions=self._agents[target].instructions))
        other = ToolResult(value=f"it was not made, since the turn handed over to {target}", error="NotCalled")
        return [done if place == first else other for place in range(len(calls))]

    def _transfers(self) -> dict[str, ToolSpec]:
        """The transfers that are possible now, by the agent that they lead to."""
        targets = self._agents[self._agent].handoffs if self._left > 0 else ()
        return {target: _transfer(target, self._agents[target].description) for target in targets}


def _transfer(agent: str, description: str) -> ToolSpec:
    """The tool that hands over to an agent."""
    told = f"Hand the conversation over to {agent}. {description}".strip()
    schema = {"type": "object", "properties": dict[str, Any](), "additionalProperties": False}
    return ToolSpec(name=f"transfer_to_{agent}", description=told, parameters=schema)


def _check(agents: Mapping[str, Agent], tools: Mapping[str, ToolSpec], start: str) -> None:
    """Refuse what could only fail in the middle of a conversation.

    Raises:
        ConfigError: naming the agent and what is wrong with it.
    """
    if start not in agents:
        raise ConfigError(f"start={start!r} is no agent; the agents are {sorted(agents)}")
    for name, agent in agents.items():
        if not _NAME.fullmatch(name):
            raise ConfigError(f"an agent is called {name!r}; use 1 to 52 letters, digits, '_' and '-'")
        if f"transfer_to_{name}" in tools:
            raise ConfigError(f"tool 'transfer_to_{name}' is called like the transfer to agent {name!r}; rename it")
        for what, given, known in (("tools", agent.tools, tools), ("handoffs", agent.handoffs, agents)):
            if isinstance(given, str) or len({*given}) != len(given):
                raise ConfigError(f"agent {name!r}: {what}={given!r} must be a list of different names")
            for one in given:
                if one not in known:
                    raise ConfigError(f"agent {name!r}: {what} names {one!r}, which is not there; it can be {[*known]}")
        if name in agent.handoffs:
            raise ConfigError(f"agent {name!r} hands over to itself; leave it out of its handoffs")


TRANSFERRED = """\
Transferred to {agent}. From now on you are {agent}, and these instructions take the place of the earlier ones:
{instructions}"""
