"""One run, from the keeper's side: start the program, watch it, end every process of it, tell what came of it.

Runs in a process of its own, which runs no generated code. Knows limits and the clock; what isolates the program is
the stage's business. If the library closes its end of the socket, or dies, the run ends.
"""

from __future__ import annotations

import base64
import contextlib
import os
import select
import signal
import socket
import time
from typing import Any

from retrial.sandbox.program import Limits
from retrial.sandbox.stage import Stage
from retrial.sandbox.starting import start
from retrial.sandbox.wire import receive, send

__all__ = ["keep"]

_CHUNK = 1 << 16
_FAREWELL = 2.0


def keep(stage: Stage, library: socket.socket, fds: list[int]) -> None:
    """Serve one run: the request comes over ``library``, the answers go there."""
    request = receive(library)
    if request is None:
        return
    try:
        _serve(stage, library, fds, request)
    except (OSError, ValueError) as error:
        with contextlib.suppress(OSError):
            send(library, {"broken": getattr(error, "strerror", None) or str(error)})
    finally:
        stage.leave()


def _serve(stage: Stage, library: socket.socket, fds: list[int], request: dict[str, Any]) -> None:
    limits = Limits(**request["limits"])
    folder = stage.enter(limits)
    wake, alarm = os.pipe()
    os.set_blocking(wake, False)
    os.set_blocking(alarm, False)
    signal.signal(signal.SIGCHLD, _ignore)
    signal.set_wakeup_fd(alarm, warn_on_full_buffer=False)
    child, output = start(stage, folder, limits, request, fds)
    for fd in fds:
        os.close(fd)
    send(library, {"started": stage.folder})
    watch = _Watch(child, output, limits, folder)
    try:
        watch.follow(library, wake)
    finally:
        watch.end(stage)
    with contextlib.suppress(OSError):  # The library may be gone; then nobody asks.
        send(library, watch.report())


def _ignore(number: int, frame: object) -> None:
    """Do nothing: it is the wake-up that counts, and an ignored signal would give none."""


class _Watch:
    """What is known of a running program."""

    def __init__(self, child: int, output: int, limits: Limits, folder: str) -> None:
        self._folder = folder
        self._child = child
        self._output: int | None = output
        self._limits = limits
        self._deadline = time.monotonic() + limits.seconds
        self._status: int | None = None
        self._head = bytearray()
        self._written = 0
        self._timed_out = False
        os.set_blocking(output, False)

    def follow(self, library: socket.socket, wake: int) -> None:
        """Watch until the program ends, its time or its output is used up, or the library has enough."""
        poll = select.poll()
        poll.register(library, select.POLLIN)
        poll.register(wake, select.POLLIN)
        if self._output is not None:
            poll.register(self._output, select.POLLIN)
        while not self._collect() and self._written <= self._limits.flood_bytes:
            left = self._deadline - time.monotonic()
            if left <= 0:
                self._timed_out = True
                return
            for fd, _ in poll.poll(left * 1000 + 1):
                if fd == library.fileno():
                    with contextlib.suppress(OSError):
                        self._timed_out = library.recv(1) == b"T"
                    return
                if fd == wake:
                    os.read(wake, 512)
                elif not self._read():
                    poll.unregister(fd)

    def end(self, stage: Stage) -> None:
        """Kill what is left, collect every state, and take the rest of the output."""
        deadline = time.monotonic() + _FAREWELL
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._child, signal.SIGKILL)
        while time.monotonic() < deadline:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                break
            if pid == self._child:
                self._status = status
            elif pid == 0:
                stage.strike()
                time.sleep(0.0005)
        while self._written <= self._limits.flood_bytes and self._read():
            pass

    def _collect(self) -> bool:
        """Collect the states of ended processes; tell whether the program is among them."""
        while self._status is None:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == self._child:
                self._status = status
            elif pid == 0:
                break
        return self._status is not None

    def _read(self) -> bool:
        """Take one piece of output; False if there is none now or any more."""
        if self._output is None:
            return False
        try:
            piece = os.read(self._output, _CHUNK)
        except BlockingIOError:
            return False
        self._written += len(piece)
        if (room := self._limits.output_bytes - len(self._head)) > 0:
            self._head += piece[:room]
        return bool(piece)

    def report(self) -> dict[str, Any]:
        """Tell what came of it."""
        flooded = self._written > self._limits.flood_bytes
        known = self._status is not None and not self._timed_out and not flooded
        top, _, _ = self._folder.rpartition("/")
        # A folder of a random name would make two equal runs differ.
        head = self._head.replace(f"{top}/".encode(), b"/") if top else self._head
        return {
            "exit_code": os.waitstatus_to_exitcode(self._status or 0) if known else None,
            "output": base64.b64encode(head).decode(),
            "output_bytes": self._written,
            "timed_out": self._timed_out,
        }
