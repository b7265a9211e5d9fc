"""What an algorithm is, as the JSON values that a run records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, cast

from retrial.prompts import Prompt

__all__ = ["described"]


def described(algorithm: Any) -> Mapping[str, Any]:
    """Return the fields of an algorithm by name: prompts as their digests, evaluators as their specs."""
    return {one.name: _described(getattr(algorithm, one.name)) for one in fields(algorithm)}


def _described(value: Any) -> Any:
    if isinstance(value, Mapping):
        held = cast("Mapping[str, Any]", value)
        return {one.name: one.digest for one in held.values() if isinstance(one, Prompt)}
    return value.spec() if hasattr(value, "spec") else value
