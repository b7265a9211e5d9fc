"""Asserts turned into statements that tell what was compared.

Knows the syntax tree of a test and the names of the recorder's methods (judge.Recorder); runs nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

__all__ = ["is_constant_true", "is_tuple", "rewritten", "subject_of"]

_OPS: dict[type[ast.cmpop], str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Is: "is",
    ast.IsNot: "is not",
    ast.In: "in",
    ast.NotIn: "not in",
}
_EXPECTS_ERRORS = ("raises", "suppress", "warns")


def is_tuple(node: ast.Assert) -> bool:
    """Whether an assert always holds because it asserts a tuple."""
    return isinstance(node.test, ast.Tuple) and bool(node.test.elts)


def is_constant_true(node: ast.Assert) -> bool:
    """Whether an assert says nothing, such as ``assert True, "for debugging"``."""
    return isinstance(node.test, ast.Constant) and bool(node.test.value)


def subject_of(node: ast.Assert) -> ast.expr:
    """The part of an assert that is compared or taken as true."""
    test = node.test
    if isinstance(test, ast.Compare):
        return test.left
    return test.operand if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not) else test


def operator_of(op: ast.cmpop) -> str:
    """The source text of a comparison operator."""
    return _OPS[type(op)]


def rewritten(tree: ast.Module, number: Callable[[ast.Assert], int | None], *, inside: bool) -> str:
    """The source of ``tree`` with its asserts recorded.

    ``number`` gives the index under which an assert is recorded; None takes the assert out. With ``inside`` each assert
    is a record of its own and a failing one does not end the function that it stands in.
    """
    changed = _Asserts(number, inside=inside).visit(tree)
    return ast.unparse(ast.fix_missing_locations(changed))


class _Asserts(ast.NodeTransformer):
    def __init__(self, number: Callable[[ast.Assert], int | None], *, inside: bool) -> None:
        self._number = number
        self._inside = inside
        self._guarded = False

    def visit_Assert(self, node: ast.Assert) -> ast.AST | list[ast.stmt]:
        index = self._number(node)
        if index is None:
            return ast.Pass()
        body = [_statement("begin", index), *self._parts(node.test, node.msg, index)]
        if not self._inside:
            return body
        body.append(_statement("passed", index))
        if self._guarded:
            return body
        caught = ast.Expr(_call("caught", ast.Constant(index), ast.Name("__error__", ast.Load())))
        handler = ast.ExceptHandler(type=ast.Name("__all_errors__", ast.Load()), name="__error__", body=[caught])
        return ast.Try(body=body, handlers=[handler], orelse=[], finalbody=[])

    def _parts(self, test: ast.expr, message: ast.expr | None, index: int) -> list[ast.stmt]:
        if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
            return [part for value in test.values for part in self._parts(value, message, index)]
        if isinstance(test, ast.Compare) and len(test.ops) == 1:
            op = ast.Constant(operator_of(test.ops[0]))
            held = _call("compare", ast.Constant(index), op, test.left, test.comparators[0])
        else:
            negated = isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)
            value = test.operand if isinstance(test, ast.UnaryOp) and negated else test
            held = _call("truth", ast.Constant(index), value, negated=negated)
        fail = _call("fail", *([message] if message else []))
        return [ast.Expr(ast.BoolOp(ast.Or(), [held, fail]))]

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        outer, self._guarded = self._guarded, False
        self.generic_visit(node)
        self._guarded = outer
        if self._inside and node.name == "check":
            node.body.insert(0, _statement("enter"))
        return node

    def visit_Try(self, node: ast.Try) -> ast.AST:
        outer, self._guarded = self._guarded, self._guarded or bool(node.handlers)
        node.body = self._visited(node.body)
        self._guarded = outer
        node.handlers = [self.generic_visit(handler) for handler in node.handlers]  # type: ignore[misc]  # pyright: ignore[reportAttributeAccessIssue]
        node.orelse = self._visited(node.orelse)
        node.finalbody = self._visited(node.finalbody)
        return node

    def visit_With(self, node: ast.With) -> ast.AST:
        contexts = " ".join(ast.unparse(item.context_expr) for item in node.items).lower()
        outer = self._guarded
        self._guarded = outer or any(word in contexts for word in _EXPECTS_ERRORS)
        self.generic_visit(node)
        self._guarded = outer
        return node

    def _visited(self, body: list[ast.stmt]) -> list[ast.stmt]:
        found: list[ast.stmt] = []
        for statement in body:
            result = self.visit(statement)
            found += result if isinstance(result, list) else [result]
        return found


def _call(method: str, *args: ast.expr, **kwargs: bool) -> ast.Call:
    function = ast.Attribute(ast.Name("__retrial__", ast.Load()), method, ast.Load())
    keywords = [ast.keyword(name, ast.Constant(value)) for name, value in kwargs.items()]
    return ast.Call(function, list(args), keywords)


def _statement(method: str, *args: int) -> ast.stmt:
    return ast.Expr(_call(method, *[ast.Constant(value) for value in args]))
