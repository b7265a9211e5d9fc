"""Schemas as servers write them: what fits is judged as the server means it, and what cannot be used is refused."""

from __future__ import annotations

import json

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp import types
from mcp.server.lowlevel import Server

from retrial.core.effects import CallTool
from retrial.errors import ConfigError
from retrial.tools import ToolHandler, mcp_tools
from retrial.tools.schema import checkable


def serving(schema, name="find"):
    """A server with one tool that has this schema and answers ``found``."""

    async def tools(context, params):
        return types.ListToolsResult(tools=[types.Tool(name=name, input_schema=schema)])

    async def call(context, params):
        return types.CallToolResult(content=[types.TextContent(type="text", text="found")])

    return Server("evil", on_list_tools=tools, on_call_tool=call)


async def called(schema, **arguments):
    """What a call with these arguments comes to."""
    async with mcp_tools(serving(schema)) as registry:
        return (await ToolHandler(registry)(CallTool(tool="find", arguments=arguments), "turn.1/tool.1")).text


def of(**keywords):
    return {"type": "object", **keywords}


CITY = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
FITTING = [
    (of(properties={"start": CITY, "end": {"$ref": "#/properties/start"}}), {"end": {"name": "Athens"}}),
    (of(properties={"start": {"$ref": "#/definitions/City"}}, definitions={"City": CITY}), {"start": {"name": "x"}}),
    (
        {"$schema": "http://json-schema.org/draft-07/schema#", **of(properties={"pattern": {"type": "string"}})},
        {"pattern": "(("},
    ),
    (of(properties={"name": {"type": "string", "pattern": r"^\\p{L}+$"}}), {"name": "Athens"}),
    (of(properties={"name": {"type": "string", "pattern": "^(a+)+$"}}), {"name": "a" * 64 + "!"}),
    (of(patternProperties={"^(a+)+$": {"type": "string"}}, additionalProperties=False), {"a" * 64 + "!": 1}),
    (
        of(properties={"tree": {"$ref": "#/$defs/t"}}, **{"$defs": {"t": of(properties={"t": {"$ref": "#/$defs/t"}})}}),
        {"tree": {"t": {"t": {}}}},
    ),
]


@pytest.mark.parametrize(("schema", "arguments"), FITTING)
async def test_arguments_that_fit_reach_the_server(schema, arguments):
    """References lead anywhere within the schema; a regular expression is the server's to try."""
    assert await called(schema, **arguments) == "found"


WRONG = [
    (
        of(properties={"start": CITY, "end": {"$ref": "#/properties/start"}}),
        {"end": {"name": 5}},
        "argument 'end'.name is 5, expected a string",
    ),
    (
        of(properties={"start": {"$ref": "#/definitions/City"}}, definitions={"City": CITY}),
        {"start": {}},
        "argument 'start' lacks 'name'",
    ),
    (of(required=["city"]), {}, "argument 'city' is missing (any value)"),
    (of(additionalProperties={"type": "integer"}), {"n": "x"}, "argument 'n' is 'x', expected an integer"),
    (
        of(properties={"a": {}, "b": {}}, anyOf=[{"required": ["a"]}, {"required": ["b"]}]),
        {},
        "the call is {}, expected an object with 'a' or an object with 'b'",
    ),
    (of(properties={"a": {}}, minProperties=1), {}, "the call: {} should be non-empty"),
    (
        of(properties={"o": of(additionalProperties=False, properties={"k": {}})}),
        {"o": {"z": 1}},
        "argument 'o' holds 'z', expected 'k'",
    ),
]


@pytest.mark.parametrize(("schema", "arguments", "words"), WRONG)
async def test_arguments_that_do_not_fit_never_reach_it(schema, arguments, words):
    """Whatever the schema says of the arguments, alone and together, holds before the call."""
    assert await called(schema, **arguments) == f"InvalidArguments: {words}"


DRAFT = "https://json-schema.org/draft/2020-12/schema"
SLOW = {"pattern": "^(a+)+$"}
LEFT_TO_THE_SERVER = [
    of(properties={"a": {"$ref": "https://example.org/x"}}),
    of(properties={"a": {"$ref": "file:///etc/passwd"}}),
    of(properties={"a": {"$ref": "#/$defs/none"}}),
    of(properties={"a": {"$ref": "#/description"}}, description="x"),
    of(properties={"a": {"$ref": "#/properties/a"}}),
    of(properties={"a": {"$dynamicRef": "#nope"}}),
    of(properties={"a": {"type": "thing"}}),
    of(properties={"a": {"multipleOf": 0.1}}),
    of(properties={"a": {"$schema": DRAFT, **SLOW}}),
    of(properties={"a": {"default": {"$ref": "x"}, "examples": [{"$ref": "y"}]}}),
    of(properties={"a": {"$id": "https://example.org/a", "$ref": "#/$defs/s", "$defs": {"s": {"type": "null"}}}}),
    of(properties={"a": {"oneOf": [SLOW, {"pattern": "^b"}]}}),
    of(properties={"a": {"not": {"pattern": "^b"}}}),
    of(properties={"a": {"required": True, "exclusiveMinimum": True, "minimum": 0}}),
    of(properties={"a": True}, unevaluatedProperties=False),
    of(properties={"b": {}}, patternProperties={"^a": {}}, additionalProperties=False),
    of(allOf=[{"$ref": "#"}]),
    of(required="a"),
]


@pytest.mark.parametrize("schema", LEFT_TO_THE_SERVER, ids=range(len(LEFT_TO_THE_SERVER)))
@pytest.mark.parametrize("value", ["a" * 64 + "!", 10**400], ids=["text", "number"])
async def test_what_cannot_be_checked_here_is_left_to_the_server(schema, value):
    """No pattern is tried, no other document looked up, and no schema of a server ends a run."""
    assert (await called(schema, a=value)) == "found"


def test_references_that_double_are_followed_only_so_far():
    """A small schema that stands for millions costs no more than a large one."""
    levels = {f"l{n}": {"allOf": [{"$ref": f"#/$defs/l{n + 1}"}] * 2} for n in range(60)}
    assert len(json.dumps(checkable({"$ref": "#/$defs/l0", "$defs": levels}))) < 100_000
    deep = of()
    for _ in range(5000):
        deep = of(properties={"a": deep})
    assert len(json.dumps(checkable(deep))) < 10_000


NAMES = st.sampled_from("ab")
LEAVES = st.sampled_from(
    [
        {},
        True,
        False,
        {"type": "integer"},
        {"type": ["string", "null"]},
        {"const": 1},
        {"enum": ["a", 2]},
        {"minimum": 1},
        {"pattern": "^a"},
        {"$ref": "#"},
        {"$ref": "#/$defs/a"},
        {"minLength": 2},
        {"maxItems": 1},
        {"required": ["a"]},
    ]
)


def within(inner):
    parts = st.lists(inner, min_size=1, max_size=2)
    return st.one_of(
        st.builds(lambda name, one: {"properties": {name: one}, "additionalProperties": False}, NAMES, inner),
        st.builds(lambda one: {"patternProperties": {"^a": one}, "additionalProperties": False}, inner),
        st.builds(lambda kind, some: {kind: some}, st.sampled_from(["allOf", "anyOf", "oneOf"]), parts),
        st.builds(lambda one, two: {"anyOf": [one], "oneOf": [two]}, inner, inner),
        st.builds(lambda kind, one: {kind: one}, st.sampled_from(["items", "not", "if", "then", "contains"]), inner),
    )


VALUES = st.recursive(
    st.sampled_from([None, True, 0, 1, 2, "a", "ab", "b"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(NAMES, inner, max_size=2),
    max_leaves=6,
)


@given(schema=st.recursive(LEAVES, within, max_leaves=8), part=LEAVES, value=VALUES)
def test_it_accepts_whatever_the_schema_accepts(schema, part, value):
    """What is checked here is never stricter than what the server says."""
    whole = {**schema, "$defs": {"a": part}} if isinstance(schema, dict) else schema
    try:
        fits = jsonschema.Draft202012Validator(whole).is_valid(value)
    except RecursionError:
        return
    assert not fits or jsonschema.Draft202012Validator(checkable(whole)).is_valid(value)


async def test_a_name_that_no_provider_takes_is_refused_with_the_way_out():
    """One that is too long cannot be mended without meeting another."""
    with pytest.raises(ConfigError, match=r"providers take 1 to 64 .* only=\[\.\.\.\]"):
        async with mcp_tools(serving(of(), name="n" * 300)):
            pass
