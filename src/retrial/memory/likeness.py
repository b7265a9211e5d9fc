"""Another measure of likeness than shared words: vectors that a function makes of texts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import sqrt

__all__ = ["SHORTLIST", "Embed", "nearest"]

Embed = Callable[[Sequence[str]], Sequence[Sequence[float]]]
"""From texts to vectors of one length."""

SHORTLIST = 40
"""How many texts that share words such a function chooses from."""


def nearest(embed: Embed, text: str, texts: Sequence[str]) -> list[int]:
    """Return the places of ``texts``, those whose vectors point most the way of ``text``'s first.

    >>> nearest(lambda texts: [[one.count("a"), one.count("b")] for one in texts], "aab", ["bbb", "aaa"])
    [1, 0]
    """
    if not texts:
        return []
    asked, *vectors = embed([text, *texts])
    return sorted(range(len(texts)), key=lambda place: -_cosine(asked, vectors[place]))


def _cosine(one: Sequence[float], other: Sequence[float]) -> float:
    """How much two vectors point the same way, -1 to 1."""
    dot = sum(a * b for a, b in zip(one, other, strict=True))
    length = sqrt(sum(a * a for a in one)) * sqrt(sum(b * b for b in other))
    return dot / length if length else 0.0
