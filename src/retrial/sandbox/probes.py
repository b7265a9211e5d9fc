"""What a level really holds, seen from inside: run the observer in it and look what got through.

Knows what each level must hold to be called by its name. A level is what is observed here, never what was asked for.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import socket
import tempfile
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from retrial.errors import SandboxError
from retrial.sandbox.levels import Level
from retrial.sandbox.numbers import NUMBERS
from retrial.sandbox.program import Limits, Program

__all__ = ["REQUIRED", "Probe", "leaks", "observe"]

_EVERYTHING = frozenset(
    {
        "tcp", "udp", "unix socket", "abstract socket", "home", "files outside", "write outside", "signal parent",
        "limit parent", "parent's environment", "other processes", "kernel settings", "environment", "root", "memory",
        "disk", "fork", "risky calls", "user namespace", "daemon",
    }
)  # fmt: skip

REQUIRED: Mapping[str, frozenset[str]] = {
    "jailed": _EVERYTHING,
    "confined": _EVERYTHING - {"disk"},
    "limited": frozenset({"environment"}),
}
"""The probes that must be blocked for a level to deserve its name."""

_LIMITS = Limits(seconds=20.0, memory_bytes=256 << 20, file_bytes=2 << 20)


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """One thing that was tried from inside, and what came of it."""

    name: str
    """What was tried."""
    blocked: bool
    """Whether it failed, as it should."""
    detail: str = ""
    """What got through, or how it was refused."""


def leaks(level: str, probes: tuple[Probe, ...]) -> tuple[Probe, ...]:
    """Pick the probes that keep a level from being called by its name; one that is missing got through."""
    seen = {probe.name: probe for probe in probes}
    missing = Probe(name="", blocked=False, detail="was not observed")
    found = [seen.get(name) or Probe(name=name, blocked=False, detail=missing.detail) for name in REQUIRED[level]]
    return tuple(sorted((probe for probe in found if not probe.blocked), key=lambda probe: probe.name))


def observe(level: Level) -> tuple[Probe, ...]:
    """Run every probe inside ``level``.

    Raises:
        SandboxError: if the level cannot be set up or its observer does not answer.
    """
    with _bait() as (given, datagram_came):
        source = Path(__file__).with_name("observer.py").read_bytes()
        program = Program(
            argv=("python", "observer.py"), files={"observer.py": source}, stdin=json.dumps(given).encode()
        )
        ended = level.start(program, _LIMITS).wait()
        try:
            seen: dict[str, Any] = json.loads(ended.output)
        except ValueError:
            raise SandboxError(f"the observer did not answer: exit {ended.exit_code}, {ended.output[:300]!r}") from None
        if not datagram_came() and not seen["udp"][0]:
            seen["udp"] = (True, "sent, but nothing came")
        if made := [path for path in given["outside"] if os.path.lexists(path)]:
            seen["write outside"] = (False, f"made {', '.join(made)}")
    seen["daemon"] = _survives(level, source)
    return tuple(Probe(name=name, blocked=bool(row[0]), detail=str(row[1])) for name, row in seen.items())


def _survives(level: Level, source: bytes) -> tuple[bool, str]:
    """See whether a process that left its session is gone when the run is over."""
    reader, writer = os.pipe()
    try:
        program = Program(
            argv=("python", "observer.py"),
            files={"observer.py": source},
            stdin=json.dumps({"daemon": writer}).encode(),
            fds=(writer,),
        )
        child = level.start(program, Limits(seconds=20.0, fork=True))
        os.close(writer)
        writer = -1
        child.wait()
        os.set_blocking(reader, False)
        os.read(reader, 1)
        try:
            alive = os.read(reader, 1) != b""
        except BlockingIOError:
            alive = True
    except BlockingIOError:
        return False, "a process that holds a pipe is still there"
    finally:
        os.close(reader)
        if writer >= 0:
            os.close(writer)
    return (False, "a process outlived its run") if alive else (True, "all were ended")


@contextlib.contextmanager
def _bait() -> Generator[tuple[dict[str, Any], Any]]:
    """Lay out what must not be reached, and take it away again."""
    name = f"retrial-probe-{secrets.token_hex(8)}"
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="retrial-probe-"))
        Path(folder).chmod(0o755)
        tcp = stack.enter_context(socket.socket())
        tcp.bind(("127.0.0.1", 0))
        tcp.listen(4)
        udp = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        udp.bind(("127.0.0.1", 0))
        udp.setblocking(False)
        unix = stack.enter_context(socket.socket(socket.AF_UNIX))
        unix.bind(f"{folder}/socket")
        Path(folder, "socket").chmod(0o777)
        unix.listen(4)
        abstract = stack.enter_context(socket.socket(socket.AF_UNIX))
        if "unshare" in NUMBERS and os.path.exists("/proc/self"):  # noqa: PTH110  # only Linux has abstract names
            abstract.bind(f"\0{name}")
            abstract.listen(4)
        secret = _plant(Path.home(), name) or _plant(Path(folder), name) or f"{folder}/none"
        outside = [f"{place}/{name}-new" for place in (Path.home(), tempfile.gettempdir(), folder, Path.cwd())]
        for path in (secret, *outside):
            stack.callback(_remove, path)
        yield (
            {
                "tcp": tcp.getsockname()[1],
                "udp": udp.getsockname()[1],
                "unix": f"{folder}/socket",
                "abstract": name,
                "secret": secret,
                "outside": outside,
                "pid": os.getpid(),
                "memory": _LIMITS.memory_bytes,
                "file_bytes": _LIMITS.file_bytes,
                "calls": dict(NUMBERS),
            },
            lambda: _came(udp),
        )


def _remove(path: str) -> None:
    """Remove a file that a probe may have left where this process may not even look."""
    with contextlib.suppress(OSError):
        Path(path).unlink()


def _plant(folder: Path, name: str) -> str | None:
    path = folder / name
    try:
        path.write_text("a secret that only the user may read", encoding="utf-8")
        path.chmod(0o600)
    except OSError:
        return None
    return str(path)


def _came(udp: socket.socket) -> bool:
    try:
        return bool(udp.recv(16))
    except BlockingIOError:
        return False
