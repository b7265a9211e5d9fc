"""The answer matches the expected one: exactly, normalised, by the words in common, or nearly.

The expected answer stands in the task. It is no part of the reason unless it is visible to everyone anyway
(``show_expected``): whoever reads a reason and tries again must not be told the answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from retrial.core.reports import Check
from retrial.core.tasks import Task, Verdict
from retrial.engine.run import Run
from retrial.errors import ConfigError, EvaluatorError
from retrial.evaluate.answers import f1_score, normalised_answer, short

__all__ = ["Match", "exact", "expected_of", "f1", "fuzzy", "given_answer", "normalised"]

MANY_WORDS = 30
"""An answer that is longer than this and wrong may hold the right one among other words."""


class Match:
    """Judges an output by how like the expected answer it is. Pure: asks the world for nothing."""

    max_calls = 0

    def __init__(
        self,
        kind: str,
        measure: Callable[[str, str], float],
        *,
        threshold: float = 1.0,
        extract: str | None = None,
        show_expected: bool = False,
    ) -> None:
        """Make one of the kinds below.

        Raises:
            ConfigError: if ``threshold`` is not above 0 and at most 1, or ``extract`` is no regular expression.
        """
        if not 0 < threshold <= 1:
            raise ConfigError(f"{kind}: threshold={threshold!r} is not possible; it is above 0 and at most 1")
        self._kind = kind
        self._measure = measure
        self._threshold = threshold
        self._extract = extract
        self._show_expected = show_expected
        given_answer("", extract)

    def spec(self) -> Mapping[str, Any]:
        """Return what makes an equal evaluator."""
        bound = {"threshold": self._threshold} if self._kind in ("f1", "fuzzy") else {}
        return {"kind": self._kind, **bound, "extract": self._extract, "show_expected": self._show_expected}

    async def __call__(self, run: Run, task: Task, output: str) -> Verdict:
        """Judge ``output`` by the best of the task's accepted answers.

        Raises:
            EvaluatorError: if the task has no answer.
        """
        expected = expected_of(task)
        answer = given_answer(output, self._extract)
        score = max(self._measure(answer, one) for one in expected) if answer else 0.0
        passed = score >= self._threshold
        reason = "" if passed else self._reason(output, answer, score)
        shown = short(expected[0]) if self._show_expected else None
        if shown and not passed:
            reason += f"; expected {shown}"
        check = Check(
            name=self._kind, passed=passed, message=reason, actual=short(answer), expected=shown, kind="match"
        )
        return Verdict(passed=passed, score=score, reason=reason, answer=answer, checks=(check,), trust="match")

    def _reason(self, output: str, answer: str, score: float) -> str:
        """What is wrong, without saying what would be right."""
        if not output.strip():
            return "the answer is empty"
        if not answer:
            return f"no answer was found in the reply: it needs a part that matches {self._extract!r}"
        how = {
            "exact": "it has to be the expected one to the character",
            "normalised": "case, punctuation and articles do not count, everything else does",
            "f1": f"F1 {score:.2f}, needed {self._threshold:.2f}: "
            + ("some words are right" if score else "no word is right"),
            "fuzzy": f"similarity {score:.2f}, needed {self._threshold:.2f}",
        }[self._kind]
        words = len(answer.split())
        if words > MANY_WORDS:
            how += f"; it has {words} words, so give the answer alone"
        return f"the answer {short(answer)} does not match ({how})"


def exact(*, extract: str | None = None, show_expected: bool = False) -> Match:
    """The answer is the expected one, spaces around it aside. ``extract`` takes the answer out of a reply.

    Nothing limits the time that ``extract`` takes, so it may not repeat what repeats already, as in ``(a+)+``.
    """
    return Match("exact", _same, extract=extract, show_expected=show_expected)


def normalised(*, extract: str | None = None, show_expected: bool = False) -> Match:
    """The answer is the expected one by HotPotQA's official exact match: case, punctuation and articles aside."""
    return Match("normalised", _same_normalised, extract=extract, show_expected=show_expected)


def f1(*, threshold: float = 1.0, extract: str | None = None, show_expected: bool = False) -> Match:
    """The words of the answer are those expected, by HotPotQA's official F1; the score is the F1."""
    return Match("f1", f1_score, threshold=threshold, extract=extract, show_expected=show_expected)


def fuzzy(*, threshold: float = 0.9, extract: str | None = None, show_expected: bool = False) -> Match:
    """The answer is nearly the expected one: rapidfuzz's normalised edit distance of the normalised texts."""
    return Match("fuzzy", _similarity, threshold=threshold, extract=extract, show_expected=show_expected)


def _same(answer: str, expected: str) -> float:
    return float(answer == expected.strip())


def _same_normalised(answer: str, expected: str) -> float:
    return float(normalised_answer(answer) == normalised_answer(expected))


def _similarity(answer: str, expected: str) -> float:
    from rapidfuzz import fuzz  # noqa: PLC0415 - when needed

    return fuzz.ratio(normalised_answer(answer), normalised_answer(expected)) / 100


def expected_of(task: Task) -> tuple[str, ...]:
    """Return the answers that a task accepts.

    Raises:
        EvaluatorError: if it has none.
    """
    if not any(one.strip() for one in task.accepted):
        raise EvaluatorError(f'task {task.id!r} has no answer, so nothing could match; give it answer = "..."')
    return tuple(one for one in task.accepted if one.strip())


def given_answer(output: str, extract: str | None) -> str:
    r"""Return the answer in a reply: all of it, or the last match of ``extract`` (its group, where it has one).

    >>> given_answer("Thought: ...\nAnswer: 42 km\n", r"Answer:\s*(.+)")
    '42 km'

    Raises:
        ConfigError: if ``extract`` is no regular expression.
    """
    if extract is None:
        return output.strip()
    try:
        matches = list(re.finditer(extract, output))
    except re.error as error:
        raise ConfigError(f"extract={extract!r} is no regular expression: {error}") from error
    return (matches[-1][1 if matches[-1].re.groups else 0] or "").strip() if matches else ""
