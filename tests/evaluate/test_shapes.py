"""Data of a shape: the fault is named by its place, its value and what belongs there."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judging import judged, verdict_on
from retrial.core.tasks import Status
from retrial.errors import ConfigError
from retrial.evaluate import PydanticHandler, evaluator_from
from retrial.evaluate.json_answer import ABSENT, read_json
from retrial.evaluate.json_schema import JsonSchema
from retrial.evaluate.pydantic_model import PydanticModel
from shapes import Message

SCHEMA = {
    "type": "object",
    "required": ["enrolments"],
    "additionalProperties": False,
    "properties": {
        "enrolments": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "required": ["student", "date"],
                "properties": {
                    "student": {"type": "string", "minLength": 1},
                    "date": {"type": "string", "format": "date"},
                    "level": {"enum": ["A", "B"]},
                    "fee": {"anyOf": [{"type": "number", "minimum": 0}, {"type": "null"}]},
                },
            },
        }
    },
}
RIGHT = {"enrolments": [{"student": "Ada", "course": "SQL", "date": "2026-11-15"}]}
BY_SCHEMA = JsonSchema(SCHEMA)
BY_MODEL = PydanticModel("shapes:Message")
BOTH = pytest.mark.parametrize("evaluator", [BY_SCHEMA, BY_MODEL], ids=["schema", "model"])


async def shape_of(evaluator, output):
    return await verdict_on(evaluator, output, handlers=[PydanticHandler({"message": Message})])


@BOTH
@pytest.mark.parametrize(
    "output",
    [
        "",
        "banana",
        "None",
        "null",
        "{}",
        "[]",
        '"banana"',
        '{"enrolments": []}',
        "```json\n```",
        "{",
        "[" * 5000,
        '{"a": NaN}',
        '{"enrolments": 1e999}',
    ],
)
async def test_a_known_bad_output_fails(evaluator, output):
    """Emptiness, a banana, JSON of another shape, and what only begins like JSON."""
    verdict = await shape_of(evaluator, output)
    assert (verdict.passed, verdict.trust) == (False, "schema")
    assert verdict.reason
    assert verdict.score < 1


@BOTH
@pytest.mark.parametrize(
    "form",
    ["{}", "```json\n{}\n```", "Here it is:\n```\n{}\n```\nDone.", "The result: {}"],
)
async def test_the_right_shape_passes_with_or_without_a_fence(evaluator, form):
    """Bare, fenced, in prose; the answer is the data alone."""
    verdict = await shape_of(evaluator, form.format("@").replace("@", json.dumps(RIGHT)))
    assert (verdict.passed, verdict.score, verdict.reason) == (True, 1.0, "")
    assert json.loads(verdict.answer) == RIGHT


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"date": "15 Nov"}, 'enrolments[0].date: "15 Nov" is not a date YYYY-MM-DD'),
        ({"date": "2026-02-30"}, 'enrolments[0].date: "2026-02-30" is not a date YYYY-MM-DD'),
        ({"student": 7}, "enrolments[0].student: 7 is not a string"),
        ({"student": ""}, 'enrolments[0].student: "" has fewer than 1 characters'),
        ({"level": "C"}, 'enrolments[0].level: "C" is not one of "A", "B"'),
        ({"fee": -1}, "enrolments[0].fee: -1 is less than 0"),
        ({"fee": True}, "enrolments[0].fee: true is not a number"),
    ],
)
async def test_a_message_names_the_place_the_value_and_what_belongs_there(change, message):
    """One fault, one sentence that a reflector can use."""
    data = {"enrolments": [{**RIGHT["enrolments"][0], **change}]}
    verdict = await shape_of(BY_SCHEMA, json.dumps(data))
    assert verdict.reason.startswith(message[:-9])
    assert verdict.reason == message or "fee" in message
    assert verdict.score == 0.5


async def test_what_is_missing_or_too_much_is_named():
    """Each missing field is a check of its own; of unknown fields those that may be there are told."""
    verdict = await shape_of(BY_SCHEMA, '{"enrolments": [{}], "note": 1}')
    assert verdict.reason.splitlines() == [
        "- the whole: {\"enrolments\": [{}], \"note\": 1} holds 'note', and only 'enrolments' may be there",
        "- enrolments[0]: 'student' is missing",
        "- enrolments[0]: 'date' is missing",
    ]
    assert [check.name for check in verdict.checks] == ["the whole", "enrolments[0]", "enrolments[0]"]


async def test_many_faults_are_counted():
    """Ten are told and the rest is a number."""
    verdict = await shape_of(BY_SCHEMA, json.dumps({"enrolments": [{"student": 1}] * 20}))
    assert verdict.reason.splitlines()[-1] == "- and 30 more"


async def test_a_pydantic_model_says_the_same_in_its_words():
    """The place, the value and pydantic's message; a registered name and an import path are one."""
    output = '{"enrolments": [{"student": "Ada", "date": "15 Nov"}]}'
    for name in ("message", "shapes:Message"):
        verdict = await shape_of(PydanticModel(name), output)
        assert verdict.reason.splitlines()[0] == "- enrolments[0].course: Field required"
        assert verdict.reason.splitlines()[1].startswith('- enrolments[0].date: "15 Nov": Input should be a valid date')


async def test_a_model_that_is_not_there_or_breaks_is_no_verdict():
    """The nearest name is told; a validator that raises what it should not is the model's fault."""
    for name, message in (
        ("mesage", "did you mean 'message'"),
        ("shapes:Mesage", "cannot be had"),
        ("no.such.module:X", "cannot be had"),
    ):
        verdict, result = await judged(PydanticModel(name), "{}", handlers=[PydanticHandler({"message": Message})])
        assert (verdict, result.status) == (None, Status.FAILED)
        assert message in result.error
    verdict, result = await judged(PydanticModel("shapes:Broken"), '{"x": 1}', handlers=[PydanticHandler()])
    assert (verdict, result.status) == (None, Status.FAILED)
    assert "a fault of the model" in result.error


async def test_what_is_nearly_json_is_mended_only_where_that_is_allowed():
    """A trailing comma or a missing bracket of an extraction; never where repair is off, never a bare word."""
    nearly = json.dumps(RIGHT)[:-2] + ",]"
    assert (await shape_of(BY_SCHEMA, nearly)).passed
    assert "not JSON" in (await shape_of(JsonSchema(SCHEMA, repair=False), nearly)).reason


def test_a_schema_that_cannot_be_used_is_refused():
    """An empty one lets everything pass, a wrong one is named by its place."""
    with pytest.raises(ConfigError, match="lets everything pass"):
        evaluator_from({"kind": "json_schema", "schema": {}})
    with pytest.raises(ConfigError, match=r"properties\.a\.type"):
        evaluator_from({"kind": "json_schema", "schema": {"properties": {"a": {"type": "strnig"}}}})
    with pytest.raises(ConfigError, match="module:Class"):
        evaluator_from({"kind": "pydantic_model", "model": " "})


async def test_a_reference_to_elsewhere_is_never_fetched():
    """A remote reference breaks the evaluator, and one inside the schema works."""
    remote = JsonSchema({"$ref": "https://example.org/schema.json"})
    verdict, result = await judged(remote, "{}")
    assert (verdict, result.status) == (None, Status.FAILED)
    local = JsonSchema({"$ref": "#/$defs/x", "$defs": {"x": {"type": "integer"}}})
    assert not (await verdict_on(local, '"a"')).passed


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=8,
    )
)
def test_whatever_is_json_is_read_as_it_is(value):
    """Repair never touches what is JSON already, in a fence or not."""
    assert read_json(json.dumps(value)) == (value, "")
    assert read_json(f"```json\n{json.dumps(value)}\n```") == (value, "")


@given(st.text())
def test_a_text_is_read_or_refused_with_a_message(text):
    """Never an exception, and never both."""
    value, message = read_json(text)
    assert (value is ABSENT) is bool(message)
