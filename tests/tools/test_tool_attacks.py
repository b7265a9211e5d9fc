"""Calls and results that no sane model or tool would make: each is a result that the model reads."""

from __future__ import annotations

import asyncio

import pytest

from retrial.core.effects import CallTool
from retrial.tools import ToolHandler, ToolRegistry, tool


class Aside(BaseException):
    """What some libraries raise beside Exception."""


class Mute:
    """An object that cannot be shown."""

    def __repr__(self):
        raise OSError

    __str__ = __repr__


class MuteError(Exception):
    """An exception that cannot be shown."""

    def __str__(self):
        raise OSError


def nested(depth):
    value = []
    for _ in range(depth):
        value = [value]
    return value


RESULTS = {
    "an object without a text": Mute,
    "a list with one": lambda: [Mute()],
    "too deep": lambda: nested(100_000),
    "a number of 5,001 digits": lambda: 10**5000,
    "half a character": lambda: "\ud800",
}


def raises(error):
    raise error


FAULTS = {"beside Exception": Aside("x"), "without a text": MuteError(), "half a character": ValueError("\ud800")}


def called(function, arguments=None):
    """What comes of one call."""
    handler = ToolHandler(ToolRegistry([tool(function)]))
    return asyncio.run(handler(CallTool(tool=function.__name__, arguments=arguments or {}), "k"))


@pytest.mark.parametrize("case", RESULTS)
def test_any_result_becomes_text_that_a_prompt_can_hold(case):
    """The call was made, so it is no failure."""

    def give():
        """Give."""
        return RESULTS[case]()

    result = called(give)
    assert result.error == ""
    assert result.text.encode()


@pytest.mark.parametrize("case", FAULTS)
def test_anything_raised_is_a_failed_call(case):
    """Whatever it derives from, and however badly it speaks of itself."""

    def fail():
        """Fail."""
        raises(FAULTS[case])

    result = called(fail)
    assert result.error == "ToolFailed"
    assert result.text.encode()


@pytest.mark.parametrize("arguments", [{"x": nested(3000)}, {f"a{n}": 1 for n in range(5000)}], ids=["deep", "many"])
def test_what_is_wrong_with_arguments_is_said_in_brief(arguments):
    """Arguments without an end neither end the run nor fill the next prompt."""

    def take(x: list[list[int]]):
        """Take."""

    result = called(take, arguments)
    assert result.error == "InvalidArguments"
    assert len(result.text) < 2100
