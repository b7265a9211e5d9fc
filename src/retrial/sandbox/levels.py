"""One level as a Sandbox: how it is named in reports, and how its programs are started.

Knows nothing of whether a level holds what it promises: probes say that.
"""

from __future__ import annotations

import threading
from dataclasses import replace

from retrial.core.reports import Isolation
from retrial.sandbox.launching import Launcher
from retrial.sandbox.program import Limits, Program
from retrial.sandbox.run import Run

__all__ = ["LEVELS", "Level"]

LEVELS = ("jailed", "confined", "limited")
"""Strongest first."""


class Level:
    """One level of isolation, ready to start programs. Safe to use from several threads."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._launchers: dict[tuple[str, ...], Launcher] = {(): Launcher(name)}
        self._lock = threading.Lock()
        self._isolation: Isolation | None = None

    @property
    def isolation(self) -> Isolation:
        """The level and the parts that it is made of.

        Raises:
            SandboxError: if it cannot be set up here.
        """
        if self._isolation is None:
            self._isolation = Isolation(level=self._name, mechanism=self._mechanism())
        return self._isolation

    def _mechanism(self) -> str:
        facts = self._launchers[()].facts()
        own_uid = ["own uid"] if facts.get("own_uid") else []
        parts = {
            "jailed": ["namespaces", *own_uid, "seccomp", "rlimits"],
            "confined": [f"landlock{facts.get('landlock')}", *own_uid, "seccomp", "rlimits"],
        }
        return "+".join(parts.get(self._name, ["rlimits"]))

    def start(self, program: Program, limits: Limits) -> Run:
        """Start ``program``.

        Raises:
            SandboxError: if the sandbox itself fails; never for what the program does.
        """
        isolation = self.isolation
        if limits.fork:
            isolation = replace(isolation, mechanism=f"{isolation.mechanism}+fork")
        with self._lock:
            launcher = self._launchers.get(program.paths)
            if launcher is None:
                launcher = self._launchers[program.paths] = Launcher(self._name, program.paths)
        keeper, folder = launcher.start(program, limits)
        return Run(keeper, folder, limits, isolation)

    def close(self) -> None:
        """End the launchers. Not needed at the end of a process; the next start begins new ones."""
        with self._lock:
            for launcher in self._launchers.values():
                launcher.close()
