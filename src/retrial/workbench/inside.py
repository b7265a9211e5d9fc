"""The program that stands beside a command in the sandbox: lays out the project, runs it, tells what came of it.

Its text is sent to an interpreter there, so it imports the standard library alone. It reads the project from standard
input, and writes one JSON object into the open file whose number is its argument. The command cannot reach that file,
which this process alone holds, and cannot look into this process.
"""

from __future__ import annotations

import base64
import contextlib
import ctypes
import json
import os
import selectors
import stat
import subprocess
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["main"]

_NOT_DUMPABLE = (4, 0, 0, 0, 0)
_CHUNK = 1 << 16
_PIPE = 1 << 20
_COPY = "project-copy"


def main(fd: int) -> None:
    """Carry out the order on standard input."""
    ctypes.CDLL(None).prctl(*_NOT_DUMPABLE)
    order = json.loads(sys.stdin.buffer.read())
    _lay_out(order)
    place = os.getcwd()  # noqa: PTH109 - pathlib is slow to import
    try:
        found = _run(order)
    except OSError as error:
        found = {"broken": f"{order['argv'][0]}: {error.strerror}"}
    report = _report(order["junit"], order["report_bytes"]) if order["junit"] else None
    with open(fd, "w", encoding="ascii") as file:
        json.dump({**found, "place": place, "report": report}, file)


def _lay_out(order: dict[str, Any]) -> None:
    """Write the project's files, with the modes that they need from the beginning, and link installed packages.

    They get a folder of their own, since a readable folder of the machine may appear beside it.
    """
    os.mkdir(_COPY)  # noqa: PTH102 - pathlib is slow to import
    os.chdir(_COPY)
    for name, (content, executable) in order["files"].items():
        os.makedirs(os.path.dirname(f"./{name}"), exist_ok=True)  # noqa: PTH103, PTH120 - pathlib is slow to import
        mode = 0o755 if executable else 0o644
        with open(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode), "wb") as file:  # noqa: PTH123 - a number
            file.write(base64.b64decode(content))
    for name, place in order["links"].items():
        os.symlink(place, name)  # noqa: PTH211 - pathlib is slow to import


def _run(order: dict[str, Any]) -> dict[str, Any]:
    """Run the command until it ends or its time is over."""
    ends = time.monotonic() + order["seconds"]
    environment = {**os.environ, **order["environment"], "HOME": os.environ["TMPDIR"]}
    environment["PATH"] = os.pathsep.join((*order["search"], environment["PATH"]))
    child = subprocess.Popen(  # noqa: S603 - this is what a sandbox is for
        order["argv"],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    output = _Output(order["output_bytes"])
    assert child.stdout is not None
    os.set_blocking(child.stdout.fileno(), False)
    with selectors.DefaultSelector() as selector:
        selector.register(child.stdout, selectors.EVENT_READ)
        while child.poll() is None and (left := ends - time.monotonic()) > 0:
            # A process that the command leaves behind may hold the pipe open, so its end is looked for as well.
            if selector.select(min(left, 0.05)) and not output.take(child.stdout.fileno()):
                selector.unregister(child.stdout)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    child.wait(max(ends - time.monotonic(), 0))
                break
    timed_out = child.poll() is None
    for _ in range(_PIPE // _CHUNK):  # What is left in the pipe; whoever still writes is not waited for.
        if not output.take(child.stdout.fileno()):
            break
    return {"exit_code": child.returncode, "timed_out": timed_out, **output.kept()}


class _Output:
    """The first and the last bytes of what a command writes."""

    def __init__(self, most: int) -> None:
        self._most = most // 2
        self._head = bytearray()
        self._tail = bytearray()
        self._count = 0

    def take(self, fd: int) -> bool:
        """Read what is there; False if there is nothing now or any more."""
        try:
            piece = os.read(fd, _CHUNK)
        except BlockingIOError:
            return False
        self._count += len(piece)
        room = self._most - len(self._head)
        self._head += piece[:room]
        self._tail = (self._tail + piece[max(room, 0) :])[-self._most :]
        return bool(piece)

    def kept(self) -> dict[str, Any]:
        """What there is to tell."""
        parts = {"head": self._head, "tail": self._tail}
        told: dict[str, Any] = {name: base64.b64encode(part).decode() for name, part in parts.items()}
        return {**told, "left_out": self._count - len(self._head) - len(self._tail)}


def _report(name: str, most: int) -> str | None:
    """The report that the command wrote: a real file of a size that can be read, and no link."""
    try:
        fd = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with open(fd, "rb") as file:  # noqa: PTH123 - a number
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                return None
            return base64.b64encode(file.read(most + 1)).decode()
    except OSError:
        return None


if __name__ == "__main__":
    main(int(sys.argv[1]))
