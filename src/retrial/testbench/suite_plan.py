"""Files of test functions and classes, read before anything runs: which tests they hold and which of these are invalid.

Knows the shapes that unittest and pytest share; knows no process. A test that the file states and that leaves no record
later is one that was not run, so that no candidate can make tests disappear.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from retrial.core.effects import RunTests
from retrial.core.syntax import tree_of
from retrial.testbench.plan import Given, Note, Plan, free_names, parsed
from retrial.testbench.rewrite import is_tuple, rewritten, subject_of
from retrial.testbench.usage import assertion_words, tainted_names

__all__ = ["Found", "is_test_case", "methods_of", "plan_suite"]

Found = list[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]
"""The tests of a file by name, such as ``test_a`` or ``TestAdd.test_a``."""

_SAYS = ("raises", "fail", "warns")
_NAMES_LINE = "from retrial_names import *\n"


def plan_suite(effect: RunTests, suite: str, find: Callable[[ast.Module], Found], paths: tuple[str, ...] = ()) -> Plan:
    """The plan for the text of a test file. ``find`` gives its tests; ``paths`` is what their runner needs."""
    source = "\n\n".join(effect.tests)
    tree = parsed(source)
    if isinstance(tree, str):
        return Plan(given=(Given(name=source.strip()[:200], bad=tree),), programs=tuple, literal=None)
    mentioned = list(dict.fromkeys([*free_names(tree), *_imported(tree)]))
    if effect.entry_point and effect.entry_point not in mentioned:
        mentioned.append(effect.entry_point)
    uses = tainted_names(tree, {*mentioned, "solution"})
    words = [word.lower() for word in assertion_words(tree)]
    asserted = any("assert" in word or word in _SAYS for word in words)
    tests = dict(find(tree))
    given = tuple(Given(name=name, bad=_fault(node, uses, asserted=asserted)) for name, node in tests.items())
    asserts = [node for node in ast.walk(tree) if isinstance(node, ast.Assert)]
    asserts.sort(key=lambda node: (node.lineno, node.col_offset))
    numbers = {(node.lineno, node.col_offset): number for number, node in enumerate(asserts)}

    def programs() -> tuple[tuple[int, str], ...]:
        fresh = tree_of(source)
        fresh.body = [part for part in fresh.body if not _starts_runner(part)]
        text = rewritten(fresh, lambda node: numbers[node.lineno, node.col_offset], inside=False)
        return ((0, _with_names(text)),)

    return Plan(
        given=given,
        programs=programs,
        literal=None,
        mentioned=tuple(mentioned),
        suite=suite,
        notes=tuple(_note(node, uses) for node in asserts),
        paths=paths,
    )


def methods_of(tree: ast.Module, node: ast.ClassDef) -> dict[str, ast.FunctionDef | ast.AsyncFunctionDef]:
    """The test methods of a class by name, with those that it has from classes of the same file."""
    classes = {part.name: part for part in tree.body if isinstance(part, ast.ClassDef)}
    found: dict[str, ast.FunctionDef | ast.AsyncFunctionDef] = {}
    waiting, seen = [node], {node.name}
    while waiting:
        current = waiting.pop(0)
        for part in current.body:
            if isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef)) and part.name.startswith("test"):
                if _is_skipped(current):
                    part.decorator_list = [*part.decorator_list, *current.decorator_list]
                found.setdefault(part.name, part)
        for base in current.bases:
            name = base.id if isinstance(base, ast.Name) else ""
            if name in classes and name not in seen:
                seen.add(name)
                waiting.append(classes[name])
    return found


def is_test_case(tree: ast.Module, node: ast.ClassDef) -> bool:
    """Whether a class derives from a ``TestCase``, directly or through classes of the same file."""
    classes = {part.name: part for part in tree.body if isinstance(part, ast.ClassDef) and part is not node}
    for base in node.bases:
        name = base.attr if isinstance(base, ast.Attribute) else base.id if isinstance(base, ast.Name) else ""
        if name.endswith("TestCase") or (name in classes and is_test_case(_without(tree, node), classes[name])):
            return True
    return False


def _without(tree: ast.Module, node: ast.ClassDef) -> ast.Module:
    return ast.Module(body=[part for part in tree.body if part is not node], type_ignores=[])


def _imported(tree: ast.Module) -> list[str]:
    """The names that the file imports from the solution."""
    found = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module == "solution"]
    return [alias.name for node in found for alias in node.names if alias.name != "*"]


def _fault(node: ast.FunctionDef | ast.AsyncFunctionDef, uses: set[str], *, asserted: bool) -> str:
    """Why a test can tell nothing about any solution; empty if it can."""
    if any(is_tuple(part) for part in ast.walk(node) if isinstance(part, ast.Assert)):
        return "it asserts a tuple, which always holds"
    if _is_skipped(node):
        return "it is skipped, or expected to fail, whatever the code does"
    if not asserted:
        return "neither it nor any other test asserts anything"
    arguments = {argument.arg for argument in ast.walk(node) if isinstance(argument, ast.arg)}
    names = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
    return "" if (names | arguments) & uses or _marks_fixtures(node) else "it never uses the solution"


def _marks_fixtures(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any("usefixtures" in ast.unparse(decorator) for decorator in node.decorator_list)


def _is_skipped(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> bool:
    """Whether a decorator takes the test out of the count without a condition."""
    for decorator in node.decorator_list:
        call = decorator.func if isinstance(decorator, ast.Call) else decorator
        name = call.attr if isinstance(call, ast.Attribute) else call.id if isinstance(call, ast.Name) else ""
        if name in ("skip", "expectedFailure") or (
            name == "xfail" and not (isinstance(decorator, ast.Call) and decorator.args)
        ):
            return True
    return False


def _note(node: ast.Assert, uses: set[str]) -> Note:
    subject = subject_of(node)
    is_call = isinstance(subject, ast.Call) and isinstance(subject.func, ast.Name) and subject.func.id in uses
    return ast.unparse(ast.Assert(test=node.test, msg=None)), ast.unparse(subject), is_call


def _starts_runner(part: ast.stmt) -> bool:
    """Whether a statement is ``unittest.main()`` or its like, which the judge does itself."""
    return isinstance(part, ast.Expr) and isinstance(part.value, ast.Call) and _is_main(part.value.func)


def _is_main(called: ast.expr) -> bool:
    return ast.unparse(called) in ("unittest.main", "pytest.main", "main")


def _with_names(text: str) -> str:
    """The file with a line that brings the names of the solution, after what must stand first."""
    lines, place = text.split("\n"), 0
    for part in tree_of(text).body:
        is_docstring = isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant) and place == 0
        if not is_docstring and not (isinstance(part, ast.ImportFrom) and part.module == "__future__"):
            break
        place = part.end_lineno or 0
    return "\n".join([*lines[:place], _NAMES_LINE, *lines[place:]])
