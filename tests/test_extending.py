"""The page on adding an evaluator is true: its files, as they stand, run."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[1] / "docs" / "extending.md").read_text()
FILES = dict(re.findall(r"```python\n# file: (\S+)\n(.*?)```", PAGE, re.DOTALL))


@pytest.fixture
def project(tmp_path):
    """A folder with the files of the page."""
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def ran(project, *command):
    environment = {"PATH": "/usr/bin:/bin", "RETRIAL_STORE": str(project / "store.db")}
    done = subprocess.run(
        [sys.executable, "-W", "error", *command],
        cwd=project,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_reader_adds_an_evaluator_in_one_file_and_one_line(project):
    """The loop learns by it, beside an evaluator of the package."""
    assert ran(project, "use.py") == "True 2 It is light. It lasts ten hours. It costs 900 euros.\n"


def test_the_gate_says_of_it_what_the_page_says(project):
    """A banana passes it alone, and everything else is as it should be."""
    assert ran(project, "proof.py").split("\n") == ["empty True", "banana False", "long True", "short True", ""]


def test_a_task_file_can_name_it_once_it_is_registered(project):
    """Before that, it is no evaluator."""
    (project / "t.toml").write_text('prompt = "p"\nevaluator = { kind = "easy", max_words = 8 }\n')
    code = (
        "from pathlib import Path\nfrom retrial.errors import ConfigError\nfrom retrial.taskfile import load_tasks\n"
        "try:\n    load_tasks([Path('t.toml')])\nexcept ConfigError as error:\n    print(error)\n"
        "import easy\nfrom retrial.evaluate import register\nregister('easy', easy.Easy)\n"
        "print(load_tasks([Path('t.toml')])[0].evaluator)\n"
    )
    before, after = ran(project, "-c", code).splitlines()
    assert before.startswith("t.toml, line 2: no evaluator is called 'easy'")
    assert after == "{'kind': 'easy', 'max_words': 8}"


def test_the_page_names_files_that_are_there():
    """Each of the three."""
    assert list(FILES) == ["easy.py", "use.py", "proof.py"]
