"""What a model is shown of a function, and what a call's arguments become."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, StrEnum
from typing import Annotated, Any, Literal, NewType, NotRequired, Optional, TypedDict

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrial.core.messages import ToolSpec
from retrial.errors import ConfigError
from retrial.tools import Tool, tool
from retrial.tools.shape import shape_of


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


class Size(Enum):
    SMALL = 1
    BIG = 2


@dataclass
class Item:
    name: str
    count: int = 1
    tags: list[str] = field(default_factory=list)


class Address(TypedDict):
    street: str
    flat: NotRequired[int]


@dataclass
class Node:
    child: Optional[Node] = None  # noqa: UP045 - both spellings are in use


OrderId = NewType("OrderId", str)


@tool
def refund(order: Annotated[OrderId, "The order's id."], amount: float | None = None) -> str:
    """Refund an order.

    All of it unless an amount is given.
    """
    return f"refunded {order} {amount}"


def test_a_tool_is_offered_with_its_name_docstring_and_schema():
    """The name is the function's, the description its docstring, the schema that of its hints."""
    assert isinstance(refund, Tool)
    assert refund.spec.name == "refund"
    assert refund.spec.description == "Refund an order.\n\nAll of it unless an amount is given."
    assert refund.spec.parameters == {
        "type": "object",
        "properties": {
            "order": {"type": "string", "description": "The order's id."},
            "amount": {"anyOf": [{"type": "number"}, {"type": "null"}], "default": None},
        },
        "required": ["order"],
        "additionalProperties": False,
    }


def test_a_tool_is_still_the_function():
    """Python code calls it as if nothing had happened."""
    assert refund("A1", amount=2.0) == "refunded A1 2.0"


def test_name_and_description_can_be_given():
    """What the model reads need not be what the code says."""
    renamed = tool(name="pay-back", description="Pay it back.")(lambda: None)
    assert (renamed.spec.name, renamed.spec.description) == ("pay-back", "Pay it back.")


SHAPES: list[tuple[Any, dict[str, Any], Any, Any, Any]] = [
    (str, {"type": "string"}, "a", "a", 1),
    (int, {"type": "integer"}, 3, 3, True),
    (int, {"type": "integer"}, 3.0, 3, 3.5),
    (float, {"type": "number"}, 3, 3.0, "3"),
    (bool, {"type": "boolean"}, True, True, 0),
    (None, {"type": "null"}, None, None, 0),
    (Any, {}, {"a": [1]}, {"a": [1]}, ...),
    (Literal["a", 2], {"enum": ["a", 2]}, 2, 2, "b"),
    (Colour, {"enum": ["red", "blue"]}, "red", Colour.RED, "green"),
    (Size, {"enum": [1, 2]}, 2, Size.BIG, 3),
    (list, {"type": "array"}, [1, "a"], [1, "a"], {}),
    (list[int], {"type": "array", "items": {"type": "integer"}}, [1], [1], ["a"]),
    (Sequence[str], {"type": "array", "items": {"type": "string"}}, ["a"], ["a"], "a"),
    (set[int], {"type": "array", "items": {"type": "integer"}, "uniqueItems": True}, [1, 2], {1, 2}, [1, 1]),
    (tuple[int, ...], {"type": "array", "items": {"type": "integer"}}, [1, 2], (1, 2), [None]),
    (
        tuple[int, str],
        {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}], "minItems": 2, "maxItems": 2},
        [1, "a"],
        (1, "a"),
        [1],
    ),
    (dict, {"type": "object"}, {"a": 1}, {"a": 1}, []),
    (
        Mapping[str, float],
        {"type": "object", "additionalProperties": {"type": "number"}},
        {"a": 1},
        {"a": 1.0},
        {"a": "b"},
    ),
    (int | None, {"anyOf": [{"type": "integer"}, {"type": "null"}]}, None, None, "a"),
    (OrderId, {"type": "string"}, "A1", "A1", 1),
    (
        Annotated[int, "How many.", {"minimum": 1}],
        {"type": "integer", "description": "How many.", "minimum": 1},
        1,
        1,
        0,
    ),
    (
        Item,
        {
            "type": "object",
            "properties": {
                "name": {"type": "string"},
                "count": {"type": "integer"},
                "tags": {"type": "array", "items": {"type": "string"}},
            },
            "required": ["name"],
            "additionalProperties": False,
        },
        {"name": "a", "tags": ["x"]},
        Item("a", 1, ["x"]),
        {"count": 1},
    ),
    (
        Address,
        {
            "type": "object",
            "properties": {"street": {"type": "string"}, "flat": {"type": "integer"}},
            "required": ["street"],
            "additionalProperties": False,
        },
        {"street": "s"},
        {"street": "s"},
        {"street": "s", "city": "c"},
    ),
    (Item | str, {"anyOf": [shape_of(Item).schema, {"type": "string"}]}, {"name": "a"}, Item("a"), 1),
]


@pytest.mark.parametrize(("hint", "schema", "value", "read", "wrong"), SHAPES, ids=lambda one: str(one)[:30])
def test_a_hint_has_a_schema_and_values_are_read_by_it(hint, schema, value, read, wrong):
    """Each hint has its schema, which takes the right value and refuses the wrong one, and its Python value."""
    shape = shape_of(hint)
    assert shape.schema == schema
    jsonschema.Draft202012Validator.check_schema(shape.schema)
    validator = jsonschema.Draft202012Validator(shape.schema)
    assert validator.is_valid(value)
    found = shape.read(value)
    assert (found, type(found)) == (read, type(read))
    assert wrong is ... or not validator.is_valid(wrong)


@pytest.mark.parametrize("hint", [complex, bytes, dict[int, str], Node, bytearray, "x"])
def test_a_hint_without_a_shape_is_refused(hint):
    """What JSON cannot say is refused when the tool is made, in words."""
    with pytest.raises(ConfigError, match="has no shape in JSON|use dict|holds itself"):
        shape_of(hint)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3),
    max_leaves=8,
)


@given(JSON)
def test_what_a_tool_reads_is_shared_with_nobody(value):
    """A tool may change its arguments without changing what the model said."""
    read = shape_of(Any).read(value)
    assert read == value
    assert read is not value or not isinstance(value, (list, dict))


PROBLEMS = [
    ({"order": 5}, "argument 'order' is 5, expected a string"),
    ({}, "argument 'order' is missing (a string)"),
    ({"order": "A1", "amount": "much"}, "argument 'amount' is 'much', expected a number or null"),
    ({"order": "A1", "sum": 1}, "no argument is called 'sum'"),
]


@pytest.mark.parametrize(("arguments", "problem"), PROBLEMS)
def test_a_problem_names_the_argument_what_was_there_and_what_was_expected(arguments, problem):
    """Unknown and missing arguments are named too."""
    assert refund.problems(arguments) == [problem]


def test_a_schema_written_by_hand_may_say_that_anything_fits():
    """True and False are schemas too, beside definitions and without."""
    schema = {"type": "object", "properties": {"a": True, "b": False}, "$defs": {"x": {}}}
    found = Tool(spec=ToolSpec(name="f", parameters=schema), function=print)
    assert found.problems({"a": 1}) == []
    assert found.problems({"b": 1}) == ["argument 'b' is 1, expected nothing"]


def test_a_problem_deep_inside_is_found_where_it_is():
    """The path leads to the place."""

    @tool
    def ship(items: list[Item], colour: Colour = Colour.RED) -> None: ...

    given = {
        "items": [{"name": "a"}, {"name": "b", "count": "two"}, {"count": 1}, {"name": "x", "y": 1}],
        "colour": "g",
    }
    assert ship.problems(given) == [
        "argument 'items'[1].count is 'two', expected an integer",
        "argument 'items'[2] lacks 'name'",
        "argument 'items'[3] holds 'y', expected 'name', 'count', 'tags'",
        "argument 'colour' is 'g', expected one of 'red', 'blue'",
    ]


class Shop:
    """A thing with a method and a state."""

    def __init__(self) -> None:
        self.orders = {"A1": "open"}

    def cancel(self, order: str) -> str:
        """Cancel an order."""
        return self.orders.pop(order)

    def __call__(self, order: str) -> str:
        """Look an order up."""
        return self.orders[order]


def test_a_method_of_an_object_is_a_tool():
    """``tool(shop.cancel)`` offers the method without self, and so do an object that can be called and a partial."""
    shop = Shop()
    assert list(tool(shop.cancel).spec.parameters["properties"]) == ["order"]
    assert list(tool(name="look_up")(shop).spec.parameters["properties"]) == ["order"]
    bound = tool(name="a1")(functools.partial(shop.cancel, order="A1"))
    assert bound.spec.parameters["properties"]["order"]["default"] == "A1"


def hintless(order): ...
def several(*orders: str) -> None: ...
def unknown(order: Nowhere) -> None: ...  # noqa: F821 - that is the test
def complicated(order: complex) -> None: ...


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (hintless, "parameter 'order' has no type hint"),
        (several, r"cannot give 'orders' \(variadic positional\)"),
        (unknown, "'Nowhere' in its hints is not known"),
        (complicated, "tool 'complicated', parameter 'order': complex has no shape"),
        (Shop.cancel, r"parameter 'self' has no type hint; make a tool of the method of an object"),
    ],
)
def test_a_function_that_a_model_could_not_call_is_refused(function, words):
    """When the tool is made, and with what to do."""
    with pytest.raises(ConfigError, match=words):
        tool(function)


@pytest.mark.parametrize("options", [{"name": "a b"}, {"name": "x" * 65}, {"timeout": 0}, {"max_characters": 0}])
def test_bounds_are_checked_when_the_tool_is_made(options):
    """A name that no provider takes and a limit that cannot be are refused."""
    with pytest.raises(ConfigError, match="x{65}|'a b'|timeout=0|max_characters=0"):
        tool(**options)(Shop().cancel)
