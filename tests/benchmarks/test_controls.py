"""The experiment with the controls, with a scripted model: what is equal between arms, that it goes on, what it writes."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import controls
import pytest

from retrial.errors import ModelUnavailable
from worlds import Model, reply, said


@pytest.fixture
def tasks(shifts):
    """Six tasks."""
    return shifts(6)


def slow_learner(request):
    """Right at first on every third task, later where it was told anything of what went wrong."""
    if request.role == "reflector":
        return reply("Next time, add the offset that the task names.")
    asked = said(request)
    number = int(re.findall(r"shift(\d+)", asked)[0])
    right = (
        number % 3 == 0 or "Next time" in asked or len(request.messages) > 1 or "said" in asked or "Repair it" in asked
    )
    return reply(f"def shift{number}(x):\n    return x + {number if right else number + 1}", tokens=5)


def arguments(tmp_path, tasks):
    out = tmp_path / "page.md"
    given = {"--model": "openai:slow", "--tasks": tasks, "--store": tmp_path / "store.db", "--out": out, "--count": 6}
    return out, [str(part) for pair in given.items() for part in pair]


def test_only_what_failed_at_first_is_given_to_every_arm(tmp_path, tasks):
    """The page holds what each arm solved of it at what cost, and the comparison with a blind retry."""
    out, argv = arguments(tmp_path, tasks)
    assert controls.main(argv, Model(slow_learner)) == 0
    page, passed = out.read_text(), json.loads(out.with_suffix(".json").read_text())
    assert "Of 6 tasks of `tasks.jsonl`" in page
    assert "2 passed at the first attempt" in page
    assert {name: sum(ends.values()) for name, ends in passed.items()} == {
        "retry": 0, "lessons": 4, "checks": 4, "repair": 4, "critic": 4, "search": passed["search"]["t1"] * 4,
    }  # fmt: skip
    assert "| blind retry | 4 | 0 of 4 | 0% to 49% | 4.0 |" in page
    assert "| lessons (Reflexion) | 7 | 4 of 4 | 51% to 100% | 3.0 |" in page
    assert "- GenerateTestRepair: 4 won, 0 lost; difference +1.00, 95 % interval" in page


def test_every_arm_begins_with_the_same_failed_attempt(tmp_path, tasks):
    """It is asked for once, at temperature 0; whatever an arm asks after that is at the default one."""
    _, argv = arguments(tmp_path, tasks)
    model = Model(slow_learner)
    controls.main(argv, model)
    firsts, later = model.requests[:6], model.requests[6:]
    assert {request.temperature for request in firsts} == {0.0}
    assert {request.temperature for request in later} == {None}
    retries = [request for request in later if request in [replace(one, temperature=None) for one in firsts]]
    assert len(retries) == 4 * 3, "three blind retries of each of the four"


def test_an_experiment_that_was_stopped_goes_on_without_asking_again(tmp_path, tasks):
    """What is in the store is not paid for twice, and ends up as without the stop."""
    out, argv = arguments(tmp_path, tasks)
    left = iter(range(13))

    def failing(request):
        if next(left, None) is None:
            raise ModelUnavailable("503 from the provider")
        return slow_learner(request)

    first = Model(failing)
    with pytest.raises(SystemExit, match="the same command goes on from there"):
        controls.main(argv, first)
    second = Model(slow_learner)
    controls.main(argv, second)
    whole, other = Model(slow_learner), [*argv]
    other[other.index("--store") + 1] = str(tmp_path / "other.db")
    stopped = out.read_text()
    controls.main(other, whole)
    assert 13 + len(second.requests) == len(whole.requests)
    assert out.read_text() == stopped
