"""The GSM8K experiment, with a scripted model: what it counts, that it goes on, and what it writes."""

from __future__ import annotations

import json

import gsm8k
import pytest

from retrial.errors import ModelUnavailable
from worlds import Model, reply, said


@pytest.fixture
def questions(tmp_path):
    """Six questions whose answers are 0 to 5."""
    path = tmp_path / "test.jsonl"
    rows = [{"question": f"What is {n} + 0?", "answer": f"{n} + 0 = {n}\n#### {n}"} for n in range(6)]
    path.write_text("\n".join(json.dumps(row) for row in rows) + "\n")
    return path


def weak(request):
    """Right when it revises, and on even numbers."""
    number = next(n for n in range(6) if f"What is {n} + 0?" in said(request))
    right = number % 2 == 0 or "Other agents answered" in said(request)
    return reply(f"Let me see. Answer: ${number if right else number + 1}.00", tokens=7)


def arguments(tmp_path, questions):
    out = tmp_path / "gsm8k.md"
    given = {"--model": "openai:weak", "--data": questions, "--store": tmp_path / "store.db", "--out": out}
    return out, [str(part) for pair in given.items() for part in pair] + ["--questions", "6"]


def test_arms_are_compared_question_by_question(tmp_path, questions):
    """What each arm got right, at what cost, and whether the difference could be chance, stands on the page."""
    out, argv = arguments(tmp_path, questions)
    model = Model(weak)
    assert gsm8k.main(argv, model) == 0
    page = out.read_text()
    assert "| single shot | 1.0 | 3 of 6 | 50% | 19% to 81% | 7 | 0 of 6 |" in page
    assert "| majority of 4 samples | 4.0 | 3 of 6 |" in page
    assert "| debate, 2 agents, 1 round, majority | 4.0 | 6 of 6 |" in page
    assert "3 won, 0 lost; difference +0.50, 95 % interval " in page
    assert ", p = 0.25: no difference that could be told from chance" in page
    assert len(model.keys) == 6 * (1 + 4 + 4)
    assert {request.max_tokens for request in model.requests} == {400}
    assert json.loads(out.with_suffix(".json").read_text())["single"] == {
        str(n): n % 2 == 0 for n in (5, 2, 4, 3, 1, 0)
    }


def test_a_run_that_was_stopped_goes_on_without_asking_again(tmp_path, questions):
    """A provider that goes down in the middle ends it with words; the same command asks only what is missing.

    The run whose samples failed in part does not count and is made anew.
    """
    out, argv = arguments(tmp_path, questions)
    left = iter(range(20))

    def failing(request):
        if next(left, None) is None:
            raise ModelUnavailable("503 from the provider")
        return weak(request)

    first = Model(failing)
    with pytest.raises(SystemExit, match="503 from the provider; the same command goes on"):
        gsm8k.main(argv, first)
    assert "on 2 questions" in out.read_text()
    second = Model(weak)
    gsm8k.main(argv, second)
    assert len(second.keys) == 6 * 9 - 2 * 9 - 1, "two questions and one call of the third are there"
    assert "on 6 questions" in out.read_text()
    third = Model(weak)
    gsm8k.main(argv, third)
    assert third.keys == []


@pytest.mark.parametrize(
    ("answer", "right"), [("5", True), ("$5.00", True), ("5 6", False), ("", False), (None, False)]
)
def test_no_answer_is_never_right(answer, right):
    """The last number counts, and a reply without one is wrong."""
    assert gsm8k.is_right(answer, "2 + 3 = 5\n#### 5") is right
