"""Tests as one file that defines ``check(candidate)``, as HumanEval has them: one record for each executed assert."""

from __future__ import annotations

import ast

from retrial.core.effects import RunTests
from retrial.core.syntax import tree_of
from retrial.errors import ConfigError
from retrial.testbench.literal import read_literal
from retrial.testbench.plan import Given, LiteralTest, Plan, free_names, parsed
from retrial.testbench.rewrite import is_constant_true, is_tuple, rewritten, subject_of

__all__ = ["plan_check"]


def plan_check(effect: RunTests) -> Plan:
    """The plan for a file with a check function.

    Raises:
        ConfigError: if no entry point says what ``check`` is called with.
    """
    if effect.entry_point is None:
        raise ConfigError("style 'check' needs an entry_point: the function that is handed to check(candidate)")
    source = "\n\n".join(effect.tests)
    tree = parsed(source)
    if isinstance(tree, str):
        return _invalid(source, tree)
    check = next((part for part in tree.body if isinstance(part, ast.FunctionDef) and part.name == "check"), None)
    if check is None:
        return _invalid(source, "it defines no check(candidate)")
    asserts = sorted(
        (node for node in ast.walk(tree) if isinstance(node, ast.Assert) and not is_constant_true(node)),
        key=lambda node: (node.lineno, node.col_offset),
    )
    if not asserts:
        return Plan(given=(), programs=tuple, literal=None)
    parameter = check.args.args[0].arg if check.args.args else "candidate"
    numbers = {(node.lineno, node.col_offset): index for index, node in enumerate(asserts)}
    given = tuple(_given(node, {parameter, effect.entry_point}) for node in asserts)
    literal = _literal(tree, check, {parameter: effect.entry_point, effect.entry_point: effect.entry_point}, numbers)
    mentioned = list(dict.fromkeys([*free_names(tree), effect.entry_point]))

    def number(node: ast.Assert) -> int | None:
        index = numbers.get((node.lineno, node.col_offset))
        return None if index is None or given[index].bad else index

    def programs() -> tuple[tuple[int, str], ...]:
        return ((len(given), rewritten(tree_of(source), number, inside=True)),)

    return Plan(given=given, programs=programs, literal=literal, inside=True, mentioned=tuple(mentioned))


def _invalid(source: str, why: str) -> Plan:
    return Plan(given=(Given(name=source.strip()[:200], bad=why),), programs=tuple, literal=None, inside=True)


def _given(node: ast.Assert, functions: set[str]) -> Given:
    subject = subject_of(node)
    is_call = isinstance(subject, ast.Call) and isinstance(subject.func, ast.Name) and subject.func.id in functions
    return Given(
        name=ast.unparse(ast.Assert(test=node.test, msg=None)),
        subject=ast.unparse(subject),
        subject_is_call=is_call,
        bad="it asserts a tuple, which always holds" if is_tuple(node) else "",
    )


def _literal(
    tree: ast.Module,
    check: ast.FunctionDef,
    functions: dict[str, str],
    numbers: dict[tuple[int, int], int],
) -> tuple[LiteralTest, ...] | None:
    """The asserts of a check function that holds nothing else, if each is literal and the file holds little else."""
    if not all(part is check or _is_idle(part) for part in tree.body) or len(check.args.args) != 1:
        return None
    found: list[LiteralTest] = []
    for part in check.body:
        if isinstance(part, ast.Assert) and not is_tuple(part):
            index = numbers.get((part.lineno, part.col_offset))
            test = None if index is None else read_literal(part, index, functions)
            if test is None and index is not None:
                return None
            found += [test] if test else []
        elif not (isinstance(part, ast.Pass) or (isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant))):
            return None
    return tuple(found) if found else None


def _is_idle(part: ast.stmt) -> bool:
    """Whether a statement beside the check function only describes, or only has it called."""
    if isinstance(part, (ast.Assign, ast.Expr)):
        called = isinstance(part.value, ast.Call) and isinstance(part.value.func, ast.Name) and not part.value.args
        return called or not any(
            isinstance(node, (ast.Call, ast.NamedExpr, ast.Name)) and not _stored(node) for node in ast.walk(part)
        )
    if isinstance(part, ast.FunctionDef) and len(part.body) == 1 and isinstance(part.body[0], ast.Expr):
        call = part.body[0].value
        return isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "check"
    return False


def _stored(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
