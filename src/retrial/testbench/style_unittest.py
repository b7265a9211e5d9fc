"""Tests as the text of a file with TestCase classes: one record for each method.

The classes import the code with ``from solution import add`` or ``import solution``, or use its names as they are.
"""

from __future__ import annotations

import ast

from retrial.core.effects import RunTests
from retrial.testbench.plan import Plan
from retrial.testbench.suite_plan import Found, is_test_case, methods_of, plan_suite

__all__ = ["plan_unittest"]


def plan_unittest(effect: RunTests) -> Plan:
    """The plan for a file with TestCase classes."""
    return plan_suite(effect, "unittest", _tests)


def _tests(tree: ast.Module) -> Found:
    return [
        (f"{part.name}.{name}", method)
        for part in tree.body
        if isinstance(part, ast.ClassDef) and is_test_case(tree, part)
        for name, method in methods_of(tree, part).items()
    ]
