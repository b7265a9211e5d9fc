"""Evaluators of evaluators: cheap first, the lowest trust, every check."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judging import verdict_on
from retrial.core.reports import Check
from retrial.core.tasks import Task, Verdict
from retrial.errors import ConfigError
from retrial.evaluate import Judge, Person, PersonHandler, evaluator_from
from retrial.evaluate.compose import AllOf, FirstFailing, Weighted
from worlds import Model, reply

TASK = Task(id="t", prompt="Which tower?", answer="Eiffel Tower")


class Says:
    """An evaluator that says what it is told to."""

    def __init__(self, passed, score=None, trust="tests", calls=0, log=None):
        self.passed, self.trust, self.max_calls, self.log = passed, trust, calls, log
        self.score = float(passed) if score is None else score

    def spec(self):
        return {"kind": "says"}

    async def __call__(self, run, task, output):
        if self.log is not None:
            self.log.append(self)
        reason = "" if self.passed else f"not by {self.trust}"
        check = Check(name=self.trust, passed=self.passed, message=reason)
        return Verdict(passed=self.passed, score=self.score, reason=reason, checks=(check,), trust=self.trust)


async def test_all_of_needs_all_and_names_every_fault():
    """The score is the mean, the trust the lowest, the checks and reasons those of all parts."""
    verdict = await verdict_on(AllOf([Says(True), Says(False, 0.5, "rubric"), Says(False, 0, "match")]), "banana")
    assert (verdict.passed, verdict.score, verdict.trust) == (False, 0.5, "rubric")
    assert verdict.reason == "not by rubric\nnot by match"
    assert [check.name for check in verdict.checks] == ["tests", "rubric", "match"]
    assert (await verdict_on(AllOf([Says(True), Says(True)]), "x")).passed


async def test_first_failing_stops_where_it_fails_and_asks_dear_ones_last():
    """A part that calls a model is not asked about what a cheap one refuses; a person comes last."""
    log = []
    dear, cheap = Says(True, trust="other_model", calls=2, log=log), Says(False, 0.5, "match", log=log)
    verdict = await verdict_on(FirstFailing([Person(), dear, cheap]), "banana", handlers=[PersonHandler(lambda _: "y")])
    assert log == [cheap]
    assert (verdict.passed, verdict.trust, verdict.score) == (False, "match", pytest.approx(1 / 6))
    cheap.passed, cheap.score = True, 1.0
    passed = await verdict_on(FirstFailing([Person(), dear, cheap]), "x", handlers=[PersonHandler(lambda _: "y")])
    assert (passed.passed, passed.score, passed.trust) == (True, 1.0, "other_model")


@pytest.mark.parametrize(("threshold", "passes"), [(0.7, True), (0.75, True), (0.76, False), (1.0, False)])
async def test_weighted_compares_the_mean_with_the_threshold(threshold, passes):
    """Weights need not sum to one."""
    weighted = Weighted([Says(True), Says(False, 0.0)], weights=[6, 2], threshold=threshold)
    verdict = await verdict_on(weighted, "x")
    assert (verdict.passed, verdict.score) == (passes, 0.75)


@pytest.mark.parametrize("kind", ["all_of", "first_failing", "weighted"])
async def test_a_known_bad_output_fails(kind):
    """A composition of real evaluators refuses a banana, and is made again from its spec."""
    parts = [{"kind": "normalised"}, {"kind": "judge", "rubric": "names a tower"}]
    evaluator = evaluator_from({"kind": kind, "parts": parts})
    model = Model(lambda request: reply('{"passed": true}'))
    assert not (await verdict_on(evaluator, "banana", TASK, model=model)).passed
    assert (await verdict_on(evaluator, "eiffel tower", TASK, model=model)).trust == "same_model"
    assert evaluator_from(evaluator.spec()).spec() == evaluator.spec()
    assert evaluator.max_calls == 2


def test_what_cannot_be_is_refused():
    """No parts, other numbers of weights, parts that are no specs, a misspelt part."""
    for spec in (
        {"kind": "all_of", "parts": []},
        {"kind": "all_of", "parts": "exact"},
        {"kind": "all_of", "parts": ["exact"]},
        {"kind": "weighted", "parts": [{"kind": "exact"}], "weights": [1, 2]},
        {"kind": "weighted", "parts": [{"kind": "exact"}], "weights": [0]},
        {"kind": "weighted", "parts": [{"kind": "exact"}], "threshold": 2},
    ):
        with pytest.raises(ConfigError):
            evaluator_from(spec)
    with pytest.raises(ConfigError, match="did you mean 'exact'"):
        evaluator_from({"kind": "all_of", "parts": [{"kind": "exakt"}]})
    assert Judge("x").max_calls == 2


@given(st.lists(st.tuples(st.booleans(), st.floats(0, 0.99)), min_size=1, max_size=6))
async def test_whatever_the_parts_say_a_pass_is_a_pass_of_all_and_scores_are_bounded(says):
    """For any parts: all_of and first_failing agree on passing, and what fails scores below 1."""
    parts = [Says(passed, 1.0 if passed else score) for passed, score in says]
    verdicts = [await verdict_on(kind(parts), "x") for kind in (AllOf, FirstFailing, Weighted)]
    for verdict in verdicts:
        assert verdict.passed is all(passed for passed, _ in says)
        assert 0 <= verdict.score <= (1 if verdict.passed else 0.99)
        assert bool(verdict.reason) is not verdict.passed
