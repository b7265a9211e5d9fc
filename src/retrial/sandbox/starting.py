"""From a keeper to a running program: descriptors, files, signals, then the stage's doors, then execute.

Runs in the keeper and in the process that becomes the program. Knows nothing of what happens afterwards.
"""

# ruff: noqa: PTH103, PTH120, PTH123  # pathlib is slow to import, and the launcher does without it

from __future__ import annotations

import base64
import contextlib
import fcntl
import os
import signal
import sys
from typing import Any, NoReturn

from retrial.sandbox import syscalls
from retrial.sandbox.program import Limits
from retrial.sandbox.stage import Stage
from retrial.sandbox.warm import WARM, run_here

__all__ = ["start"]


def start(stage: Stage, folder: str, limits: Limits, request: dict[str, Any], fds: list[int]) -> tuple[int, int]:
    """Start the program that ``request`` names; answers its process id and the end of its output to read from.

    Raises:
        OSError: if the sandbox fails. A program that does not exist is a process that says so and ends with 127.
    """
    output, theirs = os.pipe()
    news, tell = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            targets = [int(number) for number in request["fds"]]
            places = dict(zip(targets, fds, strict=True)) | {0: _stdin(base64.b64decode(request["stdin"]))}
            tell = _place({**places, 1: theirs, 2: theirs}, tell)
            _become_program(stage, folder, limits, request, tell)
        except BaseException as error:  # noqa: BLE001  # nothing may return from here into the keeper's code
            with contextlib.suppress(OSError):
                os.write(tell, f"{type(error).__name__}: {error}".encode()[:4000])
        os._exit(125)
    os.close(theirs)
    os.close(tell)
    trouble = b""
    while piece := os.read(news, 4096):
        trouble += piece
    os.close(news)
    if trouble:
        os.waitpid(child, 0)
        raise OSError(trouble.decode(errors="replace"))
    return child, output


def _become_program(stage: Stage, folder: str, limits: Limits, request: dict[str, Any], tell: int) -> NoReturn:
    os.setsid()
    if sys.platform == "linux":
        _be_the_first_to_go()
    for number in range(1, signal.NSIG):
        with contextlib.suppress(OSError, ValueError):
            signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    stage.become()
    if sys.platform == "linux":
        _end_with_the_keeper()
    os.umask(0o022)
    for name, content in request["files"].items():
        _write(folder, name, base64.b64decode(content))
    argv = [str(part) for part in request["argv"]]
    environment = stage.environment(folder)
    if argv[0] == WARM and sys.platform == "linux":
        syscalls.prctl(syscalls.PR_SET_DUMPABLE, 1)  # As executing a program does, after becoming another user.
    stage.seal(limits)
    if argv[0] == WARM:
        os.close(tell)
        run_here(argv[1:], environment)
    try:
        os.execvpe(argv[0], argv, environment)  # noqa: S606  # this is what a sandbox is for
    except OSError as error:
        os.close(tell)
        os.write(2, f"{argv[0]}: {error.strerror}\n".encode())
        os._exit(127)


def _be_the_first_to_go() -> None:
    """Be what the kernel kills when memory runs out, rather than the keeper."""
    syscalls.prctl(syscalls.PR_SET_DUMPABLE, 1)
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w", encoding="ascii") as file:
        file.write("1000")


def _end_with_the_keeper() -> None:
    # Not earlier: becoming another user takes this back.
    syscalls.prctl(syscalls.PR_SET_PDEATHSIG, signal.SIGKILL)


def _stdin(content: bytes) -> int:
    if not content:
        return os.open("/dev/null", os.O_RDONLY)
    if sys.platform == "linux":
        fd = os.memfd_create("stdin")
        view = memoryview(content)
        while view:
            view = view[os.write(fd, view) :]
        os.lseek(fd, 0, os.SEEK_SET)
        reader = os.open(f"/proc/self/fd/{fd}", os.O_RDONLY)
        os.close(fd)
        return reader
    import tempfile  # noqa: PLC0415  # not needed elsewhere

    with tempfile.TemporaryFile() as file:
        file.write(content)
        file.flush()
        fd = os.dup(file.fileno())
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


def _place(places: dict[int, int], tell: int) -> int:
    """Give each descriptor the number that it shall have, and close all others but ``tell``, whose number changes."""
    above = max(places) + 1
    sources = {target: fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, above) for target, fd in places.items()}
    tell = fcntl.fcntl(tell, fcntl.F_DUPFD_CLOEXEC, above)
    for target, fd in sources.items():
        os.dup2(fd, target, inheritable=True)
    last = -1
    for fd in sorted({*places, tell}):
        if fd > last + 1:  # An empty range from 0 would close everything.
            os.closerange(last + 1, fd)
        last = fd
    os.closerange(last + 1, max(4096, last + 256))
    return tell


def _write(folder: str, name: str, content: bytes) -> None:
    path = os.path.normpath(f"{folder}/{name}")
    if not path.startswith(f"{folder}/"):
        raise ValueError(f"the file {name!r} lies outside the working folder")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(content)
