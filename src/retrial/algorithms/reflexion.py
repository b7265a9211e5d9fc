"""Reflexion: attempt, evaluate, write a lesson, and attempt afresh with the lessons (Shinn et al., 2023).

One loop for every variant; ``recipes`` configures it. The actor's prompt is built anew each trial from the task and the
lessons alone: never an earlier attempt, never a transcript. The reflector sees the task, this attempt and what the
evaluator said, and runs only where a lesson can still be used.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field, fields, replace
from functools import cached_property
from typing import Any, cast

from retrial.algorithms.lessons import choose_lesson, in_prompt, stalled
from retrial.core.codec import decode, encode
from retrial.core.keys import digest
from retrial.core.messages import Message, ModelRequest
from retrial.core.tasks import Attempt, Lesson, Outcome, Status, Task, Verdict
from retrial.engine.run import Run
from retrial.errors import ConfigError
from retrial.evaluate.critic import Critic
from retrial.evaluate.evaluator import Evaluator
from retrial.evaluate.unit_tests import UnitTests
from retrial.evaluate.validator import Validator
from retrial.memory.quality import HARD_FAULTS, REASONS, faults
from retrial.prompts import Prompt, bullets

__all__ = ["LIMIT_TRIALS", "Reflexion", "task_of"]

LIMIT_TRIALS = 10
"""No loop may be longer: gains are front-loaded, and a model that failed ten times repeats itself."""


@dataclass(frozen=True)
class Reflexion:
    """The loop. The defaults are those of ``Reflexion(validator=...)``; ``validator=None`` asks an LLM critic.

    Its input is ``{"task": text or an encoded Task, "reflections": [lessons to start from]}``. Its value is
    ``{"candidate", "trial", "trials", "score", "reason", "reflections"}``: the answer (for code, the code itself), the
    trial it came from, how many trials there were, its score, the last reason, and every lesson; ``hidden`` is added
    where the task has hidden tests, with their ``passed`` and ``score``.
    """

    validator: str | None = None
    """The name of a registered validator; with ``evaluator`` given, None."""
    _: KW_ONLY
    evaluator: Evaluator | None = None
    """What judges; None for the validator, or for a critic."""
    max_trials: int = 3
    """1 to 10."""
    keep_reflections: int | None = 5
    """The newest lessons in the prompt, at least 1; None for all."""
    prompts: Mapping[str, Prompt] = field(default_factory=lambda: PROMPTS)
    """By role: ``actor``, ``reflector``, and ``reflector.system`` where the reflector has a system message."""
    actor: str | None = None
    """The name of a host function ``prompt -> output`` that acts; None for the model in the role ``actor``."""
    reflector: str | None = None
    """The name of a host function that writes lessons; None for the model in the role ``reflector``."""
    keep: str = "last"
    """Which attempt a run without a pass returns: ``last``, or ``best`` (highest score, the earliest of equals)."""
    patience: int | None = None
    """Stop after this many trials without a higher score than before, at least 1; None for never."""
    threshold: float = 1.0
    """A validator's score from which an attempt counts as passed, above 0 and at most 1."""
    carry: str = "lessons"
    """What a fresh trial is told: ``lessons``, ``checks`` (the last evaluator's words) or ``both``."""
    ask_again: str = "never"
    """When a reflector is asked a second time: ``never``, on a ``hard`` fault, on ``any`` fault."""
    distinct_lessons: bool = False
    """Whether a lesson that repeats another is left out of the prompt."""
    store_lessons: bool = False
    """Whether lessons are remembered under the task's id."""
    start_from_stored: bool = False
    """Whether to begin with the lessons that are remembered for the task."""
    confirm: bool = False
    """Whether a passing attempt is judged once more in a fresh process."""

    name = "reflexion"
    version = "1"

    def __post_init__(self) -> None:
        """Check the bounds.

        Raises:
            ConfigError: naming the parameter and its value.
        """
        keep = self.keep_reflections
        checks = {
            "max_trials": (1 <= self.max_trials <= LIMIT_TRIALS, f"1 to {LIMIT_TRIALS}"),
            "keep_reflections": (keep is None or keep >= 1, "at least 1, or None for all"),
            "keep": (self.keep in ("last", "best"), "'last' or 'best'"),
            "patience": (self.patience is None or self.patience >= 1, "at least 1, or None for never"),
            "threshold": (0 < self.threshold <= 1, "above 0 and at most 1"),
            "carry": (self.carry in ("lessons", "checks", "both"), "'lessons', 'checks' or 'both'"),
            "ask_again": (self.ask_again in ("never", "hard", "any"), "'never', 'hard' or 'any'"),
        }
        for name, (holds, allowed) in checks.items():
            if not holds:
                raise ConfigError(f"{name}={getattr(self, name)!r} is not possible; it can be {allowed}")
        if self.validator is not None and self.evaluator is not None:
            raise ConfigError(f"validator={self.validator!r} and an evaluator are both given; choose one")
        if self.threshold != 1.0 and self.validator is None:
            raise ConfigError(f"threshold={self.threshold!r} is for a validator's score; tell the evaluator instead")
        if self.carry != "lessons" and "{{checks}}" not in self.prompts["actor"].text:
            raise ConfigError(f"carry={self.carry!r} needs an actor prompt that holds {{{{checks}}}}")
        if self.validator is None and self.evaluator is None:
            warnings.warn(
                "no evaluator is given, so a model will judge: the least trustworthy choice there is",
                UserWarning,
                stacklevel=3,
            )

    @cached_property
    def judge(self) -> Evaluator:
        """The evaluator in use."""
        if self.evaluator is not None:
            return self.evaluator
        return Critic() if self.validator is None else Validator(self.validator, threshold=self.threshold)

    @property
    def max_calls(self) -> int:
        """The most model calls that one run can make."""
        asked = 0 if self.reflector or not self._learns else 1 if self.ask_again == "never" else 2
        judging = self.judge.max_calls * self.max_trials * (2 if self.confirm else 1)
        return (0 if self.actor else self.max_trials) + asked * (self.max_trials - 1) + judging

    def parameters(self) -> Mapping[str, Any]:
        """Return everything that decides what a run does, the prompts as their digests."""
        return self._parameters

    @cached_property
    def _parameters(self) -> Mapping[str, Any]:
        described = {"evaluator": self.judge.spec(), "prompts": {one.name: one.digest for one in self.prompts.values()}}
        plain = [one.name for one in fields(self) if one.name not in ("validator", *described)]
        return {name: getattr(self, name) for name in plain} | described

    async def __call__(self, run: Run, given: Mapping[str, Any]) -> Outcome:
        """Run the loop until an attempt passes, the cap is reached or the score stalls."""
        task = task_of(given)
        lessons = await self._starting_lessons(run, task, given)
        attempts: list[Attempt] = []
        run.keep(lambda: self._value(attempts, lessons) if attempts else None)
        for trial in range(1, self.max_trials + 1):
            scope = run.child(f"trial.{trial}")
            attempt = await self._attempt(scope, task, trial, lessons, attempts)
            attempts.append(attempt)
            scope.note("reflexion.feedback", {"attempt": attempt})
            if attempt.verdict.passed:
                return await self._end(run, task, Status.COMPLETED, attempts, lessons)
            if trial == self.max_trials or stalled([one.verdict.score for one in attempts], self.patience):
                break
            if attempt.verdict.reflectable and self._learns:
                lessons.append(await self._reflect(scope, task, attempt, lessons))
        return await self._end(run, task, Status.NO_SOLUTION, attempts, lessons)

    async def _starting_lessons(self, run: Run, task: Task, given: Mapping[str, Any]) -> list[Lesson]:
        """The lessons that the caller gives and, if asked for, those remembered for the task; oldest first."""
        lessons: list[Lesson] = []
        if self.start_from_stored:
            stored = await run.recall("stored", "lessons", {"task_id": task.id, "limit": self.keep_reflections})
            lessons += [decode(Lesson, item) for item in stored]
        for text in cast("list[str]", given.get("reflections", ())):
            lessons.append(Lesson(id=digest(text)[:12], text=text, task_id=task.id, origin="given"))
        if lessons:
            run.note("reflexion.given", {"lessons": lessons})
        return lessons

    async def _attempt(
        self, scope: Run, task: Task, trial: int, lessons: list[Lesson], earlier: list[Attempt]
    ) -> Attempt:
        """Let the actor try, and judge what it made."""
        used = in_prompt(lessons, self.keep_reflections, distinct=self.distinct_lessons) if self._tells_lessons else []
        checks = earlier[-1].verdict.reason if earlier and self.carry != "lessons" else ""
        prompt = self.prompts["actor"].render(
            task=task.prompt, lessons=bullets(lesson.text for lesson in used), checks=checks
        )
        if self.actor is not None:
            output = str(await scope.host("actor", self.actor, {"prompt": prompt, "trial": trial}))
        else:
            request = ModelRequest(role="actor", messages=(Message(role="user", content=prompt),))
            output = (await scope.model("actor", request)).text
        verdict = await self._judge(scope, task, output, earlier)
        return Attempt(trial=trial, output=output, verdict=verdict, lessons_used=tuple(one.id for one in used))

    @property
    def _tells_lessons(self) -> bool:
        return self.carry in ("lessons", "both")

    @property
    def _learns(self) -> bool:
        """Whether a lesson has a use: in the next prompt, or in the memory."""
        return self._tells_lessons or self.store_lessons

    async def _judge(self, scope: Run, task: Task, output: str, earlier: list[Attempt]) -> Verdict:
        """Judge an output, once more in a fresh process if it passed and that was asked for."""
        verdict = await self.judge(scope, task, output)
        if verdict.passed and self.confirm:
            again = await self.judge(scope.child("confirm"), task, output)
            if not again.passed:
                return replace(again, flaky=True)
        failed_before = any(one.output == output and not one.verdict.passed for one in earlier)
        return replace(verdict, flaky=True) if verdict.passed and failed_before else verdict

    async def _reflect(self, scope: Run, task: Task, attempt: Attempt, lessons: list[Lesson]) -> Lesson:
        """Have a lesson written about a failed attempt, and remember it if that was asked for."""
        verdict = attempt.verdict
        failed = [check for check in verdict.checks if not check.passed]
        earlier = [lesson.text for lesson in lessons]
        answers = [check.expected for check in failed if check.expected is not None]
        reply = await self._ask_reflector(scope, "reflector", task, attempt)
        replies = [(reply, faults(reply, earlier, answers))]
        wrong = replies[0][1]
        if self.reflector is None and (
            (self.ask_again == "any" and wrong) or (self.ask_again == "hard" and HARD_FAULTS & {*wrong})
        ):
            again = await self._ask_reflector(scope, "reflector.again", task, attempt, wrong)
            replies.append((again, faults(again, earlier, answers)))
        text, found, origin = choose_lesson(replies, verdict.reason, trusted=self.reflector is not None)
        lesson = Lesson(
            id=digest([scope.id, scope.path, text])[:12],
            text=text,
            task_id=task.id,
            trial=attempt.trial,
            run_id=scope.id,
            origin=origin,
            faults=found,
            evidence=tuple(check.name for check in failed),
        )
        scope.note("reflexion.lesson", {"lesson": lesson})
        if self.store_lessons and "duplicate" not in found:
            await scope.remember("lesson", "lessons", encode(lesson))
        return lesson

    async def _ask_reflector(
        self, scope: Run, name: str, task: Task, attempt: Attempt, wrong: tuple[str, ...] = ()
    ) -> str:
        """Ask for a lesson; ``wrong`` are the faults of the reply before."""
        reason = attempt.verdict.reason
        if self.reflector is not None:
            given = {"task": task.prompt, "attempt": attempt.output, "reason": reason, "trial": attempt.trial}
            return str(await scope.host(name, self.reflector, given))
        prompt = self.prompts["reflector"].render(task=task.prompt, attempt=attempt.output, trace=reason, reason=reason)
        if wrong:
            prompt += (
                f"\n\nYour last reply cannot be used: {' and '.join(REASONS[fault] for fault in wrong)}. Try again."
            )
        system = self.prompts.get("reflector.system")
        messages = [Message(role="system", content=system.render())] if system else []
        messages.append(Message(role="user", content=prompt))
        return (await scope.model(name, ModelRequest(role="reflector", messages=tuple(messages)))).text.strip()

    async def _end(
        self, run: Run, task: Task, status: Status, attempts: list[Attempt], lessons: list[Lesson]
    ) -> Outcome:
        """End the run, scoring the returned output by the hidden tests if there are any."""
        value = self._value(attempts, lessons)
        if task.hidden_tests:
            output = self._chosen(attempts).output
            verdict = await UnitTests().judge(run, "hidden", task, output, task.hidden_tests, style=task.hidden_style)
            value["hidden"] = {"passed": verdict.passed, "score": verdict.score}
        return Outcome(status, value)

    def _chosen(self, attempts: list[Attempt]) -> Attempt:
        """The attempt that the run returns: the passing one, else the last or the best."""
        if attempts[-1].verdict.passed or self.keep == "last":
            return attempts[-1]
        return max(attempts, key=lambda one: (one.verdict.score, -one.trial))

    def _value(self, attempts: list[Attempt], lessons: list[Lesson]) -> dict[str, Any]:
        """What the run returns."""
        chosen = self._chosen(attempts)
        return {
            "candidate": chosen.verdict.answer or chosen.output,
            "trial": chosen.trial,
            "trials": len(attempts),
            "score": chosen.verdict.score,
            "reason": attempts[-1].verdict.reason,
            "reflections": [lesson.text for lesson in lessons],
        }


def task_of(given: Mapping[str, Any]) -> Task:
    """Read the task of a loop's input: its text, or an encoded Task.

    Raises:
        ConfigError: if there is none.
    """
    task = given.get("task")
    if isinstance(task, str) and task.strip():
        return Task(prompt=task).identified()
    if isinstance(task, Mapping):
        return decode(Task, task).identified()
    raise ConfigError(f"the input needs a 'task', a text or a Task, and holds {task!r}")


PROMPTS = {
    "actor": Prompt(
        "reflexion.actor",
        """\
{{task}}

{{#if lessons}}
Lessons from earlier attempts at this task:
<lessons>
{{lessons}}
</lessons>
Follow them.
{{/if}}""",
    ),
    "reflector.system": Prompt(
        "reflexion.reflector.system",
        """\
You are reviewing a failed attempt at a task. Say in one to three sentences what to do differently next time, so that \
the next attempt can follow it. Name the cause and a general approach. Do not solve the task and do not write code.""",
    ),
    "reflector": Prompt(
        "reflexion.reflector",
        """\
<task>{{task}}</task>
<attempt>{{attempt}}</attempt>
<reason>{{reason}}</reason>""",
    ),
}
