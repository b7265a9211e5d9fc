"""Reflexion: attempt, evaluate, write a lesson, and attempt afresh with the lessons (Shinn et al., 2023).

One loop for every variant; ``recipes`` configures it. The actor's prompt is built anew each trial from the task and the
lessons alone: never an earlier attempt, never a transcript. The reflector sees the task, this attempt and what the
evaluator said, and runs only where a lesson can still be used.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

from retrial.algorithms.acting import act, judged
from retrial.algorithms.experience import Told
from retrial.algorithms.given import task_of
from retrial.algorithms.lessons import best, in_prompt, stalled
from retrial.algorithms.options import Options
from retrial.core.codec import decode, encode
from retrial.core.keys import digest
from retrial.core.tasks import Attempt, Lesson, Outcome, Status, Task
from retrial.engine.run import Run
from retrial.evaluate.unit_tests import UnitTests
from retrial.memory.quality import storable
from retrial.prompts import bullets

__all__ = ["Reflexion"]


@dataclass(frozen=True)
class Reflexion(Options):
    """The loop, configured by its ``Options``; ``Reflexion(validator=None)`` asks an LLM critic.

    Its input is ``{"task": text or an encoded Task, "reflections": [lessons to start from]}``. Its value is
    ``{"candidate", "trial", "trials", "score", "reason", "reflections"}``: the answer (for code, the code itself), the
    trial it came from, how many trials there were, its score, the last reason, and every lesson; ``hidden`` is added
    where the task has hidden tests, with their ``passed`` and ``score``.
    """

    name = "reflexion"
    version = "1"

    async def __call__(self, run: Run, given: Mapping[str, Any]) -> Outcome:
        """Run the loop until an attempt passes, the cap is reached or the score stalls."""
        task = task_of(given)
        lessons = await self._starting_lessons(run, task, given)
        known = await self.experience.recall(run, task) if self.experience else Told()
        attempts: list[Attempt] = []
        run.keep(lambda: self._value(attempts, lessons) if attempts else None)
        for trial in range(1, self.max_trials + 1):
            scope = run.child(f"trial.{trial}")
            told = self.experience.told(known, trial) if self.experience else known
            attempt = await self._attempt(scope, task, trial, lessons, attempts, others=told)
            attempts.append(attempt)
            scope.note("reflexion.feedback", {"attempt": attempt})
            if self.experience:
                await self.experience.keep(scope, task, attempt, told, lessons)
            if attempt.verdict.passed:
                return await self._end(run, task, Status.COMPLETED, attempts, lessons)
            if trial == self.max_trials or stalled([one.verdict.score for one in attempts], self.patience):
                break
            if attempt.verdict.reflectable and self.learns:
                lessons.append(await self._learn(scope, task, attempt, lessons))
        return await self._end(run, task, Status.NO_SOLUTION, attempts, lessons)

    async def _starting_lessons(self, run: Run, task: Task, given: Mapping[str, Any]) -> list[Lesson]:
        """The lessons that the caller gives and, if asked for, those remembered for the task; oldest first."""
        lessons: list[Lesson] = []
        if self.start_from_stored:
            query = {"task_id": task.id, "limit": self.keep_reflections}
            elsewhere = {"task": task.statement, "run_id": run.id} if self.across_tasks else {}
            stored = await run.recall("stored", "lessons", query | elsewhere)
            # What chance left out of this run leaves its place empty, so that runs with and without it can be compared.
            lessons += [decode(Lesson, item) for item in stored if not item.get("left_out")]
        for text in cast("list[str]", given.get("reflections", ())):
            lessons.append(Lesson(id=digest(text)[:12], text=text, task_id=task.id, origin="given"))
        if lessons:
            run.note("reflexion.given", {"lessons": lessons})
        return lessons

    async def _attempt(
        self, scope: Run, task: Task, trial: int, lessons: list[Lesson], earlier: list[Attempt], *, others: Told
    ) -> Attempt:
        """Let the actor try, and judge what it made."""
        used = in_prompt(lessons, self.keep_reflections, distinct=self.distinct_lessons) if self.tells_lessons else []
        checks = earlier[-1].verdict.reason if earlier and self.tells_checks else ""
        told = bullets(lesson.text for lesson in used)
        prompt = self.prompts["actor"].render(task=task.prompt, lessons=told, checks=checks, **others.values())
        output, steps = await act(scope, self.actor, task, prompt, trial)
        verdict = await judged(scope, self.judge, task, output, earlier, confirm=self.confirm)
        ids = tuple(lesson.id for lesson in used)
        return Attempt(trial=trial, output=output, verdict=verdict, lessons_used=ids, steps=steps)

    async def _learn(self, scope: Run, task: Task, attempt: Attempt, lessons: list[Lesson]) -> Lesson:
        """Have a lesson written about a failed attempt, and remember it if that was asked for."""
        lesson = await self.reflecting(scope, task, attempt, lessons)
        if self.across_tasks:
            lesson = replace(lesson, scope="any")
        scope.note("reflexion.lesson", {"lesson": lesson})
        if self.store_lessons and storable(lesson.faults):
            await scope.remember("lesson", "lessons", encode(lesson))
        return lesson

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
        return best(attempts)

    def _value(self, attempts: list[Attempt], lessons: list[Lesson]) -> dict[str, Any]:
        """What the run returns."""
        chosen = self._chosen(attempts)
        return {
            "candidate": chosen.answer,
            "trial": chosen.trial,
            "trials": len(attempts),
            "score": chosen.verdict.score,
            "reason": attempts[-1].verdict.reason,
            "reflections": [lesson.text for lesson in lessons],
        }
