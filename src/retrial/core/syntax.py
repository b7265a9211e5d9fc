"""Source text parsed and compiled, without a word from the compiler's warnings. Nothing is run.

Whatever parses in a process that has several threads does it here: two that build trees at once disturb each other in
CPython 3.11, which then raises a SystemError.
"""

from __future__ import annotations

import ast
import threading
import warnings

__all__ = ["UNREADABLE", "compiles", "expression_of", "tree_of"]

UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError)
"""What parsing a stranger's text may raise."""

# Silencing warnings, too, changes the state of the whole process, so that one thread at a time may do it.
_lock = threading.Lock()


def tree_of(source: str) -> ast.Module:
    """The syntax tree of ``source``; raises one of UNREADABLE."""
    with _lock, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(source)


def expression_of(source: str) -> ast.expr:
    """The syntax tree of the one expression that ``source`` is; raises one of UNREADABLE."""
    with _lock, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(source, mode="eval").body


def compiles(source: str) -> SyntaxError | bool:
    """True if ``source`` is a program; a SyntaxError, or False where there is not even that, if it is none.

    >>> compiles("x = 1")
    True
    """
    try:
        with _lock, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(source, "<text>", "exec", dont_inherit=True)
    except SyntaxError as error:
        return error
    except UNREADABLE:
        return False
    return True
