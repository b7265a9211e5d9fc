"""Ctrl-C, kill -9 and a second process: whatever ends a run, what was done stays and resume goes on."""

import asyncio
import contextlib
import json
import signal
import sqlite3
import time

import pytest

from cli_tasks import RIGHT, make_recording, write_task
from retrial.cli import work

SLOW = f"import time\ntime.sleep(2)\n{RIGHT}"


@pytest.fixture
def slow(folder, process):
    """Start two tasks whose tests take a while, one at a time, and wait until the first is being tested."""
    tasks = [write_task(folder, name) for name in ("a", "b")]
    model = make_recording(folder / "r.jsonl", tasks, lambda request: RIGHT)
    first, rest = (folder / "r.jsonl").read_text().split("\n", 1)
    (folder / "r.jsonl").write_text(first.replace(json.dumps(RIGHT)[1:-1], json.dumps(SLOW)[1:-1]) + "\n" + rest)
    (folder / ".retrial").mkdir()
    running = process("run", *tasks, "--model", model, "--jobs", 1, "--json")
    store = folder / ".retrial" / "retrial.db"
    while running.poll() is None and not _tested(store):
        time.sleep(0.05)
    yield running
    running.kill()
    running.communicate()


def _tested(store):
    try:
        with contextlib.closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as connection:
            found = connection.execute("SELECT count(*) FROM event WHERE kind = 'model.completed'").fetchone()[0]
    except sqlite3.Error:
        return False
    return found > 0


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_says_how_to_go_on_and_does(slow, retrial, sign):
    """A signal ends with 2 and the JSON of what was done; resume solves all tasks without asking again."""
    slow.send_signal(sign)
    out, err = slow.communicate()
    assert slow.returncode == 2, err
    found = json.loads(out)
    assert f"retrial resume {found['id']}" in err
    assert [one["status"] for one in found["runs"]] == ["CANCELLED", "CANCELLED"]
    done = retrial("resume", found["id"], "--json")
    assert done.exit_code == 0, done.stderr
    assert [one["usage"]["calls"] for one in json.loads(done.stdout)["runs"]] == [1, 1]


def test_a_killed_run_is_resumed(slow, retrial):
    """After kill -9 the runs read as interrupted and waiting, and resume solves them."""
    slow.kill()
    slow.communicate()
    standing = {row["task_id"]: row["status"] for row in json.loads(retrial("runs", "--json").stdout)["runs"]}
    assert standing == {"a": "interrupted", "b": "waiting"}
    done = retrial("resume", "last")
    assert done.exit_code == 0, done.stderr


def test_a_run_has_one_worker(slow, retrial):
    """A second process is refused with 11 while the first works, and sees that it does."""
    rows = json.loads(retrial("runs", "--json").stdout)["runs"]
    assert [row["status"] for row in rows if row["task_id"] == "a"] == ["running"]
    first = next(row["run_id"] for row in rows if row["task_id"] == "a")
    refused = retrial("resume", first)
    assert refused.exit_code == 11
    assert "is being worked on by process" in refused.stderr


def test_an_impatient_person_sees_no_traceback(slow):
    """Three quick Ctrl-C end with 2 and without a traceback."""
    for _ in range(3):
        with contextlib.suppress(ProcessLookupError):
            slow.send_signal(signal.SIGINT)
        time.sleep(0.02)
    _, err = slow.communicate(timeout=60)
    assert slow.returncode == 2, err
    assert "Traceback" not in err
    assert "go on: retrial resume" in err


@pytest.mark.parametrize("seconds", [0.3, 0.6, 1.0])
def test_an_interrupt_before_the_runs_are_written_names_no_run(folder, process, seconds):
    """Ctrl-C at whatever moment ends with 2, and only a run that is in the store is named."""
    task = write_task(folder)
    running = process("run", task, "--model", make_recording(folder / "r.jsonl", [task], lambda request: SLOW))
    time.sleep(seconds)
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=60)
    if "Traceback" in err and 'retrial/cli/main.py", line' in err and not out:
        pytest.skip("Python itself was still starting")
    assert running.returncode in (2, -signal.SIGINT), err
    if (folder / ".retrial").exists() and "go on" in err:
        assert "go on: retrial resume" in err
    elif running.returncode == 2:
        assert "nothing was begun" in err
        assert out == ""


def test_an_interrupt_while_runs_are_written_down_says_that_nothing_was_begun(folder, retrial, monkeypatch):
    """If no run reached the store, nothing is named that could be resumed, and no table is printed."""

    async def interrupted(engine, jobs):
        raise asyncio.CancelledError

    monkeypatch.setattr(work, "_write_down", interrupted)
    task = write_task(folder)
    done = retrial("run", task, "--model", make_recording(folder / "r.jsonl", [task], lambda request: RIGHT))
    assert done.exit_code == 2
    assert done.stdout == ""
    assert done.stderr.strip() == "interrupted; nothing was begun"
