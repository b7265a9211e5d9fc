"""Which recorded request comes nearest to one that was not recorded, and where they part. Pure functions over JSON."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import Any

from retrial.core.codec import canonical_json
from retrial.core.keys import first_difference

__all__ = ["nearest_request"]

_EXCERPT = 80
"""The most characters shown of one text."""


def nearest_request(key: str, role: str, asked: Any, known: Sequence[tuple[str, str, Any]]) -> str:
    """Say in words which of ``known`` (key, role, request) comes nearest to ``asked`` and in what they differ.

    Nearest is the same key before the same role before the longest common beginning of the conversation.

    >>> known = [("trial.1/actor", "actor", {"messages": [{"role": "user", "content": "Add 2"}]})]
    >>> print(nearest_request("trial.1/actor", "actor", {"messages": [{"role": "user", "content": "Add 3"}]}, known))
    the nearest recorded request, 'trial.1/actor', differs at messages[0].content: recorded 'Add 2', asked 'Add 3'
    """
    conversation = _conversation(asked)

    def nearness(entry: tuple[str, str, Any]) -> tuple[bool, bool, int]:
        common = _common(conversation, _conversation(entry[2]))
        return entry[0] == key, entry[1] == role, common

    nearest_key, _, request = max(known, key=nearness)
    # Only an encoded request that came from another version of the codec differs in its digest alone.
    place, recorded, present = first_difference(request, asked) or ("its digest", "another", "this one")
    line, left, right = _first_differing_line(recorded, present)
    at = f"{place} line {line}" if line else place
    return f"the nearest recorded request, {nearest_key!r}, differs at {at}: recorded {left}, asked {right}"


def _common(one: str, two: str) -> int:
    """How many characters both begin with."""
    shorter = min(len(one), len(two))
    return next((place for place in range(shorter) if one[place] != two[place]), shorter)


def _conversation(request: Any) -> str:
    return canonical_json(request.get("messages", []))


def _first_differing_line(recorded: Any, present: Any) -> tuple[int, str, str]:
    """The line number (0 where there is only one line) and an excerpt of both sides."""
    if not (isinstance(recorded, str) and isinstance(present, str)):
        return 0, _excerpt(recorded, 0), _excerpt(present, 0)
    ours, theirs = recorded.split("\n"), present.split("\n")
    for number, (one, two) in enumerate(zip_longest(ours, theirs), 1):
        if one != two:
            start = 0 if one is None or two is None else _common(one, two)
            line = number if max(len(ours), len(theirs)) > 1 else 0
            return line, _excerpt(one, start), _excerpt(two, start)
    return 0, _excerpt(recorded, 0), _excerpt(present, 0)


def _excerpt(value: Any, start: int) -> str:
    """Show ``value`` shortly; of a long text the part around ``start``."""
    if value is None:
        return "nothing"
    if not isinstance(value, str):
        value = canonical_json(value)
    begin = max(0, start - _EXCERPT // 2) if len(value) > _EXCERPT else 0
    piece = value[begin : begin + _EXCERPT]
    return f"{'…' if begin else ''}{piece!r}{'…' if begin + _EXCERPT < len(value) else ''}"
