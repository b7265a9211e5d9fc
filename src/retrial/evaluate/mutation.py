"""Small faults put into right code, to see whether tests notice. Pure and deterministic; nothing is run here."""

from __future__ import annotations

import ast
import copy
import difflib
from collections.abc import Iterator
from dataclasses import dataclass

from retrial.core.syntax import UNREADABLE, tree_of
from retrial.errors import EvaluatorError

__all__ = ["MAX_MUTANTS", "Mutant", "mutants"]

MAX_MUTANTS = 40
"""So many are made of one answer; of more, every n-th is taken."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """Code with one fault."""

    name: str
    """What was changed and where, such as ``line 3: < becomes <=``."""
    code: str
    """The whole code, formatted anew."""
    diff: str
    """The change as a unified diff without context."""


_COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
_ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Div,
    ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}


def mutants(code: str, *, most: int = MAX_MUTANTS) -> tuple[Mutant, ...]:
    r"""Return up to ``most`` mutants of Python ``code``, in the order of its lines, no two of them equal.

    Comparisons and arithmetic are exchanged, constants moved by one, booleans and conditions turned round, ``and`` and
    ``or`` exchanged, branches and returned values removed.

    >>> for mutant in mutants("def f(x):\n    return x < 1"):
    ...     print(mutant.name)
    line 2: the returned value is removed
    line 2: < becomes <=
    line 2: 1 becomes 2

    Raises:
        EvaluatorError: if the code does not parse.
    """
    try:
        tree = tree_of(code)
    except UNREADABLE as error:
        raise EvaluatorError(f"the known-good answer is no Python that can be changed: {error}") from error
    original = ast.unparse(tree)
    found: dict[str, str] = {}
    for index, node in enumerate(ast.walk(tree)):
        for name, changed in _changes(node):
            text = _with(tree, index, changed)
            if text != original:
                found.setdefault(text, f"line {getattr(node, 'lineno', 0)}: {name}")
    ordered = sorted(found.items(), key=lambda item: int(item[1].split(":")[0].removeprefix("line ")))
    step = max(len(ordered) / most, 1.0)
    chosen = [ordered[int(place * step)] for place in range(min(len(ordered), most))]
    return tuple(Mutant(name=name, code=text, diff=_diff(original, text)) for text, name in chosen)


def _changes(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """What one node can become, with a name; each is a changed copy."""
    if isinstance(node, ast.Return) and node.value is not None and not _is_none(node.value):
        yield "the returned value is removed", ast.Return(value=ast.Constant(None))
    elif isinstance(node, ast.Compare):
        for place, operator in enumerate(node.ops):
            if type(operator) in _COMPARISONS:
                changed = copy.deepcopy(node)
                changed.ops[place] = _COMPARISONS[type(operator)]()
                yield f"{_sign(operator)} becomes {_sign(changed.ops[place])}", changed
    elif isinstance(node, ast.BinOp | ast.AugAssign) and type(node.op) in _ARITHMETIC:
        changed = copy.deepcopy(node)
        changed.op = _ARITHMETIC[type(node.op)]()
        yield f"{_sign(node.op)} becomes {_sign(changed.op)}", changed
    elif isinstance(node, ast.BoolOp):
        changed = copy.deepcopy(node)
        changed.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield ("and becomes or" if isinstance(node.op, ast.And) else "or becomes and"), changed
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield "not is removed", copy.deepcopy(node.operand)
    elif isinstance(node, ast.Constant):
        yield from _constants(node)
    elif isinstance(node, ast.If | ast.While):
        yield from _branches(node)


def _constants(node: ast.Constant) -> Iterator[tuple[str, ast.AST]]:
    """A constant that is another one."""
    value = node.value
    if isinstance(value, bool):
        yield f"{value} becomes {not value}", ast.Constant(not value)
    elif isinstance(value, int | float):
        yield f"{value} becomes {value + 1}", ast.Constant(value + 1)


def _branches(node: ast.If | ast.While) -> Iterator[tuple[str, ast.AST]]:
    """A condition turned round, or a branch that does nothing."""
    if isinstance(node, ast.If):
        changed = copy.deepcopy(node)
        changed.test = ast.UnaryOp(ast.Not(), changed.test)
        yield "the condition is turned round", changed
    empty = copy.deepcopy(node)
    empty.body = [ast.Pass()]
    if isinstance(node, ast.If):
        yield "the branch is removed", empty


def _with(tree: ast.Module, index: int, changed: ast.AST) -> str:
    """The code with the node of that number, in the order of ``ast.walk``, exchanged."""
    again = copy.deepcopy(tree)
    for place, node in enumerate(ast.walk(again)):
        if place == index:
            return ast.unparse(ast.fix_missing_locations(_Exchange(node, changed).visit(again)))
    raise AssertionError(index)


class _Exchange(ast.NodeTransformer):
    """Puts one node in the place of another."""

    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self._old, self._new = old, new

    def visit(self, node: ast.AST) -> ast.AST:
        """Exchange the node that is meant, and look further in every other."""
        return self._new if node is self._old else self.generic_visit(node)


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _sign(operator: ast.operator | ast.cmpop) -> str:
    """An operator as it is written."""
    one, other = ast.Name("a"), ast.Name("b")
    node = ast.Compare(one, [operator], [other]) if isinstance(operator, ast.cmpop) else ast.BinOp(one, operator, other)
    return ast.unparse(node)[2:-2]


def _diff(original: str, changed: str) -> str:
    """The lines that differ."""
    lines = difflib.unified_diff(original.splitlines(), changed.splitlines(), lineterm="", n=0)
    return "\n".join(list(lines)[2:])
