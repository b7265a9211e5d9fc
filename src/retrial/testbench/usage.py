"""Which tests use the solution and which assert anything, as far as their text alone says it."""

from __future__ import annotations

import ast
import builtins

__all__ = ["assertion_words", "tainted_names"]

_BUILTIN = set(dir(builtins))


def assertion_words(tree: ast.Module) -> list[str]:
    """What could assert something: the statements themselves and the names of functions."""
    found = ["assert" for node in ast.walk(tree) if isinstance(node, ast.Assert)]
    found += [node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
    return found + [node.id for node in ast.walk(tree) if isinstance(node, ast.Name)]


def tainted_names(tree: ast.Module, names: set[str]) -> set[str]:
    """The names that any statement of the tests binds while it reads one of ``names``, directly or through others."""
    tainted = set(names)
    while True:
        before = len(tainted)
        for statement in tree.body:
            used = {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)} - _BUILTIN
            imported = isinstance(statement, ast.ImportFrom) and statement.module == "solution"
            if used & tainted or imported:
                tainted |= used
                tainted |= {node.arg for node in ast.walk(statement) if isinstance(node, ast.arg)}
                tainted |= {
                    node.name for node in ast.walk(statement) if isinstance(node, (ast.FunctionDef, ast.ClassDef))
                }
            if imported and isinstance(statement, ast.ImportFrom):
                tainted |= {alias.asname or alias.name for alias in statement.names}
            if isinstance(statement, ast.Import):
                tainted |= {alias.asname or alias.name for alias in statement.names if alias.name == "solution"}
        if len(tainted) == before:
            return tainted
