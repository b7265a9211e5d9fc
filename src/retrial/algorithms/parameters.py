"""The parameters of an algorithm: refused when it is made where they are not possible, and recorded by its runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, cast

from retrial.errors import ConfigError
from retrial.prompts import Prompt

__all__ = ["described", "refuse_unless"]


def refuse_unless(values: object, checks: Mapping[str, tuple[bool, str]]) -> None:
    """Refuse the first parameter that does not hold; ``checks`` gives by name whether it does, and what it can be.

    Raises:
        ConfigError: naming the parameter, its value and what it can be.
    """
    for name, (holds, allowed) in checks.items():
        if not holds:
            raise ConfigError(f"{name}={getattr(values, name)!r} is not possible; it can be {allowed}")


def described(algorithm: Any) -> Mapping[str, Any]:
    """Return the fields of an algorithm by name: prompts as their digests, evaluators as their specs."""
    return {one.name: _described(getattr(algorithm, one.name)) for one in fields(algorithm)}


def _described(value: Any) -> Any:
    if isinstance(value, Mapping):
        held = cast("Mapping[str, Any]", value)
        return {one.name: one.digest for one in held.values() if isinstance(one, Prompt)}
    return value.spec() if hasattr(value, "spec") else value
