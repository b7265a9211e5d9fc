"""What a judging model replied: asked strictly, read strictly, never repaired.

A reply is read as it stands, then without a fence around it. One that cannot be read is asked for once more, with a
line that says so, since the same request would get the same reply.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, cast

from retrial.core.messages import Message, ModelRequest
from retrial.engine.run import Run

__all__ = ["ask_strictly", "is_verdict", "read_reply", "score_of"]

_FENCED = re.compile(r"\A```(?:json)?[^\S\n]*\n(.*)```\Z", re.DOTALL)

AGAIN = "Your last reply was not the JSON object that was asked for. Reply with that object alone."


def is_verdict(data: Mapping[str, Any]) -> bool:
    """Whether an object says clearly if something passed."""
    return isinstance(data.get("passed"), bool)


def read_reply(text: str, valid: Callable[[Mapping[str, Any]], bool] = is_verdict) -> Mapping[str, Any] | None:
    r"""Read ``{"passed": true|false, ...}``, with or without a fence around it; None if it is anything else.

    >>> read_reply('```json\n{"passed": false, "reason": "no unit"}\n```')["reason"]
    'no unit'
    >>> read_reply('It passed: {"passed": true}') is None
    True
    """
    stripped = text.strip()
    fenced = _FENCED.match(stripped)
    for candidate in (stripped, fenced[1] if fenced else ""):
        try:
            data: Any = json.loads(candidate, object_pairs_hook=_once, parse_constant=_refuse)
        except (ValueError, RecursionError):
            continue
        if isinstance(data, dict) and valid(cast("dict[str, Any]", data)):
            return cast("dict[str, Any]", data)
    return None


async def ask_strictly(
    run: Run, name: str, request: ModelRequest, valid: Callable[[Mapping[str, Any]], bool] = is_verdict
) -> tuple[Mapping[str, Any] | None, str]:
    """Ask under ``name``, and once more under ``name.again``; return what was read, or None and the raw reply."""
    text = (await run.model(name, request)).text
    data = read_reply(text, valid)
    if data is None:
        repeated = replace(request, messages=(*request.messages, Message(role="user", content=AGAIN)))
        text = (await run.model(f"{name}.again", repeated)).text
        data = read_reply(text, valid)
    return data, text


def score_of(data: Mapping[str, Any]) -> float:
    """Return the score that a reply gives, 0 to 1; without one, or with one that is no such number, 1 or 0.

    What failed scores below 1, so that a threshold on scores cannot turn it into a pass.

    >>> score_of({"passed": False, "score": 1}), score_of({"passed": True}), score_of({"passed": False, "score": 0.4})
    (0.99, 1.0, 0.4)
    """
    passed, score = bool(data["passed"]), data.get("score")
    if isinstance(score, bool) or not isinstance(score, (int, float)) or not 0 <= score <= 1:
        return float(passed)
    return float(score) if passed else min(float(score), 0.99)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose names are all different: of two verdicts in one reply, neither counts."""
    if len({name for name, _ in pairs}) < len(pairs):
        raise ValueError("a name stands twice")
    return dict(pairs)


def _refuse(name: str) -> Any:
    """NaN and infinity are no JSON."""
    raise ValueError(name)
