"""Which user a program in a sandbox is, and that it can never become another one.

Knows nothing of namespaces, folders or filters. Root must not stay root, not even under another name in a user
namespace: the kernel's files in /proc/sys ask who one really is.
"""

# ruff: noqa: PTH116, PTH120, PTH123  # pathlib is slow to import, and the launcher does without it

from __future__ import annotations

import os

from retrial.sandbox.syscalls import (
    CAP_DAC_READ_SEARCH,
    PR_CAP_AMBIENT,
    PR_SET_KEEPCAPS,
    PR_SET_NO_NEW_PRIVS,
    bound_capabilities,
    hold_capabilities,
    prctl,
)

__all__ = ["become", "has_spare_users", "is_reachable", "spare_uid"]

_FIRST_SPARE, _SPARES = 61184, 4096  # Where systemd takes its dynamic users from: nobody else owns files there.


def has_spare_users() -> bool:
    """Tell whether this process can give a run a user of its own.

    Raises:
        OSError: if it is the machine's root and cannot: then nothing that it starts would be less than root.
    """
    if os.geteuid() != 0:
        return False
    with open("/proc/self/uid_map", encoding="ascii") as file:
        ranges = [tuple(map(int, line.split())) for line in file]
    if any(first <= _FIRST_SPARE and first + count >= _FIRST_SPARE + _SPARES for first, _, count in ranges):
        return True
    if os.access("/proc/sys/kernel/core_pattern", os.W_OK):
        raise OSError(1, "this is the machine's root in a user namespace without other users; start it as another user")
    return False


def spare_uid(number: int) -> int:
    """Choose a user for a run, so that limits count for each run alone."""
    return _FIRST_SPARE + number % _SPARES


def is_reachable(path: str) -> bool:
    """Tell whether any user may walk down to ``path``."""
    while path != "/":
        if not os.stat(path).st_mode & 0o001:
            return False
        path = os.path.dirname(path)
    return True


def become(uid: int | None, *, read_anywhere: bool = False) -> None:
    """Become ``uid`` (None: stay who this is) without any capability, and never gain one again.

    ``read_anywhere`` keeps the right to walk through closed folders, for an interpreter that lies below root's home;
    only where something else bounds what can be read.
    """
    keep = CAP_DAC_READ_SEARCH if read_anywhere and uid is not None else None
    bound_capabilities(keep)
    if uid is not None:
        prctl(PR_SET_KEEPCAPS, 1 if keep is not None else 0)
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
    hold_capabilities(0 if keep is None else 1 << keep)
    if keep is not None:
        prctl(PR_CAP_AMBIENT, 2, keep)  # 2 is PR_CAP_AMBIENT_RAISE.
    prctl(PR_SET_NO_NEW_PRIVS, 1)
