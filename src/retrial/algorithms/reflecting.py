"""Having a lesson written about a failed attempt, asked for again where it has faults."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from retrial.algorithms.lessons import choose_lesson
from retrial.algorithms.steps import told
from retrial.core.keys import digest
from retrial.core.messages import Message, ModelRequest
from retrial.core.tasks import Attempt, Lesson, Task
from retrial.engine.run import Run
from retrial.memory.copying import copies
from retrial.memory.quality import HARD_FAULTS, REASONS, faults, tidy
from retrial.prompts import Prompt

__all__ = ["Reflector"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reflector:
    """Sees the task, one failed attempt and what the evaluator said of it, and nothing else."""

    prompts: Mapping[str, Prompt]
    """``reflector``, and ``reflector.system`` where it has a system message."""
    ask_again: str
    """When it is asked a second time: ``never``, on a ``hard`` fault, on ``any`` fault."""
    function: str | None = None
    """The name of a host function that writes lessons; None for the model in the role ``reflector``."""

    @property
    def max_calls(self) -> int:
        """The most model calls for one lesson."""
        if self.function is not None:
            return 0
        return 1 if self.ask_again == "never" else 2

    async def __call__(self, scope: Run, task: Task, attempt: Attempt, lessons: Sequence[Lesson]) -> Lesson:
        """Return the lesson of ``attempt``; ``lessons`` are those there are already."""
        verdict = attempt.verdict
        failed = [check for check in verdict.checks if not check.passed]
        earlier = [lesson.text for lesson in lessons]
        # What a schema expects is a description and no value.
        answers = [check.expected for check in failed if check.expected is not None and check.kind != "schema"]
        reply = await self._ask(scope, "reflector", task, attempt)
        replies = [(reply, faults(reply, earlier, answers))]
        refused = self._refused(replies[0][1])
        if refused:
            again = await self._ask(scope, "reflector.again", task, attempt, refused)
            replies.append((again, faults(again, earlier, answers)))
        text, found, origin = choose_lesson(replies, verdict.reason, trusted=self.function is not None)
        # The task's own answer only marks: told to the reflector, the mark would say that it had guessed it.
        if "copies_answer" not in found and copies(text, task.accepted):
            found = (*found, "copies_answer")
        return Lesson(
            id=digest([scope.id, scope.path, text])[:12],
            text=text,
            task_id=task.id,
            trial=attempt.trial,
            run_id=scope.id,
            origin=origin,
            faults=found,
            refused=refused,
            evidence=tuple(check.name for check in failed),
        )

    def _refused(self, wrong: tuple[str, ...]) -> tuple[str, ...]:
        """The faults for which it is asked again; a function is trusted, so its faults are only marked."""
        asks = self.function is None and (
            self.ask_again == "any" or (self.ask_again == "hard" and HARD_FAULTS & {*wrong})
        )
        return wrong if asks else ()

    async def _ask(self, scope: Run, name: str, task: Task, attempt: Attempt, wrong: tuple[str, ...] = ()) -> str:
        """Ask for a lesson; ``wrong`` are the faults of the reply before."""
        reason = attempt.verdict.reason
        if self.function is not None:
            given: dict[str, object] = {"task": task.statement, "attempt": attempt.output}
            given |= {"reason": reason, "trial": attempt.trial}
            if attempt.steps:
                given["steps"] = list(attempt.steps)
            return tidy(str(await scope.host(name, self.function, given)))
        prompt = self.prompts["reflector"].render(
            task=task.statement, attempt=told(attempt.output, attempt.steps), trace=reason, reason=reason
        )
        if wrong:
            prompt += (
                f"\n\nYour last reply cannot be used: {' and '.join(REASONS[fault] for fault in wrong)}. Try again."
            )
        system = self.prompts.get("reflector.system")
        messages = [Message(role="system", content=system.render())] if system else []
        messages.append(Message(role="user", content=prompt))
        return tidy((await scope.model(name, ModelRequest(role="reflector", messages=tuple(messages)))).text)
