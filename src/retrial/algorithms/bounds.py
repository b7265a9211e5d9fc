"""Limits that are checked when an algorithm is made, so that none can run without an end."""

from __future__ import annotations

from collections.abc import Mapping

from retrial.errors import ConfigError

__all__ = ["refuse_unless"]


def refuse_unless(values: object, checks: Mapping[str, tuple[bool, str]]) -> None:
    """Refuse the first parameter that does not hold; ``checks`` gives by name whether it does, and what it can be.

    Raises:
        ConfigError: naming the parameter, its value and what it can be.
    """
    for name, (holds, allowed) in checks.items():
        if not holds:
            raise ConfigError(f"{name}={getattr(values, name)!r} is not possible; it can be {allowed}")
