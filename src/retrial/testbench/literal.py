"""Asserts about one call with plain arguments, read and judged without a judge process.

Knows the tree of an assert and plain values; the value that it judges was decoded from the wire and is plain data, or
``Opaque`` where the solution gave an object of its own, which equals nothing plain.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from retrial.testbench.plan import LiteralTest
from retrial.testbench.rewrite import operator_of
from retrial.testbench.wording import comparison, short

__all__ = ["NotPlain", "Opaque", "Outcome", "judge_literal", "read_literal"]

_MAX_NUMBER = 1 << 64
_ARITHMETIC: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: lambda left, right: left / right,
    ast.FloorDiv: lambda left, right: left // right,
    ast.Mod: operator.mod,
}
_EMPTY: dict[str, Callable[[], Any]] = {"set": set, "dict": dict, "list": list, "tuple": tuple, "frozenset": frozenset}
_COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "is": operator.is_,
    "is not": operator.is_not,
    "in": lambda value, expected: value in expected,
    "not in": lambda value, expected: value not in expected,
}


class NotPlain(Exception):
    """The expression is more than a plain value, or the value needs a judge."""


class Opaque:
    """Stands for an object of the solution: equal to itself only."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return f"<{self._name} object>"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of one literal test."""

    passed: bool
    """Whether the assert held."""
    message: str = ""
    """What to say if not."""
    actual: str | None = None
    """What was compared, for a test that did not pass."""
    expected: str | None = None
    """What it is compared with."""


def plain(node: ast.expr) -> Any:
    """The plain value that an expression states.

    Raises:
        NotPlain: if it needs names, calls or large numbers.
    """
    if isinstance(node, ast.BinOp):
        left, right = plain(node.left), plain(node.right)
        return _arithmetic(node.op, left, right)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd, ast.Not)):
        value = plain(node.operand)
        if not isinstance(value, (int, float, complex)) and not isinstance(node.op, ast.Not):
            raise NotPlain
        return -value if isinstance(node.op, ast.USub) else +value if isinstance(node.op, ast.UAdd) else not value
    if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        parts: Any = [plain(part) for part in node.elts]
        return parts if isinstance(node, ast.List) else tuple(parts) if isinstance(node, ast.Tuple) else set(parts)
    if isinstance(node, ast.Dict) and None not in node.keys:
        return {plain(key): plain(value) for key, value in zip(node.keys, node.values, strict=True) if key is not None}
    return node.value if isinstance(node, ast.Constant) else _empty(node)


def _empty(node: ast.expr) -> Any:
    """What ``set()`` and its like stand for."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.args and not node.keywords:
        kind = _EMPTY.get(node.func.id)
        if kind is not None:
            return kind()
    raise NotPlain


def _arithmetic(op: ast.operator, left: Any, right: Any) -> Any:
    for value in (left, right):
        if not isinstance(value, (int, float, complex)) or (isinstance(value, int) and abs(value) >= _MAX_NUMBER):
            raise NotPlain
    try:
        if isinstance(op, ast.Pow) and isinstance(left, int) and isinstance(right, int) and 0 <= right <= 64:
            return left**right
        return _ARITHMETIC[type(op)](left, right)
    except (KeyError, ArithmeticError, TypeError):
        raise NotPlain from None


def read_literal(node: ast.Assert, index: int, functions: dict[str, str]) -> LiteralTest | None:
    """The assert as a literal test; None if it is more than that. ``functions`` are callable names and their true ones.

    >>> test = read_literal(ast.parse("assert add(1, 2) == 3").body[0], 0, {"add": "add"})
    >>> test.function, test.args, test.op, test.expected
    ('add', (1, 2), '==', 3)
    """
    try:
        return _read(node.test, index, functions)
    except (NotPlain, TypeError, RecursionError):
        return None


def _read(test: ast.expr, index: int, functions: dict[str, str]) -> LiteralTest:
    offset: Any = None
    digits: Any = None
    expected: Any = None
    op, subject = "true", test
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        op, subject = "false", test.operand
    elif isinstance(test, ast.Compare) and len(test.ops) == 1:
        op, subject, expected = operator_of(test.ops[0]), test.left, plain(test.comparators[0])
        if op in ("is", "is not") and not any(expected is single for single in (None, True, False, ...)):
            raise NotPlain
        if op in ("in", "not in") and not isinstance(expected, (list, tuple)):
            raise NotPlain
    call = subject
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id not in functions:
        inner = call.args[0] if call.args and not call.keywords else None
        if (
            call.func.id == "abs"
            and isinstance(inner, ast.BinOp)
            and isinstance(inner.op, ast.Sub)
            and len(call.args) == 1
        ):
            call, offset = inner.left, plain(inner.right)
        elif call.func.id == "round" and inner is not None and len(call.args) == 2:
            digits, call = plain(call.args[1]), inner
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.func.id not in functions:
        raise NotPlain
    if any(isinstance(argument, ast.Starred) for argument in call.args) or any(
        word.arg is None for word in call.keywords
    ):
        raise NotPlain
    kwargs = {str(word.arg): plain(word.value) for word in call.keywords}
    args = tuple(plain(argument) for argument in call.args)
    function = functions[call.func.id]
    call.func = ast.Name(function, ast.Load())
    text = ast.unparse(call)
    return LiteralTest(
        index=index,
        function=function,
        args=args,
        kwargs=kwargs,
        call=text,
        op=op,
        expected=expected,  # pyright: ignore[reportUnknownArgumentType] - any plain value
        offset=offset,
        digits=digits,
        subject=ast.unparse(subject),
    )


def judge_literal(test: LiteralTest, value: Any, *, truth: bool | None, shown: str | None) -> Outcome:
    """Whether the assert holds for ``value``. ``truth`` and ``shown`` describe a value that holds opaque objects."""
    actual = shown or short(value)
    try:
        if test.op in ("true", "false"):
            held = (bool(value) if truth is None else truth) is (test.op == "true")
            wanted = "a true value" if test.op == "true" else "a false value"
            message = f"{test.call} is {actual}, expected {wanted}"
            return (
                Outcome(passed=True)
                if held
                else Outcome(passed=False, message=message, actual=actual, expected=test.op.title())
            )
        subject: Any = value
        if test.offset is not None:
            subject = abs(value - test.offset)
        elif test.digits is not None:
            subject = round(value, test.digits)
        held = bool(_COMPARE[test.op](subject, test.expected))
    except Exception as error:  # noqa: BLE001 - a plain value may refuse an operator, or be too deep for it
        text = "it is nested too deeply to compare" if isinstance(error, RecursionError) else str(error)
        return Outcome(
            passed=False, message=f"{test.call} is {actual}: {text}", actual=actual, expected=short(test.expected)
        )
    if held:
        return Outcome(passed=True)
    is_call = test.offset is None and test.digits is None
    compared = actual if is_call else short(subject)
    told = comparison(test.subject, compared, test.op, short(test.expected))
    message = told if is_call else f"{told} ({test.call} is {actual})"
    return Outcome(passed=False, message=message, actual=compared, expected=short(test.expected))
