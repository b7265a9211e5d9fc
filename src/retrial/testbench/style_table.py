"""Tests as a table of calls and expected values, each row a JSON text: ``["add(1, 2)", 3]`` or an object with names.

The expected value is data: it is read as JSON, compared with ``==`` and never run. JSON has no tuples and no sets, so a
call that gives one equals no row.
"""

from __future__ import annotations

import ast
import json
import math
from dataclasses import replace
from typing import Any, cast

from retrial.core.effects import RunTests
from retrial.core.syntax import UNREADABLE, compiles, expression_of
from retrial.testbench.plan import Given, Plan
from retrial.testbench.style_asserts import plan_asserts

__all__ = ["plan_table"]

_SHAPE = 'a row is ["f(1)", 2] or {"call": "f(1)", "expected": 2}'


def plan_table(effect: RunTests) -> Plan:
    """The plan for rows of calls and expected values."""
    rows = [_read(row) for row in effect.tests]
    # A row that cannot be read stands in the plan as an empty test, whose words are replaced below.
    plan = plan_asserts(replace(effect, tests=tuple(row if ok else "" for row, ok in rows)))
    given: list[Given] = []
    for (text, ok), made in zip(rows, plan.given, strict=True):
        name = made.name.removeprefix("assert ") if ok else effect.tests[len(given)].strip()[:200]
        given.append(replace(made, name=name, bad=made.bad if ok else text))
    return replace(plan, given=tuple(given))


def _read(row: str) -> tuple[str, bool]:
    """The row as an assert, or why it is none."""
    try:
        value: Any = json.loads(row, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        return f"it is no JSON ({str(error).split(':')[0]}); {_SHAPE}", False
    if isinstance(value, dict) and {*cast("dict[str, Any]", value)} == {"call", "expected"}:
        value = [value["call"], value["expected"]]
    if not isinstance(value, list) or len(cast("list[Any]", value)) != 2 or not isinstance(value[0], str):
        return f"it is no row of the table; {_SHAPE}", False
    call, expected = cast("list[Any]", value)
    tree = _call_of(call)
    if tree is None:
        return f"{call!r} is no call", False
    if "inf" in repr(expected) and _holds_infinity(expected):
        return "it expects a number that is too large", False
    return f"assert {ast.unparse(tree)} == {expected!r}", True


def _call_of(text: str) -> ast.Call | None:
    """The call that a text states; None if it is anything else."""
    source = f"(\n{text}\n)"
    try:
        call = expression_of(source) if compiles(source) is True else None
    except UNREADABLE:
        return None
    return call if isinstance(call, ast.Call) else None


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} equals nothing")


def _holds_infinity(value: Any) -> bool:
    """Whether a JSON value holds a number that only arithmetic can express."""
    if isinstance(value, dict):
        return any(_holds_infinity(part) for part in cast("dict[str, Any]", value).values())
    if isinstance(value, list):
        return any(_holds_infinity(part) for part in cast("list[Any]", value))
    return isinstance(value, float) and not math.isfinite(value)
