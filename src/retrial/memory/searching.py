"""Which lessons are relevant to a task: the words that count, and which of them to ask for. Pure functions of texts.

A long prompt asks for every lesson there is if each of its words counts, which is neither relevant nor quick; the rare
ones of its words say what it is about.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

__all__ = ["MAX_ROWS", "MAX_WORDS", "MIN_SHARED", "arranged", "rare_words", "search_words", "shares_enough"]

T = TypeVar("T")

MAX_WORDS = 12
"""How many words are asked for at most."""

MAX_ROWS = 3000
"""In how many lessons they may stand together; so the time of a search does not grow with the memory."""

MIN_SHARED = 2
"""How many words a lesson of another task must share with the prompt: one alone is chance."""

_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]|[^\W_\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+")
_COMMON = frozenset(
    """
    a about again all also always an and any are as at be because been before but by can could did do does each else
    first for from get had has have how i if in into is it its just like make may me more must my need never next no
    not of on one only or other our out over should so some such than that the their them then there these they
    this time to try up use using was way we were what when where which while who will with without would you your
    attempt correct ensure fail failed lesson mistake sure task test wrong write
    """.split()  # noqa: SIM905 - a list of ninety words cannot be read
)
"""Words that say nothing of what a text is about, and those that stand in every lesson."""


def search_words(text: str) -> list[str]:
    """Return the words of a text as they are searched: folded, without plurals and common words, repeats kept.

    Underscores part words. Chinese and Japanese characters are words of their own.

    >>> search_words("Next time, call find_account with the e-mail addresses.")
    ['call', 'find', 'account', 'e', 'mail', 'address']
    """
    found = _WORD.findall(unicodedata.normalize("NFKC", text).casefold())
    return [_singular(word) for word in found if word not in _COMMON]


def _singular(word: str) -> str:
    """An English plural as its singular (Harman's S stemmer); other words as they are."""
    if len(word) > 4 and word.endswith("ies") and not word.endswith(("eies", "aies")):
        return f"{word[:-3]}y"
    if len(word) > 4 and word.endswith(("sses", "xes", "ches", "shes")):
        return word[:-2]
    if len(word) > 3 and word.endswith("s") and not word.endswith(("us", "ss")):
        return word[:-1]
    return word


def rare_words(counts: Mapping[str, int], max_words: int = MAX_WORDS, max_rows: int = MAX_ROWS) -> list[str]:
    """Return the words to search for, the rarest first; ``counts`` says in how many lessons each stands.

    >>> rare_words({"account": 40, "refund": 3, "the": 90_000, "unknown": 0})
    ['refund', 'account']
    """
    chosen: list[str] = []
    rows = 0
    for count, word in sorted((count, word) for word, count in counts.items() if count):
        rows += count
        if len(chosen) == max_words or (chosen and rows > max_rows):
            break
        chosen.append(word)
    return chosen


def shares_enough(asked: Iterable[str], held: Iterable[str]) -> bool:
    """Whether a lesson's words and those of a prompt have enough in common.

    >>> shares_enough(["refund", "order", "mia"], ["order", "refund", "first"]), shares_enough(["order"], ["order"])
    (True, False)
    """
    return len({*asked} & {*held}) >= MIN_SHARED


def arranged(own: Sequence[T], others: Sequence[T], limit: int | None, spare: int = 3) -> list[T]:
    """Return the lessons to tell, those that matter most last: other tasks' by relevance, then the task's own.

    ``own`` is oldest first, ``others`` most relevant first. The task's own come first when there is no room for all;
    ``spare`` is how many others there may be where there is no ``limit``.

    >>> arranged(["o1", "o2"], ["best", "good"], 3)
    ['best', 'o1', 'o2']
    >>> arranged(["o1"], ["best", "good"], None)
    ['good', 'best', 'o1']
    """
    kept = list(own) if limit is None else list(own[max(len(own) - limit, 0) :])
    room = spare if limit is None else limit - len(kept)
    return [*reversed(others[: max(room, 0)]), *kept]
