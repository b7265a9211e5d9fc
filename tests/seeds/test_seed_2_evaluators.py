"""Seed 2, decision 1 and the first failure mode: an evaluator that can fail, ranked by how far it can be trusted."""

from __future__ import annotations

import json

import pytest

from judging import judged, verdict_on
from retrial.core.tasks import Status, Task
from retrial.errors import ConfigError, ModelUnavailable
from retrial.evaluate import Judge, PersonHandler, PydanticHandler, SqlHandler, ValidationHandler, evaluator_from
from retrial.evaluate.registry import EVALUATORS
from retrial.evaluate.trust import LADDER, trust_of
from retrial.sandbox.opening import open_sandbox
from retrial.testbench.handler import TestsHandler
from retrial.workbench.handler import CommandHandler
from worlds import Model, reply, said

SUM = Task(id="sum", prompt="sum 2 and 2", answer="4", tests=("assert add(2, 2) == 4",), entry_point="add")
SPECS = {
    "all_of": {"parts": [{"kind": "exact"}]},
    "command": {"command": "grep -rqx 4 .", "project": "", "target": "answer.txt"},
    "critic": {},
    "exact": {},
    "f1": {},
    "faithfulness": {},
    "first_failing": {"parts": [{"kind": "exact"}, {"kind": "person"}]},
    "fuzzy": {},
    "json_schema": {"schema": {"type": "object"}},
    "judge": {"rubric": "the sum"},
    "normalised": {},
    "numeric": {},
    "panel": {"judges": [{"kind": "judge", "rubric": "the sum"}, {"kind": "critic"}]},
    "person": {},
    "pydantic_model": {"model": "message"},
    "rubric": {"patterns": [r"\d"]},
    "sql": {"database": "none"},
    "unit_tests": {},
    "validator": {"name": "sum"},
    "weighted": {"parts": [{"kind": "exact"}]},
}
"""Every kind with the least that it needs."""


def strict(request):
    """A judge that does its work."""
    if "claims" in said(request):
        return reply(json.dumps({"claims": [{"claim": "banana", "supported": False, "why": "not stated"}]}))
    return reply(json.dumps({"passed": False, "reason": "it is no sum"}))


async def by(kind, output, **options):
    """What an evaluator of that kind says about an output for the sum, with everything attached that one may ask."""
    from shapes import Message

    typed = iter(["n", "it is no sum"])
    handlers = [
        PersonHandler(lambda _: next(typed)),
        PydanticHandler({"message": Message}),
        SqlHandler(),
        TestsHandler(open_sandbox()),
        CommandHandler(open_sandbox()),
        ValidationHandler({"sum": lambda answer, context: (answer == "4", "it is not the sum")}),
    ]
    evaluator = evaluator_from({"kind": kind, **SPECS[kind], **options})
    return await verdict_on(evaluator, output, SUM, model=Model(strict), handlers=handlers)


@pytest.mark.parametrize("kind", EVALUATORS)
async def test_evaluator_fails_a_known_bad_output(kind):
    """Sum 2 and 2 is no banana, whatever judges; if this ever passes, the pattern is dead."""
    verdict = await by(kind, "banana")
    assert not verdict.passed
    assert verdict.score < 1
    assert verdict.reason
    assert verdict.trust in LADDER


@pytest.mark.parametrize("kind", EVALUATORS)
def test_each_is_made_again_from_its_spec(kind):
    """What a journal holds makes an equal evaluator, whose options are JSON."""
    evaluator = evaluator_from({"kind": kind, **SPECS[kind]})
    spec = json.loads(json.dumps(evaluator.spec()))
    again = evaluator_from(spec)
    assert type(again) is type(evaluator)
    assert json.loads(json.dumps(again.spec())) == spec
    assert again.max_calls == evaluator.max_calls


def test_the_ladder_is_the_seeds():
    """Tests, match, schema, rubric, person, another model, and last the same model."""
    assert LADDER == ("tests", "match", "schema", "rubric", "person", "other_model", "same_model")


async def test_a_judge_is_given_the_output_and_the_criteria_only():
    """Never the agent's reasoning, lessons or earlier attempts: one message with three parts."""
    model = Model(strict)
    await verdict_on(Judge(["names the sum"]), "five", SUM, model=model)
    (request,) = model.requests
    assert [message.role for message in request.messages] == ["user"]
    for part in ("<task>sum 2 and 2</task>", "<rubric>- names the sum</rubric>", "<attempt>five</attempt>"):
        assert part in said(request)
    assert SUM.tests[0] not in said(request)


async def test_a_verdict_has_passed_score_reason_and_fix_hint():
    """Failure is cheap to express, and all four are kept."""
    text = '{"passed": false, "score": 0.25, "reason": "no unit", "fix_hint": "add km"}'
    verdict = await verdict_on(Judge("has a unit"), "42", SUM, model=Model(lambda _: reply(text)))
    assert (verdict.passed, verdict.score, verdict.reason, verdict.fix_hint) == (False, 0.25, "no unit", "add km")


def test_the_same_model_is_never_the_judge_unless_it_is_asked_for_and_marked():
    """The refusal recommends another judge, or a plain tool loop."""
    with pytest.raises(ConfigError, match=r"another model as the judge.*plain tool loop.*allow_same_model"):
        trust_of("anthropic:claude-haiku-4-5", "anthropic:claude-haiku-4-5")


async def test_an_environmental_failure_is_no_verdict():
    """A provider that is down ends the run, resumable, and spends no attempt."""

    def down(request):
        raise ModelUnavailable("529 overloaded")

    verdict, result = await judged(Judge("x"), "4", SUM, model=Model(down))
    assert (verdict, result.status) == (None, Status.FAILED)
