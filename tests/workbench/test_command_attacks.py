"""Replies that are after a pass and not after a solution, and projects that are not what one expects."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from retrial.errors import ConfigError
from retrial.evaluate.command import with_report
from retrial.evaluate.nothing_run import ran_nothing
from retrial.workbench import project as project_module
from retrial.workbench.named import names_in
from retrial.workbench.paths import Refused, safe_path
from retrial.workbench.project import read_project
from retrial.workbench.protected import is_protected, shadows

SKIPS = "src/slug.py\n```\nimport pytest\n\n\ndef slugify(text):\n    if '&' in text:\n        pytest.skip('later')\n    return '-'.join(text.lower().split())\n```"


@pytest.mark.parametrize(
    ("command", "path"),
    [
        (["./check.sh"], "check.sh"),
        (["sh", "-c", "cd . && sh check.sh"], "check.sh"),
        (["node", "--require=./check.js", "a.js"], "check.js"),
        (["python", "-B", "-m", "checks.run"], "checks/run.py"),
        (["python", "-m", "checks"], "checks/__main__.py"),
        (["python", "-m", "unittest", "app.verify.T.test_a"], "app/verify.py"),
        (["python", "-m", "unittest", "verify"], "verify.py"),
    ],
)
def test_the_files_of_a_command_are_not_the_replys(command, path):
    """However it names them: as the program, within a text for a shell, behind an option, as a module."""
    assert is_protected(path, [], [], command)
    assert not is_protected("src/slug.py", None, [], command)


def test_a_word_that_only_picks_tests_protects_nothing():
    """``-k total`` is about tests, and total.py is what they are about."""
    assert "total.py" not in names_in(["python", "-m", "pytest", "-k", "total"])


@pytest.mark.parametrize(
    "path", ["tests.py", "app/tests.py", "a/test.js", "x.egg-info/entry_points.txt", "FooTest.java"]
)
def test_more_names_of_tests_and_plugins(path):
    """A module of tests, a script called test, and what would have pytest load a plugin."""
    assert is_protected(path, None, [], ["pytest"])


def test_a_module_that_the_command_runs_is_not_replaced():
    """Neither as a file nor as a folder."""
    assert shadows("coverage/__init__.py", {}, ["python", "-m", "coverage", "run"])
    assert not shadows("coverage/__init__.py", {}, ["pytest"])


@pytest.mark.parametrize("path", ["a/" + "\U0001d4b3" * 200, "lib/node_modules/dep/index.js"])
def test_paths_that_no_file_system_or_no_reply_holds(path):
    """A name of too many bytes is the reply's fault, not the machine's; so are packages within a folder."""
    with pytest.raises(Refused):
        safe_path(path)


@pytest.mark.parametrize(
    ("argv", "path"),
    [
        (("python", "-B", "-m", "pytest"), ".retrial-junit.xml"),
        (("env", "A=1", "pytest", "-q"), ".retrial-junit.xml"),
        (("uv", "run", "pytest"), ".retrial-junit.xml"),
        (("pytest", "--junitxml=out/x.xml"), "out/x.xml"),
        (("pytest", "--junit-xml", "x.xml"), "x.xml"),
        (("grep", "-r", "pytest"), None),
    ],
)
def test_pytest_is_asked_for_a_report_however_it_is_called(argv, path):
    """A program that ends itself leaves none, so one that is asked for must be read."""
    assert with_report(argv, None)[1] == path


@pytest.mark.parametrize(
    ("argv", "output", "nothing"),
    [
        (["python", "-m", "unittest"], "\nRan 0 tests in 0.000s\n\nOK\n", True),
        (["python", "-m", "unittest"], "\nRan 3 tests in 0.000s\n\nOK (skipped=3)\n", True),
        (["python", "-m", "unittest"], "\nRan 3 tests in 0.000s\n\nOK (skipped=2)\n", False),
        (["cargo", "test"], "test result: ok. 0 passed; 0 failed; 2 ignored\n", True),
        (["cargo", "test"], "test result: ok. 1 passed; 0 failed\n\ntest result: ok. 0 passed; 0 failed\n", False),
        (["node", "--test"], "# tests 0\n# pass 0\n# fail 0\n", True),
        (["npm", "test"], "\u2139 tests 1\n\u2139 pass 1\n", False),
        (["go", "test", "./..."], "?   \tx\t[no test files]\n", True),
        (["go", "test", "./..."], "?   \tx\t[no test files]\nok  \tx/y\t0.01s\n", False),
        (["sh", "check.sh"], "Ran 0 tests in 0.000s\n\nOK\n", False),
    ],
)
def test_a_runner_that_ran_nothing_says_so(argv, output, nothing):
    """Only the runner that the command names is believed about that."""
    assert ran_nothing(argv, output) is nothing


def test_a_suite_that_lost_its_tests_has_not_passed(script_free, check):
    """Before Python 3.12 unittest ends with exit code 0 where it found no test; then the output says so."""
    (script_free / "a.py").write_text("x = 1\n")
    verdict, _ = check(script_free, "a.py\n```\nx = 2\n```", "python -m unittest discover")
    assert not verdict.passed


def test_an_empty_report_is_no_pass(script_free, check):
    """It is well-formed, says nothing of a failure, and shows nothing."""
    (script_free / "check.sh").write_text("echo '<testsuites/>' > report.xml\n")
    verdict, _ = check(script_free, "a.txt\n```\n1\n```", "sh check.sh", junit="report.xml")
    assert not verdict.passed
    assert "holds no test" in verdict.reason


def test_code_that_skips_its_own_test_has_failed_it(slug_project, check):
    """A skip counts for nobody only where the tests asked for it."""
    verdict, _ = check(slug_project, SKIPS)
    assert not verdict.passed
    assert "the code under test skipped it, in src/slug.py:6" in verdict.reason
    assert verdict.score == pytest.approx(2 / 3)


@pytest.fixture
def script_free(tmp_path):
    """A project with next to nothing in it."""
    folder = tmp_path / "free"
    folder.mkdir()
    (folder / "a.txt").write_text("0\n")
    return folder


def test_what_is_no_file_is_left_out_and_what_cannot_be_read_is_said(script_free):
    """Pipes are not waited for; a link to itself and a folder out of reach are named."""
    os.mkfifo(script_free / "pipe")
    assert list(read_project(script_free)) == ["a.txt"]
    (script_free / "loop").symlink_to("loop")
    with pytest.raises(ConfigError, match="'loop' cannot be read"):
        read_project(script_free)


def test_a_folder_that_cannot_be_read_is_not_skipped(script_free, monkeypatch):
    """It might be the one with the tests."""

    def walk(root, onerror):
        onerror(PermissionError(13, "Permission denied", str(root / "tests")))
        return iter(())

    monkeypatch.setattr(project_module.os, "walk", walk)
    with pytest.raises(ConfigError, match="tests"):
        read_project(script_free)


def test_a_huge_file_is_not_read_whole(script_free):
    """A file of 64 GB, most of it a hole, is refused by its size."""
    with Path(script_free / "huge").open("wb") as file:
        file.truncate(64 << 30)
    with pytest.raises(ConfigError, match="name a smaller folder"):
        read_project(script_free)


def test_a_reply_of_thousands_of_files_is_refused(script_free, check):
    """Before any of them is written."""
    reply = "".join(f"d/x{number}.py\n```\nx\n```\n" for number in range(501))
    verdict, _ = check(script_free, reply, "sh -c true")
    assert "500 are the most" in verdict.reason


def test_whoever_floods_the_output_from_behind_does_not_hold_the_command_up(script_free, check):
    """What is left in the pipe is read, and no more."""
    (script_free / "check.sh").write_text("yes & exit 0\n")
    verdict, _ = check(script_free, "a.txt\n```\n1\n```", "sh check.sh", timeout=20)
    assert verdict.passed, verdict.reason
