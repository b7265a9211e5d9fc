"""Seed 1, second part: solve what a reviewer checks, a model with a rubric or any other evaluator.

Prompts are those printed there, word for word.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from retrial.algorithms.reflexion import Reflexion
from retrial.algorithms.registry import actor_from
from retrial.evaluate.judge import Judge
from retrial.evaluate.registry import evaluator_from
from retrial.prompts import Prompt, replaced
from retrial.recipes.sections import before_lessons, checks_by

__all__ = ["JUDGE_ACTOR", "JUDGE_ACTOR_WITH_CHECKS", "JUDGE_REFLECTOR", "checked", "judge"]


def judge(
    *,
    rubric: str | Sequence[str],
    trials: int = 4,
    lessons: int | None = None,
    trust: str = "same_model",
    allow_same_model: bool = False,
    role: str = "judge",
    prompt: str | None = None,
    carry: str = "lessons",
    from_stored: bool = False,
    store_lessons: bool = True,
    confirm: bool = False,
    actor: str | Mapping[str, Any] | None = None,
    prompts: Mapping[str, str] | None = None,
) -> Reflexion:
    """Solve a task that only a model with a rubric can judge (seed 1, second part): at the cap, the last attempt.

    ``rubric`` holds items to check, such as a word limit. ``trust`` is ``other_model`` where the judge is known to be
    another model than the actor, ``role`` what it is asked as, ``prompt`` its template in place of the printed one. All
    lessons stand in the prompt unless ``lessons`` says how many of the newest; the rest is as for ``unit_tests``.

    Raises:
        ConfigError: if a value is out of range, the rubric is empty, or a prompt has another name.
    """
    reviewer = Judge(rubric, role=role, trust=trust, allow_same_model=allow_same_model, prompt=prompt)
    return Reflexion(
        evaluator=reviewer,
        max_trials=trials,
        actor=actor_from(actor, reviewer.spec()),
        keep_reflections=lessons,
        carry=carry,
        keep="last",
        ask_again="hard",
        store_lessons=store_lessons and carry not in ("checks", "nothing"),
        start_from_stored=from_stored,
        confirm=confirm,
        prompts=_reviewed(carry, prompts),
    )


def checked(
    *,
    evaluator: Mapping[str, Any],
    trials: int = 4,
    lessons: int | None = 3,
    carry: str = "lessons",
    from_stored: bool = False,
    store_lessons: bool = True,
    confirm: bool = False,
    actor: str | Mapping[str, Any] | None = None,
    prompts: Mapping[str, str] | None = None,
) -> Reflexion:
    """Solve a task that any evaluator can check: a match, a schema, a query, rules, or several of them.

    ``evaluator`` is its spec, such as ``{"kind": "normalised"}``; the rest is as for ``unit_tests``, and so is what a
    run without a pass returns: the attempt with the highest score.

    Raises:
        ConfigError: if a value is out of range, or an evaluator or a prompt has another name.
    """
    return Reflexion(
        evaluator=evaluator_from(evaluator),
        max_trials=trials,
        actor=actor_from(actor, evaluator),
        keep_reflections=lessons,
        carry=carry,
        keep="best",
        ask_again="hard",
        store_lessons=store_lessons and carry not in ("checks", "nothing"),
        start_from_stored=from_stored,
        confirm=confirm,
        prompts=_reviewed(carry, prompts),
    )


def _reviewed(carry: str, prompts: Mapping[str, str] | None) -> dict[str, Prompt]:
    """The prompts of work that a reviewer checks."""
    prompt = JUDGE_ACTOR if carry in ("lessons", "nothing") else JUDGE_ACTOR_WITH_CHECKS
    return replaced({"actor": prompt, "reflector": JUDGE_REFLECTOR}, prompts or {})


JUDGE_ACTOR = Prompt(
    "judge.actor",
    """\
Complete the task below. A reviewer will check your work against a rubric.

<task>{{task}}</task>

{{#if lessons}}
You have attempted this before. Lessons you wrote for yourself:
<lessons>{{lessons}}</lessons>
Do not repeat a mistake listed here.
{{/if}}

Return only the result.""",
)

JUDGE_ACTOR_WITH_CHECKS = before_lessons(JUDGE_ACTOR, checks_by("The reviewer said"))

JUDGE_REFLECTOR = Prompt(
    "judge.reflector",
    """\
Your attempt failed review. Work out why, and write a lesson for your next try.

<task>{{task}}</task>
<attempt>{{attempt}}</attempt>
<review>{{reason}}</review>

In two or three sentences, state:
1. the specific mistake
2. what to do differently next time

Write in the first person. Do not rewrite the attempt.""",
)
