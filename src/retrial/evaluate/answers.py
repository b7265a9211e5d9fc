"""How answers are compared: the definitions of HotPotQA's official evaluation, and numbers in text. Pure functions."""

from __future__ import annotations

import re
import string
from collections import Counter
from decimal import Decimal
from fractions import Fraction

__all__ = ["Number", "f1_score", "normalised_answer", "numbers_in", "short"]

_ARTICLES = re.compile(r"\b(a|an|the)\b")
_UNPUNCTUATED = str.maketrans("", "", string.punctuation)
_CLOSED = frozenset({"yes", "no", "noanswer"})
_GROUPED = r"\d{1,3}(?:[,_\u00a0\u202f]\d{3})+(?!\d)"
_NUMBER = re.compile(
    rf"(?<![\w.])(?:[$€£₹]\s?)?[-+\u2212]?(?:[$€£₹]\s?)?(?P<number>(?:{_GROUPED}|\d+)(?:\.\d+)?|\.\d+)(?P<power>[eE][-+]?\d{{1,3}}(?!\w))?"
    r"(?:\s?/\s?(?P<divisor>\d+(?!\.?\d)))?(?:\s?(?P<unit>%|°?[^\W\d_]+))?"
)
MOST_DIGITS = 400
"""A longer run of digits is no number that anybody meant."""
LONGEST = 200
"""How much of an answer a message quotes."""


def normalised_answer(text: str) -> str:
    """Return an answer as HotPotQA compares it: lower case, without punctuation, articles and spare spaces.

    >>> normalised_answer('The "Jonny" Craig.')
    'jonny craig'
    """
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_UNPUNCTUATED)).split())


def f1_score(output: str, answer: str) -> float:
    """Return the F1 of the words of two answers; yes, no and noanswer match nothing but themselves.

    >>> f1_score("the Eiffel Tower in Paris", "Eiffel Tower"), f1_score("yes, it is", "yes")
    (0.6666666666666666, 0.0)
    >>> f1_score("no", "no way")
    0.0
    """
    ours, theirs = normalised_answer(output), normalised_answer(answer)
    if ours != theirs and (ours in _CLOSED or theirs in _CLOSED):
        return 0.0
    ours_words, their_words = ours.split(), theirs.split()
    common = sum((Counter(ours_words) & Counter(their_words)).values())
    if not common:
        return 0.0
    precision, recall = common / len(ours_words), common / len(their_words)
    return 2 * precision * recall / (precision + recall)


class Number:
    """A number as it stands in a text."""

    __slots__ = ("text", "unit", "value")

    def __init__(self, text: str, value: Fraction, unit: str) -> None:
        self.text = text
        self.value = value
        self.unit = unit

    def __repr__(self) -> str:
        return f"Number({self.text!r}, {float(self.value):g}, {self.unit!r})"


def numbers_in(text: str) -> list[Number]:
    """Return the numbers of a text in order: thousands separators, signs, currencies, fractions, percent and units.

    >>> numbers_in("It cost $1,200.50, or 12 % of 3/4 of -1e3 km")
    [Number('$1,200.50', 1200.5, ''), Number('12', 12, '%'), Number('3/4', 0.75, 'of'), Number('-1e3', -1000, 'km')]
    """
    found: list[Number] = []
    for match in _NUMBER.finditer(text):
        if len(match["number"]) > MOST_DIGITS:
            continue
        value = Fraction(Decimal(re.sub(r"[,_\s]", "", match["number"]) + (match["power"] or "")))
        divisor = int(match["divisor"]) if match["divisor"] and len(match["divisor"]) <= 9 else 1
        value = value / divisor if divisor else value
        sign = bool(re.match(r"\D*[-\u2212]", match[0]))
        end = match.start("unit") if match["unit"] else match.end()
        found.append(Number(text[match.start() : end].strip(), -value if sign else value, match["unit"] or ""))
    return found


def short(text: str, most: int = LONGEST) -> str:
    """Return a text as a message quotes it: its repr, cut."""
    stripped = text.strip()
    return repr(stripped) if len(stripped) <= most else f"{stripped[:most]!r}..."
