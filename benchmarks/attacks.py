"""What code in the sandbox can reach: attack probes at each level, as root and as an ordinary user.

Every probe is a small program that tries one thing and prints ``open`` or ``refused``, or what it got; some are watched
from outside as well. ``limited`` is no sandbox and stands beside the others to show that the probes can succeed. Needs
the standard library and retrial alone, so that a user without the project's environment can run it.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import resource
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from retrial.errors import SandboxError
from retrial.sandbox.opening import open_sandbox
from retrial.sandbox.program import Ended, Limits, Program, Sandbox

LEVELS = ("limited", "confined", "jailed")
ORDINARY = 65534
"""The user id that stands for an ordinary user."""

HEAD = """\
import ctypes, os, select, signal, socket, sys, time
SECRET, WORLD, PARENT, VICTIM, TCP, UDP, ABSTRACT, PATH = {facts!r}
def tell(works):
    try:
        ok = works()
    except (OSError, MemoryError) as error:
        ok = False
    print('refused' if ok is False else 'open')
"""


@dataclass(frozen=True)
class Probe:
    """One thing to try."""

    name: str
    code: str
    fork: bool = False
    """Whether the program is allowed to start processes, where the level has such a form."""
    seconds: float = 5.0
    memory: int = 1 << 30
    look: Callable[[Seen], str] | None = None
    """What was seen from outside; None for what the program printed."""


class Host:
    """The things outside that programs try to reach."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.secret, self.world = folder / "secret", Path(tempfile.gettempdir()) / f"world-{os.getpid()}"
        for file, mode in ((self.secret, 0o600), (self.world, 0o644)):
            file.write_text("x", encoding="ascii")
            file.chmod(mode)
        self.tcp = socket.create_server(("127.0.0.1", 0))
        self.udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.udp.bind(("127.0.0.1", 0))
        self.udp.setblocking(False)
        self.path, self.abstract = str(folder / "socket"), f"\0attacks-{os.getpid()}"
        self.unix = [socket.socket(socket.AF_UNIX) for _ in range(2)]
        for sock, name in zip(self.unix, (self.path, self.abstract), strict=True):
            sock.bind(name)
            sock.listen()
        self.victim = subprocess.Popen(["sleep", "3600"], env={"SECRET": "1"})
        self.marker = folder / "alive"
        os.environ["OPENAI_API_KEY"] = "sk-not-a-key"

    def facts(self) -> tuple[object, ...]:
        tcp, udp = self.tcp.getsockname()[1], self.udp.getsockname()[1]
        there = (str(self.secret), str(self.world), os.getpid(), self.victim.pid)
        return (*there, tcp, udp, self.abstract, self.path)

    def close(self) -> None:
        self.victim.kill()
        self.victim.wait()
        for sock in (self.tcp, self.udp, *self.unix):
            sock.close()
        self.world.unlink()


@dataclass(frozen=True)
class Seen:
    """A run, from outside."""

    ended: Ended
    host: Host
    seconds: float


@contextlib.contextmanager
def host() -> Iterator[Host]:
    with tempfile.TemporaryDirectory(prefix="retrial-attacks-") as folder:
        Path(folder).chmod(0o755)
        there = Host(Path(folder))
        try:
            yield there
        finally:
            there.close()


def datagram(seen: Seen) -> str:
    """Whether one arrived."""
    try:
        seen.host.udp.recv(10)
    except BlockingIOError:
        return "refused"
    return "open"


def victim(seen: Seen) -> str:
    """Whether another process of the user died."""
    if seen.host.victim.poll() is None:
        return "refused"
    seen.host.victim = subprocess.Popen(["sleep", "3600"], env={"SECRET": "1"})
    return "open"


def lasting(seen: Seen) -> str:
    """Whether a process of the program lives on after the run: such a one is called by a name of its own."""
    time.sleep(0.3)
    alive = []
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if entry.name.isdigit() and b"outlives-the-run" in (entry / "cmdline").read_bytes():
                alive.append(int(entry.name))
    for pid in alive:
        with contextlib.suppress(OSError):
            os.kill(pid, 9)
    return f"open, after {seen.seconds:.1f} s" if alive else f"ended, {seen.seconds:.1f} s"


def lasted(seen: Seen) -> str:
    return f"{seen.seconds:.1f} s"


def flooded(seen: Seen) -> str:
    """How much was read before it was ended, and the most memory that this process ever had."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    return f"ended at {seen.ended.output_bytes >> 20} MB, {most} MB here"


LONG_LIVED = "os.execv(sys.executable, [sys.executable, '-c', 'import time; time.sleep(30)', 'outlives-the-run'])"

PROBES = (
    Probe("TCP to the host's loopback", "tell(lambda: socket.create_connection(('127.0.0.1', TCP), 2))"),
    Probe("UDP to the host's loopback", "socket.socket(2, 2).sendto(b'x', ('127.0.0.1', UDP))", look=datagram),
    Probe("abstract unix socket", "tell(lambda: socket.socket(1).connect(ABSTRACT))"),
    Probe("unix socket with a path", "tell(lambda: socket.socket(1).connect(PATH))"),
    Probe("read a secret of the user", "tell(lambda: open(SECRET).read())"),
    Probe("read a file that everybody may read", "tell(lambda: open(WORLD).read())"),
    Probe(
        "write outside the folder",
        "done = 0\n"
        "for place in (os.path.dirname(SECRET), os.path.dirname(WORLD), '/var/tmp', '/dev/shm'):\n"
        "    try:\n"
        "        open(place + '/retrial-attack', 'w').close(); done += 1; os.unlink(place + '/retrial-attack')\n"
        "    except OSError: pass\n"
        "private = os.path.realpath('/tmp') == os.path.realpath(os.getcwd()) or not os.path.exists(WORLD)\n"
        "print('refused' if not done else 'private only' if private else f'open, {done} of 4')",
    ),
    Probe(
        "fork bomb, 400 tries",
        "n = 0\n"
        "for _ in range(400):\n"
        "    try: pid = os.fork()\n"
        "    except OSError: break\n"
        "    if not pid: time.sleep(30); os._exit(0)\n"
        "    n += 1\n"
        "print('refused' if not n else 'open, 400' if n == 400 else f'stopped at {n}', flush=True); os._exit(0)",
        seconds=10,
    ),
    Probe("memory of one process, 4 GB", "x = bytearray(1); tell(lambda: len(bytearray(4 << 30)))"),
    Probe(
        "6 processes of 450 MB, where starting them is allowed",
        "r, w = os.pipe(); n = 0\n"
        "for _ in range(6):\n"
        "    try: pid = os.fork()\n"
        "    except OSError: continue\n"
        "    if not pid:\n"
        "        try: x = b'x' * (450 << 20); os.write(w, b'1'); time.sleep(12)\n"
        "        finally: os._exit(0)\n"
        "while n < 6 and select.select([r], [], [], 8)[0]: n += len(os.read(r, 9))\n"
        "print(f'open, {n * 450} MB' if n else 'refused', flush=True)",
        fork=True,
        seconds=12,
    ),
    Probe("spin for ever, limit 1 s", "while True: pass", seconds=1, look=lasted),
    Probe(
        "ignore every signal, limit 1 s",
        "for s in range(1, 65):\n    try: signal.signal(s, signal.SIG_IGN)\n    except (OSError, ValueError): pass\n"
        "while True: pass",
        seconds=1,
        look=lasted,
    ),
    Probe("print 1 GB", "for _ in range(1024): sys.stdout.write('x' * (1 << 20))", seconds=20, look=flooded),
    Probe(
        "10,000 files in the folder",
        "n = 0\ntry:\n    for n in range(10000): open(f'f{n}', 'w').close()\nexcept OSError: pass\n"
        "print('open, 10000' if n == 9999 else f'stopped at {n}')",
        seconds=20,
    ),
    Probe(
        "1 GB in files",
        "n = 0\ntry:\n    for f in range(32):\n        with open(f'g{f}', 'wb') as file:\n"
        "            for _ in range(32): file.write(bytes(1 << 20)); file.flush(); n += 1\nexcept OSError: pass\n"
        "print('open, 1024 MB' if n == 1024 else f'stopped at {n} MB')",
        seconds=20,
    ),
    Probe("signal the host's process", "tell(lambda: os.kill(PARENT, 0))"),
    Probe("kill another process", "tell(lambda: os.kill(VICTIM, 9))", look=victim),
    Probe(
        "read another process's memory",
        "libc = ctypes.CDLL(None, use_errno=True)\nprint('open' if libc.ptrace(16, VICTIM, 0, 0) == 0 else 'refused')",
    ),
    Probe("read another process's environment", "tell(lambda: open(f'/proc/{VICTIM}/environ').read())"),
    Probe("a key in its own environment", "print('open' if 'OPENAI_API_KEY' in os.environ else 'refused')"),
    Probe(
        "a child that outlives the run",
        f"try:\n    pid = os.fork()\nexcept OSError: os._exit(0)\nif not pid: {LONG_LIVED}\nos._exit(0)",
        look=lasting,
    ),
    Probe(
        "a daemon that keeps the output open",
        "try:\n    pid = os.fork()\nexcept OSError: os._exit(0)\n"
        f"if not pid:\n    os.setsid()\n    if os.fork(): os._exit(0)\n    {LONG_LIVED}\nos._exit(0)",
        look=lasting,
    ),
    Probe(
        "the same where starting processes is allowed",
        "try:\n    pid = os.fork()\nexcept OSError: os._exit(0)\n"
        "if not pid:\n    try: os.setsid()\n    except OSError: pass\n"
        f"    if os.fork(): os._exit(0)\n    {LONG_LIVED}\nos._exit(0)",
        fork=True,
        look=lasting,
    ),
    Probe(
        "write to /proc/sys",
        "p = '/proc/sys/kernel/core_pattern'\n"
        "def again():\n    old = open(p).read()\n    with open(p, 'w') as f: f.write(old)\ntell(again)",
    ),
    Probe("a user namespace of its own", "tell(lambda: ctypes.CDLL(None).unshare(0x10000000) == 0)"),
    Probe(
        "io_uring, bpf, perf, keyctl, userfaultfd",
        "libc = ctypes.CDLL(None, use_errno=True); n = 0\n"
        "room = ctypes.create_string_buffer(128)\n"
        "calls = ((425, 8, room), (321, 0, room, 128), (298, room, 0, -1, -1, 0), (250, 0, -3, 0), (323, 1))\n"
        "for number, *rest in calls:\n"
        "    ctypes.set_errno(0); libc.syscall(number, *rest); n += ctypes.get_errno() not in (1, 38)\n"
        "print('refused' if not n else f'open, {n} of 5')",
    ),
    Probe(
        "descriptors that it inherits",
        "n = 0\nfor f in range(3, 64):\n    try: os.fstat(f); n += 1\n    except OSError: pass\nprint(n or 'none')",
    ),
    Probe(
        "processes that it sees",
        "try: print(sum(name.isdigit() for name in os.listdir('/proc')) or 'none')\nexcept OSError: print('none')",
    ),
)


def put(sandbox: Sandbox, probe: Probe, there: Host) -> str:
    """Run a probe and say what came of it."""
    program = Program(
        argv=("python", "probe.py"), files={"probe.py": (HEAD.format(facts=there.facts()) + probe.code).encode()}
    )
    limits = Limits(seconds=probe.seconds, memory_bytes=probe.memory, fork=probe.fork)
    start = time.monotonic()
    ended = sandbox.start(program, limits).wait()
    seconds = time.monotonic() - start
    if probe.look is not None:
        return probe.look(Seen(ended, there, seconds))
    lines = ended.output.strip().splitlines()
    return lines[-1][:40] if lines else f"killed ({ended.exit_code})"


def column(name: str) -> dict[str, str]:
    """What every probe comes to at one level."""
    try:
        sandbox = open_sandbox(name)
    except SandboxError as error:
        return {"": str(error)}
    found = {}
    with host() as there:
        for probe in PROBES:
            print(f"{name}: {probe.name}", file=sys.stderr)
            found[probe.name] = put(sandbox, probe, there)
    return found


def as_ordinary_user() -> dict[str, dict[str, str]] | None:
    """The columns of an ordinary user, found by root with the system's Python; None where that is not possible."""
    python = shutil.which("python3", path="/usr/bin")
    if os.geteuid() != 0 or python is None:
        return None
    with tempfile.TemporaryDirectory(prefix="retrial-as-user-") as folder:
        source = Path(__file__).resolve().parents[1] / "src"
        copy = Path(folder) / "src"
        shutil.copytree(source, copy, ignore=shutil.ignore_patterns("__pycache__"))
        script = Path(shutil.copy(__file__, folder))
        home = Path(folder) / "home"
        home.mkdir()
        for place in (Path(folder), copy, script, home):
            place.chmod(0o755)
        os.chown(home, ORDINARY, ORDINARY)
        done = subprocess.run(
            [python, str(script), "--json", "--here"],
            user=ORDINARY, group=ORDINARY, extra_groups=[], cwd=folder, text=True, stdout=subprocess.PIPE, check=False,
            env={"PYTHONPATH": str(copy), "HOME": str(home), "PATH": "/usr/bin:/bin", "XDG_CACHE_HOME": str(home)},
        )  # fmt: skip
    return json.loads(done.stdout) if done.returncode == 0 else None


def table(columns: dict[str, dict[str, str]]) -> str:
    """The columns as a Markdown table, aligned."""
    head = ["try to", *columns]
    rows = [[probe.name, *(found.get(probe.name, "not here") for found in columns.values())] for probe in PROBES]
    widths = [max(len(row[index]) for row in (head, *rows)) for index in range(len(head))]
    lines = ["| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |"
             for row in (head, ["-" * width for width in widths], *rows)]  # fmt: skip
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print the columns as JSON")
    parser.add_argument("--here", action="store_true", help="only as the user that runs this")
    given = parser.parse_args()
    who = "root" if os.geteuid() == 0 else "user"
    columns = {f"{name}, {who}": column(name) for name in LEVELS}
    if not given.here:
        others = as_ordinary_user()
        if others is None and who == "root":
            print(
                "the system's Python cannot run this as an ordinary user, so these columns are left out",
                file=sys.stderr,
            )
        columns |= others or {}
    print(json.dumps(columns) if given.json else table(columns))


if __name__ == "__main__":
    main()
