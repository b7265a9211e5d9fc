"""Seed 1, third part: learn across tasks. The actor's prompt is the printed one, with insights and examples in it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from retrial.algorithms.experience import SECTIONS, Experience
from retrial.algorithms.extraction import BATCH, EXTRACTOR, Extraction
from retrial.algorithms.reflexion import Reflexion
from retrial.algorithms.registry import actor_from
from retrial.evaluate.registry import evaluator_from
from retrial.memory.insights import CAP
from retrial.prompts import Prompt, replaced
from retrial.recipes.judge import JUDGE_ACTOR, JUDGE_REFLECTOR
from retrial.recipes.sections import before_lessons, checks_by
from retrial.recipes.unit_tests import UNIT_TESTS_ACTOR, UNIT_TESTS_REFLECTOR

__all__ = ["INSIGHT_BANK_ACTOR", "INSIGHT_BANK_REVIEWED_ACTOR", "extraction", "insight_bank"]

TESTS = {"kind": "unit_tests"}
"""What judges unless something else is said."""


def insight_bank(
    *,
    evaluator: Mapping[str, Any] | None = None,
    trials: int = 4,
    lessons: int | None = 3,
    insights: int = 5,
    examples: int = 2,
    batch: int = BATCH,
    cap: int = CAP,
    group: int | None = None,
    every_trial: bool = False,
    others_only: bool = False,
    without: int | None = None,
    keeps: bool = True,
    carry: str = "lessons",
    from_stored: bool = False,
    store_lessons: bool = True,
    confirm: bool = False,
    actor: str | Mapping[str, Any] | None = None,
    prompts: Mapping[str, str] | None = None,
) -> Reflexion:
    """Solve a task with what other tasks have taught, and keep its trials for what they teach (seed 1, third part).

    The first prompt holds the ``insights`` highest-scored insights and the ``examples`` most similar passed trials of
    the bank; with ``every_trial`` later ones hold the insights too, with ``others_only`` no example is a trial of the
    same task, and ``without`` leaves out the insight of that id. ``keeps`` is whether the task's trials are kept at
    all. After each ``batch`` new trials an extraction begins by itself, beside the tasks, in a bank of at most ``cap``
    insights; ``group`` is how many pairs one call of the extractor compares, None for all of a batch.
    ``evaluator`` is what judges, as a spec; None for the task's tests. The rest is as for ``unit_tests``.

    Raises:
        ConfigError: if a value is out of range, or an evaluator or a prompt has another name.
    """
    texts = replaced(_REVIEWED if evaluator else _TESTED, prompts or {})
    experience = Experience(
        insights=insights,
        examples=examples,
        every_trial=every_trial,
        others_only=others_only,
        without=without,
        keeps=keeps,
        batch=batch,
        cap=cap,
        group=group,
        extractor=_unless_ours(texts.pop("extractor")),
    )
    return Reflexion(
        evaluator=evaluator_from(evaluator or TESTS),
        max_trials=trials,
        actor=actor_from(actor, evaluator or TESTS),
        keep_reflections=lessons,
        carry=carry,
        keep="best",
        ask_again="hard",
        store_lessons=store_lessons and carry not in ("checks", "nothing"),
        start_from_stored=from_stored,
        confirm=confirm,
        experience=experience,
        prompts=texts,
    )


def _unless_ours(extractor: Prompt) -> str:
    """The text of an extractor's prompt that is not ours."""
    return "" if extractor.text == EXTRACTOR.text else extractor.text


def extraction(
    *, batch: int = BATCH, cap: int = CAP, group: int | None = None, prompts: Mapping[str, str] | None = None
) -> Extraction:
    """Learn from one batch of trials: what ``insight_bank`` starts by itself, by the name under which it is resumed.

    Raises:
        ConfigError: if a value is out of range, or a prompt has another name.
    """
    return Extraction(batch=batch, cap=cap, group=group, prompts=replaced({"extractor": EXTRACTOR}, prompts or {}))


_SECTIONS = checks_by("This was said") + SECTIONS

INSIGHT_BANK_ACTOR = before_lessons(UNIT_TESTS_ACTOR, _SECTIONS, name="insight_bank.actor")

INSIGHT_BANK_REVIEWED_ACTOR = before_lessons(JUDGE_ACTOR, _SECTIONS, name="insight_bank.actor")

_TESTED = {"actor": INSIGHT_BANK_ACTOR, "reflector": UNIT_TESTS_REFLECTOR, "extractor": EXTRACTOR}
_REVIEWED = {"actor": INSIGHT_BANK_REVIEWED_ACTOR, "reflector": JUDGE_REFLECTOR, "extractor": EXTRACTOR}
