"""Real tasks, recorded attempts and hostile programs, asked as benchmarks/agree.py asks them."""

from __future__ import annotations

import importlib.util
import re
import shutil
import sys
import tempfile
import threading
from pathlib import Path

import pytest

AGREE = Path(__file__).resolve().parents[2] / "benchmarks" / "agree.py"
SETS = (
    "python attempts",
    "rust attempts",
    "evaluator traps",
    "model-written tests",
    "canonical solutions",
    "return None",
)


@pytest.fixture(scope="session")
def agree():
    """The module of the benchmark."""
    spec = importlib.util.spec_from_file_location("agree", AGREE)
    module = importlib.util.module_from_spec(spec)
    sys.modules["agree"] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def disagreements(agree, sandbox):
    """Ask a set and give the reasons of what does not agree."""

    def ask(name, *, quick, least):
        if name == "rust attempts" and shutil.which("rustc") is None:
            pytest.skip("rustc is not installed")
        try:
            cases = list(agree.SETS[name](agree.Bench(), quick=quick))
        except agree.Absent as absent:
            pytest.skip(str(absent))
        assert len(cases) >= least
        return agree.ask(cases, 2, lambda: None).reasons

    return ask


def leftovers():
    """The threads of this process, the processes that it started, and the folders of runs."""
    children = Path(f"/proc/self/task/{threading.get_native_id()}/children")
    found = set(children.read_text().split()) if children.exists() else set()
    folders = {
        path.name for path in Path(tempfile.gettempdir()).glob("retrial-*") if re.fullmatch(r"retrial-\w+", path.name)
    }
    return threading.enumerate(), found, folders


def test_hostile_programs_pass_nothing_and_leave_nothing(disagreements, run):
    """No program passes that must not, every program that must pass does, and no thread, process or file stays."""
    for style, test in (("pytest", "def test_a(): assert add(1, 2) == 3"), ("asserts", "assert add(1, 2) == 3")):
        run("def add(a, b): return a + b", test, style=style)  # The launchers stay for as long as this process.
    before = leftovers()
    assert disagreements("hostile programs", quick=False, least=100) == {}
    assert leftovers() == before


@pytest.mark.parametrize("name", SETS)
def test_a_sample_of_every_kind_agrees(disagreements, name):
    """Some rows of every set and every kind of outcome are judged as they were judged in isolation."""
    assert disagreements(name, quick=True, least=20) == {}


@pytest.mark.slow
@pytest.mark.parametrize("name", SETS)
def test_all_of_it_agrees(disagreements, name):
    """All rows of every set."""
    assert disagreements(name, quick=False, least=100) == {}
