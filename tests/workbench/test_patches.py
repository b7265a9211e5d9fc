"""Diffs and named files, read and applied: properties, and the forms that models use."""

from __future__ import annotations

import difflib
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrial.workbench.patch import applied, read_patch
from retrial.workbench.paths import Refused
from retrial.workbench.protected import is_protected
from retrial.workbench.reply import changes_in

LINES = st.lists(st.text("ab c", max_size=3), max_size=12)


def diff(before, after):
    """A diff as programs make it."""
    return "".join(
        f"{line}\n" for line in difflib.unified_diff(before, after, "a/x.py", "b/x.py", lineterm="", n=len(before))
    )


def text(lines):
    return "".join(f"{line}\n" for line in lines)


@given(LINES, LINES)
def test_what_a_diff_says_is_what_comes_out(before, after):
    """With its numbers right, and with numbers and counts that are made up, where all lines are there."""
    patch = diff(before, after)
    if not patch:
        return
    (read,) = read_patch(patch)
    assert applied(text(before), read) == text(after)
    (read,) = read_patch(re.sub(r"^@@ .*@@", "@@ -7,3 +9,1 @@", patch, flags=re.MULTILINE))
    if before:
        assert applied(text(before), read) == text(after)


@given(LINES, LINES, st.integers(0, 3))
def test_a_diff_with_little_context_applies_or_is_refused(before, after, context):
    """By its numbers it is right however often its lines occur."""
    patch = "".join(f"{line}\n" for line in difflib.unified_diff(before, after, "a/x", "b/x", lineterm="", n=context))
    if patch:
        (read,) = read_patch(patch)
        assert applied(text(before), read) == text(after)


def test_lines_that_occur_twice_need_a_number_or_more_lines():
    """Without a hint it is not guessed which ones are meant."""
    (patch,) = read_patch("--- a/x\n+++ b/x\n@@\n-a\n+b\n")
    assert applied("a\n", patch) == "b\n"
    with pytest.raises(Refused, match="more than once"):
        applied("a\na\n", patch)


def test_returns_at_line_ends_stay():
    """A file of another system keeps its line ends."""
    (patch,) = read_patch("--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n")
    assert applied("one\r\ntwo\r\n", patch) == "one\r\n2\r\n"


def test_files_come_go_and_move():
    """A diff makes a file, deletes one, and changes one under a new name."""
    made = "--- /dev/null\n+++ b/new.py\n@@ -0,0 +1 @@\n+x = 1\n"
    gone = "--- a/old.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-y\n"
    moved = "--- a/here.py\n+++ b/there.py\n@@ -1 +1 @@\n-z\n+Z\n"
    changes = changes_in(made + gone + moved, {"old.py": b"y\n", "here.py": b"z\n"})
    assert changes == {"new.py": b"x = 1\n", "old.py": None, "here.py": None, "there.py": b"Z\n"}


@pytest.mark.parametrize(
    "reply",
    [
        "src/a.py\n```python\nx\n```",
        "**src/a.py**\n\n```\nx\n```",
        "### `src/a.py`:\n```python\nx\n```",
        "File: src/a.py\n~~~\nx\n~~~",
        "1. src/a.py\n```\nx",
        "```python src/a.py\nx\n```",
        "```python:src/a.py\nx\n```",
        '```python title="src/a.py"\nx\n```',
        "```src/a.py\nx\n```",
    ],
)
def test_the_ways_in_which_models_name_files(reply):
    """All of them mean the same."""
    assert changes_in(reply, {}) == {"src/a.py": b"x\n"}


@pytest.mark.parametrize("line", ["Here is version 2.0", "I changed a.py and b.py", "3.14", "Use e.g. this:"])
def test_prose_is_no_name(line):
    """A sentence above a fence names no file, so that the fence is bare code."""
    assert changes_in(f"{line}\n```\nx\n```", {}, target="t.py") == {"t.py": b"x\n"}


def test_a_fence_within_a_file_does_not_end_it():
    """More marks outside than inside."""
    assert changes_in("README.md\n````\n```\nx\n```\n````\n", {}) == {"README.md": b"```\nx\n```\n"}


@pytest.mark.parametrize(
    ("path", "protected"),
    [
        ("tests/test_a.py", True),
        ("src/pkg/tests/data.json", True),
        ("src/pkg/test_a.py", True),
        ("src/a.test.ts", True),
        ("conftest.py", True),
        ("src/conftest.py", True),
        ("sub/pytest.ini", True),
        ("jest.config.js", True),
        ("src/contest.py", False),
        ("src/latest.py", False),
        ("src/config.py", False),
        ("testimony.py", False),
    ],
)
def test_what_is_protected_by_default(path, protected):
    """Tests and what steers runners, and nothing that merely sounds like it."""
    assert is_protected(path, None, [], ["-q"]) is protected
