"""One sandboxed process and the socket to it.

Knows frames, deadlines and how a process ended; knows nothing of what is said. Whatever arrives was written by a
stranger: only its length is believed here, and only up to a cap.
"""

from __future__ import annotations

import contextlib
import signal
import socket
import time
from collections.abc import Mapping

from retrial.sandbox.program import Child, Ended, Limits, Program, Sandbox
from retrial.testbench.wire import MAX_FRAME

__all__ = ["Closed", "Process", "Slow", "exit_words"]


class Closed(Exception):
    """The other side closed the socket or sent what is no frame."""


class Slow(Exception):
    """The deadline passed."""


class Process:
    """A started program that holds one end of a socket, whose number it gets as its last argument."""

    def __init__(
        self,
        sandbox: Sandbox,
        name: str,
        files: Mapping[str, bytes],
        limits: Limits,
        paths: tuple[str, ...] = (),
        *,
        warm: bool = False,
    ) -> None:
        ours, theirs = socket.socketpair()
        self._socket = ours
        self._ended: Ended | None = None
        self._buffer = bytearray()
        try:
            argv = ("warm python" if warm else "python", name, str(theirs.fileno()))
            self._child: Child = sandbox.start(
                Program(argv=argv, files=files, fds=(theirs.fileno(),), paths=paths), limits
            )
        except BaseException:
            ours.close()
            raise
        finally:
            theirs.close()

    def send(self, frame: bytes, deadline: float, kind: bytes = b"") -> None:
        """Send a frame. ``deadline`` is a value of ``time.monotonic``."""
        try:
            self._socket.settimeout(_left(deadline))
            self._socket.sendall((len(frame) + len(kind)).to_bytes(4, "big") + kind + frame)
        except (OSError, Slow):
            # It may have answered before it went away or the time was over, so the reader decides.
            return

    def receive(self, deadline: float, limit: int = MAX_FRAME + 64) -> bytes | None:
        """The next frame; None for one that is longer than ``limit``, which ends the usefulness of the connection."""
        length = int.from_bytes(self._exactly(4, deadline), "big")
        if length > MAX_FRAME + 64:
            raise Closed
        return None if length > limit else self._exactly(length, deadline)

    def _exactly(self, size: int, deadline: float) -> bytes:
        while len(self._buffer) < size:
            try:
                self._socket.settimeout(_left(deadline))
                part = self._socket.recv(1 << 20 if size > 1 << 16 else 1 << 16)
            except TimeoutError:
                raise Slow from None
            except OSError:
                raise Closed from None
            if not part:
                raise Closed
            self._buffer += part
        data = bytes(self._buffer[:size])
        del self._buffer[:size]
        return data

    def kill(self) -> Ended:
        """End the whole tree at once."""
        with contextlib.suppress(OSError):
            self._socket.close()
        if self._ended is None:
            self._ended = self._child.kill()
        return self._ended

    def wait(self, seconds: float) -> Ended:
        """How it ended, or what killing it gave if it did not within ``seconds``."""
        if self._ended is None:
            self._ended = self._child.wait(seconds)
        self.kill()
        return self._ended

    def interrupt(self) -> None:
        """End the tree from another thread; whoever waits for a frame finds the socket closed."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._child.kill()


def _left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise Slow
    return left


def exit_words(ended: Ended) -> str:
    """How a process ended, in words."""
    if ended.exit_code is None:
        return "it printed too much" if ended.output_bytes >= Limits().flood_bytes else "it closed its connection"
    if ended.exit_code >= 0:
        return f"exit code {ended.exit_code}"
    try:
        return f"killed by signal {signal.Signals(-ended.exit_code).name}"
    except ValueError:
        return f"killed by signal {-ended.exit_code}"
