"""Tests as the text of a file for pytest: one record for each test and, where it is parametrised, for each of its ids.

The file imports the code with ``from solution import add`` or ``import solution``, or uses its names as they are.
"""

from __future__ import annotations

import ast
import importlib.util
from pathlib import Path

from retrial.core.effects import RunTests
from retrial.errors import SandboxError
from retrial.testbench.plan import Plan
from retrial.testbench.suite_plan import Found, is_test_case, methods_of, plan_suite

__all__ = ["plan_pytest"]

_NEEDED = ("pytest", "_pytest", "pluggy", "iniconfig", "packaging", "pygments")


def plan_pytest(effect: RunTests) -> Plan:
    """The plan for a file that pytest collects.

    Raises:
        SandboxError: if pytest is not installed beside the library.
    """
    return plan_suite(effect, "pytest", _tests, _folders())


def _tests(tree: ast.Module) -> Found:
    found: Found = []
    for part in tree.body:
        if isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef)) and part.name.startswith("test"):
            if not _is_fixture(part):
                found.append((part.name, part))
        elif isinstance(part, ast.ClassDef) and _is_collected(tree, part):
            found += [(f"{part.name}.{name}", method) for name, method in methods_of(tree, part).items()]
    return found


def _is_fixture(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    calls = [part.func if isinstance(part, ast.Call) else part for part in node.decorator_list]
    return any(ast.unparse(call) in ("fixture", "pytest.fixture") for call in calls)


def _is_collected(tree: ast.Module, node: ast.ClassDef) -> bool:
    if is_test_case(tree, node):
        return True
    own = {part.name for part in node.body if isinstance(part, ast.FunctionDef)}
    marked = [part for part in node.body if isinstance(part, ast.Assign) and ast.unparse(part) == "__test__ = False"]
    return node.name.startswith("Test") and "__init__" not in own and not marked


def _folders() -> tuple[str, ...]:
    """The folders in which pytest and what it needs are installed."""
    folders: list[str] = []
    for name in _NEEDED:
        spec = importlib.util.find_spec(name)
        if spec is None or spec.origin is None:
            if name == "pygments":
                continue
            raise SandboxError(
                f"style 'pytest' needs {name}, which is not installed here: `pip install pytest`, or write the tests "
                f"in style 'unittest' or 'asserts'"
            )
        place = Path(spec.origin)
        folders.append(str(place.parent.parent if spec.submodule_search_locations else place.parent))
    return tuple(dict.fromkeys(folders))
