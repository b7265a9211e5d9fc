"""Rubric items about which two people would not agree. Pure, and no more than a hint.

A vague rubric lets weak attempts pass: "the tone is nice" can be answered with yes about almost anything. An item is
concrete if it holds a number, a quoted text, a name, or something that has to be said or must not be.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, cast

from retrial.evaluate.specs import within

__all__ = ["rubric_items", "vague"]

_TASTE_TEXT = """
accurate adequate adequately appealing appropriate appropriately attractive beautiful best better clean clear
clearly coherent compelling comprehensive concise concisely convincing correct correctly creative decent detailed
easy effective effectively elegant engaging excellent fine fluent good great helpful high-quality informative
insightful interesting meaningful natural nice nicely perfect pleasant polished professional proper properly quality
readable reasonable relevant robust satisfying sensible simple sound strong sufficient sufficiently suitable
thorough thoroughly understandable useful well well-written
"""
_TASTE = frozenset(_TASTE_TEXT.split())
"""Words of taste: what they ask for differs from reader to reader."""

_EMPTY_TEXT = """
a an and answer any are as attempt be being but code content description does english enough explanation for format
from grammar has have in is it its language level manner more most must not of on or output overall paragraph piece
prose quite rather really reply response result sentence should so solution some structure style summary sure text
that the their them they this to tone too very way which with wording work writing written
"""
_EMPTY = frozenset(_EMPTY_TEXT.split())
"""Words that say nothing of what is asked for."""

_SAID = re.compile(
    r"\b(?:mentions?|names?|says?|states?|contains?|includes?|lists?|cites?|gives?|quotes?|links?|begins?|starts?|ends?"
    r"|mentioning|naming|saying|stating|containing|including|listing|citing|giving|uses?|using|without|no|never)\b(.*)",
    re.IGNORECASE | re.DOTALL,
)
"""What has to be said or must not be, and in its group the rest of the item."""

_NUMBER_WORD = r"\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|hundred|half|twice|exactly)\b"
_CONCRETE = re.compile(rf"\d|[\"“”«»`]|'[^']+'|{_NUMBER_WORD}", re.IGNORECASE)
_NAME = re.compile(r"(?<=[a-z,;:] )[A-Z][\w-]+")


def vague(item: str) -> str:
    """Return why two people could disagree about a rubric item; empty if it is concrete.

    >>> vague("The tone is nice")
    "'nice' is a matter of taste: say what can be counted, quoted or found, such as a limit or a fact"
    >>> vague("At most 50 words"), vague("Names the price"), vague("Mentions the good battery life")
    ('', '', '')
    """
    words = [word.lower() for word in re.findall(r"[A-Za-z][A-Za-z'-]*", item)]
    taste = [word for word in words if word in _TASTE]
    if not words and not _CONCRETE.search(item):
        return "it says nothing that could be checked"
    if not taste or _CONCRETE.search(item) or _NAME.search(item) or _names_something(item):
        return ""
    found = " and ".join(repr(word) for word in dict.fromkeys(taste))
    verb = "is a matter" if len({*taste}) == 1 else "are matters"
    return f"{found} {verb} of taste: say what can be counted, quoted or found, such as a limit or a fact"


def rubric_items(spec: Mapping[str, Any]) -> Iterator[str]:
    """Yield the items of every judge's rubric in a spec; a text is taken apart at lines, semicolons and sentences.

    >>> list(rubric_items({"kind": "judge", "rubric": "At most 50 words. Sounds nice; names the price"}))
    ['At most 50 words.', 'Sounds nice', 'names the price']
    """
    for one in within(spec):
        if one.get("kind") == "judge":
            rubric = one.get("rubric", ())
            given = cast("list[Any]", [rubric] if isinstance(rubric, str) else list(rubric))
            for text in given:
                for part in re.split(r"\n|;|(?<=[^\d\s][.!?])\s", str(text)):
                    item = re.sub(r"^\s*(?:[-*•]|\d+[.)])\s+", "", part).strip()
                    if item:
                        yield item


def _names_something(item: str) -> bool:
    """Whether the item says what has to be said or must not be."""
    found = _SAID.search(item)
    if found is None:
        return False
    words = re.findall(r"[a-z][a-z'-]*", found[1].lower())
    return any(word not in _TASTE and word not in _EMPTY for word in words)
