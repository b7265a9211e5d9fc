"""One run, from the library's side: wait for its keeper's report, or make an end of it.

Knows the keeper's answers and nothing of levels. No thread reads along: the keeper does, and holds no more than the
limits let it.
"""

from __future__ import annotations

import base64
import contextlib
import os
import re
import socket
import threading
import time
import weakref
from typing import Any

from retrial.core.reports import Isolation
from retrial.errors import SandboxError
from retrial.sandbox.program import Ended, Limits
from retrial.sandbox.stage import remove_folder
from retrial.sandbox.wire import receive

__all__ = ["Run"]

_PATIENCE = 15.0
"""How long past its time a keeper may take to end a run and clean up."""

_ESCAPES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")

_open_runs: weakref.WeakSet[Run] = weakref.WeakSet()


class Run:
    """A started program; the Child of every level."""

    def __init__(self, keeper: socket.socket, folder: str, limits: Limits, isolation: Isolation) -> None:
        self._keeper = keeper
        self._folder = folder
        self._deadline = time.monotonic() + limits.seconds
        self._ended: Ended | None = None
        self._collecting = threading.Lock()
        self.isolation = isolation
        """Where it runs; the mechanism ends in ``+fork`` where starting processes is allowed."""
        _open_runs.add(self)

    def wait(self, seconds: float | None = None) -> Ended:
        """Wait for the end, at most ``seconds`` more (None for what its limits leave), kill the tree, tidy up.

        Raises:
            SandboxError: if the keeper is gone without a report.
        """
        if seconds is not None:
            with self._collecting:
                if self._ended is None and not _has_news(self._keeper, max(seconds, 0.0005)):
                    self._stop(b"T")
        return self._collect()

    def kill(self) -> Ended:
        """Kill the whole tree at once and tidy up. Safe to call twice and from another thread.

        Raises:
            SandboxError: if the keeper is gone without a report.
        """
        self._stop(b"K")
        return self._collect()

    def _stop(self, word: bytes) -> None:
        with contextlib.suppress(OSError):
            self._keeper.send(word)

    def _collect(self) -> Ended:
        with self._collecting:
            if self._ended is None:
                self._ended = self._receive()
            return self._ended

    def _receive(self) -> Ended:
        self._keeper.settimeout(max(0.0, self._deadline - time.monotonic()) + _PATIENCE)
        try:
            report = receive(self._keeper)
            if report is not None and "exit_code" in report:
                with contextlib.suppress(OSError):  # However long a folder takes to remove, the report stands.
                    self._keeper.recv(1)  # The keeper's end: its namespaces and folders go with it.
        except TimeoutError:
            report = {"broken": "the keeper does not answer"}
        finally:
            self._keeper.close()
        if report is None:
            if self._folder:
                remove_folder(self._folder)
            if self.isolation.level == "limited":  # There a program can kill its keeper, and that is its own fault.
                return Ended(exit_code=-9, output="", output_bytes=0, timed_out=False)
            raise SandboxError("the process that watches a run is gone; was it killed? try again")
        if "broken" in report:
            raise SandboxError(f"a run could not be watched: {report['broken']}")
        return _ended(report)

    def forget(self) -> None:
        """Let go of the run without ending it; for a forked copy of the library."""
        self._keeper.close()


def _forget_all() -> None:
    """In a process forked from the library's: leave all runs to the one that started them."""
    for run in list(_open_runs):
        run.forget()


def _has_news(sock: socket.socket, seconds: float) -> bool:
    try:
        sock.settimeout(seconds)
        sock.recv(1, socket.MSG_PEEK)
    except TimeoutError:
        return False
    except OSError:
        pass
    return True


def _ended(report: dict[str, Any]) -> Ended:
    text = base64.b64decode(report["output"]).decode("utf-8", "backslashreplace")
    return Ended(
        exit_code=report["exit_code"],
        output=_CONTROL.sub("", _ESCAPES.sub("", text.replace("\r\n", "\n"))),
        output_bytes=report["output_bytes"],
        timed_out=report["timed_out"],
    )


os.register_at_fork(after_in_child=_forget_all)
