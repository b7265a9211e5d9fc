"""The level ``jailed``: namespaces of its own, a root folder of its own, a user of its own, and the filter.

Knows how the private root is laid out; knows nothing of how runs are watched. The launcher enters user (ordinary users
only), mount, network, IPC and host name namespaces once and builds the root; a run gets process, mount and IPC
namespaces of its own, in which its keeper is process 1. Runs of one sandbox share an empty network namespace, which
nothing can be said through, because the filter refuses sockets.

A real root mounts as root and gives every run a user of its own. There is no user namespace then: a root that is
renamed by one is still root for the kernel's files. An ordinary user is renamed, and stays who it is.

No control groups: the memory of a tree of processes is bounded only by starting none, which is the default.
"""

# ruff: noqa: PTH102, PTH103, PTH112, PTH114, PTH115, PTH120, PTH123, PTH211  # pathlib is slow to import, and the launcher does without it

from __future__ import annotations

import contextlib
import os
import signal
import socket

from retrial.sandbox import seccomp, syscalls
from retrial.sandbox.privileges import become, has_spare_users, spare_uid
from retrial.sandbox.program import Limits
from retrial.sandbox.rlimits import apply_limits, tasks_now
from retrial.sandbox.stage import Stage

__all__ = ["Jail"]

_DEVICES = ("null", "zero", "full", "random", "urandom")
_SYSTEM_FILES = ("/etc/ld.so.cache", "/etc/alternatives")
_LINKS = (
    ("/proc/self/fd", "dev/fd"),
    ("/proc/self/fd/0", "dev/stdin"),
    ("/proc/self/fd/1", "dev/stdout"),
    ("/proc/self/fd/2", "dev/stderr"),
    ("/tmp", "dev/shm"),  # noqa: S108  # the run's own
)
_INSIDE_UID = 1000
_ASIDE = "/shown"


class Jail(Stage):
    """Runs programs where the machine is out of sight."""

    _uid: int | None = None
    _real_root = False
    _counted = 0

    @property
    def facts(self) -> dict[str, str | int | bool]:
        """Whether runs have users of their own."""
        return {"own_uid": self._real_root}

    def prepare(self) -> None:
        """Leave the host's namespaces and build the root."""
        flags = syscalls.CLONE_NEWNS | syscalls.CLONE_NEWNET | syscalls.CLONE_NEWIPC | syscalls.CLONE_NEWUTS
        uid, gid = os.geteuid(), os.getegid()
        self._real_root = has_spare_users()
        if self._real_root:
            syscalls.unshare(flags)
        else:
            syscalls.unshare(flags | syscalls.CLONE_NEWUSER)
            _write("/proc/self/setgroups", "deny")
            _write("/proc/self/uid_map", f"{_INSIDE_UID} {uid} 1")
            _write("/proc/self/gid_map", f"{_INSIDE_UID} {gid} 1")
            # Since Linux 5.14 a user namespace has a count of its own, which all runs of this launcher share.
            release = os.uname().release.split(".")
            self._counted = 0 if (int(release[0]), int(release[1].split("-")[0])) >= (5, 14) else tasks_now()
        socket.sethostname("sandbox")
        syscalls.mount("none", "/", None, syscalls.MS_REC | syscalls.MS_PRIVATE)
        _build_root(self.folders, real_root=self._real_root)

    def spawn(self) -> int:
        """Start a keeper as process 1 of its own namespaces."""
        self.number += 1
        return syscalls.clone(syscalls.CLONE_NEWPID | syscalls.CLONE_NEWNS | syscalls.CLONE_NEWIPC)

    def enter(self, limits: Limits) -> str:
        """Mount what belongs to this run alone."""
        syscalls.prctl(syscalls.PR_SET_DUMPABLE, 0)  # The program cannot look into its keeper.
        self._uid = spare_uid(self.number) if self._real_root else None
        owner = _INSIDE_UID if self._uid is None else self._uid
        quiet = syscalls.MS_NOSUID | syscalls.MS_NODEV
        syscalls.mount("proc", "/proc", "proc", quiet | syscalls.MS_NOEXEC, "subset=pid,hidepid=2")
        inodes = max(1024, min(limits.file_bytes // 8192, 65536))
        bounds = f"size={limits.file_bytes},nr_inodes={inodes},mode=0700,uid={owner},gid={owner}"
        syscalls.mount("work", "/work", "tmpfs", quiet, bounds)
        syscalls.mount("tmp", "/tmp", "tmpfs", quiet, bounds)  # noqa: S108  # the run's own
        for number, path in enumerate(self.folders):
            if _is_covered(path):
                _show(f"{_ASIDE}/{number}", path)
        return "/work"

    def environment(self, folder: str) -> dict[str, str]:
        """Tell all that the program finds in its environment."""
        return {**super().environment(folder), "TMPDIR": "/tmp"}  # noqa: S108  # the run's own

    def become(self) -> None:
        """Become the run's own user, or stay the renamed one, without capabilities."""
        become(self._uid)
        os.chdir("/work")

    def seal(self, limits: Limits) -> None:
        """Limit the process and filter its system calls."""
        apply_limits(limits, counted=self._counted)
        seccomp.install(seccomp.build(fork=limits.fork, alone=False))

    def strike(self) -> None:
        """Kill all that live in the namespace, except process 1, which is the keeper."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(-1, signal.SIGKILL)

    def leave(self) -> None:
        """Leave everything to the kernel, which ends namespaces and mounts with the keeper."""


def _build_root(folders: tuple[str, ...], *, real_root: bool) -> None:
    """Make a root of read-only views of ``folders`` and go there; the old one is out of reach afterwards."""
    hidden = syscalls.MS_NOSUID | syscalls.MS_NODEV
    base = "/tmp"  # noqa: S108  # only covered, in a mount namespace of our own
    syscalls.mount("base", base, "tmpfs", hidden, "mode=0755,size=1m")
    os.mkdir(f"{base}/old")
    syscalls.pivot_root(base, f"{base}/old")
    os.chdir("/")
    os.mkdir("/new")
    syscalls.mount("root", "/new", "tmpfs", hidden, "mode=0755,size=1m")
    for name in ("dev", "etc", "proc", "work", "tmp"):
        os.makedirs(f"/new/{name}", 0o755)
    for number, path in enumerate(folders):
        _show(f"/old{path}", f"/new{_ASIDE}/{number}" if _is_covered(path) else f"/new{path}")
    for path in _SYSTEM_FILES:
        _show(f"/old{path}", f"/new{path}")
    for name in _DEVICES:
        _show(f"/old/dev/{name}", f"/new/dev/{name}", devices=True)
    if not real_root:
        # In a user namespace the kernel lets a run mount /proc only where one is in sight already; the run's covers it.
        syscalls.mount("/old/proc", "/new/proc", None, syscalls.MS_BIND | syscalls.MS_REC)
    for target, link in _LINKS:
        os.symlink(target, f"/new/{link}")
    os.chdir("/new")
    syscalls.pivot_root(".", ".")
    syscalls.umount_detached(".")
    os.chdir("/")
    syscalls.read_only("/", whole_tree=False)


def _is_covered(path: str) -> bool:
    """Tell whether a run's own folders hide ``path``, so that each run must uncover it."""
    return path.startswith(("/work/", "/tmp/"))  # noqa: S108  # the run's own


def _show(old: str, new: str, *, devices: bool = False) -> None:
    """Let what is at ``old`` be seen, read-only, at ``new``; a link becomes the same link."""
    if os.path.lexists(new) or not os.path.lexists(old):
        return
    os.makedirs(os.path.dirname(new), 0o755, exist_ok=True)
    if os.path.islink(old):
        os.symlink(os.readlink(old), new)
        return
    if os.path.isdir(old):
        os.mkdir(new, 0o755)
    else:
        os.close(os.open(new, os.O_CREAT | os.O_WRONLY, 0o444))
    syscalls.mount(old, new, None, syscalls.MS_BIND | syscalls.MS_REC)
    syscalls.read_only(new, devices=devices)


def _write(path: str, text: str) -> None:
    try:
        with open(path, "w", encoding="ascii") as file:
            file.write(text)
    except OSError as error:
        raise OSError(error.errno, f"write {path}: {os.strerror(error.errno or 0)}") from None
