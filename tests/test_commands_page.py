"""The page on commands is true: its files, as they stand, run."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from retrial.errors import SandboxError
from retrial.sandbox.opening import open_sandbox
from retrial.taskfile import load_tasks

PAGE = (Path(__file__).parents[1] / "docs" / "commands.md").read_text()
FILES = dict(re.findall(r"```(?:python|toml)\n# file: (\S+)\n(.*?)```", PAGE, re.DOTALL))


@pytest.fixture
def page(tmp_path):
    """A folder with the files of the page."""
    try:
        open_sandbox()
    except SandboxError as error:
        pytest.skip(f"no sandbox holds here: {error}")
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_a_reader_has_a_project_judged_by_its_own_tests(page):
    """Trial 1 fails by the exit code, trial 2 passes, and the folder is as it was."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "use.py"],
        cwd=page,
        env={"PATH": "/usr/bin:/bin", "RETRIAL_STORE": str(page / "store.db")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    command = "python -m unittest discover tests"
    assert done.stdout == f"True [0.0, 1.0]\n`{command}` ended with exit code 1\n"
    assert (page / "shop/prices.py").read_text() == FILES["shop/prices.py"]


def test_the_task_file_of_the_page_is_one(page):
    """It loads, and shows the module."""
    (task,) = load_tasks([page / "shop.toml"])
    assert "return sum(items.values())" in task.prompt
