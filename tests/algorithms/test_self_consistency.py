"""Self-consistency: independent samples, and what most of them say."""

from __future__ import annotations

import pytest

from retrial.algorithms import SelfConsistency
from retrial.algorithms.answers import answer_in, ballot, majority
from retrial.core.tasks import Status
from retrial.errors import ConfigError, ModelUnavailable
from worlds import Model, engine_with, reply


async def sampled(replies, **options):
    """A run whose n-th sample gets the n-th reply; None for a call that fails."""
    waiting = iter(replies)

    def answer(request):
        found = next(waiting)
        if found is None:
            raise ModelUnavailable("503 from the provider")
        return reply(found)

    model = Model(answer)
    async with engine_with(model) as engine:
        return await engine.run(SelfConsistency(samples=len(replies), **options), {"task": "6 x 2?"}), model


async def test_the_answer_is_what_most_samples_say():
    """Answers that differ in form alone are counted together, and the value shows all of them."""
    out, model = await sampled(["Answer: 10", "So. Answer: 12", "Answer: $12.00", None])
    assert out.value == {"answer": "12", "votes": 2, "samples": 4, "answers": ["10", "12", "$12.00", None]}
    assert len({request.messages for request in model.requests}) == 1


async def test_it_fails_only_if_every_sample_fails():
    """One reply is enough; without any the run is FAILED and names every call."""
    out, _ = await sampled([None, "Answer: 3"])
    assert (out.status, out.value["answer"]) == (Status.COMPLETED, "3")
    out, _ = await sampled([None, None])
    assert (out.status, out.value) == (Status.FAILED, None)
    assert "every sample failed: 503" in out.error


async def test_the_temperature_is_handed_on():
    """Samples are asked at the temperature that was given."""
    _, model = await sampled(["1", "2"], temperature=0.7)
    assert {request.temperature for request in model.requests} == {0.7}


@pytest.mark.parametrize("samples", [0, 41])
def test_it_is_bounded(samples):
    """1 to 40 samples."""
    with pytest.raises(ConfigError, match=f"samples={samples}"):
        SelfConsistency(samples=samples)


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ("Answer: 10\nNo.\nAnswer: 12", "12"),
        ("**Answer:** 12", "12"),
        ("**Answer**: 12", "12"),
        ("The answer is 12", "The answer is 12"),
        ('Answer:\n```python\nprint("Answer:", 1)\n```', '```python\nprint("Answer:", 1)\n```'),
        ("Answer:", ""),
        ("", ""),
    ],
)
def test_the_answer_is_what_follows_the_last_answer_mark(said, answer):
    """Emphasis is no part of it, a mark within quotes is none, and a reply without a mark is the answer."""
    assert answer_in(said) == answer


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("12", "12.0", True),
        ("$1,200", "1200", True),
        (r"\boxed{12}", "12.", True),
        ("12 km", "12 KM", True),
        ("12 km", "12 m", False),
        ("-5", "5", False),
        ("3.5", "35", False),
        ("1/2", "0.5", True),
        ("(B)", "b", True),
        ("x < 3", "x > 3", False),
        ("12 or 13", "12", False),
        ("The Tower", "the  tower.", True),
    ],
)
def test_answers_are_counted_as_one_only_if_they_differ_in_form(one, other, same):
    """Numbers count by value and unit, texts without case, spaces and what stands around them."""
    assert (ballot(one) == ballot(other)) is same


def test_of_equally_many_the_one_that_was_given_first_wins():
    """Nothing but the order of the samples decides a tie."""
    assert majority(["b", "a", "a", "B"]) == ("b", 2)
