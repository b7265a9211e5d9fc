"""Which system calls a program in a sandbox may make, as a filter that the kernel runs.

Knows the rules and how to write them down as BPF; knows nothing of namespaces, folders or users. Three sets of rules:
what nobody needs and exploits are made of; starting processes; and, where no namespace hides the other processes of the
user, whatever reaches beyond the program itself.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct
from collections.abc import Iterable

from retrial.sandbox.numbers import AUDIT_ARCH, MACHINE, NUMBERS
from retrial.sandbox.syscalls import syscall

__all__ = ["Filter", "build", "install"]

_RISKY = (
    "bpf", "io_uring_setup", "io_uring_enter", "io_uring_register", "userfaultfd", "perf_event_open", "add_key",
    "request_key", "keyctl", "ptrace", "process_vm_readv", "process_vm_writev", "process_madvise",
    "process_mrelease", "kcmp", "pidfd_getfd", "mount", "umount2", "pivot_root", "chroot", "open_tree",
    "open_tree_attr", "move_mount", "fsopen", "fsconfig", "fsmount", "fspick", "mount_setattr", "unshare", "setns",
    "kexec_load", "kexec_file_load", "init_module", "finit_module", "delete_module", "name_to_handle_at",
    "open_by_handle_at", "fanotify_init", "fanotify_mark", "quotactl", "quotactl_fd", "acct", "swapon", "swapoff",
    "reboot", "settimeofday", "clock_settime", "clock_adjtime", "adjtimex", "syslog", "vhangup", "iopl", "ioperm",
    "modify_ldt", "personality", "uselib", "nfsservctl", "move_pages", "migrate_pages", "lsm_set_self_attr",
    "socket",
)  # fmt: skip

_BEYOND_SELF = (
    "tkill", "pidfd_open", "pidfd_send_signal", "setpriority", "ioprio_set", "setsid", "setpgid",
    "inotify_add_watch",
)  # fmt: skip

# Memory that no limit counts, and ways to meet other programs.
_SHARED_MEMORY = (
    "memfd_create", "memfd_secret", "shmget", "shmat", "shmctl", "msgget", "msgsnd", "msgrcv", "msgctl", "semget",
    "semop", "semtimedop", "semctl", "mq_open", "mq_unlink",
)  # fmt: skip

# Landlock does not look at these, so an owner could still change the mode or the times of files outside.
_METADATA = (
    "chmod", "fchmod", "fchmodat", "fchmodat2", "chown", "fchown", "lchown", "fchownat", "utime", "utimes",
    "futimesat", "utimensat", "setxattr", "lsetxattr", "fsetxattr", "setxattrat", "removexattr", "lremovexattr",
    "fremovexattr", "removexattrat",
)  # fmt: skip

_CLONE_THREAD = 0x00010000
_NEW_NAMESPACES = 0x7E020000
_O_TRUNC_READING = (0o1003, 0o1000)
_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C

_LOAD, _AND, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x54, 0x15, 0x35, 0x06
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_NUMBER, _ARCH, _ARGUMENTS = 0, 4, 16


class Filter:
    """A filter being written: instruction after instruction, rules in order, everything else allowed."""

    def __init__(self) -> None:
        self._code: list[tuple[int, int, int, int]] = [
            (_LOAD, 0, 0, _ARCH),
            (_EQUAL, 1, 0, AUDIT_ARCH[MACHINE]),
            (_RETURN, 0, 0, _KILL),
            (_LOAD, 0, 0, _NUMBER),
        ]
        if MACHINE == "x86_64":  # The x32 calls have other numbers, which no rule below would meet.
            self._code += [(_AT_LEAST, 0, 1, 0x40000000), (_RETURN, 0, 0, _ERRNO | errno.ENOSYS)]

    def refuse(self, names: Iterable[str], number: int = errno.EPERM) -> None:
        """Refuse calls whatever their arguments."""
        for name in names:
            if name in NUMBERS:
                self._code += [(_EQUAL, 0, 1, NUMBERS[name]), (_RETURN, 0, 0, _ERRNO | number)]

    def refuse_if(self, name: str, argument: int, mask: int, value: int) -> None:
        """Refuse a call if ``argument & mask`` is ``value``, in the low 32 bits."""
        self._on_argument(name, argument, mask, [(_EQUAL, 0, 1, value), (_RETURN, 0, 0, _ERRNO | errno.EPERM)])

    def only_if(self, name: str, argument: int, mask: int, values: tuple[int, ...]) -> None:
        """Refuse a call unless ``argument & mask`` is one of ``values``, in the low 32 bits."""
        tests = [(_EQUAL, len(values) - place, 0, value) for place, value in enumerate(values)]
        self._on_argument(name, argument, mask, [*tests, (_RETURN, 0, 0, _ERRNO | errno.EPERM)])

    def _on_argument(self, name: str, argument: int, mask: int, body: list[tuple[int, int, int, int]]) -> None:
        if name in NUMBERS:
            body = [(_LOAD, 0, 0, _ARGUMENTS + 8 * argument), (_AND, 0, 0, mask), *body, (_LOAD, 0, 0, _NUMBER)]
            self._code += [(_EQUAL, 0, len(body), NUMBERS[name]), *body]

    def packed(self) -> bytes:
        """Give the program as the kernel reads it."""
        return b"".join(struct.pack("=HBBI", *line) for line in (*self._code, (_RETURN, 0, 0, _ALLOW)))


def build(
    *, fork: bool, alone: bool, own_uid: bool = True, signals: bool = False, old_landlock: bool = False
) -> Filter:
    """Write the rules down for the calling process, whose id some of them name.

    ``alone`` is for a program that shares process ids with others: then it may act on itself only; elsewhere it
    may act on all that it sees but its keeper. ``signals`` lifts
    that for signals, where something else bounds them. ``own_uid`` says that no file outside belongs to its user.
    ``old_landlock`` adds what landlock cannot see before Linux 6.2: truncating.
    """
    rules = Filter()
    rules.refuse(_RISKY)
    rules.refuse(_SHARED_MEMORY)
    rules.refuse(["clone3"], errno.ENOSYS)  # Its flags are out of a filter's reach; the C library falls back to clone.
    for bit in range(32):
        if _NEW_NAMESPACES >> bit & 1:
            rules.refuse_if("clone", 0, 1 << bit, 1 << bit)
    if not fork:
        rules.refuse(["fork", "vfork"])
        rules.only_if("clone", 0, _CLONE_THREAD, (_CLONE_THREAD,))
    rules.refuse_if("ioctl", 1, 0xFFFFFFFF, _TIOCSTI)
    rules.refuse_if("ioctl", 1, 0xFFFFFFFF, _TIOCLINUX)
    own = (0, os.getpid())
    rules.only_if("prlimit64", 0, 0xFFFFFFFF, own)
    if not alone:
        _spare_the_keeper(rules)
    else:
        rules.refuse(_BEYOND_SELF)
        for name in ("sched_setaffinity", "sched_setscheduler", "sched_setparam", "sched_setattr"):
            rules.only_if(name, 0, 0xFFFFFFFF, own)
        if not signals:
            for name in ("kill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo"):
                rules.only_if(name, 0, 0xFFFFFFFF, own)
        if not own_uid:
            rules.refuse(_METADATA)
        if old_landlock:
            rules.refuse(["truncate"])
            rules.refuse(["openat2"], errno.ENOSYS)
            rules.refuse_if("open", 1, *_O_TRUNC_READING)
            rules.refuse_if("openat", 2, *_O_TRUNC_READING)
    return rules


def _spare_the_keeper(rules: Filter) -> None:
    """Refuse to act on process 1, which an ordinary user's program could, being the same user."""
    for name in (
        "kill", "tkill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "pidfd_open",
        "sched_setaffinity", "sched_setscheduler", "sched_setparam", "sched_setattr",
    ):  # fmt: skip
        rules.refuse_if(name, 0, 0xFFFFFFFF, 1)
    for name in ("setpriority", "ioprio_set"):
        rules.refuse_if(name, 1, 0xFFFFFFFF, 1)


def install(rules: Filter) -> None:
    """Put a filter on this process and all that it becomes; no_new_privs must be set.

    Raises:
        OSError: if the kernel refuses it.
    """
    packed = rules.packed()
    code = ctypes.create_string_buffer(packed, len(packed))
    program = struct.pack("@HP", len(packed) // 8, ctypes.addressof(code))
    # 1 is SECCOMP_SET_MODE_FILTER; 4 is SPEC_ALLOW, without which older kernels slow the whole program down.
    syscall("seccomp", 1, 4, program)
