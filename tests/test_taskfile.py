"""Task files: every mistake is answered with the place and the next step."""

from __future__ import annotations

import json
import tomllib

import pytest

from retrial.errors import ConfigError
from retrial.taskfile import TEMPLATE, load_tasks

GOOD = 'prompt = "p"\ntests = ["assert f() == 1"]\n'


def load(folder, text, name="task.toml"):
    path = folder / name
    path.write_text(text)
    return load_tasks([path])


def test_a_task_is_read_with_the_file_as_its_name(tmp_path):
    """Prompt, tests and cases are read; the id is the file's name."""
    (task,) = load(tmp_path, GOOD + 'cases = [{ call = "f(2)", expected = [1, "a"] }]\ntimeout = 5\n')
    assert (task.id, task.prompt, task.timeout) == ("task", "p", 5.0)
    assert task.tests == ("assert f() == 1", "assert f(2) == [1, 'a']")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('promt = "p"\n' + GOOD, r"line 1: 'promt' is no field of a task; did you mean 'prompt'"),
        (GOOD + "timeout = 0\n", r"line 3: timeout = 0 must be above 0"),
        (GOOD + 'timeout = "5"\n', r"line 3: timeout = '5' must be a number"),
        (GOOD + "timeout = true\n", r"line 3: timeout = True must be a number"),
        ('prompt = "p"\ntests = []\n', "no tests, so nothing could fail"),
        ('tests = ["assert 1"]\n', "no prompt"),
        ('prompt = "p"\n\ntests = [1]\n', r"line 3: tests holds 1"),
        ('prompt = "p"\ncases = [{ call = "f()" }]\n', r"line 2: a case is"),
        ('prompt = "p"\ncheck = "def check(c): ..."\n', "entry_point"),
        (GOOD + 'check = "x"\nentry_point = "f"\n', "'check' and 'tests' are both given"),
        ('prompt = "p\n', r"task.toml: .*line 1"),
        (GOOD + "[wrong]\nx = 1\n", r"line 3: 'wrong' is no field"),
    ],
)
def test_a_mistake_names_the_line_and_the_next_step(tmp_path, text, told):
    """What is wrong, where, and what would be right."""
    with pytest.raises(ConfigError, match=told):
        load(tmp_path, text)


def test_files_that_cannot_be_read_are_named(tmp_path):
    """A missing file, another ending, and bytes that are no text."""
    with pytest.raises(ConfigError, match="nothing.toml"):
        load_tasks([tmp_path / "nothing.toml"])
    with pytest.raises(ConfigError, match="a task is a .toml file"):
        load(tmp_path, GOOD, "task.txt")
    (tmp_path / "bytes.toml").write_bytes(b"prompt = '\xff'")
    with pytest.raises(ConfigError, match="not UTF-8"):
        load_tasks([tmp_path / "bytes.toml"])


def test_a_folder_stands_for_its_files_and_an_id_is_used_once(tmp_path):
    """Files of a folder are read in order of their names, and two tasks with one id are refused."""
    (tmp_path / "b.toml").write_text(GOOD)
    (tmp_path / "a.toml").write_text(GOOD)
    (tmp_path / "notes.md").write_text("no task")
    assert [task.id for task in load_tasks([tmp_path])] == ["a", "b"]
    (tmp_path / "c.toml").write_text('id = "a"\n' + GOOD)
    with pytest.raises(ConfigError, match=r"'a' stands in .*a.toml and in .*c.toml"):
        load_tasks([tmp_path])


def test_humaneval_shaped_lines_are_read(tmp_path):
    """A JSONL line becomes a task whose prompt can be continued, judged by its check function."""
    row = {
        "task_id": "HumanEval/0",
        "prompt": "def f():\n",
        "entry_point": "f",
        "test": "def check(c): assert c() == 1",
        "x": 1,
    }
    (task,) = load(tmp_path, json.dumps(row) + "\n\n", "tasks.jsonl")
    assert (task.id, task.style, task.completes, task.entry_point) == ("HumanEval/0", "check", True, "f")
    with pytest.raises(ConfigError, match="line 1: 'test' is missing"):
        load(tmp_path, '{"task_id": 1, "prompt": "", "entry_point": ""}', "tasks.jsonl")
    with pytest.raises(ConfigError, match="line 1: not JSON"):
        load(tmp_path, "{", "tasks.jsonl")


def test_the_template_is_a_task_that_can_be_run(tmp_path):
    """What ``retrial new`` writes is valid and has tests."""
    text = TEMPLATE.format(name="mine", function="mine")
    (task,) = load(tmp_path, text)
    assert len(task.tests) == 3
    assert tomllib.loads(text)["entry_point"] == "mine"
