"""Seed 2: retry any actor whose output something else can score. Prompts are those printed there, word for word."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from retrial.algorithms.reflexion import Reflexion
from retrial.algorithms.registry import actor_from
from retrial.errors import ConfigError
from retrial.evaluate.registry import evaluator_from
from retrial.prompts import Prompt, replaced

__all__ = ["HARNESS_ACTOR", "HARNESS_REFLECTOR", "harness"]


def harness(
    *,
    validator: str | None = None,
    evaluator: Mapping[str, Any] | None = None,
    actor: str | Mapping[str, Any] | None = None,
    reflector: str | None = None,
    trials: int = 3,
    lessons: int | None = 3,
    patience: int | None = 1,
    threshold: float = 1.0,
    memory: str = "episodic",
    prompts: Mapping[str, str] | None = None,
) -> Reflexion:
    """Retry any actor whose output something else can score (seed 2), until it passes or the score stalls.

    ``validator`` is the name of a host function that scores, ``evaluator`` the spec of what else does; one of the two
    is needed. ``actor`` and ``reflector`` are names of host functions too (an actor also an algorithm's spec); without
    them the models play these roles. ``patience`` is how many trials without a higher score end it, None for never.
    ``threshold``, above 0 and at most 1, is a validator's score that counts as passed. ``memory`` is ``episodic``
    (lessons live for this run) or ``persistent`` (they are remembered, and a run begins with those of its task and with
    relevant ones of others).

    Raises:
        ConfigError: if nothing scores, a value is out of range, or a prompt has another name.
    """
    if validator is None and evaluator is None:
        raise ConfigError(
            "nothing scores the attempts; give a validator or an evaluator, or use a plain tool loop if only the model "
            "itself could judge"
        )
    if memory not in ("episodic", "persistent"):
        raise ConfigError(f"memory={memory!r} is not possible; it can be 'episodic' or 'persistent'")
    return Reflexion(
        validator=validator,
        evaluator=None if evaluator is None else evaluator_from(evaluator),
        actor=actor_from(actor, evaluator or {"kind": "validator", "name": validator, "threshold": threshold}),
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
        across_tasks=memory == "persistent",
        prompts=replaced({"actor": HARNESS_ACTOR, "reflector": HARNESS_REFLECTOR}, prompts or {}),
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
