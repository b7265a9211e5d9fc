"""Dataclasses to JSON and back, for ever."""

from __future__ import annotations

import json
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrial.core.budget import Usage
from retrial.core.codec import canonical_json, decode, encode
from retrial.core.keys import digest, first_difference
from retrial.core.messages import Message, ModelRequest, ModelResponse, ToolCall, ToolSpec
from retrial.core.reports import Check, Isolation, TestReport
from retrial.core.tasks import Attempt, Lesson, Task, Verdict
from retrial.errors import ConfigError

texts = st.text(max_size=20)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | texts,
    lambda inner: st.dictionaries(texts, inner, max_size=3) | st.lists(inner, max_size=3),
    max_leaves=6,
)
calls = st.builds(ToolCall, id=texts, name=texts, arguments=st.dictionaries(texts, values, max_size=2))
messages = st.builds(
    Message,
    role=texts,
    content=st.none() | texts,
    tool_calls=st.lists(calls, max_size=2).map(tuple),
    tool_call_id=st.none() | texts,
)
usages = st.builds(
    Usage, calls=st.integers(0, 9), input_tokens=st.integers(0, 99), cost_usd=st.none() | st.floats(0, 9)
)
requests = st.builds(
    ModelRequest,
    role=texts,
    messages=st.lists(messages, max_size=3).map(tuple),
    tools=st.lists(st.builds(ToolSpec, name=texts), max_size=2).map(tuple),
    temperature=st.none() | st.floats(0, 2),
    stop=st.lists(texts, max_size=2).map(tuple),
)
responses = st.builds(ModelResponse, text=texts, tool_calls=st.lists(calls, max_size=2).map(tuple), usage=usages)
checks = st.builds(Check, name=texts, passed=st.booleans(), actual=st.none() | texts)
reports = st.builds(
    TestReport,
    checks=st.lists(checks, max_size=3).map(tuple),
    finished=st.booleans(),
    isolation=st.builds(Isolation, level=texts),
)
verdicts = st.builds(
    Verdict,
    passed=st.booleans(),
    score=st.floats(0, 1),
    checks=st.lists(checks, max_size=2).map(tuple),
    isolation=st.none() | st.builds(Isolation, level=texts),
)
attempts = st.builds(
    Attempt,
    trial=st.integers(1, 9),
    output=texts,
    verdict=verdicts,
    lessons_used=st.lists(texts, max_size=2).map(tuple),
)
tasks = st.builds(
    Task,
    prompt=texts,
    tests=st.lists(texts, max_size=2).map(tuple),
    metadata=st.dictionaries(texts, values, max_size=2),
)


@given(
    st.one_of(
        requests,
        responses,
        reports,
        attempts,
        tasks,
        st.builds(Lesson, id=texts, text=texts, faults=st.lists(texts, max_size=2).map(tuple)),
    )
)
def test_what_is_encoded_comes_back_the_same_through_json(value):
    """Every value survives being written as JSON and read again."""
    assert decode(type(value), json.loads(json.dumps(encode(value)))) == value


@given(values)
def test_a_digest_does_not_depend_on_the_order_of_keys(value):
    """Two objects with the same content have one digest, whatever order they were built in."""
    turned = dict(reversed(list(value.items()))) if isinstance(value, dict) else value
    assert digest(turned) == digest(value)
    assert canonical_json(value).isascii()


def test_a_new_field_with_a_default_changes_no_old_digest():
    """A type that grows a field encodes old values as before, and reads what was written before."""

    @dataclass(frozen=True, kw_only=True)
    class Old:
        name: str
        size: int = 0

    @dataclass(frozen=True, kw_only=True)
    class New:
        name: str
        size: int = 0
        colour: str = "none"

    assert encode(Old(name="a")) == encode(New(name="a")) == {"name": "a"}
    assert decode(New, {"name": "a", "size": 2}) == New(name="a", size=2)
    assert decode(Old, {"name": "a", "colour": "red"}) == Old(name="a")


@pytest.mark.parametrize("value", [float("nan"), {1, 2}, object(), b"x"])
def test_what_is_no_json_is_refused(value):
    """NaN, sets and other things that JSON cannot say raise with their kind."""
    with pytest.raises(ConfigError, match="not a JSON value"):
        canonical_json([value])


def test_a_value_within_itself_is_refused():
    """A circle raises instead of running for ever."""
    circle: list = []
    circle.append(circle)
    with pytest.raises(ConfigError):
        canonical_json(circle)


@given(values, values)
def test_the_first_difference_is_found_exactly_if_there_is_one(one, two):
    """Equal values have none; where one is named, the two sides really differ."""
    found = first_difference(one, two)
    if found is None:
        assert canonical_json(one) == canonical_json(two) or one == two or {type(one), type(two)} <= {dict, list}
    else:
        assert found[1] != found[2]
    assert first_difference(one, one) is None
