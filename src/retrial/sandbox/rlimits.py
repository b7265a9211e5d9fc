"""The kernel's limits for one process. Knows nothing of levels."""

# ruff: noqa: PTH123  # pathlib is slow to import, and the launcher does without it

from __future__ import annotations

import contextlib
import math
import os
import resource

from retrial.sandbox.program import Limits

__all__ = ["apply_limits", "tasks_now"]

_PROCESSES = 256


def apply_limits(limits: Limits, *, counted: int = 0) -> None:
    """Limit this process and all that it becomes.

    The number of processes is counted by user, threads included, and not at all for root. A run gets a fixed number on
    top of the ``counted`` ones, which are not its own.
    """
    # The keeper's clock ends the run; this is for the case that no keeper is left. Threads are counted together.
    seconds = math.ceil(limits.seconds) * (os.cpu_count() or 1) + 1
    _limit("RLIMIT_CPU", seconds, seconds + 1)
    _limit("RLIMIT_AS", limits.memory_bytes)
    _limit("RLIMIT_FSIZE", limits.file_bytes)
    _limit("RLIMIT_NOFILE", limits.open_files)
    _limit("RLIMIT_CORE", 0)
    _limit("RLIMIT_MEMLOCK", 0)
    _limit("RLIMIT_MSGQUEUE", 0)
    _limit("RLIMIT_RTPRIO", 0)
    _limit("RLIMIT_NICE", 0)
    _limit("RLIMIT_SIGPENDING", 256)
    _limit("RLIMIT_NPROC", _PROCESSES + counted)


def tasks_now() -> int:
    """Count all processes and threads of the machine, which is no less than those of this user."""
    try:
        with open("/proc/loadavg", encoding="ascii") as file:
            return int(file.read().split()[3].split("/")[1])
    except (OSError, ValueError, IndexError):
        return 4096


def _limit(name: str, soft: int, hard: int | None = None) -> None:
    number = getattr(resource, name, None)
    if number is not None:
        hard = soft if hard is None else hard
        ceiling = resource.getrlimit(number)[1]
        if ceiling != resource.RLIM_INFINITY:
            soft, hard = min(soft, ceiling), min(hard, ceiling)
        with contextlib.suppress(ValueError, OSError):  # Some systems refuse some limits; probes see what holds.
            resource.setrlimit(number, (soft, hard))
