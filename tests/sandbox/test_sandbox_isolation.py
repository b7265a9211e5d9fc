"""What generated code cannot reach: the network, files, other processes, the kernel."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path

import pytest

REFUSED = "refused\n"


def attempt(body):
    """Wrap code so that it prints what came of it."""
    lines = "\n".join("    " + line for line in body.strip().splitlines())
    return f"import os, socket, ctypes\ntry:\n{lines}\n    print('open')\nexcept OSError:\n    print('refused')\n"


def test_tcp_is_refused(isolated, run):
    """Code cannot connect to a service on the host's loopback."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        code = attempt(f"socket.create_connection(('127.0.0.1', {server.getsockname()[1]}), timeout=2)")
        assert run(isolated, code).output == REFUSED


def test_udp_does_not_arrive(isolated, run):
    """A datagram to the host never arrives."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.bind(("127.0.0.1", 0))
        sock.setblocking(False)
        run(isolated, attempt(f"socket.socket(2, 2).sendto(b'x', ('127.0.0.1', {sock.getsockname()[1]}))"))
        with pytest.raises(BlockingIOError):
            sock.recv(10)


@pytest.mark.parametrize("kind", ["path", "abstract"])
def test_unix_sockets_are_refused(isolated, run, tmp_path, kind):
    """Code cannot talk to a unix socket of the host, whether it has a file or not."""
    name = str(tmp_path / "s") if kind == "path" else f"\0retrial-test-{os.getpid()}"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(name)
        server.listen()
        assert run(isolated, attempt(f"socket.socket(socket.AF_UNIX).connect({name!r})")).output == REFUSED


def test_two_programs_of_one_sandbox_cannot_meet(isolated, run):
    """Programs that run at the same time share no socket, no shared memory and no queue."""
    for call in ("socket.socket(socket.AF_UNIX)", "socket.socket()", "open('/dev/shm/../../proc/1/environ').read()"):
        assert run(isolated, attempt(call)).output == REFUSED, call


def test_files_of_the_user_are_unreadable(isolated, run, tmp_path):
    """Code reads neither a secret of the user nor what everybody may read outside the system's folders."""
    secret = tmp_path / "secret"
    secret.write_text("x")
    secret.chmod(0o644)
    for path in (secret, "/etc/passwd", "/proc/1/environ", f"/proc/{os.getpid()}/environ", Path.home() / ".profile"):
        assert run(isolated, attempt(f"open({str(path)!r}).read()")).output == REFUSED, path


@pytest.mark.parametrize(
    "call",
    [
        "os.close(os.open(PATH, os.O_WRONLY))",
        "os.truncate(PATH, 0)",
        "os.chmod(PATH, 0o777)",
        "os.utime(PATH, (1, 1))",
        "os.unlink(PATH)",
        "os.rename(PATH, 'mine')",
        "os.link(PATH, 'mine')",
        "os.setxattr(PATH, 'user.x', b'1')",
        "os.symlink('/', PATH + '2')",
        "os.mkdir(PATH + '2')",
    ],
)
def test_nothing_outside_can_be_changed(isolated, run, tmp_path, call):
    """Code can change neither content nor name, mode, times or attributes of a file outside, nor make one there."""
    victim = tmp_path / "victim"
    victim.write_text("as it was")
    before = victim.stat()
    assert run(isolated, attempt(call.replace("PATH", repr(str(victim))))).output == REFUSED
    assert victim.read_text() == "as it was"
    assert (victim.stat().st_mode, victim.stat().st_mtime) == (before.st_mode, before.st_mtime)
    assert list(tmp_path.iterdir()) == [victim]


@pytest.mark.parametrize("flags", ["os.O_WRONLY", "os.O_RDONLY | os.O_TRUNC", "os.O_RDWR | os.O_CREAT"])
def test_the_interpreter_cannot_be_changed(isolated, run, flags):
    """The interpreter and its library are there to be read and for nothing else."""
    assert run(isolated, attempt(f"os.open(os.__file__, {flags})")).output == REFUSED
    assert Path(os.__file__).stat().st_size > 1000


def test_a_descriptor_of_a_readable_file_gives_no_right_to_change_it(isolated, run):
    """Opening a file of the library for reading does not allow to change its mode through the descriptor."""
    assert run(isolated, attempt("os.fchmod(os.open(os.__file__, os.O_RDONLY), 0o777)")).output == REFUSED


@pytest.mark.parametrize(
    "call",
    [
        "os.kill({pid}, 0)",
        "import resource; resource.prlimit({pid}, resource.RLIMIT_NOFILE)",
        "import resource; resource.prlimit({pid}, resource.RLIMIT_NOFILE, (3, 3))",
        "os.sched_setaffinity({pid}, [0])",
        "os.setpriority(os.PRIO_PROCESS, {pid}, 19)",
        "os.pidfd_open({pid})",
        "os.kill(os.getppid() or {pid}, 0)",
    ],
)
def test_the_parent_is_out_of_reach(isolated, run, call):
    """Code can neither signal this process nor its own keeper, nor set their limits or their scheduling."""
    assert run(isolated, attempt(call.format(pid=os.getpid()))).output == REFUSED


def test_kill_everybody_hits_nobody(isolated, run):
    """A signal to every process that one may signal reaches no process outside."""
    assert run(isolated, "import os\ntry: os.kill(-1, 9)\nexcept OSError: pass").exit_code in (0, -9)
    assert os.getpid()
    assert run(isolated, "print('still here')").output == "still here\n"


def test_other_processes_are_not_seen(isolated, run):
    """A listing of processes shows none but the program itself."""
    code = """
        import os
        try:
            print([p for p in os.listdir("/proc") if p.isdecimal() and int(p) != os.getpid()])
        except OSError:
            print([])
    """
    assert run(isolated, code).output == "[]\n"


def test_kernel_settings_cannot_be_written(isolated, run):
    """The setting that names a program for the kernel to run as root cannot be opened for writing."""
    assert run(isolated, attempt("os.open('/proc/sys/kernel/core_pattern', os.O_WRONLY)")).output == REFUSED


def test_nobody_is_root_inside(isolated, run):
    """The program is another user than root, has no capability, and cannot become root."""
    code = """
        import os
        print(0 in (os.getuid(), os.geteuid(), os.getgid(), os.getegid(), *os.getgroups()))
        for change in (os.setuid, os.setgid):
            try:
                change(0)
                print("changed")
            except OSError:
                print("refused")
        try:
            print([line.split()[1] for line in open("/proc/self/status") if line.startswith(("CapEff", "CapBnd"))])
        except OSError:
            print("unseen")
    """
    lines = run(isolated, code).output.splitlines()
    assert lines[:3] == ["False", "refused", "refused"]
    if isolated.isolation.level == "jailed":
        assert lines[3].startswith("['0000000000000000'")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has another uid to give away")
def test_root_gives_every_run_a_user_of_its_own(isolated, start):
    """Seen from outside, a program that root starts runs under a uid that is not root's."""
    reader, writer = os.pipe()
    child = start(isolated, f"import os, time\nos.write({writer}, b'x')\ntime.sleep(20)", fds=(writer,))
    os.close(writer)
    os.read(reader, 1)
    os.close(reader)
    found = [path.stat().st_uid for path in Path("/proc").iterdir() if path.name.isdecimal() and _is_program(path)]
    child.kill()
    assert found
    assert all(uid >= 61184 for uid in found)


def _is_program(process):
    try:
        return b"program.py" in (process / "cmdline").read_bytes()
    except OSError:
        return False


@pytest.mark.skipif(sys.platform != "linux", reason="numbers of Linux")
@pytest.mark.parametrize(
    "name",
    ["keyctl", "bpf", "io_uring_setup", "userfaultfd", "perf_event_open", "ptrace", "process_vm_readv", "unshare",
     "setns", "memfd_create", "shmget", "msgget", "mount", "chroot", "add_key", "open_by_handle_at", "personality"],
)  # fmt: skip
def test_risky_system_calls_are_refused(isolated, run, name):
    """System calls that exploits are made of answer EPERM, before they look at their arguments."""
    from retrial.sandbox.numbers import NUMBERS

    code = f"""
        import ctypes
        libc = ctypes.CDLL(None, use_errno=True)
        print(libc.syscall({NUMBERS[name]}, 0, 0, 0, 0, 0), ctypes.get_errno())
    """
    assert run(isolated, code).output == "-1 1\n"


def test_the_environment_is_clean(sandbox, run, monkeypatch):
    """No variable of this process is inherited, least of all a key."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    ended = run(sandbox, "import os; print(sorted(os.environ))")
    assert "KEY" not in ended.output
    assert "PYTHONHASHSEED" in ended.output


def test_hashes_are_the_same_every_time(sandbox, run):
    """Sets have the same order in every run, so that verdicts can be reproduced."""
    assert len({run(sandbox, "print(hash('a'))").output for _ in range(2)}) == 1


def test_fork_is_refused_by_default(isolated, run):
    """A program starts no process unless its limits allow it, by whatever name."""
    for call in (
        "os.fork()",
        "import subprocess; subprocess.run(['/bin/true'])",
        "os.posix_spawn('/bin/true', ['x'], {})",
    ):
        assert run(isolated, attempt(call)).output == REFUSED, call


def test_fork_can_be_allowed(sandbox, run):
    """With fork=True a program starts others and the report says so."""
    code = "import subprocess; print(subprocess.run(['/bin/echo', 'hi'], capture_output=True).stdout)"
    assert run(sandbox, code, fork=True).output == "b'hi\\n'\n"


def test_the_report_says_when_processes_may_be_started(isolated, start):
    """The isolation of a run with fork=True names that."""
    with_fork, without = start(isolated, "pass", fork=True), start(isolated, "pass")
    with_fork.wait()
    without.wait()
    assert with_fork.isolation.mechanism == without.isolation.mechanism + "+fork"


def test_namespaces_stay_closed_with_fork(isolated, run):
    """Allowing processes does not allow new namespaces."""
    code = attempt("import ctypes\nif ctypes.CDLL(None).unshare(0x10000000) != 0: raise OSError")
    assert run(isolated, code, fork=True).output == REFUSED


def test_extra_paths_can_be_read_and_not_written(isolated, run, tmp_path):
    """What a program declares as readable can be read, and only that."""
    tmp_path.chmod(0o755)
    (tmp_path / "module.py").write_text("x = 5")
    code = f"import sys; sys.path.append({str(tmp_path)!r}); import module; print(module.x)"
    assert run(isolated, code, paths=(str(tmp_path),)).output == "5\n"
    write = attempt(f"open({str(tmp_path / 'module.py')!r}, 'w')")
    assert run(isolated, write, paths=(str(tmp_path),)).output == REFUSED
    assert "Error" in run(isolated, code).output
