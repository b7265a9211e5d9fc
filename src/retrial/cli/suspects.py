"""What is found about lessons that do harm, for a person."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from retrial.core.codec import encode

if TYPE_CHECKING:
    from retrial.cli.screen import Screen
    from retrial.memory.poison import Finding

__all__ = ["record", "say"]

SHOWN_BELOW = 0.25
"""A lesson is a suspect when its q value is below this."""


def record(finding: Finding) -> dict[str, Any]:
    """Return a finding as JSON values."""
    return {**encode(finding), "harmful": finding.harmful}


def say(screen: Screen, findings: Sequence[Finding], quarantined: Sequence[str]) -> None:
    """Print which lessons are suspected, and which were quarantined now."""
    for one in findings:
        if one.lesson_id in quarantined:
            screen.remark(f"quarantined lesson {one.lesson_id}: {one.evidence}")
        elif one.q_value < SHOWN_BELOW:
            screen.remark(f"suspect lesson {one.lesson_id}: {one.evidence}")
    for lesson_id in quarantined:
        screen.remark(f"look at it: {screen.command(f'lessons show {lesson_id}')}; tell it again: lessons release")
