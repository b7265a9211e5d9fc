"""A project with a function to be written, and what a command says about replies that change it."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from judging import judged
from retrial.core.tasks import Task
from retrial.errors import SandboxError
from retrial.evaluate import evaluator_from
from retrial.placing import placed
from retrial.sandbox.opening import open_sandbox
from retrial.workbench.handler import CommandHandler

TESTS = """\
import pytest
from slug import slugify


@pytest.mark.parametrize(("text", "slug"), [("Python for Beginners", "python-for-beginners"), ("", "")])
def test_slugs(text, slug):
    assert slugify(text) == slug


def test_symbols():
    assert slugify("C++ & more") == "c-more"
"""
SETTINGS = '[tool.pytest.ini_options]\npythonpath = ["src"]\ntestpaths = ["tests"]\n'
# Plugins that happen to be installed cost seconds and say nothing about a project that does not use them.
QUICK = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}


@pytest.fixture(scope="session")
def command_handler():
    try:
        return CommandHandler(open_sandbox())
    except SandboxError as error:
        pytest.skip(f"no sandbox holds here: {error}")


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.fixture
def slug_project(tmp_path):
    """The function is there and wrong; its tests are there and right."""
    files = {
        "src/slug.py": "def slugify(text):\n    return text.lower()\n",
        "tests/test_slug.py": TESTS,
        "pyproject.toml": SETTINGS,
    }
    return write(tmp_path / "project", files)


@pytest.fixture
def check(command_handler):
    """What a command says about a reply: (verdict, result of the run)."""

    def on(project, reply, command="pytest -q", *, handler=None, **options):
        spec = {"kind": "command", "command": command, "project": str(project), "environment": QUICK, **options}
        evaluator = evaluator_from(placed(spec, Path()))
        handlers = [handler or command_handler]
        return asyncio.run(judged(evaluator, reply, Task(id="t", prompt="p"), handlers=handlers))

    return on
