"""The library's end of a launcher: start it when first needed, again when it is gone, and end it at the latest with us.

Knows nothing of levels but their names. May be used from several threads; a forked copy of this process starts
launchers of its own.
"""

from __future__ import annotations

import atexit
import base64
import contextlib
import os
import socket
import subprocess
import tempfile
import threading
import weakref
from dataclasses import asdict
from pathlib import Path
from typing import Any

from retrial.errors import SandboxError
from retrial.sandbox.interpreter import CLEAN, interpreter, readable_folders
from retrial.sandbox.program import Limits, Program
from retrial.sandbox.wire import receive, send

__all__ = ["Launcher"]

_BOOT = "import sys; sys.path.insert(0, {!r}); from retrial.sandbox.launcher import main; main({})"
_START_SECONDS = 60.0

_launchers: weakref.WeakSet[Launcher] = weakref.WeakSet()


class Launcher:
    """Starts programs at one level."""

    def __init__(self, level: str, paths: tuple[str, ...] = ()) -> None:
        self._level = level
        self._paths = tuple(os.path.realpath(path) for path in paths)
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._facts: dict[str, Any] = {}
        _launchers.add(self)

    def facts(self) -> dict[str, Any]:
        """Tell what the launcher found out about its level, starting it if need be.

        Raises:
            SandboxError: if the level cannot be set up here, naming what failed.
        """
        with self._lock:
            self._running()
            return self._facts

    def start(self, program: Program, limits: Limits) -> tuple[socket.socket, str]:
        """Start ``program``; answers the socket to its keeper, and the folder that the keeper removes in the end.

        Raises:
            SandboxError: if it could not be started in the sandbox.
        """
        answer: dict[str, Any] | None = None
        try:
            ours, theirs = socket.socketpair()
        except OSError as error:
            raise SandboxError(f"the sandbox ({self._level}) has no descriptor left: {error.strerror}") from None
        try:
            with theirs:
                self._hand_over(theirs, program.fds)
            ours.settimeout(_START_SECONDS)
            with contextlib.suppress(ConnectionError):
                send(ours, _request(program, limits))
            answer = receive(ours)
        except TimeoutError:
            answer = {"broken": f"no answer for {_START_SECONDS:g} s"}
        except OSError as error:
            answer = {"broken": str(error)}
        finally:
            if answer is None or "started" not in answer:
                ours.close()
        if answer is None or "started" not in answer:
            why = "the launcher is gone" if answer is None else answer.get("broken")
            raise SandboxError(f"the sandbox ({self._level}) could not start {program.argv[0]!r}: {why}")
        return ours, str(answer["started"])

    def _hand_over(self, keeper_end: socket.socket, fds: tuple[int, ...]) -> None:
        with self._lock:
            for last_try in (False, True):
                try:
                    socket.send_fds(self._running(), [b"r"], [keeper_end.fileno(), *fds])
                except ConnectionError:  # Somebody killed it; the next one will do.
                    self._end()
                    if last_try:
                        raise SandboxError(f"the launcher of the sandbox ({self._level}) keeps dying") from None
                else:
                    return

    def _running(self) -> socket.socket:
        if self._control is None:
            self._begin()
        assert self._control is not None
        return self._control

    def _begin(self) -> None:
        ours, theirs = socket.socketpair()
        source = str(Path(__file__).resolve().parents[2])
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603  # our own interpreter with our own words
                [interpreter(), "-s", "-S", "-P", "-c", _BOOT.format(source, theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                env={"PATH": os.defpath, "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "PYTHONHASHSEED": "0"},
                start_new_session=True,
            )
        self._control = ours
        ours.settimeout(_START_SECONDS)
        folders = (*readable_folders(), *self._paths)
        try:
            with contextlib.suppress(ConnectionError):
                send(ours, {"level": self._level, "folders": folders, "scratch": tempfile.gettempdir()})
            answer = receive(ours)
        except TimeoutError:
            answer = None
        if answer is None or "ready" not in answer:
            self._end()
            why = "its launcher does not start" if answer is None else answer.get("broken")
            raise SandboxError(f"the level {self._level!r} is not available: {why}")
        self._facts = answer["ready"]
        ours.settimeout(None)

    def close(self) -> None:
        """End the launcher; the next start begins another one."""
        with self._lock:
            self._end()

    def _end(self) -> None:
        if self._control is not None:
            self._control.close()
            self._control = None
        if self._process is not None:
            try:
                self._process.wait(5)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            self._process = None

    def forget(self) -> None:
        """In a forked copy of the library: leave the launcher to the process that started it."""
        self._lock = threading.Lock()
        if self._control is not None:
            self._control.close()
            self._control = None
        if self._process is not None:
            self._process.returncode = 0  # Not ours to wait for.
            self._process = None


def _request(program: Program, limits: Limits) -> dict[str, Any]:
    argv = program.argv
    return {
        "argv": (interpreter(), *CLEAN, *argv[1:]) if argv[0] == "python" else argv,
        "files": {name: base64.b64encode(content).decode() for name, content in program.files.items()},
        "stdin": base64.b64encode(program.stdin).decode(),
        "fds": program.fds,
        "limits": asdict(limits),
    }


def _close_all() -> None:
    for launcher in list(_launchers):
        launcher.close()


def _forget_all() -> None:
    for launcher in list(_launchers):
        launcher.forget()


atexit.register(_close_all)
os.register_at_fork(after_in_child=_forget_all)
