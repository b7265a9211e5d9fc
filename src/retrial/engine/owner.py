"""Who is working on a run, so that nobody else starts on it.

The event that begins a session names its process, in a form that another process of the machine can check. A process
id alone would not do, because ids are used again; with the time at which the process started it does. Of two processes
that begin at the same moment the journal accepts one.
"""

from __future__ import annotations

import functools
import hashlib
import os
import platform
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

from retrial.core.events import RUN_FINISHED, RUN_RESUMED, RUN_STARTED, Event
from retrial.errors import RunBusy

__all__ = ["active", "alive", "myself", "owner_of", "refuse_if_busy"]

_ACTIVE: set[str] = set()
"""The runs that this process is working on."""


def myself() -> str:
    """Return the name of this process: a digest of the host, the process id, and when it started."""
    return _name(os.getpid())


def alive(owner: str) -> bool:
    """Whether the process that ``myself`` named still exists on this machine.

    A process of another machine counts as gone: a run gets here from elsewhere by being copied or imported.
    """
    host, _, rest = owner.partition(":")
    pid, _, started = rest.partition(":")
    if host != _host() or not pid.isdecimal():
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return _start_time(int(pid)) == started


@contextmanager
def active(run_id: str) -> Generator[None]:
    """Mark a run as being worked on in this process.

    Raises:
        RunBusy: if it is already.
    """
    if run_id in _ACTIVE:
        raise RunBusy(f"run {run_id!r} is already being worked on in this process; wait until it is done")
    _ACTIVE.add(run_id)
    try:
        yield
    finally:
        _ACTIVE.discard(run_id)


def owner_of(events: Sequence[Event]) -> str:
    """Return the process that began the newest session of a run; empty if nobody did, or the run has ended."""
    if events[-1].kind == RUN_FINISHED:
        return ""
    begun = next(event for event in reversed(events) if event.kind in (RUN_STARTED, RUN_RESUMED))
    return str(begun.data.get("owner", ""))


def refuse_if_busy(events: Sequence[Event]) -> None:
    """Refuse a run that a living process began to work on and has not ended.

    Raises:
        RunBusy: naming the process.
    """
    owner = owner_of(events)
    if owner and owner != myself() and alive(owner):
        raise RunBusy(
            f"run {events[0].run_id!r} is being worked on by process {owner.split(':')[1]}; wait until it is done, or "
            f"end that process"
        )


@functools.cache
def _name(pid: int) -> str:
    """Cached by process id, so that a forked child does not take its parent's name."""
    return f"{_host()}:{pid}:{_start_time(pid)}"


@functools.cache
def _host() -> str:
    """This machine, without giving its name away."""
    return hashlib.sha256(platform.node().encode("utf-8", "surrogateescape")).hexdigest()[:12]


def _start_time(pid: int) -> str:
    """When a process started, in the kernel's own ticks; empty where the system does not say."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    # The program's name may hold spaces and brackets; what follows its closing bracket does not.
    return stat.rpartition(")")[2].split()[19]
