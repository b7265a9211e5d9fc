"""The answer in a reply, and the answer that most replies agree on. Pure functions."""

from __future__ import annotations

import re
from collections.abc import Sequence

from retrial.evaluate.answers import numbers_in

__all__ = ["ANSWER_LAST", "answer_in", "ballot", "majority"]

ANSWER_LAST = (
    'Think step by step. End your reply with "Answer:" and, after it, your answer alone. Nothing may follow it.'
)
"""How a model is told to give an answer that ``answer_in`` finds."""

_ANSWER = re.compile(r"(?<![\w\"'])Answer[*_]*:[*_]*")
_BEFORE = " \t\r\n*_`\"'$("
_AFTER = " \t\r\n*_`\"'$).!;,"
_BOXED = re.compile(r"\A\$*\\boxed\{(.*)\}\$*\.?\Z", re.DOTALL)


def answer_in(reply: str) -> str:
    r"""Return what follows the last ``Answer:`` of a reply, or all of a reply that has none.

    >>> answer_in("Answer: 10? No: 6 x 2.\n**Answer:** 12\n"), answer_in("12")
    ('12', '12')
    """
    return _ANSWER.split(reply)[-1].strip()


def ballot(answer: str) -> str:
    r"""Return the form in which an answer is counted.

    A number counts by its value and unit, so ``12``, ``12.0``, ``$12`` and ``\boxed{12}`` are one answer. Anything else
    counts in lower case, with single spaces and without quotes, emphasis, round brackets
    and punctuation around it.

    >>> [ballot(text) for text in ("$1,200.0", "**1200**", "12 km.", "-.5", "(A)", "x < 3")]
    ['1200', '1200', '12 km', '-1/2', 'a', 'x < 3']
    """
    boxed = _BOXED.match(answer.strip())
    text = (boxed[1] if boxed else answer).lstrip(_BEFORE).rstrip(_AFTER)
    numbers = numbers_in(text)
    if len(numbers) == 1 and text.removesuffix(numbers[0].unit).strip() == numbers[0].text:
        return f"{numbers[0].value} {numbers[0].unit.casefold()}".strip()
    return " ".join(text.casefold().split())


def majority(answers: Sequence[str | None]) -> tuple[str, int]:
    """Return the answer that most give, and how many; of equally many, the one that was given first.

    None stands for whoever failed. An empty answer counts only where there is no other.

    >>> majority(["10", None, "12", "12.0", "", "10.0"])
    ('10', 2)
    >>> majority(["", None])
    ('', 1)
    """
    given = [answer for answer in answers if answer] or [answer for answer in answers if answer is not None]
    cast = [ballot(answer) for answer in given]
    votes = {vote: cast.count(vote) for vote in cast}
    chosen = max(votes, key=lambda vote: votes[vote])
    return given[cast.index(chosen)], votes[chosen]
