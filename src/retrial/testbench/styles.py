"""The test styles by name. A new one is a module with a function from the effect to a plan, and a line here."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from retrial.core.effects import RunTests
from retrial.testbench.plan import Plan
from retrial.testbench.style_asserts import plan_asserts
from retrial.testbench.style_check import plan_check

__all__ = ["STYLES"]

STYLES: Mapping[str, Callable[[RunTests], Plan]] = {
    "asserts": plan_asserts,
    "check": plan_check,
}
"""What reads the tests of each style."""
