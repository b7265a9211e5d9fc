"""The test styles by name. A new one is a module with a function from the effect to a plan, and a line here."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from retrial.core.effects import RunTests
from retrial.testbench.plan import Plan
from retrial.testbench.style_asserts import plan_asserts
from retrial.testbench.style_check import plan_check
from retrial.testbench.style_doctest import plan_doctest
from retrial.testbench.style_pytest import plan_pytest
from retrial.testbench.style_table import plan_table
from retrial.testbench.style_unittest import plan_unittest

__all__ = ["RUST", "STYLES"]

STYLES: Mapping[str, Callable[[RunTests], Plan]] = {
    "asserts": plan_asserts,
    "check": plan_check,
    "table": plan_table,
    "unittest": plan_unittest,
    "pytest": plan_pytest,
    "doctest": plan_doctest,
}
"""What reads the tests of each style."""

RUST = "rust"
"""The style whose code is no Python, and which has a supervisor of its own (rust.py)."""
