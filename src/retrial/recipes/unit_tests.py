"""Seed 1, first part: solve a task that has unit tests. Prompts are those printed there, word for word."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from retrial.algorithms.reflexion import Reflexion
from retrial.algorithms.registry import actor_from
from retrial.evaluate.unit_tests import UnitTests
from retrial.prompts import Prompt, replaced
from retrial.recipes.sections import before_lessons, checks_by

__all__ = ["UNIT_TESTS_ACTOR", "UNIT_TESTS_ACTOR_WITH_CHECKS", "UNIT_TESTS_REFLECTOR", "unit_tests"]


def unit_tests(
    *,
    trials: int = 4,
    lessons: int | None = 3,
    carry: str = "lessons",
    from_stored: bool = False,
    store_lessons: bool = True,
    confirm: bool = False,
    actor: str | Mapping[str, Any] | None = None,
    prompts: Mapping[str, str] | None = None,
) -> Reflexion:
    """Solve a task that has unit tests (seed 1, first part): at the cap, the attempt that passed the most of them.

    ``trials`` is 1 to 10. ``lessons`` is how many of the newest stand in the prompt, None for all. ``carry`` is what a
    fresh trial is told: ``lessons``, ``checks`` (the failed checks word for word), ``both`` or ``nothing``; without
    lessons none is written. ``actor`` is who acts in place of the model: a host function by name, or an algorithm by
    its spec, such as ``{"kind": "debate"}``. ``prompts`` replaces texts by prompt name.

    Raises:
        ConfigError: if a value is out of range, or a prompt has another name.
    """
    prompt = UNIT_TESTS_ACTOR if carry in ("lessons", "nothing") else UNIT_TESTS_ACTOR_WITH_CHECKS
    return Reflexion(
        evaluator=UnitTests(),
        max_trials=trials,
        actor=actor_from(actor, {"kind": "unit_tests"}),
        keep_reflections=lessons,
        carry=carry,
        keep="best",
        ask_again="hard",
        store_lessons=store_lessons and carry not in ("checks", "nothing"),
        start_from_stored=from_stored,
        confirm=confirm,
        prompts=replaced({"actor": prompt, "reflector": UNIT_TESTS_REFLECTOR}, prompts or {}),
    )


UNIT_TESTS_ACTOR = Prompt(
    "unit_tests.actor",
    """\
Solve the task below. Your code will be checked by unit tests.

<task>{{task}}</task>

{{#if lessons}}
You have attempted this before. Lessons you wrote for yourself:
<lessons>{{lessons}}</lessons>
Do not repeat a mistake listed here.
{{/if}}

Return only the code.""",
)

UNIT_TESTS_ACTOR_WITH_CHECKS = before_lessons(UNIT_TESTS_ACTOR, checks_by("The tests said"))

UNIT_TESTS_REFLECTOR = Prompt(
    "unit_tests.reflector",
    """\
Your attempt failed. Work out why, and write a lesson for your next try.

<task>{{task}}</task>
<attempt>{{attempt}}</attempt>
<test_output>{{trace}}</test_output>

In two or three sentences, state:
1. the specific mistake (not "the code was wrong")
2. what to do differently next time

Write in the first person. Do not write code.""",
)
