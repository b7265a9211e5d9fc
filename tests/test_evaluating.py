"""The page on judging from elsewhere is true: its examples, as they stand, run."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from retrial.casefile import Line, case_of
from retrial.cli.main import cli
from retrial.core.codec import decode
from retrial.core.tasks import Verdict

PAGE = (Path(__file__).parents[1] / "docs" / "evaluating.md").read_text()
CASES = re.search(r"```json lines\n(.*?)```", PAGE, re.DOTALL)[1]
TASK = re.search(r"```toml\n(.*?)```", PAGE, re.DOTALL)[1]


@pytest.fixture
def found(tmp_path):
    """What the page's cases come to, and the exit code."""
    (tmp_path / "cases.jsonl").write_text(CASES)
    done = CliRunner().invoke(cli, ["evaluate", str(tmp_path / "cases.jsonl")])
    return [json.loads(line) for line in done.stdout.splitlines()], done.exit_code


def table(title):
    """The names in the first column of a table of the page."""
    rows = PAGE.partition(f"### {title}\n")[2].partition("\n#")[0]
    return {name for row in re.findall(r"^\| (`.*?) \|", rows, re.MULTILINE) for name in re.findall(r"`(\w+)`", row)}


def test_the_cases_come_to_what_the_page_promises(found):
    """Each is judged as its line says; the last is an error with the fault of its line."""
    records, exit_code = found
    assert [(one["id"], one["passed"]) for one in records] == [
        ("sum/1", True), ("sum/2", False), ("body", True), ("number", True), ("typo", None),
    ]  # fmt: skip
    assert exit_code == 4
    assert records[1]["bad_test_count"] == 1
    assert records[4]["error"] == {
        "fault": "case",
        "message": "line 5: 'outptu' is no field of a case; did you mean 'output'?",
    }


def test_the_tables_name_every_field(found):
    """Of a verdict and of a case; and the line is read back as a Verdict."""
    records, _ = found
    assert {*records[0]} == table("A verdict")
    assert decode(Verdict, records[1]).checks[1].kind == "bad_test"
    for name in table("A case"):
        row = {"output": "x", "tests": ["assert f(1)"], name: None}
        with pytest.raises(Exception, match=f"line 1: {name} is None and must be"):
            case_of(Line(1, json.dumps(row).encode(), 0))


def test_the_task_of_the_page_is_sound(tmp_path):
    """Its tests pass the gate, and notice nearly every fault."""
    (tmp_path / "clamp.toml").write_text(TASK)
    (tmp_path / "identity.py").write_text("def clamp(x, low, high):\n    return x\n")
    done = CliRunner().invoke(cli, ["check", str(tmp_path / "clamp.toml"), "--json"])
    assert done.exit_code == 0, done.stdout
    (one,) = json.loads(done.stdout)["tasks"]
    assert "identity.py" in {row["label"] for row in one["rows"]}
    assert one["mutants"]["total"] > 0


def test_every_command_and_option_of_the_page_exists():
    """Whatever stands after ``retrial`` in its blocks."""
    for line in re.findall(
        r"^retrial ([a-z].*)", "\n".join(re.findall(r"```\n(.*?)```", PAGE, re.DOTALL)), re.MULTILINE
    ):
        command, *words = line.split("#")[0].split()
        shown = CliRunner().invoke(cli, [command, "--help"])
        assert shown.exit_code == 0, line
        for option in [word for word in words if word.startswith("--")]:
            assert option in shown.stdout, line
