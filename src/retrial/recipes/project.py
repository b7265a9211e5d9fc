"""Solve a task in a project that a command judges, such as its tests: seed 1's loop, told how to hand in a change."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from retrial.algorithms.reflexion import Reflexion
from retrial.algorithms.registry import actor_from
from retrial.evaluate.registry import evaluator_from
from retrial.prompts import Prompt, replaced
from retrial.recipes.unit_tests import UNIT_TESTS_REFLECTOR

__all__ = ["PROJECT_ACTOR", "project"]


def project(
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
    """Solve a task by changing a project in which a command, such as ``pytest -q``, must then succeed.

    ``evaluator`` is a spec of the kind ``command``, or one that has such a part; the rest is as for ``unit_tests``.

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
        prompts=replaced({"actor": PROJECT_ACTOR, "reflector": UNIT_TESTS_REFLECTOR}, prompts or {}),
    )


PROJECT_ACTOR = Prompt(
    "project.actor",
    """\
Solve the task below by changing a project. A command of the project, such as its tests, will check your change.

<task>{{task}}</task>

{{#if checks}}
You have attempted this before. The command said about your last attempt:
<checks>{{checks}}</checks>
{{/if}}

{{#if lessons}}
You have attempted this before. Lessons you wrote for yourself:
<lessons>{{lessons}}</lessons>
Do not repeat a mistake listed here.
{{/if}}

Return only the change, in one of two forms:
1. every file that you change or add, whole, in a fence of its own with its path on the line above:

path/to/file
```
the whole file
```

2. one unified diff in a fence that begins with ```diff""",
)
