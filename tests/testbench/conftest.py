"""The real sandbox, and one way to run tests in it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from retrial.core.effects import RunTests
from retrial.errors import SandboxError
from retrial.sandbox.opening import open_sandbox
from retrial.testbench.supervisor import examine, open_session

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"


@pytest.fixture(scope="session")
def sandbox():
    try:
        return open_sandbox()
    except SandboxError as error:
        pytest.skip(f"no sandbox holds here: {error}")


@pytest.fixture
def run(sandbox):
    """Run tests against code in the sandbox and give the report."""

    def run_tests(output, *tests, **fields):
        effect = RunTests(output=output, tests=tests, **{"entry_point": "add", "timeout": 20.0, **fields})
        return examine(effect, open_session(effect, sandbox))

    return run_tests


@pytest.fixture(scope="session")
def rows():
    """Read a file of recorded data, or skip where it is not there."""

    def read(name):
        path = DATA / name
        if not path.exists():
            pytest.skip(f"the recorded data is not here: {path}")
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]

    return read


def verdict(report):
    """What a report says in one word: pass, fail, timeout or error."""
    kinds = {check.kind for check in report.checks}
    if "timeout" in kinds:
        return "timeout"
    if report.load_error or "bad_test" in kinds:
        return "error"
    return "pass" if report.finished and report.passed_count == report.valid_count > 0 else "fail"


@pytest.fixture(scope="session", name="verdict")
def verdict_fixture():
    return verdict
