"""The launcher's main loop: a process with one thread, set up once, that starts a keeper for every run.

Runs no generated code. Lives until the library closes its end of the socket, so it ends when the library's process
does, however that happens.
"""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import socket
import sys
from typing import Any

from retrial.sandbox.keeper import keep
from retrial.sandbox.stage import Stage
from retrial.sandbox.wire import receive, send

__all__ = ["main"]

_MOST_FDS = 250


def main(control_fd: int) -> None:
    """Serve the library at the other end of ``control_fd``."""
    control = socket.socket(fileno=control_fd)
    order = receive(control)
    if order is None:
        return
    try:
        stage = _stage(order)
        stage.prepare()
        send(control, {"ready": stage.facts})
    except OSError as error:
        send(control, {"broken": error.strerror or str(error)})
        return
    gc.collect()
    gc.freeze()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # Keepers are collected by the kernel.
    while _serve_one(stage, control):
        pass


def _stage(order: dict[str, Any]) -> Stage:
    level, folders, scratch = str(order["level"]), tuple(order["folders"]), str(order["scratch"])
    if level == "limited":
        return Stage(folders=folders, scratch=scratch)
    if sys.platform != "linux":
        raise OSError(38, f"the level {level!r} needs Linux")
    # Of Linux alone.
    from retrial.sandbox.confinement import Confinement  # noqa: PLC0415
    from retrial.sandbox.jail import Jail  # noqa: PLC0415
    from retrial.sandbox.numbers import AUDIT_ARCH, MACHINE  # noqa: PLC0415

    if MACHINE not in AUDIT_ARCH:
        raise OSError(38, f"the filter of system calls is not written for {MACHINE}")
    return (Jail if level == "jailed" else Confinement)(folders=folders, scratch=scratch)


def _serve_one(stage: Stage, control: socket.socket) -> bool:
    word, fds, _, _ = socket.recv_fds(control, 1, _MOST_FDS)
    if not word:
        return False
    library = socket.socket(fileno=fds[0])
    try:
        keeper = stage.spawn()
    except OSError as error:
        with contextlib.suppress(OSError):
            send(library, {"broken": error.strerror or str(error)})
        keeper = -1
    if keeper == 0:
        try:
            control.close()
            keep(stage, library, fds[1:])
        finally:
            os._exit(0)
    library.close()
    for fd in fds[1:]:
        os.close(fd)
    return True
