"""A sandbox of each level, and a way to run a few lines of Python in it."""

from __future__ import annotations

from textwrap import dedent

import pytest

from retrial.errors import SandboxError
from retrial.sandbox.opening import open_sandbox
from retrial.sandbox.program import Limits, Program


def _opened(name):
    try:
        return open_sandbox(level=name)
    except SandboxError as error:
        pytest.skip(f"this machine has no level {name}: {error}")


@pytest.fixture(params=["jailed", "confined"])
def isolated(request):
    """Each level that isolates."""
    return _opened(request.param)


@pytest.fixture(params=["jailed", "confined", "limited"])
def sandbox(request):
    """Each level."""
    return _opened(request.param)


@pytest.fixture
def jailed():
    return _opened("jailed")


@pytest.fixture
def confined():
    return _opened("confined")


@pytest.fixture
def limited():
    return _opened("limited")


@pytest.fixture
def start():
    """Start Python code; keywords go to the limits, except those of a Program."""

    def start(sandbox, code, *, argv=(), files=None, stdin=b"", fds=(), paths=(), **limits):
        program = Program(
            argv=("python", "program.py", *argv),
            files={"program.py": dedent(code).encode(), **(files or {})},
            stdin=stdin,
            fds=fds,
            paths=paths,
        )
        return sandbox.start(program, Limits(**{"seconds": 20.0, **limits}))

    return start


@pytest.fixture
def run(start):
    """Run Python code to its end."""
    return lambda sandbox, code, **rest: start(sandbox, code, **rest).wait()
