"""What of the file system a program may touch, as landlock rules; whatever no rule names is refused.

Knows how to ask the kernel which version it speaks; knows nothing of processes. Landlock does not look at signals
before version 6, at unix sockets with a path, at metadata, or at limits of other processes: the filter of system calls
closes these.
"""

# ruff: noqa: PTH112  # pathlib is slow to import, and the launcher does without it

from __future__ import annotations

import ctypes
import os
import struct
from collections.abc import Iterable

from retrial.sandbox.syscalls import syscall

__all__ = ["restrict", "version"]

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR, _TRUNCATE, _IOCTL_DEV = 1 << 0, 1 << 1, 1 << 2, 1 << 3, 1 << 14, 1 << 15
_MAKE_CHAR, _MAKE_BLOCK = 1 << 6, 1 << 11
_FILE_RIGHTS = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV


def version() -> int:
    """Tell which landlock this kernel speaks; 0 for none."""
    try:
        return syscall("landlock_create_ruleset", None, 0, 1)
    except OSError:
        return 0


def restrict(*, readable: Iterable[str], writable: Iterable[str], devices: Iterable[str]) -> None:
    """Bound this process and all that it starts; no_new_privs must be set. Paths that do not exist are left out.

    Raises:
        OSError: if the kernel refuses.
    """
    spoken = version()
    files = (1 << {1: 13, 2: 14, 3: 15, 4: 15}.get(spoken, 16)) - 1
    network = 3 if spoken >= 4 else 0
    scopes = 3 if spoken >= 6 else 0
    size = 8 if spoken < 4 else 16 if spoken < 6 else 24
    ruleset = syscall("landlock_create_ruleset", struct.pack("=QQQ", files, network, scopes)[:size], size, 0)
    try:
        for path in readable:
            _allow(ruleset, path, (_EXECUTE | _READ_FILE | _READ_DIR) & files)
        for path in writable:
            _allow(ruleset, path, files & ~(_MAKE_CHAR | _MAKE_BLOCK | _IOCTL_DEV))
        for path in devices:
            _allow(ruleset, path, (_READ_FILE | _WRITE_FILE | _TRUNCATE) & files)
        syscall("landlock_restrict_self", ruleset, 0)
    finally:
        os.close(ruleset)


def _allow(ruleset: int, path: str, rights: int) -> None:
    try:
        # O_PATH: the folder itself need not be readable by this user.
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if not os.path.isdir(path):
            rights &= _FILE_RIGHTS
        rule = ctypes.create_string_buffer(struct.pack("=Qi", rights, place))
        syscall("landlock_add_rule", ruleset, 1, rule, 0)
    finally:
        os.close(place)
