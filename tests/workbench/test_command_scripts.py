"""Any other command: scripts, time, processes left behind, tools that are missing, and projects that change."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from retrial.core.effects import RunCommand
from retrial.core.tasks import Outcome, Status
from retrial.errors import ConfigError, ReplayMismatch, SandboxError
from retrial.evaluate import evaluator_from
from retrial.placing import placed
from retrial.sandbox.opening import open_sandbox
from retrial.workbench.handler import CommandHandler
from worlds import engine_with

CHECK = '#!/bin/sh\n[ "$(cat answer.txt)" = 42 ] || { echo "the answer is $(cat answer.txt)"; exit 7; }\n'


@pytest.fixture
def script_project(tmp_path):
    """A script that compares a file."""
    project = tmp_path / "project"
    project.mkdir()
    (project / "check.sh").write_text(CHECK)
    (project / "check.sh").chmod(0o755)
    (project / "answer.txt").write_text("0\n")
    return project


def answer(text):
    return f"answer.txt\n```\n{text}\n```"


@pytest.mark.parametrize("command", ["sh check.sh", "./check.sh", ["sh", "-c", "./check.sh && echo well"]])
def test_an_exit_code_decides(command, script_project, check):
    """0 passes; another code fails with the code and what was printed. Scripts keep their executable bit."""
    verdict, _ = check(script_project, answer("42"), command)
    assert verdict.passed, verdict.reason
    verdict, _ = check(script_project, answer("41"), command)
    assert not verdict.passed
    assert verdict.score == 0.0
    assert verdict.reason.endswith("ended with exit code 7\nthe answer is 41")


@pytest.mark.parametrize("level", ["jailed", "confined", "limited"])
def test_it_is_the_same_at_every_level(level, script_project, check):
    """Each level that this machine has runs the script alike."""
    try:
        handler = CommandHandler(open_sandbox(level))
    except SandboxError as error:
        pytest.skip(f"no {level} here: {error}")
    verdict, _ = check(script_project, answer("41"), "./check.sh", handler=handler)
    assert verdict.reason == "`./check.sh` ended with exit code 7\nthe answer is 41"
    assert verdict.isolation.level == level


def test_the_working_folder_holds_the_project_and_nothing_else(script_project, check):
    """Wherever the interpreter's packages lie on this machine, none of them is among the files."""
    verdict, _ = check(script_project, answer("42"), ["sh", "-c", "find . | sort; exit 1"])
    assert verdict.reason.endswith("exit code 1\n.\n./answer.txt\n./check.sh")


def test_the_script_that_judges_is_not_the_replys_to_write(script_project, check):
    """A file that the command names is protected without being listed."""
    verdict, _ = check(script_project, "check.sh\n```\nexit 0\n```", "sh check.sh")
    assert "check.sh is protected" in verdict.reason


def test_a_command_that_is_not_there_is_no_fault_of_the_reply(script_project, check):
    """The run ends as failed by its environment, and says what to install."""
    verdict, result = check(script_project, answer("42"), "no-such-tool --version")
    assert verdict is None
    assert result.status == Status.FAILED
    assert "'no-such-tool' is not installed here" in result.error
    _, result = check(script_project, answer("42"), "./missing.sh")
    assert "is no file of the project" in result.error


def test_time_that_runs_out_is_the_replys_fault_and_the_tree_goes(script_project, check, tmp_path):
    """What it started is gone, and what it had printed is kept."""
    mark = f"61{os.getpid()}"
    (script_project / "check.sh").write_text(f"echo started; sleep {mark} & setsid sleep {mark} & sleep {mark}")
    verdict, result = check(script_project, answer("42"), "sh check.sh", timeout=1)
    assert not verdict.passed
    assert verdict.reason == "`sh check.sh` did not end in time and was stopped\nstarted"
    assert result.status == Status.COMPLETED
    assert not _running(mark)


def test_a_fork_bomb_leaves_nothing_behind(script_project, check):
    """It ends with its time, and so do all its processes."""
    mark = f"62{os.getpid()}"
    (script_project / "check.sh").write_text(f"bomb() {{ sleep {mark} & bomb & bomb; }}; bomb; sleep {mark}")
    verdict, _ = check(script_project, answer("42"), "sh check.sh", timeout=1)
    assert not verdict.passed
    assert not _running(mark)


def _running(mark):
    for _ in range(50):
        if not _seen(mark):
            return False
        time.sleep(0.1)
    return True


def test_a_process_left_behind_does_not_hold_the_command_up(script_project, check):
    """A daemon that keeps the output open ends with the command."""
    mark = f"63{os.getpid()}"
    (script_project / "check.sh").write_text(f"sleep {mark} & exit 3")
    verdict, _ = check(script_project, answer("42"), "sh check.sh", timeout=20)
    assert verdict.reason == "`sh check.sh` ended with exit code 3"
    assert not _running(mark)


def test_output_is_bounded_and_clean(script_project, check):
    """The end of a flood is what is told, without control characters."""
    (script_project / "check.sh").write_text("yes | head -c 3000000; printf '\\033[31mlast\\007\\n'; exit 1")
    verdict, _ = check(script_project, answer("42"), "sh check.sh")
    assert len(verdict.reason) < 3000
    assert verdict.reason.endswith("\nlast")


def test_nothing_of_the_machine_is_in_reach(script_project, check, tmp_path):
    """The command reads no file of this user, reaches no network, and sees no variable of ours."""
    (tmp_path / "secret").write_text("hush")
    (script_project / "check.sh").write_text(f"cat {tmp_path}/secret; env; ls ..; exit 1")
    os.environ["RETRIAL_TEST_KEY"] = "hush"
    try:
        verdict, _ = check(script_project, answer("42"), "sh check.sh")
    finally:
        del os.environ["RETRIAL_TEST_KEY"]
    assert "hush" not in verdict.reason
    code = "import socket\nsocket.create_connection(('127.0.0.1', 9), 1)\n"
    (script_project / "net.py").write_text(code)
    verdict, _ = check(script_project, answer("42"), "python net.py")
    assert "PermissionError" in verdict.reason


def test_a_project_that_changed_is_noticed(script_project, command_handler):
    """A live command refuses to judge another project than the run began with; a replay names the field that differs."""

    class Asks:
        name, version, max_calls = "asks", "1", 0

        def __init__(self, evaluator):
            self.evaluator = evaluator

        def parameters(self):
            return {}

        async def __call__(self, run, given):
            verdict = await self.evaluator(run, None, answer("42"))
            return Outcome(Status.COMPLETED, {"passed": verdict.passed})

    spec = {"kind": "command", "command": "sh check.sh", "project": str(script_project)}
    before = placed(spec, Path())

    async def story():
        async with engine_with() as engine:
            command_handler.attach(engine)
            result = await engine.run(Asks(evaluator_from(before)), {})
            assert result.value == {"passed": True}
            (script_project / "check.sh").write_text("exit 1")
            changed = await engine.run(Asks(evaluator_from(before)), {})
            assert changed.status == Status.FAILED
            assert "changed since the run began" in changed.error
            again = await engine.replay(result.run_id, Asks(evaluator_from(before)))
            assert again.value == {"passed": True}
            with pytest.raises(ReplayMismatch, match="digest"):
                await engine.replay(result.run_id, Asks(evaluator_from(placed(spec, Path()))))

    asyncio.run(story())


def test_a_report_is_read_where_the_task_says(script_project, check):
    """Any runner's JUnit report gives a check a test; one that was there before does not count."""
    report = (
        '<testsuite><testcase classname="s" name="a"/><testcase name="b"><failure message="no"/></testcase></testsuite>'
    )
    (script_project / "report.xml").write_text("<testsuite><testcase name='old'/></testsuite>")
    (script_project / "check.sh").write_text(f"echo '{report}' > report.xml; exit 1")
    verdict, _ = check(script_project, answer("42"), "sh check.sh", junit="report.xml")
    assert [(one.name, one.passed) for one in verdict.checks] == [("s.a", True), ("b", False)]
    assert verdict.reason == "1 of 2 tests passed\n- b: no"
    (script_project / "check.sh").write_text("exit 0")
    verdict, _ = check(script_project, answer("42"), "sh check.sh", junit="report.xml")
    assert not verdict.passed
    assert "left no report at report.xml" in verdict.reason


@pytest.mark.parametrize(
    ("report", "words"),
    [
        ('<!DOCTYPE t [<!ENTITY a "aaaa">]><t>&a;</t>', "declares a document type"),
        ("<t>", "no XML"),
        ("x" * (5 << 20), "larger than 4 MB"),
    ],
    ids=["entities", "broken", "huge"],
)
def test_a_report_that_cannot_be_trusted_is_no_pass(report, words, script_project, check):
    """Entities are never expanded and large reports never read."""
    (script_project / "made.xml").write_text(report)
    (script_project / "check.sh").write_text("cp made.xml report.xml")
    verdict, _ = check(script_project, answer("42"), "sh check.sh", junit="report.xml")
    assert not verdict.passed
    assert words in verdict.reason


def test_a_link_in_place_of_a_report_is_none(script_project, check):
    """What a link leads to is not read."""
    (script_project / "check.sh").write_text("ln -s /etc/passwd report.xml")
    verdict, _ = check(script_project, answer("42"), "sh check.sh", junit="report.xml")
    assert "left no report" in verdict.reason


def test_a_link_that_leads_out_of_the_project_is_refused(script_project):
    """Before anything is asked, with the link's name."""
    (script_project / "out").symlink_to("/etc/passwd")
    with pytest.raises(ConfigError, match="'out' is a link that leads out"):
        placed({"kind": "command", "command": "true", "project": str(script_project)}, Path())


@pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not installed")
def test_npm_test_judges_a_package(tmp_path, check):
    """``npm test`` with node's own runner: a right reply passes, a wrong one does not."""
    project = tmp_path / "package"
    project.mkdir()
    (project / "package.json").write_text('{"name": "p", "version": "1.0.0", "scripts": {"test": "node --test"}}')
    (project / "add.test.js").write_text(
        "const test = require('node:test'); const assert = require('node:assert');\n"
        "test('adds', () => assert.strictEqual(require('./add.js')(1, 2), 3));\n"
    )
    right, wrong = (f"module.exports = (a, b) => a {sign} b;\n" for sign in "+-")
    verdict, result = check(project, right, "npm test", target="add.js")
    assert verdict is not None, result.error
    assert verdict.passed, verdict.reason
    verdict, _ = check(project, wrong, "npm test", target="add.js")
    assert not verdict.passed
    assert "-1 !== 3" in verdict.reason


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("cargo") is None, reason="cargo is not installed")
def test_cargo_test_judges_a_crate(tmp_path, check):
    """``cargo test`` with tests in a file of their own."""
    project = tmp_path / "crate"
    (project / "src").mkdir(parents=True)
    (project / "tests").mkdir()
    (project / "Cargo.toml").write_text('[package]\nname = "adds"\nversion = "0.1.0"\nedition = "2021"\n')
    (project / "tests/adds.rs").write_text("#[test]\nfn adds() { assert_eq!(adds::add(1, 2), 3); }\n")
    (project / "src/lib.rs").write_text("")
    verdict, result = check(project, "pub fn add(a: i32, b: i32) -> i32 { a + b }", "cargo test", target="src/lib.rs")
    assert verdict is not None, result.error
    assert verdict.passed, verdict.reason
    verdict, _ = check(project, "pub fn add(a: i32, b: i32) -> i32 { a - b }", "cargo test", target="src/lib.rs")
    assert "left: -1" in verdict.reason


def _seen(mark):
    return mark in subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout


def test_whoever_stops_waiting_ends_the_command(script_project, command_handler):
    """A cancelled run leaves no process behind."""
    mark = f"64{os.getpid()}"
    (script_project / "check.sh").write_text(f"sleep {mark}")

    async def story():
        effect = RunCommand(argv=("sh", "check.sh"), project=str(script_project), timeout=60)
        work = asyncio.create_task(command_handler(effect))
        for _ in range(200):
            await asyncio.sleep(0.05)
            if await asyncio.to_thread(_seen, mark):
                break
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work

    asyncio.run(story())
    assert not _running(mark)
