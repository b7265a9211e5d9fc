"""A warm Python: a program that runs without starting an interpreter is in the same place as one that starts one."""

from __future__ import annotations

import importlib.util
import json
import marshal

import pytest

from retrial.errors import SandboxError
from retrial.sandbox.opening import open_sandbox
from retrial.sandbox.program import Limits, Program

PLACE = """
import json, os, socket, sys
def tried(what):
    try:
        what()
    except OSError as error:
        return error.errno
    return "done"
def shown(what):
    try:
        return what()
    except OSError as error:
        return error.errno
def depth(n=0):
    try:
        return depth(n + 1)
    except RecursionError:
        return n
words = ("CapEff", "CapPrm", "CapBnd", "NoNewPrivs", "Seccomp", "Threads")
import resource
print(json.dumps({
    "environment": dict(os.environ), "argv": sys.argv, "path": sys.path, "name": __name__, "hash": hash("a"),
    "own": [name for name in sys.modules if name.startswith("retrial")], "root": os.getuid() == 0,
    "fds": [fd for fd in range(64) if tried(lambda: os.fstat(fd)) == "done"],
    "status": shown(lambda: [line for line in open("/proc/self/status") if line.split(":")[0] in words]),
    "limits": [resource.getrlimit(n) for n in range(16) if n != resource.RLIMIT_SIGPENDING], "folder": os.getcwd(),
    "fork": tried(os.fork), "socket": tried(socket.socket), "write": tried(lambda: open("/usr/x", "w")),
    "host": tried(lambda: open("/etc/passwd")), "kill": tried(lambda: os.kill(os.getppid(), 0)),
    "root_listing": sorted(os.listdir("/")) if os.getcwd() == "/work" else [], "depth": depth(), "umask": os.umask(0),
    "bytecode": sys.dont_write_bytecode, "group": os.getpgrp() == os.getpid(), "groups": os.getgroups(),
    "mem": tried(lambda: open("/proc/self/mem", "rb")), "parent": tried(lambda: os.listdir(f"/proc/{os.getppid()}/fd")),
}))
"""


@pytest.fixture(params=["jailed", "confined"])
def both(request):
    """Run one source as a started and as a warm Python, and give both ends."""
    try:
        sandbox = open_sandbox(request.param)
    except SandboxError as error:
        pytest.skip(str(error))

    def run(source, seconds=20):
        code = compile(source, "program", "exec", dont_inherit=True)
        files = {"program.pyc": importlib.util.MAGIC_NUMBER + bytes(12) + marshal.dumps(code)}
        words = ("python", "warm python")
        return [
            sandbox.start(Program(argv=(word, "program.pyc", "x"), files=files), Limits(seconds=seconds)).wait()
            for word in words
        ]

    return run


def test_a_warm_python_is_in_the_same_place(both):
    """User, capabilities, filter, limits, descriptors, environment, folders and depth of stack are the same."""
    started, warm = ([json.loads(ended.output)] for ended in both(PLACE))
    for place in (started[0], warm[0]):
        place["environment"] = {name: value.rpartition("/")[2] for name, value in place["environment"].items()}
        place["folder"] = place["folder"].rpartition("/")[2]
        place["depth"] = round(place["depth"], -1)
    assert {name: (started[0][name], value) for name, value in warm[0].items() if value != started[0][name]} == {}
    assert warm[0]["own"] == []
    assert warm[0]["fork"] != "done"
    assert warm[0]["socket"] != "done"


@pytest.mark.parametrize(
    ("source", "code"),
    [
        ("", 0),
        ("import sys; sys.exit(3)", 3),
        ("raise ValueError('no')", 1),
        ("raise SystemExit('words')", 1),
        ("import os; os._exit(7)", 7),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", -9),
    ],
)
def test_a_warm_python_ends_alike(both, source, code):
    """Exit codes and signals are those of an interpreter that was started."""
    started, warm = both(source)
    assert (warm.exit_code, started.exit_code) == (code, code)


def test_a_warm_python_that_hangs_is_ended(both):
    """Its time is bounded as every program's."""
    _, warm = both("while True: pass", seconds=0.5)
    assert warm.timed_out


def test_warm_pythons_share_no_chance_and_no_memory(both):
    """Random numbers differ, and what one changes the next does not see."""
    source = (
        "import json, random, sys\nprint(random.random(), hasattr(json, 'seen'))\njson.seen = 1\nsys.stdout.flush()"
    )
    _, one = both(source)
    _, two = both(source)
    assert one.output.split()[1] == two.output.split()[1] == "False"
    assert one.output != two.output
