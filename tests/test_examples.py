"""Every example runs whole from its recording, offline, to the result that its page states."""

from __future__ import annotations

import json
import re
import sqlite3
from pathlib import Path

import pytest
from click.testing import CliRunner

from retrial.cli.main import cli
from retrial.errors import SandboxError
from retrial.sandbox.opening import open_sandbox

EXAMPLES = Path(__file__).parents[1] / "examples"
OUTCOMES = {
    "slugify": (True, 2),
    "phone": (False, 4),
    "enrolment": (True, 2),
    "sql": (True, 4),
    "summary": (False, 4),
}
"""Whether it is solved, and after how many trials."""


@pytest.mark.parametrize("name", OUTCOMES)
def test_an_example_replays_to_what_its_page_says(name, tmp_path, monkeypatch):
    """The command of the page ends as recorded; evaluators and sandbox work for real."""
    try:
        open_sandbox()
    except SandboxError as error:
        pytest.skip(f"no sandbox holds here: {error}")
    monkeypatch.chdir(EXAMPLES.parent)
    monkeypatch.setenv("RETRIAL_STORE", str(tmp_path / "store.db"))
    page = (EXAMPLES / name / "README.md").read_text()
    (command,) = re.findall(rf"^retrial (run examples/{name}/{name}.toml --model recorded:\S+)$", page, re.MULTILINE)
    done = CliRunner().invoke(cli, [*command.split(), "--json"])
    passed, trials = OUTCOMES[name]
    assert done.exit_code == (0 if passed else 1), done.stderr
    (run,) = json.loads(done.stdout)["runs"]
    assert (run["passed"], run["trials"]) == (passed, trials)


@pytest.mark.parametrize("name", OUTCOMES)
def test_a_recording_holds_replies_and_nothing_of_the_machine_that_made_it(name):
    """No path of a home, no address, no key."""
    text = (EXAMPLES / name / "replies.jsonl").read_text()
    assert not re.findall(r"/(?:home|root|tmp|work)/|127\.0\.0\.1|sk-[A-Za-z0-9]|Bearer", text)
    assert {json.loads(line)["model"] for line in text.splitlines()} == {"openai:qwen2.5-coder-1.5b-instruct"}


def test_every_example_is_among_them():
    """A folder with a task file that is not tested here would be a promise that nobody keeps."""
    assert {path.parent.name for path in EXAMPLES.glob("*/*.toml")} == {*OUTCOMES}


def test_the_database_is_the_one_that_its_script_makes():
    """What stands in the file can be read in the script beside it."""
    made = sqlite3.connect(":memory:")
    made.executescript((EXAMPLES / "sql/school.sql").read_text())
    kept = sqlite3.connect(f"file:{EXAMPLES / 'sql/school.db'}?mode=ro", uri=True)
    assert list(made.iterdump()) == list(kept.iterdump())
    made.close()
    kept.close()
