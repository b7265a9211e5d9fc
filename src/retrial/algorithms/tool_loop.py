"""A tool loop: ask a model, make the calls it wants, show it what came of them, until it answers (ReAct, Yao et al.).

The model sees one conversation. Whatever goes wrong with a call is a result that the model reads: a tool that was
invented, arguments that do not fit, a tool that failed. Only a world that is away ends the run, and it can be resumed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from retrial.algorithms.batch import failure_of
from retrial.algorithms.given import task_of
from retrial.algorithms.parameters import refuse_unless
from retrial.core.keys import digest
from retrial.core.messages import Message, ModelRequest, ModelResponse, ToolCall, ToolResult, Tools, ToolSpec
from retrial.core.tasks import Outcome, Status, Task
from retrial.engine.run import Failed, Run
from retrial.prompts import Prompt, bullets

__all__ = ["LIMIT_TURNS", "Conversation", "ToolLoop"]

LIMIT_TURNS = 100
"""No conversation may be longer, in model calls."""
MOST_CALLS = 32
"""How many calls of one turn are made; the rest are answered with NotCalled."""
RECALLED = 5
"""How many memories are asked for."""
LONGEST_STEP = 1000
"""How much of a text or of a result one step of the transcript holds, in characters."""


class ToolLoop:
    """One model with tools.

    Its input is ``{"task": text or an encoded Task}``. Its value is ``{"text", "turns", "steps"}``: the answer, how
    often the model was asked, and the transcript, one text a step. The run is COMPLETED when the model answers without
    calling a tool. After ``max_turns`` it ends as NO_SOLUTION with the last text; the calls of the last turn are not
    made, since nobody would read what they return.

    Args:
        registry: the tools; ``ToolHandler(registry)`` performs them.
        system: the system message.
        max_turns: how often the model is asked at most, 1 to 100.
        recall: the name of a memory that is asked about the task before the first turn. What it remembers (texts, or
            objects with a ``text``) stands at the end of the system message.
        role: the part that the model plays.

    Raises:
        ConfigError: if ``max_turns`` is not possible.
    """

    name = "tool_loop"
    version = "1"

    def __init__(
        self,
        registry: Tools,
        *,
        system: str | None = None,
        max_turns: int = 10,
        recall: str | None = None,
        role: str = "actor",
    ) -> None:
        self.registry, self.system, self.max_turns = registry, system, max_turns
        self.recall, self.role = recall, role
        refuse_unless(self, {"max_turns": (1 <= max_turns <= LIMIT_TURNS, f"1 to {LIMIT_TURNS}")})

    @property
    def max_calls(self) -> int:
        """The most model calls that one run can make."""
        return self.max_turns

    def parameters(self) -> Mapping[str, Any]:
        """Return everything that decides what a run does, the tools as digests of what is offered."""
        repeatable = self.registry.repeatable
        tools = {name: digest([spec, name in repeatable]) for name, spec in self.registry.specs.items()}
        return {"tools": tools} | {name: getattr(self, name) for name in ("system", "max_turns", "recall", "role")}

    async def __call__(self, run: Run, given: Mapping[str, Any]) -> Outcome:
        """Converse until the model answers, or the turns are used up."""
        task = task_of(given)
        talk = self.conversation(task, await self._remembered(run, task))
        run.keep(talk.value)
        for turn in range(1, self.max_turns + 1):
            scope = run.child(f"turn.{turn}")
            request = ModelRequest(role=self.role, messages=tuple(talk.messages), tools=talk.offered)
            calls = talk.hear(await scope.model("model", request))
            if not calls:
                return Outcome(Status.COMPLETED, talk.value())
            if turn < self.max_turns:
                talk.tell(calls, await talk.results(scope, calls))
        return Outcome(Status.NO_SOLUTION, talk.value())

    def conversation(self, task: Task, remembered: str) -> Conversation:
        """Begin the conversation about a task; ``remembered`` is what to add to the system message."""
        return Conversation(self.registry, task, "\n\n".join(part for part in (self.system, remembered) if part))

    async def _remembered(self, run: Run, task: Task) -> str:
        """What the memory holds about the task, as a part of the system message."""
        if self.recall is None:
            return ""
        query = {"task": task.statement, "task_id": task.id, "limit": RECALLED}
        found = await run.recall("recall", self.recall, query)
        items = cast("list[Any]", [found] if isinstance(found, str) else found)
        texts = [item if isinstance(item, str) else str(item["text"]) for item in items]
        return REMEMBERED.render(memories=bullets(texts)) if texts else ""


class Conversation:
    """What was said so far, and how the model's next wishes are answered. It lives as long as one run."""

    def __init__(self, registry: Tools, task: Task, system: str) -> None:
        self.messages = [Message(role="system", content=system)] if system else []
        self.messages.append(Message(role="user", content=task.prompt))
        self._specs, self._repeatable = registry.specs, registry.repeatable
        self._steps: list[str] = []
        self._ids: set[str] = set()
        self._turns = 0
        self._text = ""

    @property
    def offered(self) -> tuple[ToolSpec, ...]:
        """The tools that the model may call now."""
        return tuple(self._specs.values())

    def value(self) -> dict[str, Any]:
        """Return what the run came to so far."""
        return {"text": self._text, "turns": self._turns, "steps": list(self._steps)}

    def hear(self, reply: ModelResponse) -> tuple[ToolCall, ...]:
        """Take down what the model said, and return the calls that it wants made."""
        self._turns += 1
        if reply.text or not reply.tool_calls:
            self._text = reply.text
            self._steps.append(_cut(reply.text))
        calls = tuple(self._identified(call, f"{self._turns}.{n}") for n, call in enumerate(reply.tool_calls, 1))
        self.messages.append(Message(role="assistant", content=reply.text or None, tool_calls=calls))
        return calls

    def tell(self, calls: Sequence[ToolCall], results: Sequence[ToolResult]) -> None:
        """Tell the model what came of its calls, in its order."""
        for call, result in zip(calls, results, strict=True):
            self.messages.append(Message(role="tool", content=result.text, tool_call_id=call.id))
            arguments = json.dumps(dict(call.arguments), ensure_ascii=False)
            self._steps.append(f"{call.name}({_cut(arguments[1:-1])}) -> {_cut(result.text)}")

    async def results(self, scope: Run, calls: Sequence[ToolCall]) -> list[ToolResult]:
        """Make the calls of one turn, all at once, and return what came of them in their order.

        Raises:
            EffectError: if the world of a tool is away; resume makes exactly the calls that failed again.
        """
        offered = [spec.name for spec in self.offered]
        refused = {place: one for place, call in enumerate(calls) if (one := _refusal(place, call, offered))}
        made = {
            place: scope.tool(
                f"tool.{place + 1}.{call.name}", call.name, call.arguments, repeatable=call.name in self._repeatable
            )
            for place, call in enumerate(calls)
            if place not in refused
        }
        ends = await scope.gather(*made.values())
        answered = {place: end for place, end in zip(made, ends, strict=True) if not isinstance(end, Failed)}
        if len(answered) < len(made):
            raise failure_of("a tool cannot be called", ends)
        return [refused.get(place) or answered[place] for place in range(len(calls))]

    def _identified(self, call: ToolCall, otherwise: str) -> ToolCall:
        """The call under an id that no other call of the conversation has, which providers insist on."""
        call = replace(call, id=f"{call.id}.{otherwise}" if call.id in self._ids or not call.id else call.id)
        self._ids.add(call.id)
        return call


def _refusal(place: int, call: ToolCall, offered: Sequence[str]) -> ToolResult | None:
    """Why a call is not made; None if it is."""
    if call.name not in offered:
        known = f"you can call {', '.join(offered)}" if offered else "there are none"
        return ToolResult(value=f"no tool is called {call.name!r:.80} here; {known}", error="UnknownTool")
    if place >= MOST_CALLS:
        return ToolResult(value=f"only the first {MOST_CALLS} calls of a turn are made", error="NotCalled")
    return None


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_STEP else f"{text[:LONGEST_STEP]}..."


REMEMBERED = Prompt(
    "tool_loop.remembered",
    """\
What was learnt before. Take it as advice:
<memories>
{{memories}}
</memories>""",
)
