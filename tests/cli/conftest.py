"""A folder to work in, and the command in this process and in one of its own."""

import os
import signal
import subprocess
import sys

import pytest
from click.testing import CliRunner

from retrial.cli.main import cli


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("RETRIAL_MODEL", "RETRIAL_STORE", "OPENAI_API_KEY", "COLUMNS", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.fixture
def retrial():
    """Run the command in this process."""

    def invoke(*words, **options):
        return CliRunner().invoke(cli, [str(word) for word in words], **options)

    return invoke


def _heed_interrupts():
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.fixture
def process(folder):
    """Start the command as a process of its own."""

    def start(*words, stdin=False, **environment):
        return subprocess.Popen(
            [sys.executable, "-m", "retrial.cli.main", *map(str, words)],
            cwd=folder,
            # Whoever runs the tests in the background has them ignore Ctrl-C, and a child would inherit that.
            preexec_fn=_heed_interrupts,  # noqa: PLW1509 - the child has one thread
            env={**os.environ, "PYTHONUNBUFFERED": "1", **environment},
            stdin=subprocess.PIPE if stdin else None,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    return start
