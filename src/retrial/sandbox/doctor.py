"""What every level holds on this machine, as data for whoever prints it. Probes afresh, whatever the cache says."""

from __future__ import annotations

from dataclasses import dataclass

from retrial.core.reports import Isolation
from retrial.errors import SandboxError
from retrial.sandbox.levels import LEVELS, Level
from retrial.sandbox.opening import cure
from retrial.sandbox.probes import Probe, leaks, observe

__all__ = ["LevelReport", "examine"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelReport:
    """What is known of one level here."""

    level: str
    """jailed, confined or limited."""
    available: bool
    """Whether it can be set up and deserves its name."""
    reason: str = ""
    """Why it is not available and what can be done; empty if it is."""
    isolation: Isolation | None = None
    """The parts in use; None where it cannot be set up."""
    probes: tuple[Probe, ...] = ()
    """What was tried from inside; empty where it cannot be set up."""


def examine() -> tuple[LevelReport, ...]:
    """Look at every level, strongest first. Takes about half a second."""
    return tuple(_examine(name) for name in LEVELS)


def _examine(name: str) -> LevelReport:
    level = Level(name)
    try:
        probes = observe(level)
        found = leaks(name, probes)
        return LevelReport(
            level=name,
            available=not found,
            reason="; ".join(f"{probe.name}: {probe.detail}" for probe in found),
            isolation=level.isolation,
            probes=probes,
        )
    except SandboxError as error:
        return LevelReport(level=name, available=False, reason=f"{error}{cure(name)}")
    finally:
        level.close()
