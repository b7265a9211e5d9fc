"""What generated code may use up: time, memory, output, disk, processes."""

from __future__ import annotations

import os
import resource
import threading

import pytest

from retrial.errors import ConfigError
from retrial.sandbox.program import Limits


def test_a_spin_that_ignores_all_signals_is_ended(sandbox, run):
    """Time runs out even for a program that ignores whatever can be ignored."""
    code = """
        import signal
        for number in range(1, 65):
            try: signal.signal(number, signal.SIG_IGN)
            except (OSError, ValueError): pass
        while True: pass
    """
    ended = run(sandbox, code, seconds=0.5)
    assert ended.timed_out
    assert ended.exit_code is None


@pytest.mark.parametrize("name", ["seconds", "memory_bytes", "file_bytes", "open_files"])
def test_a_limit_of_nothing_is_refused(name):
    """A limit under which nothing can run is a mistake, named with its value."""
    with pytest.raises(ConfigError, match=f"{name}=0 must be above 0"):
        Limits(**{name: 0})


def test_sleeping_is_ended_too(sandbox, run):
    """The time that is limited is wall time."""
    assert run(sandbox, "import time; time.sleep(60)", seconds=0.3).timed_out


def test_a_stopped_program_is_ended(sandbox, run):
    """A program that stops itself is ended when its time is up."""
    assert run(sandbox, "import os, signal; os.kill(os.getpid(), signal.SIGSTOP)", seconds=0.3).timed_out


def test_wait_can_be_shorter_than_the_limit(sandbox, start):
    """Waiting for less than the limits leave ends the program and says that time ran out."""
    ended = start(sandbox, "print('x', flush=True)\nimport time; time.sleep(60)").wait(0.5)
    assert ended.timed_out
    assert ended.exit_code is None


def test_memory_is_limited(isolated, run):
    """Taking more memory than allowed fails inside; the machine does not notice."""
    code = "try: bytearray(1 << 30)\nexcept MemoryError: print('no')"
    assert run(isolated, code, memory_bytes=256 << 20).output == "no\n"


def test_a_memory_bomb_ends(isolated, run):
    """Growing without end is the program's end, not the machine's."""
    ended = run(isolated, "x = []\nwhile True: x.append(bytearray(1 << 20))", memory_bytes=256 << 20)
    assert ended.exit_code == 1
    assert "MemoryError" in ended.output


def test_a_flood_is_capped_and_costs_us_nothing(sandbox, run):
    """Output beyond the limit is counted, not kept, neither by the report nor in our memory."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    ended = run(sandbox, "import os\nfor _ in range(1000): os.write(1, b'x' * 65536)", output_bytes=1000)
    assert ended.exit_code == 0
    assert len(ended.output) == 1000
    assert ended.output_bytes == 1000 * 65536
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20_000


def test_an_endless_flood_is_ended(sandbox, run):
    """A program that never stops writing is killed, which is not a timeout."""
    ended = run(sandbox, "import os\nwhile True: os.write(2, b'x' * 65536)", flood_bytes=5 << 20)
    assert (ended.exit_code, ended.timed_out) == (None, False)
    assert ended.output_bytes >= 5 << 20


def test_output_is_readable_text(sandbox, run):
    """Invalid UTF-8 stays visible, control characters and colours go, lines and tabs stay, both streams are kept."""
    code = r"import os; os.write(1, b'a\xff\x00\x1b[31mred\x1b[0m\tb\r\n'); os.write(2, 'é\n'.encode())"
    assert run(sandbox, code).output == "a\\xffred\tb\né\n"


def test_one_file_is_bounded(sandbox, run):
    """No single file grows beyond the limit."""
    code = "try:\n    with open('f', 'wb') as f:\n        while True: f.write(bytes(1 << 20)); f.flush()\nexcept OSError: print('full')"
    assert run(sandbox, code, file_bytes=4 << 20).output.endswith("full\n")


@pytest.mark.parametrize("where", ["/work", "/tmp", "/dev/shm"])
def test_the_private_folders_are_bounded(jailed, run, where):
    """All files of a run together are bounded in size and in number."""
    code = f"""
        import os
        os.chdir({where!r})
        written = 0
        try:
            for n in range(100):
                with open(f"big{{n}}", "wb") as f: written += f.write(bytes(1 << 20))
        except OSError: print("full", written <= 4 << 20)
        for n in range(100):
            if os.path.exists(f"big{{n}}"): os.unlink(f"big{{n}}")
        try:
            for n in range(10000): open(f"f{{n}}", "x").close()
        except OSError: print("too many", n < 10000)
    """
    assert run(jailed, code, file_bytes=4 << 20).output == "full True\ntoo many True\n"


def test_a_fork_bomb_is_bounded_and_ended(sandbox, run):
    """With processes allowed their number is bounded, and none is left."""
    code = """
        import os, time
        n = 0
        try:
            while n < 3000:
                if os.fork() == 0:
                    time.sleep(60); os._exit(0)
                n += 1
        except OSError: pass
        print(n < 3000, flush=True)
    """
    if sandbox.isolation.level == "limited" and os.geteuid() == 0:
        pytest.skip("root's processes are not counted, and this level leaves the program root")
    assert run(sandbox, code, fork=True).output == "True\n"


def test_a_daemon_does_not_outlive_its_run(sandbox, run):
    """A process that left its session and lost its parent is gone when the run is over."""
    reader, writer = os.pipe()
    code = f"""
        import os, signal, time
        if os.fork() == 0:
            try: os.setsid()
            except OSError: pass
            if os.fork() == 0:
                for n in range(1, 65):
                    try: signal.signal(n, signal.SIG_IGN)
                    except (OSError, ValueError): pass
                os.write({writer}, b"d")
                time.sleep(60)
            os._exit(0)
        os.wait()
    """
    ended = run(sandbox, code, fds=(writer,), fork=True)
    os.close(writer)
    with os.fdopen(reader, "rb") as left:
        left.read()  # Ends when nobody holds the other end.
    assert ended.exit_code == 0


def test_a_fork_bomb_that_respawns_is_ended(isolated, run):
    """Processes that replace themselves all the time are caught too."""
    reader, writer = os.pipe()
    code = """
        import os
        while True:
            try:
                if os.fork(): os._exit(0)
            except OSError: pass
    """
    assert run(isolated, code, fds=(writer,), fork=True).exit_code == 0
    os.close(writer)
    with os.fdopen(reader, "rb") as left:
        assert left.read() == b""


def test_open_files_are_limited(sandbox, run):
    """A program runs out of descriptors before the machine does."""
    code = "import os\ntry:\n    while True: os.open('/dev/null', 0)\nexcept OSError as e: print(e.errno)"
    assert run(sandbox, code).output == "24\n"


def test_threads_work(sandbox, run):
    """Threads need no permission."""
    code = """
        import threading
        seen = []
        threads = [threading.Thread(target=seen.append, args=(n,)) for n in range(10)]
        [t.start() for t in threads]; [t.join() for t in threads]
        print(sorted(seen))
    """
    assert run(sandbox, code).output == f"{list(range(10))}\n"


def test_asyncio_works(sandbox, run):
    """An event loop runs, although sockets are refused."""
    code = """
        import asyncio
        async def main():
            await asyncio.sleep(0.01)
            return await asyncio.to_thread(lambda: 7)
        print(asyncio.run(main()))
    """
    assert run(sandbox, code).output == "7\n"


def test_ordinary_programs_work(sandbox, run):
    """Temporary files, folders, subfolders, time, random numbers and a crash work as anywhere."""
    code = """
        import os, pathlib, random, shutil, tempfile, time, json, re, dataclasses, typing, decimal, sqlite3, hashlib
        with tempfile.NamedTemporaryFile("w+") as f:
            f.write("x"); f.flush()
        pathlib.Path("a/b").mkdir(parents=True)
        pathlib.Path("a/b/c").write_text("x")
        os.rename("a/b/c", "a/d")
        shutil.rmtree("a")
        random.random(); os.urandom(3); time.time()
        print(sorted(os.listdir(".")), os.environ["HOME"] == os.getcwd(), flush=True)
        os.abort()
    """
    ended = run(sandbox, code)
    assert ended.output == "['program.py'] True\n"
    assert ended.exit_code == -6


def test_files_are_given(sandbox, run):
    """Files of the request are in the working folder, also in subfolders, and can be changed."""
    code = "print(open('data/x.txt').read(), open('data/x.txt', 'w').write('22'))"
    assert run(sandbox, code, files={"data/x.txt": b"one"}).output == "one 2\n"


def test_standard_input_is_given(sandbox, run):
    """Standard input is what was given, whatever its size, and then ends."""
    big = b"x" * 3_000_000
    assert run(sandbox, "import sys; print(len(sys.stdin.buffer.read()))", stdin=big).output == "3000000\n"
    assert run(sandbox, "import sys; print(repr(sys.stdin.read()))").output == "''\n"


def test_descriptors_are_inherited_under_their_numbers(sandbox, start):
    """A program can talk over descriptors that it was given while it runs, and has no others."""
    down_reader, down_writer = os.pipe()
    up_reader, up_writer = os.pipe()
    code = f"""
        import os
        os.write({up_writer}, os.read({down_reader}, 10).upper())
        alive = []
        for n in range(3, 200):
            try: os.fstat(n); alive.append(n)
            except OSError: pass
        print(alive == sorted([{down_reader}, {up_writer}]))
    """
    child = start(sandbox, code, fds=(down_reader, up_writer))
    os.close(down_reader)
    os.close(up_writer)
    os.write(down_writer, b"hello")
    assert os.read(up_reader, 10) == b"HELLO"
    os.close(down_writer)
    os.close(up_reader)
    assert child.wait().output == "True\n"


def test_kill_from_another_thread(sandbox, start):
    """A run that one thread waits for can be ended by another, and both get the same report."""
    child = start(sandbox, "import time; time.sleep(60)")
    seen = []
    waiting = threading.Thread(target=lambda: seen.append(child.wait()))
    waiting.start()
    ended = child.kill()
    waiting.join()
    assert seen == [ended]
    assert child.kill() == ended
    assert ended.exit_code == -9


def test_exit_codes_and_signals(sandbox, run):
    """The exit code is the program's own; negative for a signal."""
    assert run(sandbox, "raise SystemExit(3)").exit_code == 3
    assert run(sandbox, "import os, signal; os.kill(os.getpid(), signal.SIGTERM)").exit_code == -15
    assert run(sandbox, "import ctypes; ctypes.string_at(0)").exit_code == -11
