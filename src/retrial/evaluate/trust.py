"""How far verdicts are to be believed, and when a model may judge a model. Pure functions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, cast

from retrial.errors import ConfigError

__all__ = ["LADDER", "lowest", "settled", "trust_of"]

LADDER = ("tests", "match", "schema", "rubric", "person", "other_model", "same_model")
"""Trust, the highest first."""
_EXEMPT = ("scripted", "recorded:")
_ROLES = {"judge": "judge", "faithfulness": "judge", "critic": "critic"}
"""The kinds of evaluators that ask a model, with the role it plays unless the spec names another."""


def lowest(trusts: Iterable[str]) -> str:
    """Return the lowest trust of several: a chain is as strong as its weakest link.

    >>> lowest(["tests", "other_model", "rubric"])
    'other_model'
    """
    return max(trusts, key=lambda trust: LADDER.index(trust) if trust in LADDER else len(LADDER), default="tests")


def trust_of(actor: str, judge: str, *, allow_same_model: bool = False) -> str:
    """Return how far a judge can be trusted about an actor, both given as ``provider:model``.

    Scripted and recorded clients are exempt: what they stand for cannot be told from their names.

    >>> trust_of("openai:gpt-5-mini", "anthropic:claude-haiku-4-5")
    'other_model'

    Raises:
        ConfigError: if both are the same model, which approves its own work, and ``allow_same_model`` is not set.
    """
    if judge.startswith(_EXEMPT) or actor.startswith(_EXEMPT) or judge != actor:
        return "other_model"
    if allow_same_model:
        return "same_model"
    raise ConfigError(
        f"{judge!r} would judge its own work, and approve it; name another model as the judge, use a plain tool loop "
        f"without retries, or set allow_same_model=True to have every verdict marked 'same_model'"
    )


def settled(spec: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """Return a spec in which every judging model, at any depth, carries the trust that it deserves.

    ``names`` holds the client's name by role, and under ``actor`` the one that is judged.

    Raises:
        ConfigError: as ``trust_of``.
    """
    done = dict(spec)
    for parts in ("parts", "judges"):
        if isinstance(done.get(parts), list | tuple):
            done[parts] = [settled(part, names) for part in cast("list[Mapping[str, Any]]", done[parts])]
    role = str(done.get("role", _ROLES.get(str(done.get("kind")), "")))
    if done.get("kind") in _ROLES:
        allowed = bool(done.get("allow_same_model", False))
        done["trust"] = trust_of(names["actor"], names.get(role, names["actor"]), allow_same_model=allowed)
    return done
