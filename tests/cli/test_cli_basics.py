"""retrial new, doctor, help and the rest that needs no run."""

import json
import subprocess
import sys

import pytest

from retrial.taskfile import load_tasks


def test_new_writes_a_task_that_can_be_read(folder, retrial):
    """`new` writes a task file that loads, in a folder that it makes, and says how to run it."""
    done = retrial("new", "tasks/two-sum")
    assert done.exit_code == 0
    assert "retrial run tasks/two-sum.toml" in done.stdout
    (task,) = load_tasks([folder / "tasks" / "two-sum.toml"])
    assert (task.id, task.entry_point, len(task.tests)) == ("two-sum", "two_sum", 3)


@pytest.mark.parametrize("name", ["", "a b", "../", 'quo"te', ".hidden"])
def test_new_refuses_names_that_cannot_be(folder, retrial, name):
    """A name that cannot be a file and a function is refused with an example."""
    done = retrial("new", name)
    assert done.exit_code == 4
    assert "reverse-words" in done.stderr


def test_new_never_overwrites(folder, retrial):
    """A file that exists is left alone."""
    (folder / "mine.toml").write_text("mine")
    assert retrial("new", "mine").exit_code == 4
    assert (folder / "mine.toml").read_text() == "mine"


def test_doctor_shows_levels_and_no_secret(folder, retrial, monkeypatch):
    """`doctor` reports every level, the store, the extras, and which variables are set without their values."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    done = retrial("doctor", "--json")
    found = json.loads(done.stdout)
    assert [level["level"] for level in found["isolation"]["levels"]] == ["jailed", "confined", "limited"]
    assert found["store"]["usable"]
    assert {*found["extras"]} == {"openai", "anthropic", "google"}
    assert found["variables"] == ["OPENAI_API_KEY"]
    readable = retrial("doctor")
    assert "sk-very-secret" not in done.output + readable.output
    assert "write-ahead logging works" in readable.stdout
    assert done.exit_code == (0 if found["isolation"]["chosen"] else 11)


def test_help_is_light():
    """Importing the command loads neither rich, nor sqlite3, nor asyncio, nor any provider."""
    code = "import retrial.cli.main, sys; print(*{'rich', 'sqlite3', 'asyncio', 'pydantic', 'retrial.engine'} & {*sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


def test_every_command_has_help(retrial):
    """Each command explains itself, and the whole lists the exit codes."""
    assert "Exit codes" in retrial("--help").stdout
    for name in ("new", "run", "show", "runs", "resume", "replay", "export", "import", "doctor"):
        assert retrial(name, "--help").exit_code == 0
    assert retrial().exit_code == 0
    assert retrial("--version").stdout.startswith("retrial ")
