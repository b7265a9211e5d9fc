"""Whether a lesson repeats what is there already: an earlier lesson, or an answer that it must not hand over."""

from __future__ import annotations

import re
from collections.abc import Iterable

__all__ = ["copies", "normalised", "repeats"]

SHARED_PHRASES = 2 / 3
"""So much of a lesson's phrases of three words in one earlier lesson, and it says nothing new."""
SHORT_WORDS = 12
"""In lessons of fewer words a single one changes what is meant, so only equal ones are repeats."""

_ARTICLES = re.compile(r"^(?:a|an|the) ")
_PLAIN_WORDS = frozenset({"yes", "no", "true", "false", "none", "null", "nan", "inf", "empty"})
_ANNOUNCED = (
    r"\b(?:answer|result|output|expect\w*)(?: (?:is|was|be|should|value|output|result|answer|to|of|returned)){0,3} "
)
_OF_A_CALL = r"\)[`'\"]?,? (?:should|must) (?:return|be|give|equal|yield) [`'\"]?"


def normalised(text: str) -> str:
    """Return the text as lessons are compared: lower case, words alone.

    >>> normalised("Use the email, not the id.") == normalised("use the EMAIL not the id")
    True
    """
    return " ".join(re.findall(r"\w+", text.casefold()))


def repeats(text: str, earlier: Iterable[str]) -> bool:
    """Whether a text says no more than one of the earlier ones: the same words, or nearly all of its phrases.

    A number that the earlier one does not hold makes it new.

    >>> old = "Next time, look the address up with find_account first, and pass the address instead of the number."
    >>> repeats("Next time look the address up with find_account first and pass the address.", [old])
    True
    >>> repeats("Look at place 3.", ["Look at place 4."]), repeats("Use KM!", ["use km"])
    (False, True)
    """
    words = normalised(text).split()
    return any(_repeats(words, normalised(other).split()) for other in earlier)


def _repeats(words: list[str], other: list[str]) -> bool:
    if words == other:
        return True
    numbers = {word for word in words if any(letter.isdigit() for letter in word)}
    if len(words) < SHORT_WORDS or not numbers <= {*other}:
        return False
    phrases = _phrases(words)
    return len(phrases & _phrases(other)) >= SHARED_PHRASES * len(phrases)


def _phrases(words: list[str]) -> set[tuple[str, ...]]:
    """All runs of three words."""
    return set(zip(words, words[1:], words[2:], strict=False))


def copies(text: str, answers: Iterable[str]) -> bool:
    """Whether one of the answers stands in the text: as whole words, whatever their case and punctuation.

    An answer is plain text or the source of a value. What every text may hold ("yes", a number of one or two digits)
    counts only where it is announced, as in "the answer is"; a single word that is given in quotes only in quotes.

    >>> copies("It was Blue Grass airport!", ["the Blue Grass Airport"]), copies("Go northward.", ["north"])
    (True, False)
    >>> copies("The answer is no.", ["no"]), copies("There is no limit.", ["no"])
    (True, False)
    >>> copies("Return 'slug' for that title.", ["'slug'"]), copies("Make a slug of it.", ["'slug'"])
    (True, False)
    """
    plain = f" {normalised(text)} "
    return any(_stands_in(answer, text, plain) for answer in answers)


def _stands_in(answer: str, text: str, plain: str) -> bool:
    """Whether one answer stands in a text, of which ``plain`` is the normalised form between spaces."""
    words = _ARTICLES.sub("", normalised(answer))
    if not words:
        return False
    if words in _PLAIN_WORDS or len(words) <= 2:
        announced = re.search(rf"{_ANNOUNCED}{re.escape(words)} ", plain)
        return bool(announced or re.search(rf"{_OF_A_CALL}{re.escape(answer)}\b", text, re.IGNORECASE))
    if answer[:1] in "'\"" and " " not in words:
        return re.search(rf"(?<!\w)['\"`“]{re.escape(answer[1:-1])}['\"`”]", text, re.IGNORECASE) is not None
    return f" {words} " in plain
