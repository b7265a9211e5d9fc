"""The program that probes start inside a sandbox: tries what must not work and prints what came of it, as JSON.

Stands alone: it is sent as a file, so it imports the standard library only. Everything that it tries is harmless if it
works. Reads on standard input where the things are that it must not reach.
"""

# ruff: noqa: PTH101, PTH108, PTH123, PTH208, T201  # a small program of its own: it starts fast, and prints its answer

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import resource
import signal
import socket
import sys
import time
from collections.abc import Callable
from typing import Any

GIVEN: dict[str, Any] = {}


def tcp() -> str:
    """Connect to a listener of the parent."""
    with socket.create_connection(("127.0.0.1", GIVEN["tcp"]), timeout=1):
        return "connected to a TCP port of the machine"


def udp() -> str:
    """Send to a socket of the parent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.sendto(b"probe", ("127.0.0.1", GIVEN["udp"]))
    return "sent a datagram to a UDP port of the machine"


def unix() -> str:
    """Connect to a socket file of the parent."""
    with socket.socket(socket.AF_UNIX) as sock:
        sock.connect(GIVEN["unix"])
    return "connected to a socket file outside"


def abstract() -> str:
    """Connect to an abstract socket of the parent."""
    with socket.socket(socket.AF_UNIX) as sock:
        sock.connect("\0" + GIVEN["abstract"])
    return "connected to an abstract socket outside"


def home() -> str:
    """Read a secret of the user."""
    with open(GIVEN["secret"], encoding="utf-8") as file:
        file.read()
    return "read a file in the user's home"


def files() -> str:
    """Read what everybody may read."""
    with open("/etc/passwd", encoding="utf-8") as file:
        file.read()
    return "read /etc/passwd"


def write() -> str:
    """Change or re-label something outside, and create files there; the parent looks which of these exist."""
    done: list[str] = []
    attempts: list[tuple[str, Callable[[], object]]] = [
        ("chmod", lambda: os.chmod(GIVEN["secret"], 0o644)),
        ("utime", lambda: os.utime(GIVEN["secret"])),
        ("truncate", lambda: os.truncate(GIVEN["secret"], 1)),
        ("unlink", lambda: os.unlink(GIVEN["secret"])),
    ]
    for path in GIVEN["outside"]:
        with contextlib.suppress(OSError):
            _create(path)
    for name, attempt in attempts:
        with contextlib.suppress(OSError):
            attempt()
            done.append(name)
    if done:
        return "changed things outside: " + ", ".join(done)
    raise PermissionError("every attempt was refused")


def _create(path: str) -> None:
    os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))


def signal_parent() -> str:
    """Send a signal to the process that asked for this."""
    os.kill(GIVEN["pid"], 0)
    return "may signal the parent"


def limit_parent() -> str:
    """Look at the limits of the parent, which takes the same right as setting them."""
    resource.prlimit(GIVEN["pid"], resource.RLIMIT_NOFILE)
    return "may set limits of the parent"


def environ_of_parent() -> str:
    """Read the environment of the parent."""
    with open(f"/proc/{GIVEN['pid']}/environ", "rb") as file:
        file.read(1)
    return "read the parent's environment"


def processes() -> str:
    """See other processes."""
    others = [name for name in os.listdir("/proc") if name.isdecimal() and int(name) != os.getpid()]
    if others:
        return f"sees {len(others)} other processes"
    raise PermissionError("sees none")


def kernel_settings() -> str:
    """Open a setting of the kernel for writing; nothing is written."""
    os.close(os.open("/proc/sys/kernel/core_pattern", os.O_WRONLY))
    return "may write /proc/sys/kernel/core_pattern"


def fork() -> str:
    """Start a process."""
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    return "started a process"


def memory() -> str:
    """Take twice the memory that the limit leaves."""
    taken = bytearray(2 * GIVEN["memory"])
    return f"took {len(taken) >> 20} MB"


def disk() -> str:
    """Write more files, and more bytes, than the folder may hold."""
    total = 0
    for number in range(4):
        with open(f"big{number}", "wb") as file:
            total += file.write(b"\0" * (GIVEN["file_bytes"] // 2))
    for number in range(2000):
        _create(f"small{number}")
    return f"wrote {total >> 10} kB and 2000 files; only each file is bounded"


def environment() -> str:
    """Find anything in the environment that a clean start does not put there."""
    known = {"PATH", "HOME", "TMPDIR", "LANG", "LC_ALL", "PYTHONHASHSEED", "PYTHONDONTWRITEBYTECODE"}
    known |= {"LC_CTYPE", "MALLOC_ARENA_MAX"}
    if extra := set(os.environ) - known:
        return "inherited " + ", ".join(sorted(extra)[:5])
    raise PermissionError("it is clean")


def root() -> str:
    """Be root."""
    if os.geteuid() == 0 or os.getuid() == 0:
        return "runs as uid 0"
    raise PermissionError("runs as another user")


def namespaces() -> str:
    """Make a user namespace, and so become root in it."""
    if _syscall("unshare", 0x10000000) == 0:
        return "made a user namespace"
    raise PermissionError("refused")


def risky_calls() -> str:
    """Make system calls that exploits are made of."""
    made: list[str] = []
    for name, arguments in (
        ("keyctl", (0, -3, 0)),
        ("io_uring_setup", (1, 0)),
        ("perf_event_open", (0, 0, -1, -1, 0)),
        ("process_vm_readv", (os.getpid(), 0, 0, 0, 0, 0)),
        ("ptrace", (0, 0, 0, 0)),
    ):
        if name in GIVEN["calls"] and (_syscall(name, *arguments) != -1 or ctypes.get_errno() != 1):
            made.append(name)
    if made:
        return "made " + ", ".join(made)
    raise PermissionError("all were refused")


def _syscall(name: str, *arguments: int) -> int:
    libc = ctypes.CDLL(None, use_errno=True)
    return int(libc.syscall(*(ctypes.c_long(value) for value in (GIVEN["calls"].get(name, -1), *arguments))))


PROBES: dict[str, Callable[[], str]] = {
    "tcp": tcp,
    "udp": udp,
    "unix socket": unix,
    "abstract socket": abstract,
    "home": home,
    "files outside": files,
    "write outside": write,
    "signal parent": signal_parent,
    "limit parent": limit_parent,
    "parent's environment": environ_of_parent,
    "other processes": processes,
    "kernel settings": kernel_settings,
    "environment": environment,
    "root": root,
    "memory": memory,
    "disk": disk,
    "fork": fork,
    "risky calls": risky_calls,
    "user namespace": namespaces,
}


def daemon(fd: int) -> None:
    """Leave a process behind that nothing but a kill of the whole run ends; it holds ``fd`` open."""
    if os.fork() == 0:
        with contextlib.suppress(OSError):
            os.setsid()
        if os.fork() == 0:
            for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
                signal.signal(number, signal.SIG_IGN)
            os.write(fd, b"d")
            time.sleep(5)
        os._exit(0)
    os.wait()


def main() -> None:
    """Try everything, each on its own."""
    GIVEN.update(json.load(sys.stdin))
    if "daemon" in GIVEN:
        daemon(GIVEN["daemon"])
        return
    seen: dict[str, tuple[bool, str]] = {}
    for name, probe in PROBES.items():
        try:
            seen[name] = (False, probe())
        except (OSError, MemoryError) as error:
            seen[name] = (True, (error.strerror if isinstance(error, OSError) else "") or str(error) or "refused")
    print(json.dumps(seen))


if __name__ == "__main__":
    main()
