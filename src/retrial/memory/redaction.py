"""Taking a text out of whatever repeats it: prompts, replies, notes, results. Pure functions of JSON values.

A deleted lesson has been said in many forms: as a line of a list, with other white space, inside a longer reply, inside
JSON that is itself a text. What all of them keep is its words in their order, and that is what is looked for.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, cast

__all__ = ["MIN_WORDS", "Redaction", "marker_of", "mentions_deletion"]

MIN_WORDS = 4
"""A text of fewer words is taken out only where it is known to be the lesson: anybody says "state the unit"."""

_MARKER = "[deleted lesson {}]"
# Between two words: whatever is no word, the escapes of JSON within JSON, and an opening bracket made harmless.
_BETWEEN = r"(?:\W|\\[nrtbf]|\\u[0-9a-f]{4}|&(?:lt|gt|amp);){1,200}?"
_BEFORE = r"(?:(?<!\w)|(?<=\\[nrt]))"


def marker_of(lesson_id: str) -> str:
    """Return what stands where a deleted lesson stood.

    >>> marker_of("3f2a")
    '[deleted lesson 3f2a]'
    """
    return _MARKER.format(lesson_id)


def mentions_deletion(value: object) -> bool:
    """Whether a JSON value holds the mark of a deleted lesson.

    >>> mentions_deletion({"task": "- [deleted lesson 3f2a]"})
    True
    """
    return "[deleted lesson " in json.dumps(value)


class Redaction:
    r"""What takes one lesson's texts out of values.

    >>> one = Redaction("3f2a", ["Use the email, not the id."])
    >>> one.of({"prompt": "Lessons:\n- Use the email,\n  not the id."})
    {'prompt': 'Lessons:\n- [deleted lesson 3f2a].'}
    """

    def __init__(self, lesson_id: str, texts: Iterable[str]) -> None:
        self._marker = marker_of(lesson_id)
        by_length = sorted({text for text in texts if text.strip()}, key=len, reverse=True)
        self.telling = any(len(_words(text)) >= MIN_WORDS for text in by_length)
        self.probes = tuple(_probe(text) for text in by_length)
        self._pattern = re.compile("|".join(_pattern(text) for text in by_length) or r"(?!)", re.IGNORECASE)

    def of(self, value: Any) -> Any:
        """Return a JSON value without the texts."""
        if isinstance(value, str):
            return self._pattern.sub(self._marker, value)
        if isinstance(value, Mapping):
            items = cast("Mapping[str, Any]", value).items()
            return {self._pattern.sub(self._marker, name): self.of(item) for name, item in items}
        if isinstance(value, list | tuple):
            return [self.of(item) for item in cast("list[Any]", value)]
        return value


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text)


def _pattern(text: str) -> str:
    """The regular expression of a text in any of its forms."""
    words = _words(text)
    if not words:
        return re.escape(text.strip())
    return f"{_BEFORE}{_BETWEEN.join(''.join(map(_letter, word)) for word in words)}(?!\\w)"


def _letter(char: str) -> str:
    """A character of a word, which JSON within JSON may have escaped."""
    return re.escape(char) if char.isascii() else f"(?:{char}|{re.escape(json.dumps(char)[1:-1])})"


def _probe(text: str) -> str:
    """The longest word as it stands in canonical JSON: a value that does not hold it does not hold the text."""
    plain = re.findall(r"\w+", text, re.ASCII)
    return max(plain, key=len) if plain else json.dumps(max(_words(text) or [text.strip()], key=len))[1:-1]
