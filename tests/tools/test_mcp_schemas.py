"""Schemas as servers write them: what fits is judged as the server means it, and what cannot be used is refused."""

from __future__ import annotations

import pytest
from mcp import types
from mcp.server.lowlevel import Server

from retrial.core.effects import CallTool
from retrial.errors import ConfigError
from retrial.tools import ToolHandler, mcp_tools
from retrial.tools.schema import validator_of


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


UNUSABLE = [
    (of(properties={"a": {"$ref": "https://example.org/x"}}), "'https://example.org/x' leads to nothing in it"),
    (of(properties={"a": {"$ref": "file:///etc/passwd"}}), "'file:///etc/passwd' leads to nothing in it"),
    (of(properties={"a": {"$ref": "#/$defs/none"}}), "'#/$defs/none' leads to nothing in it"),
    (of(allOf=[{"$ref": "#"}]), "its schema refers to itself without end"),
    (of(properties={"a": {"type": "thing"}}), "not a JSON Schema: 'thing' is not valid"),
]


@pytest.mark.parametrize(("schema", "words"), UNUSABLE)
async def test_a_schema_that_cannot_be_used_is_refused_at_once(schema, words):
    """The message names the tool and the way out; no other document is looked up."""
    with pytest.raises(ConfigError) as caught:
        await called(schema)
    assert words in str(caught.value)
    assert str(caught.value).startswith("tool 'find' of the MCP server 'evil': ")
    assert "only=[...]" in str(caught.value)


async def test_a_name_that_no_provider_takes_is_refused_with_the_way_out():
    """One that is too long cannot be mended without meeting another."""
    with pytest.raises(ConfigError, match=r"providers take 1 to 64 .* only=\[\.\.\.\]"):
        async with mcp_tools(serving(of(), name="n" * 300)):
            pass


@pytest.mark.parametrize("depth", [300, 5000])
def test_a_schema_that_is_nested_too_deeply_is_refused(depth):
    """Neither writing it down nor looking at it ends the process."""
    schema = of()
    for _ in range(depth):
        schema = of(properties={"a": schema})
    with pytest.raises(ConfigError, match="nested too deeply"):
        validator_of(schema)


def test_a_pattern_of_ones_own_is_tried():
    """Only a server's are left to the server."""
    assert not validator_of({"pattern": "^a+$"}).is_valid("b")
    assert validator_of({"pattern": "^a+$"}, patterns=False).is_valid("b")
    with pytest.raises(ConfigError, match=r"'\(\(' is no pattern"):
        validator_of({"pattern": "(("})
