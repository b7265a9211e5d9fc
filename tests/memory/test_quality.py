"""What can be wrong with a lesson."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrial.memory.quality import faults, normalised


@pytest.mark.parametrize(
    "text",
    [
        "```\nx\n```",
        "Do this:\nx = 1",
        "1. import re",
        "- return x + 1",
        "Next time:\nif x in y:",
        "for i in range(3):\n  pass",
        "Always call\nprint(x)",
    ],
)
def test_code_is_found(text):
    """A fence, or a line that is a statement, is code."""
    assert "code" in faults(text)


@pytest.mark.parametrize(
    "text",
    [
        "Next time, use `str.split` and join with `-`.",
        "Note: check for empty input first.",
        "Always return early if the list is empty.",
        "I should import nothing that is not needed.",
        "Lesson: handle the empty string (it has no words).",
        "1. I forgot zero. 2. Next time, test n == 0 first.",
        "Ensure that f(0) is 1; pass over negatives.",
    ],
)
def test_prose_is_no_code(text):
    """Sentences that name functions, operators or keywords are prose."""
    assert "code" not in faults(text)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "empty"),
        ("My function replaced spaces and the test failed.", "narrates"),
        ("Always check the input. " * 60, "too_long"),
        ("USE km, always!", "duplicate"),
        ("Always return 'django-rest' for that title.", "copies_answer"),
        ("Add a special case for 'C++'.", "patches_a_case"),
    ],
)
def test_each_fault_is_named(text, fault):
    """One example of each fault is found."""
    assert fault in faults(text, earlier=["Use km always"], answers=["'django-rest'"])


def test_a_good_lesson_has_no_fault():
    """A short general rule passes."""
    assert faults("Extract the words made of letters and digits, then join them with hyphens.") == ()


@given(st.text())
def test_any_text_can_be_looked_at(text):
    """No text breaks the check, and only blank text is empty."""
    found = faults(text, earlier=["x"], answers=["y"])
    assert ("empty" in found) == (not text.strip())


@given(st.text())
def test_normalising_twice_changes_nothing(text):
    """The form in which lessons are compared is a fixed point."""
    assert normalised(normalised(text)) == normalised(text)
