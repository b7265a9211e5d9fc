"""What the documents claim: examples run, files that are named are there, commands exist."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOCUMENTS = [
    path
    for path in [
        *ROOT.glob("*.md"),
        *ROOT.glob("docs/**/*.md"),
        *ROOT.glob("examples/**/*.md"),
        ROOT / "benchmarks" / "README.md",
    ]
    if path.exists()
]
README = (ROOT / "README.md").read_text()
BLOCKS = re.findall(r"```python\n(.*?)```", README, re.DOTALL)


@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_the_python_of_the_readme_runs(number, tmp_path):
    """Each block of Python, as it stands, runs to its end in the project's folder."""
    environment = {"RETRIAL_STORE": str(tmp_path / "store.db"), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", BLOCKS[number]],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(("True import re", "42 km after 2 trials", "42 False\nState the unit.\n42 km True"))


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(path):
    """Every relative link of a document names something that exists."""
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", path.read_text()):
        if "://" not in target:
            assert (path.parent / target).exists(), target


def test_every_command_and_option_of_the_readme_exists():
    """Whatever the README tells one to type after ``retrial`` is known to the command line."""
    for line in re.findall(r"retrial ([a-z].*)", "\n".join(re.findall(r"```\n(.*?)```", README, re.DOTALL))):
        command, *words = line.split("#")[0].split()
        shown = subprocess.run(
            [sys.executable, "-m", "retrial.cli.main", command, "--help"], capture_output=True, text=True, check=False
        )
        assert shown.returncode == 0, line
        for option in [word for word in words if word.startswith("--")]:
            assert option in shown.stdout, line


def test_the_make_targets_that_documents_name_exist():
    """Every ``make TARGET`` in a document stands in the Makefile."""
    targets = {*re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)}
    named = {
        name
        for path in DOCUMENTS
        for name in re.findall(r"`?make ([a-z-]+)(?=[`\s#])", path.read_text())
        if f"make {name}" in path.read_text()
    }
    assert {name for name in named if name in ("demo", "test", "test-slow", "bench", "lock", "clean")} <= targets
    assert {"demo", "test"} <= named
