"""The Linux calls that Python does not offer, each as one function that raises OSError with its own name.

Knows no policy. Can be imported anywhere; the functions work on Linux only.
"""

from __future__ import annotations

import ctypes
import os

from retrial.sandbox.numbers import NUMBERS

__all__ = [
    "bound_capabilities",
    "clone",
    "hold_capabilities",
    "libc_call",
    "mount",
    "pivot_root",
    "prctl",
    "read_only",
    "syscall",
    "umount_detached",
    "unshare",
]

MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_BIND, MS_REC, MS_PRIVATE = 2, 4, 8, 4096, 16384, 1 << 18
CLONE_NEWNS, CLONE_NEWUTS, CLONE_NEWIPC = 0x00020000, 0x04000000, 0x08000000
CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET = 0x10000000, 0x20000000, 0x40000000
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_CAPBSET_DROP, PR_SET_CHILD_SUBREAPER = 1, 4, 24, 36
PR_SET_KEEPCAPS, PR_SET_NO_NEW_PRIVS, PR_CAP_AMBIENT = 8, 38, 47
CAP_DAC_READ_SEARCH = 2
_ATTR_RDONLY, _ATTR_NOSUID, _ATTR_NODEV = 1, 2, 4
_AT_RECURSIVE = 0x8000
_AT_FDCWD = -100

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long


def _checked(result: int, what: str) -> int:
    if result == -1:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def libc_call(name: str, *arguments: object) -> int:
    """Call a function of the C library that answers -1 on failure."""
    return _checked(int(getattr(_libc, name)(*arguments)), name)


def syscall(name: str, *arguments: object) -> int:
    """Make a system call; integers are passed as longs."""
    if name not in NUMBERS:
        raise OSError(38, f"{name}: this machine has no such system call")
    wide = [ctypes.c_long(value) if isinstance(value, int) else value for value in arguments]
    return _checked(int(_libc.syscall(ctypes.c_long(NUMBERS[name]), *wide)), name)


def unshare(flags: int) -> None:
    """Leave the namespaces that ``flags`` name for new ones."""
    libc_call("unshare", flags)


def clone(flags: int) -> int:
    """Fork into new namespaces. Only for a process with one thread: Python is not told that it was forked."""
    return syscall("clone", flags | 17, 0, 0, 0, 0)  # 17 is SIGCHLD.


def prctl(option: int, *values: int) -> None:
    """Set an attribute of this process."""
    wide = [ctypes.c_ulong(value) for value in (*values, 0, 0, 0, 0)[:4]]
    libc_call("prctl", option, *wide)


def mount(source: str, target: str, kind: str | None, flags: int, data: str = "") -> None:
    """Mount ``source`` on ``target``."""
    try:
        libc_call(
            "mount",
            source.encode(),
            os.fsencode(target),
            None if kind is None else kind.encode(),
            ctypes.c_ulong(flags),
            data.encode() or None,
        )
    except OSError as error:
        raise OSError(error.errno, f"mount {kind or source} on {target}: {os.strerror(error.errno or 0)}") from None


def read_only(path: str, *, whole_tree: bool = True, devices: bool = False) -> None:
    """Make the mount at ``path`` read-only and deaf to set-uid bits, and without devices unless they are wanted."""
    attributes = _ATTR_RDONLY | _ATTR_NOSUID | (0 if devices else _ATTR_NODEV)
    value = (ctypes.c_uint64 * 4)(attributes, 0, 0, 0)
    flags = _AT_RECURSIVE if whole_tree else 0
    syscall("mount_setattr", _AT_FDCWD, os.fsencode(path), flags, ctypes.byref(value), 32)


def pivot_root(new: str, old: str) -> None:
    """Make ``new`` the root and put the former one at ``old``."""
    syscall("pivot_root", os.fsencode(new), os.fsencode(old))


def umount_detached(path: str) -> None:
    """Take a mount out of sight at once; it ends when nobody uses it any more."""
    libc_call("umount2", os.fsencode(path), 2)


def bound_capabilities(keep: int | None = None) -> None:
    """Take every capability but ``keep`` from whatever is executed later, for ever."""
    for capability in range(64):
        if capability != keep:
            try:
                prctl(PR_CAPBSET_DROP, capability)
            except OSError:
                break  # Past the last one, or no right to drop: then there is none to inherit either.


def hold_capabilities(mask: int) -> None:
    """Hold these capabilities and no others, inheritable too."""
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    low, high = mask & 0xFFFFFFFF, mask >> 32
    syscall("capset", ctypes.byref(header), ctypes.byref((ctypes.c_uint32 * 6)(low, low, low, high, high, high)))
