"""JSON in an actor's reply, and places and values in it as messages name them. Pure functions of texts.

What a *judge* replies is read in ``reply`` and never repaired; what an actor was asked to extract may be.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any, cast

__all__ = ["ABSENT", "place_of", "read_json", "value_in_words"]

ABSENT: Any = object()
"""What stands for JSON where there is none."""
LONGEST = 80
LONGEST_MENDED = 20_000
"""A longer text is not mended: what takes the time of the square of its length has to have an end."""
_FENCE = re.compile(r"^[ \t]*+```[^\n]*+\n(.*?)(?:^[ \t]*```|\Z)", re.DOTALL | re.MULTILINE)


def read_json(reply: str, *, repair: bool = True) -> tuple[Any, str]:
    r"""Return the JSON value in a reply and a message: the value, or ``ABSENT`` and why it could not be read.

    It is read as it stands, then from the last fence, and then, if ``repair``, as json-repair mends what looks like an
    object or an array.

    >>> read_json('```json\n{"a": 1}\n```')
    ({'a': 1}, '')
    >>> read_json("banana")[1]
    'the reply is not JSON: Expecting value (line 1, column 1)'
    """
    fences = _FENCE.findall(reply)
    texts = [reply.strip().removeprefix("\ufeff"), *(text.strip() for text in reversed(fences))]
    message = ""
    for text in texts:
        try:
            return _finite(json.loads(text, parse_constant=_refuse)), ""
        except RecursionError:
            return ABSENT, "the reply is not JSON that can be read: it is nested too deeply"
        except json.JSONDecodeError as error:
            message = message or f"the reply is not JSON: {error.msg} (line {error.lineno}, column {error.colno})"
        except ValueError as error:
            message = message or f"the reply is not JSON: {error}"
    if not reply.strip():
        return ABSENT, "the reply is empty"
    if repair:
        mended = _mended(texts[-1] if fences else texts[0])
        if mended is not ABSENT:
            return mended, ""
    return ABSENT, message


def _mended(text: str) -> Any:
    """What json-repair makes of a text that holds an object or an array."""
    start = min((place for place in (text.find("{"), text.find("[")) if place >= 0), default=-1)
    if start < 0 or len(text) > LONGEST_MENDED or text.count("{") + text.count("[") > LONGEST_MENDED // 20:
        return ABSENT
    from json_repair import loads  # noqa: PLC0415 - when needed

    try:
        value: Any = _finite(loads(text[start:]))
    except (ValueError, RecursionError):
        return ABSENT
    return cast("Any", value) if isinstance(value, dict | list) and value else ABSENT


def _finite(value: Any) -> Any:
    """A value without numbers that JSON cannot hold, such as 1e999."""
    json.dumps(value, allow_nan=False)
    return value


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is no JSON value")


def place_of(path: Iterable[str | int]) -> str:
    """Return a place in a value as a message names it.

    >>> place_of(["enrolments", 2, "date"]), place_of([]), place_of([0, "a b"])
    ('enrolments[2].date', 'the whole', '[0]["a b"]')
    """
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        elif step.isidentifier():
            text += f".{step}" if text else step
        else:
            text += f"[{json.dumps(step, ensure_ascii=False)}]"
    return text or "the whole"


def value_in_words(value: Any) -> str:
    """Return a value as JSON, cut."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."
