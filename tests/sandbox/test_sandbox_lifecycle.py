# ruff: noqa: PTH208  # what is compared are names
"""What a sandbox leaves behind (nothing), and how it lives with threads, forks and accidents."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from retrial.errors import SandboxError
from retrial.sandbox.levels import Level
from retrial.sandbox.program import Limits, Program

HELLO = Program(argv=("python", "-c", "print('hello')"))


@pytest.fixture
def scratch(tmp_path, monkeypatch):
    """The place for temporary folders, empty."""
    place = tmp_path / "scratch"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    return place


@pytest.fixture
def level(sandbox, scratch):
    """A level with a launcher of its own, that is ended afterwards."""
    level = Level(sandbox.isolation.level)
    yield level
    level.close()


def _descendants(pid=None):
    pid = pid or os.getpid()
    found = []
    for path in Path("/proc").iterdir():
        if path.name.isdecimal():
            try:
                parent = int((path / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
            if parent == pid:
                found += [int(path.name), *_descendants(int(path.name))]
    return found


def test_many_runs_leave_nothing_behind(level, scratch):
    """After a hundred runs there are as many threads, descriptors, folders and processes as after one."""
    level.start(HELLO, Limits()).wait()

    def belongings():
        return (
            threading.active_count(),
            sorted(os.listdir("/proc/self/fd")),
            os.listdir(scratch),
        )

    before = belongings()
    with ThreadPoolExecutor(4) as pool:
        ended = list(pool.map(lambda _: level.start(HELLO, Limits()).wait(), range(100)))
    assert {e.output for e in ended} == {"hello\n"}
    assert belongings() == before
    (launcher,) = [pid for pid in _descendants() if _is_launcher(pid)]
    fds = len(os.listdir(f"/proc/{launcher}/fd"))
    level.start(HELLO, Limits()).wait()
    assert len(os.listdir(f"/proc/{launcher}/fd")) == fds


def _is_launcher(pid):
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False
    others = {p for lv in _others() for p in lv}
    return b"sandbox.launcher" in command and pid not in others


def _others():
    from retrial.sandbox import opening

    for other in opening._levels.values():
        yield [lr._process.pid for lr in other._launchers.values() if lr._process is not None]


def test_a_run_that_leaves_a_maze_leaves_nothing(level, run, scratch):
    """Folders that are closed, or nested deeper than Python recurses, are removed all the same."""
    code = """
        import os
        os.mkdir("closed"); open("closed/x", "w").close()
        try: os.chmod("closed", 0)
        except OSError: pass
        os.umask(0o777); os.mkdir("closed2"); os.umask(0o022)
        for _ in range(3000):
            os.mkdir("d"); os.chdir("d")
        print("done")
    """
    assert run(level, code).output == "done\n"
    assert os.listdir(scratch) == []


def test_eight_at_once(level):
    """Eight threads that start programs at the same time get each their own."""

    def one(n):
        return level.start(Program(argv=("python", "-c", f"print({n})")), Limits()).wait().output

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(one, range(8))) == [f"{n}\n" for n in range(8)]


def test_close_ends_the_launcher(sandbox):
    """Closing a level leaves no process, and it can be used again."""
    level = Level(sandbox.isolation.level)
    level.start(HELLO, Limits()).wait()
    pid = level._launchers[()]._process.pid
    level.close()
    assert not Path(f"/proc/{pid}").exists()
    assert level.start(HELLO, Limits()).wait().output == "hello\n"
    level.close()


def test_a_launcher_that_died_is_replaced(level):
    """Killing the launcher costs nothing but its start."""
    level.start(HELLO, Limits()).wait()
    process = level._launchers[()]._process
    process.kill()
    process.wait()
    assert level.start(HELLO, Limits()).wait().output == "hello\n"


def test_a_killed_keeper_is_an_error_of_the_sandbox(isolated, start):
    """Where a program cannot reach its keeper, a keeper that is gone is not the program's failure."""
    child = start(isolated, "import time; time.sleep(60)")
    for pid in _descendants():
        if b"program.py" in Path(f"/proc/{pid}/cmdline").read_bytes():
            parent = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
            os.kill(parent, signal.SIGKILL)
    with pytest.raises(SandboxError, match="watches a run is gone"):
        child.wait()


def test_a_program_that_kills_its_keeper_has_failed(limited, run, scratch):
    """Where a program can reach its keeper, killing it is the program's own end, and its folder is still removed."""
    level = Level("limited")
    ended = run(level, "import os; os.kill(os.getppid(), 9); import time; time.sleep(60)")
    assert (ended.exit_code, ended.output) == (-9, "")
    assert os.listdir(scratch) == []
    level.close()


def test_a_kill_that_comes_too_late_changes_nothing(sandbox, start):
    """Ending a run that has ended by itself, at whatever moment, gives its own report or that of the kill."""
    for pause in range(20):
        child = start(sandbox, "print('done')")
        threading.Event().wait(pause / 500)
        assert child.kill().exit_code in (0, -9)
    child.wait(0.1)


def test_a_descriptor_that_is_not_open_is_an_error(sandbox):
    """Handing over a closed descriptor is answered with an error, and costs the sandbox nothing."""
    with pytest.raises(SandboxError, match="could not start"):
        sandbox.start(Program(argv=("/bin/true",), fds=(999,)), Limits())
    assert sandbox.start(HELLO, Limits()).wait().output == "hello\n"


def test_a_program_that_does_not_exist_ends_with_127(sandbox):
    """A missing program is a report, as in a shell, and no failure of the sandbox."""
    ended = sandbox.start(Program(argv=("no-such-program",)), Limits()).wait()
    assert ended.exit_code == 127
    assert ended.output == "no-such-program: No such file or directory\n"


def test_a_file_outside_the_folder_is_refused(sandbox):
    """A request cannot place files outside the working folder."""
    with pytest.raises(SandboxError, match="outside the working folder"):
        sandbox.start(Program(argv=("/bin/true",), files={"../x": b""}), Limits())


SCRIPT = """
import os, sys, warnings
warnings.simplefilter("error")
from retrial.sandbox.levels import Level
from retrial.sandbox.program import Limits, Program
level = Level({level!r})
child = level.start(Program(argv=("python", "-c", "import time; time.sleep(60)")), Limits(seconds=60))
print(level._launchers[()]._process.pid, flush=True)
{then}
"""


def _is_gone(pid):
    process = Path(f"/proc/{pid}/stat")
    try:
        return process.read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


@pytest.mark.parametrize("then", ["os.kill(os.getpid(), 9)", "os._exit(0)", "sys.exit(0)", "level.close()"])
def test_nothing_outlives_this_process(sandbox, then):
    """However the library's process ends, its launcher and the programs end with it."""
    code = SCRIPT.format(level=sandbox.isolation.level, then=then)
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    pid = int(ended.stdout)
    for _ in range(1000):
        if _is_gone(pid) and not _sleepers():
            break
        threading.Event().wait(0.01)
    assert _is_gone(pid)
    assert not _sleepers()
    assert "Warning" not in ended.stderr.replace("ResourceWarning: unclosed <socket", "")


def _sleepers():
    found = []
    for path in Path("/proc").iterdir():
        if path.name.isdecimal():
            try:
                if (
                    b"time.sleep(60)" in (path / "cmdline").read_bytes()
                    and b"retrial" not in (path / "cmdline").read_bytes()
                ):
                    found.append(path.name)
            except OSError:
                continue
    return found


def test_a_fork_of_this_process_has_its_own_launcher(sandbox):
    """A forked copy neither uses nor keeps alive what it inherited, and may start programs itself."""
    code = """
import os
from retrial.sandbox.levels import Level
from retrial.sandbox.program import Limits, Program
level = Level({level!r})
hello = Program(argv=("python", "-c", "print('hello')"))
level.start(hello, Limits()).wait()
first = level._launchers[()]._process.pid
child = os.fork()
if child == 0:
    fine = level.start(hello, Limits()).wait().output == "hello\\n"
    other = level._launchers[()]._process.pid != first
    level.close()
    os._exit(0 if fine and other else 1)
print(os.waitpid(child, 0)[1], level.start(hello, Limits()).wait().output)
"""
    code = code.format(level=sandbox.isolation.level)
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ended.stdout == "0 hello\n\n", ended.stderr
