"""The variants of the seeds, each as one short function that configures the one loop.

A recipe is known by name, so that a run can be resumed by whoever finds it in a store: ``rebuild`` makes the algorithm
again from what the run recorded. Prompts are those printed in the seeds, word for word, at the bottom of this page.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from retrial.algorithms.reflexion import Reflexion
from retrial.engine.run import Algorithm
from retrial.errors import ConfigError
from retrial.evaluate.judge import Judge
from retrial.evaluate.registry import evaluator_from
from retrial.evaluate.unit_tests import UnitTests
from retrial.prompts import Prompt, replaced

__all__ = ["RECIPES", "checked", "harness", "judge", "rebuild", "recorded", "unit_tests"]


def unit_tests(
    *,
    trials: int = 4,
    lessons: int | None = 3,
    carry: str = "lessons",
    from_stored: bool = False,
    store_lessons: bool = True,
    confirm: bool = False,
    prompts: Mapping[str, str] | None = None,
) -> Reflexion:
    """Solve a task that has unit tests (seed 1, first part): at the cap, the attempt that passed the most of them.

    ``trials`` is 1 to 10. ``lessons`` is how many of the newest stand in the prompt, None for all. ``carry`` is what a
    fresh trial is told: ``lessons``, ``checks`` (the failed checks word for word, and then no lesson is written) or
    ``both``. ``prompts`` replaces
    texts by prompt name.

    Raises:
        ConfigError: if a value is out of range, or a prompt has another name.
    """
    actor = UNIT_TESTS_ACTOR if carry == "lessons" else UNIT_TESTS_ACTOR_WITH_CHECKS
    return Reflexion(
        evaluator=UnitTests(),
        max_trials=trials,
        keep_reflections=lessons,
        carry=carry,
        keep="best",
        ask_again="hard",
        store_lessons=store_lessons and carry != "checks",
        start_from_stored=from_stored,
        confirm=confirm,
        prompts=replaced({"actor": actor, "reflector": UNIT_TESTS_REFLECTOR}, prompts or {}),
    )


def harness(
    *,
    validator: str,
    actor: str | None = None,
    reflector: str | None = None,
    trials: int = 3,
    lessons: int | None = 3,
    patience: int | None = 1,
    threshold: float = 1.0,
    memory: str = "episodic",
    prompts: Mapping[str, str] | None = None,
) -> Reflexion:
    """Retry any actor whose output something else can score (seed 2), until it passes or the score stalls.

    ``validator``, ``actor`` and ``reflector`` are names of host functions; without the last two the models play these
    roles. ``patience`` is how many trials without a higher score end it, None for never. ``threshold``, above 0 and at
    most 1, is the score that counts as passed. ``memory`` is ``episodic`` (lessons live for this run) or ``persistent``
    (they are remembered for the task, and a run begins with them).

    Raises:
        ConfigError: if a value is out of range, or a prompt has another name.
    """
    if memory not in ("episodic", "persistent"):
        raise ConfigError(f"memory={memory!r} is not possible; it can be 'episodic' or 'persistent'")
    return Reflexion(
        validator=validator,
        actor=actor,
        reflector=reflector,
        max_trials=trials,
        keep_reflections=lessons,
        keep="best",
        patience=patience,
        threshold=threshold,
        ask_again="any",
        distinct_lessons=True,
        store_lessons=memory == "persistent",
        start_from_stored=memory == "persistent",
        prompts=replaced({"actor": HARNESS_ACTOR, "reflector": HARNESS_REFLECTOR}, prompts or {}),
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
        keep_reflections=lessons,
        carry=carry,
        keep="best",
        ask_again="hard",
        store_lessons=store_lessons and carry != "checks",
        start_from_stored=from_stored,
        confirm=confirm,
        prompts=_reviewed(carry, prompts),
    )


def judge(
    *,
    rubric: str | Sequence[str],
    trials: int = 4,
    lessons: int | None = None,
    trust: str = "same_model",
    allow_same_model: bool = False,
    from_stored: bool = False,
    store_lessons: bool = True,
    prompts: Mapping[str, str] | None = None,
) -> Reflexion:
    """Solve a task that only a model with a rubric can judge (seed 1, second part): at the cap, the last attempt.

    ``rubric`` holds items to check, such as a word limit. ``trust`` is ``other_model`` where the judge is known to be
    another model than the actor. All lessons stand in the prompt unless ``lessons`` says how many of the newest.

    Raises:
        ConfigError: if a value is out of range, the rubric is empty, or a prompt has another name.
    """
    return Reflexion(
        evaluator=Judge(rubric, trust=trust, allow_same_model=allow_same_model),
        max_trials=trials,
        keep_reflections=lessons,
        keep="last",
        ask_again="hard",
        store_lessons=store_lessons,
        start_from_stored=from_stored,
        prompts=_reviewed("lessons", prompts),
    )


def _reviewed(carry: str, prompts: Mapping[str, str] | None) -> dict[str, Prompt]:
    """The prompts of work that a reviewer checks."""
    actor = JUDGE_ACTOR if carry == "lessons" else JUDGE_ACTOR_WITH_CHECKS
    return replaced({"actor": actor, "reflector": JUDGE_REFLECTOR}, prompts or {})


RECIPES: Mapping[str, Callable[..., Algorithm]] = {
    "checked": checked,
    "harness": harness,
    "judge": judge,
    "unit_tests": unit_tests,
}
"""The recipes by the name that task files and journals use."""


def recorded(name: str, options: Mapping[str, Any]) -> tuple[Algorithm, Mapping[str, Any]]:
    """Return a recipe's algorithm, and the metadata from which ``rebuild`` makes it again."""
    return RECIPES[name](**options), {"recipe": {"name": name, "options": dict(options)}}


def rebuild(start: Mapping[str, Any]) -> Algorithm:
    """Make the algorithm of a run again, from the data of its first event.

    Raises:
        ConfigError: if the run was not started from a recipe.
    """
    recipe = start.get("metadata", {}).get("recipe")
    if recipe is None or recipe["name"] not in RECIPES:
        raise ConfigError(
            f"the run was started by a program ({start.get('algorithm')!r}), not from a recipe; "
            f"resume or replay it with Engine.resume or Engine.replay from that program"
        )
    return RECIPES[recipe["name"]](**recipe["options"])


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

UNIT_TESTS_ACTOR_WITH_CHECKS = Prompt(
    "unit_tests.actor",
    """\
Solve the task below. Your code will be checked by unit tests.

<task>{{task}}</task>

{{#if checks}}
You have attempted this before. The tests said about your last attempt:
<checks>{{checks}}</checks>
{{/if}}

{{#if lessons}}
You have attempted this before. Lessons you wrote for yourself:
<lessons>{{lessons}}</lessons>
Do not repeat a mistake listed here.
{{/if}}

Return only the code.""",
)

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

JUDGE_ACTOR_WITH_CHECKS = Prompt(
    "judge.actor",
    """\
Complete the task below. A reviewer will check your work against a rubric.

<task>{{task}}</task>

{{#if checks}}
You have attempted this before. The reviewer said about your last attempt:
<checks>{{checks}}</checks>
{{/if}}

{{#if lessons}}
You have attempted this before. Lessons you wrote for yourself:
<lessons>{{lessons}}</lessons>
Do not repeat a mistake listed here.
{{/if}}

Return only the result.""",
)

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

HARNESS_ACTOR = Prompt(
    "harness.actor",
    """\
{{task}}

{{#if lessons}}
Lessons from earlier attempts:
{{lessons}}
{{/if}}""",
)

HARNESS_REFLECTOR = Prompt(
    "harness.reflector",
    """\
The attempt below failed.

Task: {{task}}
Attempt: {{attempt}}
Why it failed: {{reason}}

Write 1-3 sentences of instruction for your next attempt. State what to do
differently, naming the specific tool, argument or constraint involved.
Do not narrate what happened. Do not apologize.""",
)
