"""The level ``confined``: landlock, the filter of system calls, limits, and a user of its own where root starts it.

Knows what each of the two closes; knows nothing of how runs are watched. Needs no privilege and no namespace. The
program shares process ids and the network with the machine, so the filter lets it act on itself only and refuses
sockets. Where it may start processes it may signal them only if landlock (version 6) or a user of its own bounds
signals. What all files of a run take together is not bounded, only each file. Where it keeps the user that started it,
no mode can be changed, so what a linker writes is only executable if it was created so.
"""

# ruff: noqa: PTH120  # pathlib is slow to import, and the launcher does without it

from __future__ import annotations

import os

from retrial.sandbox import landlock, seccomp
from retrial.sandbox.privileges import become, has_spare_users, is_reachable, spare_uid
from retrial.sandbox.program import Limits
from retrial.sandbox.rlimits import apply_limits, tasks_now
from retrial.sandbox.stage import TMP, Stage

__all__ = ["Confinement"]

_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
_SYSTEM_FILES = ("/etc/ld.so.cache", "/etc/alternatives")


class Confinement(Stage):
    """Runs programs that see the machine and may not touch it."""

    _uid: int | None = None
    _work = ""
    _own_uid = False
    _spoken = 0
    _read_anywhere = False

    @property
    def facts(self) -> dict[str, str | int | bool]:
        """Which landlock is in use, and whether runs have users of their own."""
        return {"landlock": self._spoken, "own_uid": self._own_uid}

    def prepare(self) -> None:
        """See what this kernel offers.

        Raises:
            OSError: if it has no landlock, or only root to run programs as.
        """
        self._spoken = landlock.version()
        if not self._spoken:
            raise OSError(38, "landlock is off or missing (it needs Linux 5.13 and lsm=landlock)")
        self._own_uid = has_spare_users()
        closed = [path for path in (*self.folders, self.scratch) if not is_reachable(os.path.realpath(path))]
        self._read_anywhere = bool(closed)

    def enter(self, limits: Limits) -> str:
        """Make the working folder, and give it to the run's user."""
        self._uid = spare_uid(self.number) if self._own_uid else None
        self._work = super().enter(limits)
        if self._uid is not None:
            top = os.path.dirname(self._work)
            for path in (top, self._work, f"{top}/{TMP}"):
                os.chown(path, self._uid, self._uid)
        return self._work

    def become(self) -> None:
        """Become the run's own user, or stay who this is, without capabilities."""
        become(self._uid, read_anywhere=self._read_anywhere)

    def seal(self, limits: Limits) -> None:
        """Limit the process, bound its files and filter its system calls."""
        own_uid = self._uid is not None
        apply_limits(limits, counted=0 if own_uid else tasks_now())
        landlock.restrict(
            readable=(*self.folders, *_SYSTEM_FILES),
            writable=(self._work, f"{os.path.dirname(self._work)}/{TMP}"),
            devices=_DEVICES,
        )
        seccomp.install(
            seccomp.build(
                fork=limits.fork,
                alone=True,
                own_uid=own_uid,
                signals=limits.fork and (own_uid or self._spoken >= 6),
                old_landlock=self._spoken < 3,
            )
        )
