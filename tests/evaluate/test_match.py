"""Matching: a wrong answer fails, a right one passes, and the reason does not give the answer away."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judging import judged, verdict_on
from retrial.core.tasks import Status, Task
from retrial.errors import ConfigError
from retrial.evaluate import evaluator_from
from retrial.evaluate.answers import f1_score, normalised_answer, numbers_in

KINDS = ["exact", "normalised", "f1", "fuzzy", "numeric"]
TOWER = Task(id="t", prompt="Which tower?", answer="The Eiffel Tower", answers=("Tour Eiffel",))
SUM = Task(id="n", prompt="How far?", answer="1,200.5")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("output", ["", "  \n", "banana", "the", "None"])
async def test_a_known_bad_output_fails(kind, output):
    """No kind of match accepts emptiness, a banana or an article."""
    verdict = await verdict_on(evaluator_from({"kind": kind}), output, SUM if kind == "numeric" else TOWER)
    assert (verdict.passed, verdict.trust) == (False, "match")
    assert verdict.score < 1
    assert verdict.reason
    assert [check.passed for check in verdict.checks] == [False]


@pytest.mark.parametrize(
    ("kind", "output", "passes"),
    [
        ("exact", " The Eiffel Tower\n", True),
        ("exact", "the Eiffel Tower", False),
        ("normalised", "eiffel tower!", True),
        ("normalised", "tour eiffel", True),
        ("normalised", "Eiffel", False),
        ("f1", "tower eiffel", True),
        ("f1", "the Eiffel Tower in Paris", False),
        ("fuzzy", "The Eifel Tower", True),
        ("fuzzy", "Leaning Tower", False),
    ],
)
async def test_each_kind_accepts_what_it_says(kind, output, passes):
    """Exact to the character, normalised, by words, nearly."""
    assert (await verdict_on(evaluator_from({"kind": kind}), output, TOWER)).passed is passes


@pytest.mark.parametrize(
    ("options", "output", "passes"),
    [
        ({}, "1200.5", True),
        ({}, "So the answer is 1,200.50 km.", True),
        ({}, "$1,200.5", True),
        ({}, "-1200.5", False),
        ({}, "1200.5 then 7", False),
        ({}, "1201", False),
        ({"absolute": 0.5}, "1201", True),
        ({"absolute": 0.5}, "1201.01", False),
        ({"relative": 0.01}, "1,210", True),
        ({"unit": "km"}, "1,200.5 km in 3 hours", True),
        ({"unit": "km", "unit_required": True}, "1200.5", False),
        ({"unit": "km", "unit_required": True}, "1200.5 KM", True),
        ({"extract": r"Answer: (\S+)"}, "Answer: 1200.5\nI checked 3 times.", True),
        ({}, "NaN", False),
        ({}, "inf", False),
        ({}, "9" * 5000, False),
    ],
)
async def test_numbers_are_read_and_compared_within_the_tolerance(options, output, passes):
    """Separators, currencies, units, tolerances; of several numbers the last."""
    assert (await verdict_on(evaluator_from({"kind": "numeric", **options}), output, SUM)).passed is passes


@pytest.mark.parametrize("kind", KINDS)
async def test_the_reason_and_the_checks_do_not_hold_the_answer(kind):
    """What a reflector reads never quotes the expected answer, unless that was asked for."""
    task = Task(id="s", prompt="?", answer="Xanadu 77")
    hidden = await verdict_on(evaluator_from({"kind": kind}), "Kubla 12", task)
    assert "Xanadu" not in f"{hidden}"
    assert "77" not in f"{hidden}"
    shown = await verdict_on(evaluator_from({"kind": kind, "show_expected": True}), "Kubla 12", task)
    assert "77" in shown.reason
    assert "77" in shown.checks[0].expected


@pytest.mark.parametrize("kind", KINDS)
async def test_a_task_without_an_answer_breaks_the_evaluator(kind):
    """Where nothing could fail there is no verdict."""
    verdict, result = await judged(evaluator_from({"kind": kind}), "anything", Task(id="t", prompt="p"))
    assert (verdict, result.status) == (None, Status.FAILED)
    assert "give it answer" in result.error


async def test_an_answer_that_is_no_number_breaks_the_numeric_evaluator():
    """The message names the answer's kind and the evaluator that fits."""
    _, result = await judged(evaluator_from({"kind": "numeric"}), "1", TOWER)
    assert "'normalised'" in result.error


def test_what_cannot_be_is_refused():
    """A threshold out of range, a broken pattern, a unit that is missing."""
    for spec in (
        {"kind": "f1", "threshold": 0},
        {"kind": "fuzzy", "threshold": 90},
        {"kind": "exact", "extract": "("},
        {"kind": "numeric", "absolute": -1},
        {"kind": "numeric", "relative": float("nan")},
        {"kind": "numeric", "unit_required": True},
        {"kind": "exact", "treshold": 1},
    ):
        with pytest.raises(ConfigError):
            evaluator_from(spec)


def test_hotpotqas_rule_for_yes_and_no():
    """Words in common do not help where one of the two answers is yes, no or noanswer."""
    assert f1_score("yes", "Yes!") == 1
    assert f1_score("yes it is", "yes") == f1_score("no", "no way") == f1_score("noanswer", "no answer") == 0


@given(st.text(), st.text())
def test_f1_is_symmetric_bounded_and_one_for_equal_answers(one, two):
    """For any two texts."""
    assert 0 <= f1_score(one, two) <= 1
    assert f1_score(one, two) == pytest.approx(f1_score(two, one))
    if normalised_answer(one):
        assert f1_score(one, one) == 1


@given(st.integers(-(10**12), 10**12), st.sampled_from(["{:d}", "{:,}", "It is {:,}.", "= {:d} km"]))
def test_a_number_is_found_however_it_is_written(value, form):
    """With and without separators, in a sentence, with a unit."""
    assert [int(number.value) for number in numbers_in(form.format(value))] == [value]
