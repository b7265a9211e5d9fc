"""The decisions about lessons and scores inside the loop, as pure functions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from retrial.core.tasks import Attempt, Lesson
from retrial.memory.copying import normalised
from retrial.memory.quality import HARD_FAULTS, tidy

__all__ = ["FALLBACK_CHARACTERS", "best", "choose_lesson", "in_prompt", "stalled"]

FALLBACK_CHARACTERS = 500
"""How much of the evaluator's output stands in for a lesson that nobody could write (seed 1)."""


def stalled(scores: Sequence[float], patience: int | None) -> bool:
    """Whether the last ``patience`` scores were all no higher than the best before them.

    The comparison is with the best *before* each attempt: comparing after updating it would stop every loop at its
    second trial.

    >>> stalled([0.2, 0.5, 0.7], 1), stalled([0.5, 0.5], 1), stalled([0.5, 0.4, 0.6], 2)
    (False, True, False)
    """
    if patience is None:
        return False
    best, since = float("-inf"), 0
    for score in scores:
        since = 0 if score > best else since + 1
        best = max(best, score)
    return since >= patience


def best(attempts: Iterable[Attempt]) -> Attempt:
    """Return the attempt that passed, else the one with the highest score; of equals the earliest.

    >>> from retrial.core.tasks import Verdict
    >>> low, high = (Attempt(trial=n, output="", verdict=Verdict(passed=False, score=n / 2)) for n in (0, 1))
    >>> best([low, high]).trial
    1
    """
    return max(attempts, key=lambda one: (one.verdict.passed, one.verdict.score, -one.trial))


def in_prompt(lessons: Sequence[Lesson], newest: int | None, *, distinct: bool) -> list[Lesson]:
    """Return the lessons that the actor is told: the newest ones, oldest first; of repeats only the newest if distinct.

    >>> a, b, c = (Lesson(id=t, text=t) for t in ("Use km.", "State it.", "use KM"))
    >>> [lesson.text for lesson in in_prompt([a, b, c], 2, distinct=True)]
    ['State it.', 'use KM']
    """
    chosen: dict[str, Lesson] = {}
    for lesson in reversed(lessons):
        chosen.setdefault(normalised(lesson.text) if distinct else lesson.id, lesson)
    return list(reversed(list(chosen.values())[:newest]))


def choose_lesson(
    replies: Sequence[tuple[str, tuple[str, ...]]], evaluator_output: str, *, trusted: bool
) -> tuple[str, tuple[str, ...], str]:
    """Choose among a reflector's replies (each with its faults) and return (text, faults, origin).

    The reply with the fewest faults wins, the later one among equals. If every reply has a hard fault, the beginning of
    the evaluator's output becomes the lesson, unless the reflector is a function and so trusted with what it says.

    >>> choose_lesson([("```x```", ("code",))], "1 of 2 checks passed", trusted=False)
    ('1 of 2 checks passed', (), 'fallback')
    """
    best = min(reversed(replies), key=lambda reply: (bool(HARD_FAULTS & {*reply[1]}), len(reply[1])))
    if HARD_FAULTS & {*best[1]} and not (trusted and best[0].strip()):
        return tidy(evaluator_output[:FALLBACK_CHARACTERS]) or "The attempt was not accepted.", (), "fallback"
    return best[0], best[1], "reflector"
