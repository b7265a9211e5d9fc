"""Task files that name a command, from the file to the result."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import retrial
from cli_tasks import make_recording
from retrial.errors import ConfigError
from retrial.taskfile import load_tasks

TASK = """\
prompt = "Put the answer into answer.txt."
[evaluator]
kind = "command"
command = "sh check.sh"
project = "project"
show = ["answer.txt"]
"""
WRONG, RIGHT = ("answer.txt\n```\n%s\n```" % text for text in ("41", "42"))  # noqa: UP031 - two texts of one form
LESSON = "I wrote 41. Next time I will write the number that the check wants."


@pytest.fixture
def task_file(tmp_path, monkeypatch):
    (tmp_path / "project").mkdir()
    (tmp_path / "project/answer.txt").write_text("0\n")
    (tmp_path / "project/check.sh").write_text('[ "$(cat answer.txt)" = 42 ] || { echo no; exit 1; }\n')
    (tmp_path / "answer.toml").write_text(TASK)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RETRIAL_STORE", raising=False)
    return tmp_path / "answer.toml"


def learns(request):
    """Wrong, and right with the lesson."""
    if request.role == "reflector":
        return LESSON
    return RIGHT if LESSON in request.messages[-1].content else WRONG


def test_a_task_file_brings_its_project(task_file):
    """The project is named by its whole path and digest, and the prompt shows the files that it says."""
    (task,) = load_tasks([task_file])
    assert task.prompt == ("Put the answer into answer.txt.\n\nThese files are there now:\n\nanswer.txt\n```\n0\n```")
    assert task.evaluator["project"] == str(task_file.parent / "project")
    assert len(task.evaluator["digest"]) == 64


def test_solve_learns_from_a_command(task_file):
    """Trial 1 fails with the exit code, a lesson is written, and trial 2 passes."""
    spec = {"kind": "command", "command": "sh check.sh", "project": "project", "show": ["answer.txt"]}
    seen = []

    def model(request):
        seen.append(request.messages[-1].content)
        return learns(request)

    result = retrial.solve("Put the answer into answer.txt.", evaluator=spec, model=model, store="s.db")
    assert result.passed
    assert len(result.attempts) == 2
    assert "answer.txt\n```\n0\n```" in seen[0]
    assert "a fence of its own with its path on the line above" in seen[0]
    assert "<test_output>`sh check.sh` ended with exit code 1\nno</test_output>" in seen[1]


def test_the_command_line_runs_and_replays_it(task_file, tmp_path):
    """From the recording, and again from the store without a model and without the project."""
    from click.testing import CliRunner

    from retrial.cli.main import cli

    model = make_recording(tmp_path / "r.rec", [task_file], learns)
    done = CliRunner().invoke(cli, ["run", str(task_file), "--model", model, "--json"])
    assert done.exit_code == 0, done.stderr
    assert str(tmp_path) not in (tmp_path / "r.rec").read_text()
    run = json.loads(done.stdout)
    assert run["runs"][0]["passed"]
    (tmp_path / "project").rename(tmp_path / "elsewhere")
    again = CliRunner().invoke(cli, ["replay", run["id"]])
    assert again.exit_code == 0, again.stderr


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("project = ", 'projects = "x"\nproject = '), "answer.toml, line 2"),
        (('"project"', '"nowhere"'), "nowhere' is no folder"),
        (('show = ["answer.txt"]', 'show = ["b.txt"]'), "'b.txt' means no file"),
        (('"sh check.sh"', '"sh check.sh && true"'), "there is no shell"),
        (('"sh check.sh"', '""'), "names no program"),
        (('show = ["answer.txt"]', "timeout = 0"), "timeout=0"),
        (('show = ["answer.txt"]', 'target = "../x"'), "within the project"),
        (('show = ["answer.txt"]', 'protected = "tests"'), "must be a list"),
    ],
)
def test_what_is_wrong_in_a_task_is_said_before_anything_runs(change, words, task_file):
    """With the file, and what to do."""
    task_file.write_text(TASK.replace(*change))
    with pytest.raises(ConfigError) as caught:
        load_tasks([Path("answer.toml")])
    assert words in str(caught.value)
    assert "answer.toml" in str(caught.value)
