"""What no good program wrote, and places that cannot be written to: one line each, and the rest goes on."""

import contextlib
import json
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from cli_tasks import learns, make_recording, write_task

ODD = {
    "status": ("run.finished", "status", "EXPLODED"),
    "status_type": ("run.finished", "status", 7),
    "error_type": ("run.finished", "error", ["x"]),
    "owner": ("run.started", "owner", "somebody"),
    "owner_type": ("run.started", "owner", 3),
    "no_input": ("run.started", "input", None),
    "input_type": ("run.started", "input", "text"),
    "task_type": ("run.started", "input", {"task": 3}),
    "algorithm": ("run.started", "algorithm", 5),
    "version": ("run.started", "version", None),
    "parameters": ("run.started", "parameters", []),
    "metadata": ("run.started", "metadata", "m"),
    "label": ("run.started", "metadata", {"label": 3}),
    "models": ("run.started", "metadata", {"models": {"actor": 3}}),
}
"""By name: the kind of an event, the field in it, and what stands there (None for a field that is missing)."""

UNTOLD = {
    "hidden": ("run.finished", "value", {"hidden": 3}),
    "score": ("run.finished", "value", {"score": "high"}),
    "attempt": ("reflexion.feedback", "attempt", {}),
    "outcome": ("model.completed", "outcome", None),
}
"""What only turns out when the run is told."""


@pytest.fixture
def solved(folder, retrial):
    """A store with one solved run; its id."""
    task = write_task(folder)
    model = make_recording(folder / "r.jsonl", [task], learns)
    return json.loads(retrial("run", task, "--model", model, "--json").stdout)["id"]


def _lines(retrial, run_id):
    return [json.loads(line) for line in retrial("export", run_id).stdout.splitlines()]


def _spoilt(events, odd, run_id="zz-odd"):
    kind, name, value = {**ODD, **UNTOLD}[odd]
    for event in events:
        event["run_id"] = run_id
        if event["kind"] == kind:
            event["data"][name] = value
            if value is None:
                del event["data"][name]
    return events


def _insert(store, events):
    """Put events into a store without asking anybody."""
    with contextlib.closing(sqlite3.connect(store)) as connection:
        connection.execute("INSERT INTO run VALUES (?, ?)", (2**62, events[0]["run_id"]))
        for one in events:
            row = (
                2**62,
                one["seq"],
                one["key"],
                one["kind"],
                json.dumps(one["data"]),
                one["digest"],
                one["at"],
                one["v"],
            )
            connection.execute("INSERT INTO event VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)
        connection.commit()


@pytest.mark.parametrize("odd", [*ODD, *UNTOLD])
def test_an_odd_run_leaves_the_others_readable(folder, solved, retrial, odd):
    """`runs` lists it as unreadable beside the good one, and `show`, `resume` and `replay` say why in one line."""
    _insert(folder / ".retrial" / "retrial.db", _spoilt(_lines(retrial, solved), odd))
    rows = json.loads(retrial("runs", "--json").stdout)["runs"]
    assert [(row["run_id"], row["status"]) for row in rows] == [("zz-odd", "unreadable"), (solved, "COMPLETED")]
    assert "unreadable" in retrial("runs").stdout
    for words in (["show", "last"], ["resume", "last"], ["replay", "zz-odd"]):
        done = retrial(*words)
        assert done.exit_code == 11, done.output
        assert "unreadable: run zz-odd: " in done.stderr
        assert len(done.stderr.splitlines()) == 1
    assert json.loads(retrial("show", "last", "--json").stdout)["standing"] == "unreadable"
    assert retrial("show", solved).exit_code == 0


@pytest.mark.parametrize("odd", ODD)
def test_an_odd_run_is_not_imported(folder, solved, retrial, odd):
    """`import` names the line of a run that is none, leaves that run out and takes the others."""
    good = retrial("export", solved).stdout
    bad = _spoilt(_lines(retrial, solved), odd)
    Path("in.jsonl").write_text("".join(json.dumps(event) + "\n" for event in bad) + good)
    done = retrial("import", "in.jsonl", "--store", "other.db", "--json")
    assert done.exit_code == 4
    first, second = json.loads(done.stdout)["runs"]
    line = 1 if ODD[odd][0] == "run.started" else len(bad)
    assert (first["outcome"], second["outcome"]) == ("unreadable", "added")
    assert first["detail"].startswith(f"line {line}: ")
    assert [row["run_id"] for row in json.loads(retrial("runs", "--json", "--store", "other.db").stdout)["runs"]] == [
        solved
    ]


def test_a_run_that_does_not_begin_is_not_imported(folder, solved, retrial):
    """A run whose first event is no beginning is named and left out."""
    events = _lines(retrial, solved)[1:]
    Path("in.jsonl").write_text("".join(json.dumps({**one, "seq": index}) + "\n" for index, one in enumerate(events)))
    done = retrial("import", "in.jsonl", "--store", "other.db")
    assert done.exit_code == 4
    assert "line 1: its first event is" in done.stdout


@pytest.mark.parametrize(
    "words", [["runs"], ["export", "--all"], ["show", "last"], ["show", "last", "--json"], ["doctor"]]
)
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device here")
def test_a_full_disk_is_one_line(folder, solved, words):
    """Output that cannot be written ends with 11 and one line."""
    with Path("/dev/full").open("w") as full:
        done = _process(words, stdout=full)
    assert done.returncode == 11, done.stderr
    assert "No space left" in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device here")
def test_a_run_is_worked_on_to_its_end_with_a_full_disk(folder, retrial):
    """A run whose output cannot be written is recorded whole."""
    task = write_task(folder)
    model = make_recording(folder / "r.jsonl", [task], learns)
    with Path("/dev/full").open("w") as full:
        done = _process(["run", str(task), "--model", model], stdout=full)
    assert done.returncode == 11, done.stderr
    assert json.loads(retrial("show", "last", "--json").stdout)["status"] == "COMPLETED"


@pytest.mark.parametrize("redirect", [">&-", "2>&- >&-"])
def test_a_closed_output_is_one_line_before_anything_is_paid(folder, redirect):
    """With standard output closed nothing is begun."""
    task = write_task(folder)
    model = make_recording(folder / "r.jsonl", [task], learns)
    line = f"{sys.executable} -m retrial.cli.main run {task} --model {model} {redirect}"
    done = subprocess.run(["sh", "-c", line], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 11
    assert done.stderr in ("", "error: standard output is closed; send it somewhere, as in: retrial ... > FILE\n")
    assert not (folder / ".retrial").exists()


def test_a_closed_error_stream_is_no_error(folder, solved):
    """Without standard error a command does its work."""
    line = f"{sys.executable} -m retrial.cli.main runs 2>&-"
    done = subprocess.run(["sh", "-c", line], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert "solved" in done.stdout


def test_a_place_that_cannot_be_written_to_is_one_line(folder, solved, retrial):
    """Exporting to where nothing can be written ends with 11 and one line."""
    done = retrial("export", "--all", "-o", "/proc/out.jsonl")
    assert done.exit_code == 11, done.output
    assert "cannot write '/proc/out.jsonl'" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def _process(words, **options):
    return subprocess.run(
        [sys.executable, "-m", "retrial.cli.main", *words], stderr=subprocess.PIPE, text=True, check=False, **options
    )
