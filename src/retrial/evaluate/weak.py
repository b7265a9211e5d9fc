"""What is weak about tests that are sound: what they leave open, or ask for twice in two ways. Pure."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator, Sequence
from typing import Any

from retrial.core.syntax import UNREADABLE, expression_of, tree_of
from retrial.core.tasks import Task, Verdict
from retrial.evaluate.answers import short

__all__ = ["contradictions", "weak_tests"]

MAX_NAMED = 3
"""So many tests are named in one warning."""


def weak_tests(task: Task, stub: Verdict | None) -> tuple[str, ...]:
    """Return what is weak about a task's tests; ``stub`` is the verdict on code that does nothing.

    >>> weak_tests(Task(prompt="p", tests=("assert f(1) == 2", "assert f(1) == 3")), None)
    ("tests contradict each other: 'assert f(1) == 2' and 'assert f(1) == 3'",)
    """
    found = [f"tests contradict each other: {one!r} and {other!r}" for one, other in contradictions(task)]
    if stub is None:
        return tuple(found)
    invalid = [check for check in stub.checks if check.kind == "bad_test"]
    if invalid:
        count = f"{len(invalid)} of {len(stub.checks)} tests" if len(stub.checks) > 1 else "the only test"
        first = f"{short(invalid[0].name)}: {invalid[0].message}"
        found.append(f"{count} cannot be used and count for nobody; the first, {first}")
    if stub.valid_count == 1:
        found.append("there is one test, so an attempt that is right about one input passes; add others, the edges too")
    idle = [check.name for check in stub.checks if check.passed]
    if idle and not stub.passed:
        named = ", ".join(short(name) for name in idle[:MAX_NAMED]) + (", ..." if len(idle) > MAX_NAMED else "")
        verb = "passes" if len(idle) == 1 else "pass"
        found.append(f"{len(idle)} of {stub.valid_count} tests {verb} with code that does nothing: {named}")
    return tuple(found)


def contradictions(task: Task) -> tuple[tuple[str, str], ...]:
    """Return pairs of tests that expect different values of the same call with the same plain arguments.

    Only calls with arguments are compared: one without may answer differently each time, as a counter does. Whoever
    tests something that keeps state can read the pairs and leave them.

    >>> contradictions(Task(prompt="p", style="table", tests=('["f(1)", 2]', '["f(1)", 2.0]', '["f(1)", 3]')))
    (('["f(1)", 2]', '["f(1)", 3]'),)
    """
    seen: dict[str, tuple[str, Any]] = {}
    found: list[tuple[str, str]] = []
    for source, call, expected in _expectations(task.tests, task.style):
        first, value = seen.setdefault(call, (source, expected))
        if type(value) is type(expected) and not _equal(value, expected):
            found.append((first, source))
    return tuple(found)


def _expectations(tests: Sequence[str], style: str) -> Iterator[tuple[str, str, Any]]:
    """What tests expect: the source of each, its call, and a tuple of the value (or the truth) that it should have."""
    for test in tests:
        if style == "table":
            yield from _of_row(test)
        elif style in ("asserts", "check"):
            try:
                tree = tree_of(test)
            except UNREADABLE:
                continue
            for statement in _statements(tree, style):
                expectation = _of_assert(statement.test)
                if expectation:
                    yield (ast.unparse(statement), *expectation)


def _statements(tree: ast.Module, style: str) -> Iterator[ast.Assert]:
    """The asserts that certainly run, each once."""
    bodies = [tree.body]
    if style == "check":
        bodies = [part.body for part in tree.body if isinstance(part, ast.FunctionDef) and part.name == "check"]
    for body in bodies:
        yield from (part for part in body if isinstance(part, ast.Assert))


def _of_row(test: str) -> Iterator[tuple[str, str, Any]]:
    """What a row of a table expects."""
    try:
        call, expected = json.loads(test)
        node = expression_of(call)
    except (ValueError, TypeError, SyntaxError, RecursionError):
        return
    if _is_plain_call(node):
        yield test, ast.unparse(node), (expected,)


def _of_assert(test: ast.expr) -> tuple[str, Any] | None:
    """The call that an assert is about and what it expects of it, None where that is not plain."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not) and _is_plain_call(test.operand):
        return ast.unparse(test.operand), False
    if _is_plain_call(test):
        return ast.unparse(test), True
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.ops[0], ast.Eq | ast.Is):
        return None
    for call, value in ((test.left, test.comparators[0]), (test.comparators[0], test.left)):
        if _is_plain_call(call):
            try:
                return ast.unparse(call), (ast.literal_eval(value),)
            except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
                return None
    return None


def _is_plain_call(node: ast.expr) -> bool:
    """Whether a node calls a name with plain values, at least one."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        return False
    given = [*node.args, *(keyword.value for keyword in node.keywords)]
    try:
        for value in given:
            ast.literal_eval(value)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return False
    return bool(given)


def _equal(one: Any, other: Any) -> bool:
    """Whether two values are equal; what cannot be compared is taken as equal, so that nothing is claimed."""
    try:
        return bool(one == other)
    except RecursionError:
        return True
