"""The page on insights is true: its commands, as they stand, run."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from bank_worlds import fill
from retrial.cli.main import cli

PAGE = (Path(__file__).parents[1] / "docs" / "insights.md").read_text()
LINES = re.findall(r"^retrial ([a-z].*)", "\n".join(re.findall(r"```\n(.*?)```", PAGE, re.DOTALL)), re.MULTILINE)


@pytest.mark.parametrize("line", [line for line in LINES if not line.startswith(("run ", "insights evaluate"))])
def test_a_command_of_the_page_runs(line, tmp_path, monkeypatch):
    """On a store with two trials and three insights, a yes to what is asked."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RETRIAL_STORE", raising=False)
    fill(tmp_path / ".retrial" / "retrial.db")
    CliRunner().invoke(cli, ["trajectories", "export", "-o", "trials.jsonl"])
    done = CliRunner().invoke(cli, shlex.split(line, comments=True), input="y\n")
    assert done.exit_code == 0, done.output


def test_the_options_of_run_that_the_page_names_exist():
    """Every option of its lines is in the help."""
    shown = CliRunner().invoke(cli, ["run", "--help"]).stdout
    options = [word for line in LINES if line.startswith("run ") for word in line.split() if word.startswith("--")]
    assert options
    for option in options:
        assert option in shown
