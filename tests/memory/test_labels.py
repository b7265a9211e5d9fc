"""What the detectors say about real reflections, beside what a reader said of them."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
sys.path.insert(0, str(BENCHMARKS))

import lessons_quality  # noqa: E402 - the benchmarks are no package
import lessons_sample  # noqa: E402

REAL = lessons_sample.DATA / "reflections_real.jsonl"


@pytest.fixture(scope="module")
def known():
    if not REAL.exists():
        pytest.skip(f"the real reflections are not beside the project: {REAL}")
    return lessons_sample.cases()


def test_the_labels_are_of_the_draw_and_of_its_halves(known):
    """Anyone can draw the same rows again, and each stands in the half of its task."""
    rows = lessons_quality.labels("all")
    assert [row["uid"] for row in rows if "only" not in row] == lessons_sample.draw()
    assert [row["uid"] for row in rows if "only" in row] == lessons_sample.draw_patches()
    assert all(row["half"] == known[row["uid"]].half for row in rows)


def test_the_labels_hold_no_text():
    """Only the identity of a row and what is wrong with it: the texts belong to others."""
    for line in lessons_sample.LABELS.read_text(encoding="utf-8").splitlines():
        assert json.loads(line).keys() <= {"uid", "half", "faults", "only"}


def test_retellings_are_found_as_well_as_was_measured(known):
    """On the half that nothing was tuned on: nine in ten marks are right, and eight in ten retellings are marked."""
    scores = {score.fault: score for score in lessons_quality.measure(lessons_quality.labels("test"), known)}
    right, marked = scores["narrates"].precision
    _, meant = scores["narrates"].recall
    assert right / marked >= 0.9
    assert right / meant >= 0.8
    assert scores["duplicate"].wrong == 0
