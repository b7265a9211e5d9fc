"""How two arms of an experiment compare, in a sentence."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TypeVar

from retrial.stats.intervals import paired_difference

__all__ = ["compared"]

T = TypeVar("T", bound=Hashable)


def compared(base: Mapping[T, bool], arm: Mapping[T, bool]) -> str:
    """Say what an arm won and lost beside another, task by task, and whether that could be chance.

    >>> compared({"a": False, "b": True}, {"a": True, "b": True})[:48]
    '1 won, 0 lost; difference +0.50, 95 % interval -'
    """
    pairs = [(float(base[task]), float(passed)) for task, passed in arm.items()]
    found = paired_difference(pairs)
    span, p = found.interval, found.p_value
    words = "no difference that could be told from chance" if p >= 0.05 else "better" if span.estimate > 0 else "worse"
    won, lost = pairs.count((0.0, 1.0)), pairs.count((1.0, 0.0))
    interval = f"95 % interval {span.low:+.2f} to {span.high:+.2f}"
    return f"{won} won, {lost} lost; difference {span.estimate:+.2f}, {interval}, p = {p:.2f}: {words}."
