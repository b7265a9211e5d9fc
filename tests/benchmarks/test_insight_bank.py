"""The experiment with the insight bank, with a scripted model: what it compares, that it goes on, what it writes."""

from __future__ import annotations

import json
import re

import insight_bank
import pytest

from retrial.errors import ModelUnavailable
from worlds import Model, reply, said

INSIGHT = "Add the offset."


@pytest.fixture
def tasks(shifts):
    """Eight tasks."""
    return shifts(8)


def taught(request):
    """Right with the insight, with a lesson, or on every third task; an extractor that knows the insight."""
    asked = said(request)
    if request.role == "extractor":
        return reply(f"ADD: {INSIGHT}\nGood luck!")
    if request.role == "reflector":
        return reply("Next time, add the offset that the task names.")
    number = int(re.findall(r"<task>def shift(\d+)", asked)[0])
    right = number % 3 == 0 or INSIGHT in asked or "Next time" in asked
    return reply(f"def shift{number}(x):\n    return x + {number if right else number + 1}", tokens=5)


def arguments(tmp_path, tasks):
    out = tmp_path / "page.md"
    given = {"--model": "openai:taught", "--tasks": tasks, "--store": tmp_path / "store.db", "--out": out}
    words = [str(part) for pair in given.items() for part in pair]
    return out, [*words, "--train", "4", "--test", "4", "--batch", "3"]


def test_the_arms_are_compared_task_by_task(tmp_path, tasks):
    """The page holds both rates, the paired difference with its interval, the bank, and the lines that were skipped."""
    out, argv = arguments(tmp_path, tasks)
    model = Model(taught)
    assert insight_bank.main(argv, model) == 0
    page, found = out.read_text(), json.loads(out.with_suffix(".json").read_text())
    passed = sum(found["arms"]["without"].values())
    assert 0 < passed < 4
    assert f"| without the bank | {passed} of 4 |" in page
    assert "| with 5 insights and 2 examples | 4 of 4 | 51% to 100% | 4 |" in page
    assert f"{4 - passed} won, 0 lost; difference +{(4 - passed) / 4:.2f}, 95 % interval" in page
    assert f": {INSIGHT}" in page
    assert "SKIP" in page
    assert {(request.temperature, request.max_tokens) for request in model.requests} == {(0.0, 400)}


def test_a_test_task_teaches_nothing_and_is_no_example_of_itself(tmp_path, tasks):
    """After the training no trial is kept, and in the arm without the bank no prompt holds anything of it."""
    _, argv = arguments(tmp_path, tasks)
    model = Model(taught)
    insight_bank.main(argv, model)
    arms = [said(one) for one in model.requests if one.role == "actor"][-8:]
    assert not any("<insights>" in text or "<examples>" in text for text in arms[::2])
    assert all("<insights>" in text and "<examples>" in text for text in arms[1::2])
    for text in arms:
        number = re.findall(r"<task>def shift(\d+)", text)[0]
        assert f"Task: def shift{number}(" not in text


@pytest.mark.parametrize("served", [5, *(pytest.param(n, marks=pytest.mark.slow) for n in (1, 8, 9, 12))])
def test_one_that_was_stopped_goes_on_without_asking_again(tmp_path, tasks, served):
    """A provider that goes down in the middle ends it with words; the same command asks only what is missing."""
    out, argv = arguments(tmp_path, tasks)
    left = iter(range(served))

    def tired(request):
        if next(left, None) is None:
            raise ModelUnavailable("the server is down")
        return taught(request)

    first = Model(tired)
    with pytest.raises(SystemExit, match="goes on"):
        insight_bank.main(argv, first)
    second = Model(taught)
    assert insight_bank.main(argv, second) == 0
    (tmp_path / "whole").mkdir()
    other, words = arguments(tmp_path / "whole", tasks)
    whole = Model(taught)
    insight_bank.main(words, whole)
    assert out.read_text() == other.read_text()
    assert served + len(second.requests) == len(whole.requests)
