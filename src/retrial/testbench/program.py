"""The programs that run in the sandbox, joined from modules of this package and compiled once.

Knows how to make one file of several modules and nothing of what they do. Imports between the joined modules and
annotations are taken out, since every import costs the start of every run.
"""

from __future__ import annotations
import __future__

import ast
import functools
import importlib.util
import marshal
from pathlib import Path

from retrial.core.syntax import tree_of

__all__ = ["candidate_program", "judge_program"]

# The functions of a joined program keep their own copies of the built-in ones, whatever is done to the module later.
_OWN_BUILTINS = "import builtins\n__builtins__ = dict(vars(builtins))\n"


def _joined(*names: str) -> bytes:
    """The bytes of a .pyc file with these modules of the package, in this order."""
    body = tree_of(_OWN_BUILTINS).body
    for name in names:
        text = Path(__file__).with_name(f"{name}.py").read_text(encoding="utf-8")
        body += [statement for statement in tree_of(text).body if not _is_taken_out(statement)]
    module = ast.Module(body=body, type_ignores=[])
    flags = __future__.annotations.compiler_flag
    code = compile(ast.fix_missing_locations(module), names[-1], "exec", flags=flags, dont_inherit=True, optimize=2)
    return importlib.util.MAGIC_NUMBER + bytes(12) + marshal.dumps(code)


def _is_taken_out(statement: ast.stmt) -> bool:
    module = statement.module or "" if isinstance(statement, ast.ImportFrom) else ""
    return module == "__future__" or module.startswith("retrial.")


@functools.cache
def candidate_program() -> bytes:
    """The program that holds the code under test."""
    return _joined("wire", "encoding", "decoding", "candidate")


@functools.cache
def judge_program(suite: str = "") -> bytes:
    """The program that holds the tests: statements and check functions, or the named kind of suite."""
    last = ("suite", f"suite_{suite}") if suite else ("judge",)
    return _joined("wire", "encoding", "decoding", "wording", "remote", "link", "recorder", *last)
